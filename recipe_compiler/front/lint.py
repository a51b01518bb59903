"""What an existing step function samples, from Python."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from recipe_compiler import notebook
from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.front.build import Build
from recipe_compiler.front.dynamics import Dynamics
from recipe_compiler.front.load import load
from recipe_compiler.lint import findings
from recipe_compiler.lint.against_build import bind_step
from recipe_compiler.lint.equation import LimitEquation
from recipe_compiler.lint.source import read_source
from recipe_compiler.run.observed import observed
from recipe_compiler.verdict import Report


@dataclass(frozen=True, slots=True, repr=False)
class Lint:
    """What was read off a step: its drift and diffusion in the limit of small steps, and the verdicts about it.

    Attributes
    ----------
    report : Report or None
        None without dynamics to judge it by.
    equation : Equation
        `drift` and `diffusion` by name, at `sizes`; `reason` where they could not be read.
    """

    step: str
    found: findings.Lint

    @property
    def report(self) -> Report | None:
        """The verdicts, None without dynamics to judge the step by."""
        return self.found.report

    @property
    def equation(self) -> LimitEquation:
        """The limit of small steps."""
        return self.found.equation

    @property
    def drift(self) -> dict[str, str]:
        """Lim E[dz]/eps, coordinate by coordinate, as text."""
        return dict(self.found.equation.drift)

    @property
    def diffusion(self) -> dict[str, str]:
        """Lim Cov[dz]/(2 eps), entry by entry, what is zero left out."""
        return dict(self.found.equation.diffusion)

    def __bool__(self) -> NoReturn:
        raise TypeError("what lint found is not a boolean: compare the .verdict of its .report with Verdict.PROVED")

    def __str__(self) -> str:
        return "\n".join([*self._lines, *([] if self.report is None else [str(self.report)])])

    def __repr__(self) -> str:
        judged = "not judged" if self.report is None else self.report.conclusion
        return f"<Lint of {self.step}: {judged}; print() shows it>"

    @property
    def _lines(self) -> tuple[str, ...]:
        return (*self.found.followed, *self.found.equation.lines)

    def _repr_html_(self) -> str:
        if self.report is None:
            return notebook.card(self.step, "", self._lines)
        rows = [(finding.claim, finding.verdict.value, finding.how) for finding in self.report.findings]
        heading = f"{self.step}: {self.report.conclusion}"
        return notebook.card(heading, notebook.table(("claim", "verdict", "how"), rows),
                             (*self._lines, *self.report.lines))  # fmt: skip


def lint(
    step: Callable[..., Any] | str,
    against: Dynamics | Build | str | PathLike[str] | None = None,
    *,
    maps: Mapping[str, str] | None = None,
) -> Lint:
    """Say what an existing step function samples.

    Its file is code and is run, in a child process with limits on time and memory.

    Parameters
    ----------
    step : function or str
        A function on the top level of a file, or `FILE.py:STEP`.
    against : Dynamics or Build, or the name of a YAML file of one, optional
        What to judge it by; without it, its drift and diffusion are read.
    maps : mapping, optional
        Argument to what it is: a block, `eps`, `rng`, a formula.

    Returns
    -------
    Lint
        What was read, and the verdicts.

    Raises
    ------
    SpecError
        No such file or function, or the file does not run.
    ModelError
        An argument whose name says nothing, or a block that no argument holds.

    Examples
    --------
    >>> lint("docs/examples/sghmc_step.py:step", against="specs/dynamics/sghmc.yaml")
    <Lint of docs/examples/sghmc_step.py:step: refuted; print() shows it>
    """
    where = step if isinstance(step, str) else _place_of(step)
    source = read_source(where)
    found = load(against) if isinstance(against, (str, PathLike)) else against
    document = None if found is None else observed(found.document)
    ask = bind_step(source, document, str(against), tuple((maps or {}).items()))
    return Lint(where, findings.lint(ask, judged=against is not None))


def _place_of(step: Callable[..., Any]) -> str:
    """Return FILE.py:STEP of a function; a jitted one is the function that it was made of."""
    function = inspect.unwrap(getattr(step, "py_func", step))
    name = getattr(function, "__qualname__", type(step).__name__)
    try:
        file = inspect.getsourcefile(function)
    except TypeError:
        file = None
    if file is None or not Path(file).is_file() or not name.isidentifier():
        hint = "write it to a file: `%%writefile step.py` in a notebook, then lint('step.py:step')"
        problem = f"found `{name}`, which is not at the top level of a file, expected one that is"
        raise ModelError([Fault(Place("python"), "step", problem, hint)])
    return f"{file}:{name}"
