"""The faces of the state's domain, and how exp(-H), D and Q behave there: exponents in the distance y to the face."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.structure.asymptotics import (
    Edge,
    EdgeDensity,
    NotEntrywiseError,
    NotExpandedError,
    density,
    entry,
)
from recipe_compiler.algebra.structure.psd import sign
from recipe_compiler.algebra.structure.regularity import critical
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Formula,
    FunctionAt,
    MatMul,
    Multiply,
    Number,
    Role,
)
from recipe_compiler.formula.expression import Symbol as Name
from recipe_compiler.formula.shapes import DomainName, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.verify.core.kinks import lipschitz
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.core.subject import Subject

ONE = Fraction(1)

Y = Symbol("(y)", positive=True)
"""The distance to a face; no declared name can be this."""


class NotKnownError(Exception):
    """The behaviour of something at a face is not known; the message names it, as the verdict will."""


@dataclass(frozen=True, slots=True)
class Face:
    """A face of the domain of one block: `theta = 0`, `theta = b`, or `sum(theta) = 1` of a simplex."""

    block: Block
    number: int
    says: str
    edge: Edge

    @property
    def is_total(self) -> bool:
        """Whether it is the face on which the coordinates of a simplex sum to 1."""
        return self.edge.total is not None


def bounded(declarations: Declarations) -> tuple[Block, ...]:
    """Return the blocks whose domain has a boundary: neither the real line nor a circle."""
    inner = {DomainName.REAL, DomainName.CIRCLE}
    return tuple(block for block in declarations.blocks if block.domain.name not in inner)


def faces(declarations: Declarations) -> Iterator[Face]:
    """Yield the faces of all bounded blocks; one face stands for all coordinates of a block.

    y > 0 is the distance: theta = y at the face `theta = 0`, theta = b - y at the upper end b of an interval, and
    sum(theta) = 1 - y at the last face of a simplex.

    Raises:
        NotKnownError: an end of an interval depends on the state.
    """
    for number, block in enumerate(declarations.blocks):
        if block not in bounded(declarations):
            continue
        if block.domain.name is DomainName.INTERVAL:
            low, high = (_constant(edge, declarations, block) for edge in block.domain.bounds)
            yield Face(block, number, f"{block.name} = {low}", Edge(block.name, Y, low + Y))
            yield Face(block, number, f"{block.name} = {high}", Edge(block.name, Y, high - Y))
            continue
        yield Face(block, number, f"{block.name} = 0", Edge(block.name, Y, Y))
        if block.domain.name is DomainName.SIMPLEX:
            inside = Symbol(f"{block.name}[]", positive=True)
            yield Face(block, number, f"sum({block.name}) = 1", Edge(block.name, Y, inside, 1 - Y))


def _constant(formula: Formula, declarations: Declarations, block: Block) -> Expr:
    if depends_on_state(formula):
        raise NotKnownError(f"the domain of {block.name} depends on the state")
    try:
        return entry(formula, declarations, Edge("", Y, Y))
    except NotEntrywiseError:
        raise NotKnownError(f"the end {text(formula)} of the domain of {block.name}") from None


def density_at(subject: Subject, face: Face) -> tuple[EdgeDensity, bool, frozenset[str]]:
    """Return the behaviour of p = exp(-H) at a face, whether it is exact or an upper bound, and the facts it rests on.

    p ~ y**e at distance y, times exp(-c/y**k) where there is a barrier. For H = theta - (a - 1) log(theta) at theta = 0
    the exponent is e = a - 1; a term 1/theta makes p fall faster than every power (`barrier` 1). Only singular terms of
    H matter; each must be a sum of functions of one coordinate, or be bounded below by one: for w, v >= 0, sum(w)
    log(sum(v)) >= sum(w log(v)), which gives a bound of p instead of its exact behaviour.

    Raises:
        NotKnownError: a term that is neither bounded at the face nor a sum over coordinates, or an exponent that
            depends on the state.
    """
    declarations = subject.dynamics.declarations
    singular: Expr = sympy.Integer(0)
    exact = True
    given = frozenset[str]()
    for factor, term in _terms(subject.whole.H):
        if is_bounded(term, declarations, face):
            continue
        below, reasons = _below(term, declarations) if factor > 0 and not face.is_total else (None, frozenset[str]())
        exact = exact and below is None
        given |= reasons
        own = _separated(below or term, declarations, face)
        if states(own, bounded(declarations)):
            raise NotKnownError(f"{text(term)} at {face.says}: it joins several bounded coordinates")
        singular += factor * own
    try:
        found = density(singular, Y)
    except NotExpandedError as reason:
        raise NotKnownError(f"exp(-H) at {face.says}: {str(reason).replace('(y)', 'y')}") from None
    for e in (found.exponent, found.barrier or sympy.Integer(0)):
        if states(e, declarations.blocks):
            raise NotKnownError(f"exp(-H) at {face.says}: its exponent {e} depends on the state")
    return found, exact, given


def written(e: Expr) -> str:
    """Return an exponent as text, without the positions: the exponents of all coordinates are alike."""
    return str(e).replace("[0]", "").replace("(y)", "y")


def states(e: Expr, blocks: tuple[Block, ...]) -> set[Symbol]:
    """Return the coordinates of some blocks in an expression."""
    names = {block.name for block in blocks}
    return {s for s in e.free_symbols if isinstance(s, Symbol) and s.name.partition("[")[0] in names}


def _below(term: Formula, declarations: Declarations) -> tuple[Formula | None, frozenset[str]]:
    """Return `sum(w log(v))`, a lower bound of `sum(w) log(sum(v))` for nonnegative w and v; None for other terms."""
    match term:
        case Multiply(Apply("sum", (w,)), Apply("log", (Apply("sum", (v,)),))) if w.shape == v.shape:
            of_w, of_v = sign(w, declarations), sign(v, declarations)
            if depends_on_state(w) or not (of_w.nonnegative and of_v.nonnegative):
                return None, frozenset()
            each = Multiply(w, Apply("log", (v,), v.shape), v.shape)
            return Apply("sum", (each,), Shape()), of_w.given | of_v.given
        case _:
            return None, frozenset()


def _terms(formula: Formula, factor: Fraction = ONE) -> Iterator[tuple[Expr, Formula]]:
    """Yield a sum term by term, with rational factors."""
    match formula:
        case Add(parts):
            for part in parts:
                yield from _terms(part, factor)
        case Multiply(Number(value), other) | Multiply(other, Number(value)):
            yield from _terms(other, factor * value)
        case Apply("sum", (Add(parts, _),), shape):
            for part in parts:
                yield from _terms(Apply("sum", (part,), shape), factor)
        case _:
            yield rational(factor), formula


def _separated(term: Formula, declarations: Declarations, face: Face) -> Expr:
    """Return what a coordinate near the face gives to a term of H; those that stay inside give what is bounded."""
    try:
        match term:
            case Apply("sum", (arg,)) if face.is_total:
                return _inside(arg)
            case Apply("sum", (arg,)):
                return entry(arg, declarations, face.edge)
            case Apply("norm2", (arg,)):
                return entry(arg, declarations, face.edge) ** 2
            case Apply("dot", (left, right)):
                return entry(left, declarations, face.edge) * entry(right, declarations, face.edge)
            case Multiply(left, right) if not depends_on_state(left):
                return entry(left, declarations, face.edge) * _separated(right, declarations, face)
            case Multiply(left, right) if not depends_on_state(right):
                return entry(right, declarations, face.edge) * _separated(left, declarations, face)
            case MatMul(left, right) if not term.shape.sizes and left.shape.rows is None:
                return entry(left, declarations, face.edge) * entry(right, declarations, face.edge)
            case _ if not any(isinstance(n, Name) and n.role is Role.BLOCK and n.shape.sizes for n in nodes(term)):
                return entry(term, declarations, face.edge)
            case _ if face.is_total:
                return entry(term, declarations, face.edge)
            case _ if face.block.domain.name is DomainName.SIMPLEX:
                return _at_other_face(term, declarations, face)
            case _:
                raise NotEntrywiseError
    except NotEntrywiseError:
        raise NotKnownError(f"{text(term)} at {face.says}") from None


def _at_other_face(term: Formula, declarations: Declarations, face: Face) -> Expr:
    """Return zero for a function of 1 - sum(w) that is singular at 0 only: it belongs to the last face of the simplex.

    Faces that meet have independent normals, so that a product of powers above -1 of the distances is integrable.
    """
    e = entry(term, declarations, Edge(face.block.name, Y, sympy.nan, 1 - Y))
    if any(not (u / Y).is_number for u in critical(e, Y)):
        raise NotEntrywiseError
    return sympy.Integer(0)


def _inside(arg: Formula) -> Expr:
    """Return what a sum over coordinates gives at the last face of a simplex, where each is inside: zero."""
    if any(isinstance(n, Apply) and n.fn == "sum" for n in nodes(arg)) or any(
        isinstance(n, MatMul) for n in nodes(arg)
    ):
        raise NotEntrywiseError
    return sympy.Integer(0)


def is_bounded(formula: Formula, declarations: Declarations, face: Face) -> bool:
    """Return whether |F| <= C near a face is proved: F is defined and Lipschitz on the closed domains of all blocks.

    An abstract function of the block is never proved to be bounded.
    """
    if any(isinstance(n, FunctionAt) and face.block.name in n.of for n in nodes(formula)):
        return False
    return not lipschitz((formula,), closed(declarations)).premises.open


def closed(declarations: Declarations) -> Declarations:
    """Return declarations in which bounded blocks are parameters that may also take the values on the boundary."""
    at = tuple(Parameter(block.name, block.shape, (_closed_kind(block),)) for block in bounded(declarations))
    others = tuple(block for block in declarations.blocks if block not in bounded(declarations))
    return replace(declarations, blocks=others, parameters=(*declarations.parameters, *at))


def _closed_kind(block: Block) -> Kind:
    """Return the sign that coordinates of a block have on the closure of its domain."""
    if not block.domain.bounds:
        return Kind.NONNEGATIVE
    low = block.domain.bounds[0]
    if not isinstance(low, Number) or low.value < 0:
        return Kind.REAL
    return Kind.POSITIVE if low.value > 0 else Kind.NONNEGATIVE
