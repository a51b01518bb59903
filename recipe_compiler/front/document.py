"""What documents of Python have in common: the frozen value they hold, and the verbs of all of them.

Stages of the pipeline are imported when they are asked for: a specification in Python is read without them.
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from recipe_compiler.spec import model
from recipe_compiler.spec.digest import digest
from recipe_compiler.spec.to_yaml import to_yaml

if TYPE_CHECKING:
    from recipe_compiler.front.derivation import Derivation
    from recipe_compiler.verdict import Report


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Document:
    """What dynamics, targets and builds have in common."""

    document: model.Dynamics | model.Target | model.Build
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
        from recipe_compiler.cache.entries import open_cache
        from recipe_compiler.cache.reports import check_once

        return check_once(self.document, open_cache(use=cache))

    def certificate(self, report: "Report") -> dict[str, Any]:
        """Return what someone else needs to check a report of this document again, with `recipe_compiler/recheck.py`.

        Parameters
        ----------
        report : Report
            Of this document, from `check`.

        Returns
        -------
        dict
            JSON: the document, its claims, and what their proofs rest on.
        """
        from recipe_compiler.report.certificate import certificate

        return certificate(self.document, report)

    def to_yaml(self) -> str:
        """Return the document as YAML; loading that gives the same document, with the same digest.

        A build's YAML names its dynamics and target, which have documents of their own.

        Raises
        ------
        SpecError, ModelError
            What is stated cannot stand in a file: a formula that is too long, data that are given with each run.

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
    def of(cls, document: model.Dynamics | model.Target | model.Build) -> Self:
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
