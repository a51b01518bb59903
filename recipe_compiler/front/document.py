"""What documents of Python have in common: the frozen value they hold, their verbs, and how a notebook shows them.

Stages of the pipeline are imported when they are first needed: a specification in Python is read without them.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.latex import latex_name
from recipe_compiler.formula.show import latex
from recipe_compiler.spec import model
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.to_yaml import to_yaml
from recipe_compiler.tensor.style import LATEX


def of_dynamics(dynamics: Dynamics) -> str:
    """Return state, energy, D and Q as one `align*` environment."""
    names = ", ".join(LATEX.symbol(block.name) for block in dynamics.declarations.blocks)
    lines = [rf"z &= \left({names}\right)", rf"H(z) &= {latex(dynamics.H)}"]
    lines += [f"{name}(z) &= {_rows(rows)}" for name, rows in (("D", dynamics.D), ("Q", dynamics.Q)) if rows]
    drift = dynamics.claims.drift or ()
    lines += [rf"f_{{{LATEX.symbol(block)}}} &= {latex(formula)} \quad\text{{(claimed)}}" for block, formula in drift]
    return _aligned(lines)


def of_target(target: Target) -> str:
    """Return what states the potential, as one `align*` environment."""
    return _aligned([*_potential(target.as_declared)])


def _potential(target: Target) -> Iterator[str]:
    if target.gradient is not None:
        yield rf"\nabla U &= \text{{{target.gradient.function} of {target.gradient.file.name}}}".replace("_", r"\_")
    if target.potential is not None:
        yield f"U &= {latex(target.potential)}"
    if target.log_likelihood is not None:
        yield r"U &= -\log p - \sum_n \log p_n"
        prior = "0" if target.log_prior is None else _as_stated(target, "log_prior", target.log_prior)
        yield rf"\log p &= {prior}"
        yield rf"\log p_n &= {_as_stated(target, 'log_likelihood', target.log_likelihood)}"
    elif target.log_prior is not None:
        yield f"U &= -({_as_stated(target, 'log_prior', target.log_prior)})"
    slopes = {} if target.stages is None else dict(target.stages.slopes)
    for state in target.recursion:
        name = latex(state.block.symbol)
        if target.stages is not None and state.block.name in slopes:
            of_time, slope = rf"\frac{{d {name}}}{{d {latex_name(target.stages.time)}}}", slopes[state.block.name]
            yield rf"{of_time} &= {latex(slope)}, \quad \text{{first }} {latex(state.start)}"
        if state.solves:
            continue
        yield rf"{name} &\leftarrow {latex(state.next)}, \quad \text{{first }} {latex(state.start)}"


def _as_stated(target: Target, entry: str, formula: Formula) -> str:
    """Return a formula of a target by the densities that its author named, log normal(b | 0, 5) + ..."""
    terms = target.stated.terms(entry)
    written = [_density(name, of) if name else latex(of[0]) for name, of in terms]
    return " + ".join(written).replace("+ -", "- ") or latex(formula)


def _density(name: str, arguments: Sequence[Formula]) -> str:
    of, *others = map(latex, arguments)
    called = name.replace("_", r"\_")
    return rf"\log\operatorname{{{called}}}\left({of} \mid {', '.join(others)}\right)"


def _rows(rows: Sequence[Sequence[Formula]]) -> str:
    body = r" \\ ".join(" & ".join(latex(entry) for entry in row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"


def _aligned(lines: Sequence[str]) -> str:
    body = " \\\\\n".join(f"  {line}" for line in lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


if TYPE_CHECKING:
    from recipe_compiler.front.derivation import Derivation
    from recipe_compiler.verdict import Report


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Document:
    """What dynamics, targets, schemes and builds have in common."""

    document: model.Document
    """The frozen value that the stages of the pipeline take."""

    @property
    def name(self) -> str:
        """The name of the document."""
        return self.document.name

    @property
    def title(self) -> str:
        """What it is called in full."""
        return json.loads(self.document.source.document).get("title", "")

    @property
    def digest(self) -> str:
        """SHA-256 of what is stated, those of dynamics and target included in a build's."""
        return digest(self.document)

    def check(self, *, cache: bool = True) -> "Report":
        """Decide every claim about the document.

        Parameters
        ----------
        cache : bool
            Whether verdicts of earlier checks of the same document are used, and these kept.

        Returns
        -------
        Report
            Three-valued: compare `report.verdict` with `Verdict.PROVED`, `REFUTED`, `UNDECIDED`.

        Raises
        ------
        ModelError
            A formula that has no meaning in index notation.

        Examples
        --------
        >>> x = scalar("x")
        >>> ou = Dynamics(name="ou", state=[x], H=x**2 / 2, D=[[1]], Q=[[0]])
        >>> ou.check().verdict
        <Verdict.PROVED: 'proved'>
        """
        from recipe_compiler.cache import check_once, open_cache

        return check_once(self.document, open_cache(use=cache))

    def certificate(self, report: "Report") -> dict[str, Any]:
        """Return what someone else needs to check a report of this document again, with `recipe_compiler/recheck.py`.

        Parameters
        ----------
        report : Report
            That of this document, from `check`.

        Returns
        -------
        dict
            JSON: the document, its claims, and what their proofs rest on.
        """
        from recipe_compiler.report.as_json import make_certificate

        return make_certificate(self.document, report)

    def to_yaml(self) -> str:
        """Return the document as YAML; loading that gives the same document, with the same digest.

        A build's YAML names its dynamics and target, which have documents of their own.

        Raises
        ------
        SpecError, ModelError
            What is stated cannot be written to a file: a formula that is too long, data that are given with each run.

        Examples
        --------
        >>> x = scalar("x")
        >>> print(Dynamics(name="ou", state=[x], H=x**2 / 2, D=[[1]], Q=[[0]]).to_yaml())
        format: 1
        name: ou
        state:
          x: {shape: scalar}
        H: x**2/2
        D: [[1]]
        Q: [[0]]
        <BLANKLINE>
        """
        return to_yaml(self.document)

    @classmethod
    def of(cls, document: model.Document) -> Self:
        """Return the object that holds a frozen value of the pipeline."""
        made = object.__new__(cls)
        object.__setattr__(made, "document", document)
        return made

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"


def derived(dynamics: model.Dynamics) -> "Derivation":
    """Return what follows from dynamics, as an object that shows itself."""
    from recipe_compiler.derive.recipe import derive
    from recipe_compiler.front.derivation import Derivation

    return Derivation(derive(dynamics))
