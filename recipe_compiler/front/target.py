"""Targets stated in Python."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from recipe_compiler.errors import shown
from recipe_compiler.formula.python_declaration import Declared
from recipe_compiler.front.document import Document
from recipe_compiler.spec import model
from recipe_compiler.spec.python_nodes import Statement, kinds_of, sizes_of
from recipe_compiler.spec.read_target import read_target
from recipe_compiler.spec.yaml_nodes import Node


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
    solve : mapping, optional
        Solution of an ordinary differential equation to its formulas, and how it is solved from row to row:
        `{z: {"start": 1, "slope": -k*z}, "times": t, "from": 0, "steps": 10, "method": "rk4"}`. The log likelihood of a
        row reads the solutions at the time of the row.
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
        solve: Mapping[Any, object] | None = None,
        title: str = "",
        references: Sequence[str] = (),
    ) -> None:
        s = Statement()
        assume, state = s.assumptions(assume), s.blocks(state)
        blocks, fields = s.state(state), s.declared(*data)
        stated_laws = s.keys("laws", laws, 'laws={tau: "Gamma(a, b)"}')
        formulas = s.keys("derived", derived, 'derived={"theta": mu + tau*eta}')
        passed = s.keys("recursion", recursion, f"recursion={_STATE}")
        equations = s.keys("solve", solve, f"solve={_SOLUTION}")
        method = {key: equations[key] for key in ("times", "from", "steps", "method") if key in equations}
        solved = {key: entry for key, entry in equations.items() if not (isinstance(key, str) and key in method)}
        states = dict(_row_states(s, "recursion", passed, _STATE))
        solutions = dict(_row_states(s, "solve", solved, _SOLUTION))
        rows = [formula for _, entry in (*states.values(), *solutions.values()) for formula in entry.values()]
        rows += [method["from"]] if "from" in method else []
        used = s.declared(*parameters, *state, potential, log_prior, log_likelihood, *assume, *formulas.values(), *rows)
        taken = {**dict.fromkeys(states, "a state of the recursion"), **{item.name: "a block" for item in blocks}}
        taken |= dict.fromkeys(solutions, "a solution")
        taken |= {item.name: "a field of the data" for item in fields}
        lengths = sizes_of(*blocks, *fields, *used)
        root = s.document(
            name,
            title,
            references,
            state={block.name: s.block(block) for block in blocks} or None,
            data={field.name: _field(s, field) for field in fields} or None,
            parameters={i.name: s.parameter(i) for i in s.parameters(parameters, used, taken, lengths)} or None,
            assume=list(assume) or None,
            potential=potential,
            recursion={name: s.row_state(item, entry) for name, (item, entry) in states.items()} or None,
            solve=_equations(s, solutions, method) if equations else None,
            log_prior=log_prior,
            log_likelihood=log_likelihood,
            gradient=gradient,
            laws=stated_laws or None,
            derived=formulas or None,
        )
        object.__setattr__(self, "document", s.read(lambda: read_target(root, s.file)))

    def to_latex(self) -> str:
        """Return what states U as one `align*` environment (needs amsmath)."""
        from recipe_compiler.front.document import of_target

        return of_target(self.document)

    _repr_latex_ = to_latex


_STATE = '{s: {"start": 1, "next": s/2 + y}}'
_SOLUTION = '{z: {"start": 1, "slope": -k*z}, "times": t, "from": 0, "steps": 10}'


def _equations(
    s: Statement, solutions: Mapping[str, tuple[Declared, Mapping[str, object]]], method: Mapping[str, object]
) -> Node:
    """Return what a document states of differential equations."""
    fields = {key: s.declared(own)[0].name for key, own in method.items() if key == "times" and s.declared(own)}
    entries = {name: s.row_state(item, entry) for name, (item, entry) in solutions.items()}
    return s.mapping(**entries, **{**method, **fields})


def _row_states(
    s: Statement, section: str, given: Mapping[str, object], example: str
) -> Iterator[tuple[str, tuple[Declared, Mapping[str, object]]]]:
    """Yield the states of a recursion, or solutions, by their names, each as declared, with its formulas."""
    for key, entry in given.items():
        named = s.declared(key)
        if len(named) != 1 or named[0].of is not None:
            problem = f"found `{shown(key)}`, expected a name with its shape"
            s.fault(section, problem, f'write `s = scalar("s")` and `{section}={{s: {{...}}}}`')
            continue
        name = named[0].name
        yield name, (named[0], s.keys(f"{section}.{name}", entry, example))


def _field(s: Statement, field: Declared) -> Node:
    kinds, values = kinds_of(field), list(field.values) or None
    return s.mapping(shape=field.shape, in_=values, is_=kinds, index_of=field.index_of)
