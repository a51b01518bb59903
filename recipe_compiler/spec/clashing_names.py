"""Names of a sampler and of its target live apart: what both call `mu`, `c`, `r` or `d` keeps that name in the target.

The block, function, parameter or size of the dynamics gets another one in that build, with an underscore behind it. The
keys of `bind`, and what a scheme says of blocks, are names of the dynamics, so there the old one means it; under
`parameters` and `init` it does so where the target has no parameter, or block, of that name. A build whose documents
share no name is left as it is.
"""

import re
from collections.abc import Iterable
from collections.abc import Mapping as Table
from dataclasses import replace

from recipe_compiler.formula.declaration import Block, Parameter
from recipe_compiler.formula.expression import Formula, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.bind import put_in, replacing
from recipe_compiler.spec.build_checks import coordinates, potential_blocks
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.spec.yaml_nodes import Mapping, Scalar, rewritten

NOT_OF_BLOCKS = ("name", "use", "split", "keep", "draw", "slice", "left", "cir", "code", "keeps", "steps", "every")
"""Entries of a scheme that name no block of the dynamics."""
BY_BLOCK = ("refresh", "flip", "involution", "of", "scale")
"""Those whose keys are blocks of the dynamics."""

Renamed = Table[str, str]


def other_names(root: Mapping, dynamics: Dynamics, target: Target, *, with_blocks: bool = True) -> Renamed:
    """Return what names of the dynamics are in a build whose target has names of its own.

    Args:
        root: the build's document.
        dynamics: the sampler.
        target: what it samples.
        with_blocks: whether its blocks and functions may be renamed, too.
    """
    mine, theirs = dynamics.declarations, target.declarations
    sampled = theirs.names.union(state.block.name for state in target.recursion)
    names = sampled.union(target.as_declared.declarations.names)
    shared = {block.name for block in potential_blocks(dynamics)}.intersection(block.name for block in theirs.blocks)
    clashes = [item.name for item in mine.parameters if item.name in names]
    clashes += [x for x in mine.sizes if x in names.difference(theirs.sizes) or _is_another(x, dynamics, target)]
    if with_blocks:
        clashes += [block.name for block in mine.blocks if block.name in sampled - shared]
        clashes += [function.name for function in mine.functions if function.name in names]
    taken = {*names, *mine.names}
    valued, settled = _keys(root, "parameters"), {*_keys(root, "bind"), *_keys(root, "parameters")}
    found: dict[str, str] = {}
    for name in clashes:
        other = f"{name}_"
        while other in taken or (other in valued and (name in settled or _is_declared(root, other))):
            other += "_"
        found[name] = other
        taken.add(other)
    return found


def _is_another(size: str, dynamics: Dynamics, target: Target) -> bool:
    """Whether a size of the target is not that of the dynamics of the same name: its blocks are longer together."""
    long = any(block.shape.rows == size for block in potential_blocks(dynamics))
    return long and size in target.declarations.sizes and coordinates(target.declarations.blocks, {}) != size


def _is_declared(root: Mapping, name: str) -> bool:
    """Whether a build declares a parameter of its own: it states more than a value."""
    section = root.get("parameters")
    entry = section.get(name) if isinstance(section, Mapping) else None
    return isinstance(entry, Mapping) and any(entry.get(key) is not None for key in ("shape", "is"))


def _keys(root: Mapping, section: str) -> tuple[str, ...]:
    node = root.get(section)
    return tuple(key.text for key, _ in node.entries) if isinstance(node, Mapping) else ()


def renamed(dynamics: Dynamics, names: Renamed, numbers: Table[str, Number] | None = None) -> Dynamics:
    """Return dynamics whose blocks, functions, parameters and sizes have other names, or sizes that are numbers."""
    declared = dynamics.declarations
    replacements: dict[str, Formula] = {old: Symbol(new, SCALAR, Role.SIZE) for old, new in names.items() if old != new}
    replacements |= numbers or {}
    for role, items in ((Role.PARAMETER, declared.parameters), (Role.BLOCK, declared.blocks)):
        replacements |= {x.name: Symbol(names[x.name], x.shape, role) for x in items if x.name in names}
    replacements |= {f.name: new for f in declared.functions if (new := f.value.called(names)) != f.value}
    return put_in(dynamics, replace(replacing(replacements), name=lambda name: names.get(name, name)))


def with_names(root: Mapping, names: Renamed, dynamics: Dynamics, target: Target) -> Mapping:
    """Return a build's document that names what the dynamics declare as the build has it."""
    started = (*target.as_declared.declarations.blocks, *target.declarations.blocks)
    blocks = [item.name for item in (*dynamics.declarations.blocks, *dynamics.declarations.own_functions)]
    valued = _without(names, target.declarations.parameters)
    keys = {"bind": names, "parameters": valued, "init": _without(names, started)}
    in_formulas = {old: new for old, new in valued.items() if old in blocks}

    def new(scalar: Scalar, path: tuple[str, ...], is_key: bool) -> Scalar:
        section, *inner = path or ("",)
        if section == "scheme":
            of = next((key for key in inner if key in NOT_OF_BLOCKS or key in BY_BLOCK), "")
            if of in NOT_OF_BLOCKS or (is_key and of not in BY_BLOCK) or (of == "of" and not is_key):
                return scalar
            return _renamed(scalar, names)
        if is_key:
            return scalar if inner else _renamed(scalar, keys.get(section, {}))
        return _renamed(scalar, in_formulas) if section in ("bind", "gradient_noise") else scalar

    return rewritten(root, new)


def _without(names: Renamed, items: Iterable[Parameter | Block]) -> Renamed:
    own = {item.name for item in items}
    return {old: new for old, new in names.items() if old not in own}


def _renamed(scalar: Scalar, names: Renamed) -> Scalar:
    """Return a name, or a formula, with names replaced."""
    text = re.sub(r"[^\W\d]\w*", lambda found: names.get(found[0], found[0]), scalar.text, flags=re.ASCII)
    return scalar if text == scalar.text else replace(scalar, text=text, formula=None)
