"""`recipe lint`."""

import json
from collections.abc import Sequence

from recipe_compiler.commands.clean_exit import of_verdict
from recipe_compiler.commands.documents import load_named
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import say, show_report
from recipe_compiler.errors import DocumentError
from recipe_compiler.lint.against_build import bind_step
from recipe_compiler.lint.equation import LimitEquation
from recipe_compiler.lint.findings import Lint, lint
from recipe_compiler.lint.source import read_source
from recipe_compiler.lint.user_file import LIMITS
from recipe_compiler.report.as_json import to_json
from recipe_compiler.run.observed import observed


def lint_step(
    where: str, against: str | None, maps: Sequence[tuple[str, str]], *, as_json: bool, allow_undecided: bool
) -> ExitCode:
    """Run a step function on symbols, print what it is, and judge it by dynamics where these are given."""
    try:
        found = _linted(where, against, maps, quiet=as_json)
    except DocumentError as error:
        if not as_json:
            raise
        say(json.dumps(to_json((), [(where, error.faults)]) | {"step": None}, allow_nan=False))
        return ExitCode.FAULTY
    if as_json:
        reports = [] if found.report is None else [found.report]
        say(json.dumps(to_json(reports) | {"step": _json(found.equation, found.followed)}, allow_nan=False))
    else:
        for line in (*found.followed, *found.equation.lines):
            say(f"  {line}")
        if found.report is not None:
            show_report(found.report)
    if found.report is not None:
        return of_verdict(found.report.verdict, allow_undecided=allow_undecided)
    return ExitCode.UNDECIDED if found.equation.reason and not allow_undecided else ExitCode.PROVED


def _linted(where: str, against: str | None, maps: Sequence[tuple[str, str]], *, quiet: bool) -> Lint:
    source = read_source(where)
    document = None if against is None else observed(load_named(against))
    ask = bind_step(source, document, against or "", maps)
    if not quiet:
        say(f"{source.shown} is run, in a child process with {LIMITS}; `{source.step}` is called on symbols")
    return lint(ask, judged=against is not None)


def _json(read: LimitEquation, followed: Sequence[str]) -> dict[str, object]:
    return {
        "sizes": dict(read.sizes),
        "drift": dict(read.drift),
        "diffusion": dict(read.diffusion),
        "finite_steps": "; ".join(read.remarks) or None,
        "step_size": read.step_size or None,
        "reason": read.reason or None,
        "followed": list(followed),
    }
