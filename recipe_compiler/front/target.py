"""Targets stated in Python."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recipe_compiler.front.document import Document
from recipe_compiler.spec import model
from recipe_compiler.spec.python import state_target


class Target(Document):
    """A statistical model: U = -log_prior - sum_n log_likelihood_n, or a `potential` U, or code for grad U, alone.

    Parameters
    ----------
    name : str
        An ASCII identifier.
    state : sequence of Expression
        Its blocks, each with a `domain` and, where that is bounded, perhaps a `transform`.
    potential : formula, optional
        U itself.
    log_prior : formula, optional
        A formula of the state alone.
    log_likelihood : formula, optional
        That of ONE datum, whose fields `data` declares.
    recursion : mapping, optional
        State that passes from row to row to its formulas: `{e: {"start": 0, "next": y - mu - theta*e}}`. The log
        likelihood of a row, and `next`, read the states as they are before it.
    data : sequence of Expression
        Fields of the data, made by `recipe_compiler.data`.
    gradient : str, optional
        `my_gradient.py:grad_U`: code of which nothing is proved.
    parameters : sequence of Expression
        Objects whose names texts use and no other object declares.
    assume : sequence of comparisons
        What parameters satisfy.
    laws : mapping, optional
        Block to its law given all others, as text: `{tau: "Gamma(a + N/2, b + norm2(y - mu*ones)/2)"}`. It is decided.
    derived : mapping, optional
        Name to what is computed from every draw, a formula of blocks, parameters and sizes: `{"theta": mu + tau*eta}`.
        It is beside the blocks in the draws and their summary.
    title, references : str, sequence of str
        As of `Dynamics`.

    Raises
    ------
    SpecError, ModelError
        As of `Dynamics`.

    Examples
    --------
    >>> theta = vector("theta", "d")
    >>> x, y = data("x", "N", "d"), data("y", "N", values=[0, 1])
    >>> Target(name="logistic", state=[theta], data=[x, y], log_prior=-theta.T @ theta / 20,
    ...        log_likelihood=y * (x @ theta) - softplus(x @ theta))
    <Target logistic>
    """

    document: model.Target

    def __init__(
        self,
        *,
        name: str,
        state: Sequence[object],
        potential: object = None,
        log_prior: object = None,
        log_likelihood: object = None,
        data: Sequence[object] = (),
        gradient: str | Path | None = None,
        parameters: Sequence[object] = (),
        assume: Sequence[object] = (),
        laws: Mapping[Any, str] | None = None,
        derived: Mapping[Any, object] | None = None,
        recursion: Mapping[Any, Mapping[str, object]] | None = None,
        title: str = "",
        references: Sequence[str] = (),
    ) -> None:
        made = state_target(
            name=name, state=state, potential=potential, log_prior=log_prior, log_likelihood=log_likelihood, data=data,
            gradient=gradient, parameters=parameters, assume=assume, laws=laws, derived=derived,
            recursion=recursion, title=title, references=references,
        )  # fmt: skip
        object.__setattr__(self, "document", made)

    def to_latex(self) -> str:
        """Return what states U as one `align*` environment (needs amsmath)."""
        from recipe_compiler.front.document import of_target

        return of_target(self.document)

    _repr_latex_ = to_latex
