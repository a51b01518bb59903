"""`recipe compare`."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.commands.run_json import say_json
from recipe_compiler.display import show_comparison
from recipe_compiler.errors import RunError
from recipe_compiler.run.compare import RunComparison, compared, stored_run


def compare_runs(files: Sequence[str], *, as_json: bool) -> ExitCode:
    """Print runs side by side; 4 where what they say of the target lies apart by more than chance."""
    if len(set(files)) < 2:
        raise RunError("found one run, expected two or more files that `recipe run` wrote")
    comparison = compared([stored_run(Path(file)) for file in dict.fromkeys(files)])
    if as_json:
        say_json(_plain(comparison))
    else:
        show_comparison(comparison)
    return ExitCode.DOUBTFUL if comparison.contradictions else ExitCode.PROVED


def _plain(comparison: RunComparison) -> dict[str, object]:
    runs = [
        {**asdict(run), "least_ess": run.least_ess, "per_second": run.per_second, "r_hat": run.r_hat}
        for run in comparison.runs
    ]
    apart = [asdict(one) for one in comparison.apart]
    return {"runs": runs, "apart": apart, "limit": comparison.limit, "contradictions": comparison.contradictions}
