"""Targets from Python objects."""

from collections.abc import Sequence
from pathlib import Path

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declared import Declared
from recipe_compiler.spec import model
from recipe_compiler.spec.python_nodes import Statement
from recipe_compiler.spec.read_target import read_target
from recipe_compiler.spec.yaml_nodes import Node


def state_target(
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
    title: str = "",
    references: Sequence[str] = (),
) -> model.Target:
    """Return the target that `recipe_compiler.Target` states; arguments and errors are those given there."""
    s = Statement()
    blocks, fields = s.state(state), s.declared(*data)
    used = s.declared(*parameters, *state, potential, log_prior, log_likelihood, *assume)
    own = {item.name for item in (*blocks, *fields)} | {
        size for item in (*blocks, *fields) for size in item.shape.sizes
    }
    root = s.mapping(
        format=1,
        name=name,
        title=title or None,
        references=list(references) or None,
        state={block.name: s.block(block) for block in blocks} or None,
        data={field.name: _field(s, field) for field in fields} or None,
        parameters={i.name: s.parameter(i) for i in used if i.of is None and i.name not in own} or None,
        assume=list(assume) or None,
        potential=potential,
        log_prior=log_prior,
        log_likelihood=log_likelihood,
        gradient=gradient,
    )
    made = read_target(root, s.file, s.faults)
    s.raise_faults()
    if made is None:
        raise ModelError([Fault(s.where, "document", "found no target, expected one")])
    return made


def _field(s: Statement, field: Declared) -> Node:
    return s.mapping(shape=field.shape, in_=list(field.values) or None)
