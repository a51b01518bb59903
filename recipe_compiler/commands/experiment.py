"""`recipe experiment`."""

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path

from recipe_compiler.cache import open_cache
from recipe_compiler.commands.catalogue import list_catalogue
from recipe_compiler.commands.clean_exit import of_verdict
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.commands.outputs import demand_file, demand_folder
from recipe_compiler.commands.run_json import say_json
from recipe_compiler.display import complain, say, show_rows
from recipe_compiler.experiment.document import Experiment, find_experiment, read_experiment
from recipe_compiler.experiment.figures import draw_pictures
from recipe_compiler.experiment.page import with_region
from recipe_compiler.experiment.run import Effort, NotProvedError, Results, run_experiment
from recipe_compiler.experiment.table import (
    DIFFERS,
    REMARK,
    UNKNOWN,
    JudgedClaim,
    judge_claims,
    markdown,
    table,
    unexpected_trust,
)
from recipe_compiler.plots.panels import demand_matplotlib
from recipe_compiler.run.atomic_write import write_whole
from recipe_compiler.run.progress import Stages, progress_bars


def run_named(
    name: str | None, folder: Path, *, quick: bool, as_json: bool, page: Path | None, plots: bool, cores: int | None,
    use_cache: bool,
) -> ExitCode:  # fmt: skip
    """Run an experiment, print its table and its claims; without a name print those that ship."""
    if name is None:
        return list_catalogue("experiment", as_json=as_json)
    path = find_experiment(name)
    experiment = read_experiment(path)
    place = folder / experiment.entry.name / ("quick" if quick else "full")
    demand_folder(place, "-o", [path])
    if page is not None:
        demand_file(page, "--page", [path])
    if plots or page is not None:
        demand_matplotlib()
    with Stages().said(quiet=as_json) as stages:
        tell = (lambda line: None) if as_json else say
        bars = partial(progress_bars, quiet=as_json, plain=stages.watch)
        effort = Effort(place, quick, open_cache(use=use_cache), stages, tell, cores, bars)
        try:
            results = run_experiment(experiment, effort)
        except NotProvedError as error:
            complain(str(error))
            return of_verdict(error.verdict, allow_undecided=False)
    if results.stopped:
        complain(f"stopped: {place} holds what was finished, and the same command goes on from there")
        return ExitCode.INTERRUPTED
    claims, doubts = judge_claims(experiment, results), () if quick else unexpected_trust(experiment, results)
    if as_json:
        _say_json(experiment, results, claims, doubts)
    else:
        _show(experiment, results, claims, doubts)
    write_whole(place / "table.md", markdown(*table(experiment, results)).encode())
    if plots or page is not None:
        written = draw_pictures(experiment, results, place, place if page is None else page.parent)
        for picture in () if as_json else written:
            say(f"{picture}: written")
    if page is not None:
        text = with_region(page.read_text(encoding="utf-8"), experiment, results)
        write_whole(page.with_suffix(".json"), results.text().encode())
        write_whole(page, text.encode())
    failing = {DIFFERS} if quick else {DIFFERS, UNKNOWN}  # with few draws some cells are left out
    return ExitCode.DOUBTFUL if doubts or any(own.verdict in failing for own in claims) else ExitCode.PROVED


def _show(experiment: Experiment, results: Results, claims: tuple[JudgedClaim, ...], doubts: tuple[str, ...]) -> None:
    say(f"{experiment.entry.name}: {experiment.entry.title}")
    headings, rows = table(experiment, results)
    last = headings[-1] == REMARK
    show_rows(headings[:-1] if last else headings, [row[:-1] if last else row for row in rows])
    for row in rows:
        if last and row[-1]:
            say(f"{row[0]}: {row[-1]}")
    if published := experiment.entry.published:
        say(f"published ({published.where}): {published.says}")
    for claim in claims:
        say(f"{claim.verdict}: {claim.says} ({claim.found})")
    for doubt in doubts:
        complain(f"not as stated: {doubt}")


def _say_json(
    experiment: Experiment, results: Results, claims: tuple[JudgedClaim, ...], doubts: tuple[str, ...]
) -> None:
    kept = json.loads(results.text())
    found = {"experiment": experiment.entry.name, **kept}
    say_json({**found, "claims": [asdict(claim) for claim in claims], "not_as_stated": doubts})
