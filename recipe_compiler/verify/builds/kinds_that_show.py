"""What a user could declare so that more of a target is shown to be defined: signs, constraints, an order of data."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from recipe_compiler import limits
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Domain, Parameter
from recipe_compiler.formula.expression import Compare, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind

SIGNS = frozenset({Kind.POSITIVE, Kind.NONNEGATIVE})

Field = Block | Datum | Parameter
Opened = Callable[[Declarations], Obligations]


def suggest_kinds(opened: Opened, declarations: Declarations) -> Iterator[str]:
    """Yield declarations that are not made and would show more, each with what it would show.

    Args:
        opened: what is open under declarations.
        declarations: as they are.
    """
    left = opened(declarations).open
    fields = [x for x in (*declarations.data, *declarations.parameters, *declarations.blocks) if _has_no_sign(x)]
    if not left or not fields or len(fields) > limits.CASES:
        return
    for kind in (Kind.NONNEGATIVE, Kind.POSITIVE):
        named = _minimise_fields(opened, declarations, fields, kind)
        signed = _declare_kind(declarations, named, kind)
        still = opened(signed).open
        if len(still) < len(left):
            stated = ", ".join(f"`{field.name}: {{{_format_declaration(field, kind)}}}`" for field in named)
            yield f"{stated} would show {_join_gained(left, still)}"
            declarations, left = signed, still
    for small, large in permutations([x.name for x in fields if isinstance(x, Datum) and x.shape == SCALAR], 2):
        order = Compare("<=", *(Symbol(name, SCALAR, Role.DATUM) for name in (small, large)), SCALAR)
        still = opened(replace(declarations, assume=(*declarations.assume, order))).open if left else left
        if len(still) < len(left):
            yield f'`assume: ["{small} <= {large}"]` would show {_join_gained(left, still)}'
            left = still


def _join_gained(left: Sequence[str], still: Sequence[str]) -> str:
    return "; ".join(what for what in left if what not in still)


def _format_declaration(field: Field, kind: Kind) -> str:
    return "constraint: positive" if isinstance(field, Block) else f"is: {kind.value}"


def _has_no_sign(field: Field) -> bool:
    if isinstance(field, Block):
        return field.domain.name is DomainName.REAL and field.constraint is None
    if isinstance(field, Datum):
        return not field.values and not field.is_index and not SIGNS & set(field.known)
    return field.value is None and len(field.shape.sizes) < 2 and not SIGNS & set(field.kinds)


def _minimise_fields(opened: Opened, declarations: Declarations, fields: Sequence[Field], kind: Kind) -> list[Field]:
    """Return a minimal set of fields whose kinds prove as much as the kinds of all."""
    kept = list(fields)
    least = len(opened(_declare_kind(declarations, kept, kind)).open)
    for field in fields:
        others = [one for one in kept if one is not field]
        if len(opened(_declare_kind(declarations, others, kind)).open) == least:
            kept = others
    return kept


def _declare_kind(declarations: Declarations, fields: Sequence[Field], kind: Kind) -> Declarations:
    names = {field.name for field in fields}
    data = (replace(x, kinds=_replace_sign(x.kinds, kind)) if x.name in names else x for x in declarations.data)
    parameters = (
        replace(x, kinds=_replace_sign(x.kinds, kind)) if x.name in names else x for x in declarations.parameters
    )
    positive = Domain(DomainName.POSITIVE)
    blocks = (replace(x, domain=positive) if x.name in names else x for x in declarations.blocks)
    return replace(declarations, data=tuple(data), parameters=tuple(parameters), blocks=tuple(blocks))


def _replace_sign(kinds: tuple[Kind, ...], kind: Kind) -> tuple[Kind, ...]:
    return (*(one for one in kinds if one is not Kind.REAL and one not in SIGNS), kind)
