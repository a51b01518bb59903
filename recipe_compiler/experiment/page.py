"""The part of a page that is made from results: table, claims, pictures, seconds; the rest is written by hand."""

import re

from recipe_compiler.errors import RunError
from recipe_compiler.experiment.document import Experiment
from recipe_compiler.experiment.run import Results
from recipe_compiler.experiment.table import Rows, judge_claims, markdown, table


def region(experiment: Experiment, results: Results) -> str:
    """Return what stands between the marks of a page."""
    entry, made = experiment.entry, results.made
    claims: Rows = [(claim.says, claim.found, claim.verdict) for claim in judge_claims(experiment, results)]
    pictures = (f"![{plot.title or name}]({entry.name}_{name}.svg)\n" for name, plot in entry.plots.items())
    seconds = sum(record.seconds for record in results.records.values())
    machine = ", ".join(own if name == "machine" else f"{name} {own}" for name, own in made.items())
    parts = [markdown(*table(experiment, results))]
    parts += [markdown(("claim", "found", ""), claims)] if claims else []
    parts += [*pictures, f"{seconds:.2g} processor seconds of drawing; {machine}.\n"]
    return "\n".join(parts)


def marks(experiment: Experiment) -> tuple[str, str]:
    """Return the marks around the region."""
    return f"<!-- made by: recipe experiment {experiment.entry.name} -->", "<!-- end of results -->"


def with_region(text: str, experiment: Experiment, results: Results) -> str:
    """Return a page with its region made anew. Raises RunError for a page without the marks."""
    begin, end = marks(experiment)
    pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.S)
    if not pattern.search(text):
        raise RunError(f"found no `{begin}` ... `{end}`, expected these lines where the results go")
    return pattern.sub(lambda _: f"{begin}\n\n{region(experiment, results)}\n{end}", text, count=1)
