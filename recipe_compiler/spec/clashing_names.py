"""Names of a sampler and of its target live apart: what both call `mu`, `c` or `d` keeps that name in the target.

The parameter, or size, of the dynamics gets another one in that build, with an underscore behind it. The keys of `bind`
are names of the dynamics, so there the old one means it; under `parameters` it does so where the target has no
parameter of that name. A build whose documents share no name is left as it is.
"""

from collections.abc import Mapping as Table
from dataclasses import replace

from recipe_compiler.formula.expression import Formula, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.bind import replaced
from recipe_compiler.spec.build_checks import coordinates, potential_blocks
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.spec.yaml_nodes import Mapping, Node, Scalar

Renamed = Table[str, str]


def other_names(root: Mapping, dynamics: Dynamics, target: Target) -> Renamed:
    """Return what parameters and sizes of the dynamics are called in a build whose target has names of its own."""
    mine, theirs = dynamics.declarations, target.declarations
    names = {item.name for group in (theirs.blocks, theirs.parameters, theirs.data) for item in group}
    names |= {state.block.name for state in target.recursion}
    clashes = [item.name for item in mine.parameters if item.name in {*names, *theirs.sizes}]
    clashes += [size for size in mine.sizes if size in names or _is_another(size, dynamics, target)]
    items = (*mine.blocks, *mine.parameters, *mine.functions)
    taken = {*names, *theirs.sizes, *mine.sizes, *(item.name for item in items), *_keys(root, "parameters")}
    found: dict[str, str] = {}
    for name in clashes:
        other = f"{name}_"
        while other in taken:
            other += "_"
        found[name] = other
        taken.add(other)
    return found


def _is_another(size: str, dynamics: Dynamics, target: Target) -> bool:
    """Whether a size of the target is not that of the dynamics of the same name: its blocks are longer together."""
    long = any(block.shape.rows == size for block in potential_blocks(dynamics))
    return long and size in target.declarations.sizes and coordinates(target.declarations.blocks, {}) != size


def _keys(root: Mapping, section: str) -> tuple[str, ...]:
    node = root.get(section)
    return tuple(key.text for key, _ in node.entries) if isinstance(node, Mapping) else ()


def renamed(dynamics: Dynamics, names: Renamed) -> Dynamics:
    """Return dynamics whose parameters and sizes have other names."""
    if not names:
        return dynamics
    shapes = {item.name: item.shape for item in dynamics.declarations.parameters}
    replacements: dict[str, Formula] = {
        old: Symbol(new, shapes[old], Role.PARAMETER) if old in shapes else Symbol(new, SCALAR, Role.SIZE)
        for old, new in names.items()
    }
    made = replaced(dynamics, replacements)
    parameters = (replace(item, name=names.get(item.name, item.name)) for item in made.declarations.parameters)
    units = tuple((names.get(name, name), unit) for name, unit in dynamics.units)
    return replace(made, declarations=replace(made.declarations, parameters=tuple(parameters)), units=units)


def with_keys(root: Mapping, names: Renamed, target: Target) -> Mapping:
    """Return a build's document whose keys name the parameters of the dynamics as the build has them."""
    own = {item.name for item in target.declarations.parameters}
    valued = {old: new for old, new in names.items() if old not in own}
    sections = {"bind": names, "parameters": valued}
    entries = tuple((key, _renamed(node, sections.get(key.text, {}))) for key, node in root.entries)
    return Mapping(entries, root.place) if names else root


def _renamed(node: Node, names: Renamed) -> Node:
    if not isinstance(node, Mapping):
        return node
    return Mapping(tuple((_key(key, names), value) for key, value in node.entries), node.place)


def _key(key: Scalar, names: Renamed) -> Scalar:
    return replace(key, text=names[key.text]) if key.text in names else key
