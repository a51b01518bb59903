"""Lowering of explicit shifts: new = old + eps rate + noise, or T(new) = T(old) + eps rate + noise."""

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.program.atoms import indices
from recipe_compiler.program.combine import entry_at, nested, plus, times
from recipe_compiler.program.contraction import at_loops, filled, scalar
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Body,
    Call,
    Comment,
    Constant,
    Increment,
    Raise,
    Ref,
    Scalar,
    Times,
)
from recipe_compiler.program.lowered_noise import LoweredNoise
from recipe_compiler.program.program import EPS, Shift
from recipe_compiler.tensor.atoms import ONE
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Component, Tensor, Term


def lower_shift(defined: Definitions, shift: Shift, noise: LoweredNoise | None, *, gathered: bool) -> Body:
    """Return the loop that shifts a block, T(new) = T(old) + eps rate + noise, and what it reads beside the state.

    Args:
        defined: the definitions so far.
        shift: not an implicit one.
        noise: of its group of blocks, if it has any.
        gathered: whether the constants of a term and eps are one factor, computed before the chain.
    """
    loops = defined.loops(shift.block.shape.sizes)
    at, place = entry_at(loops), "[i]" if loops else ""
    change = shift.rate
    if shift.image:
        says = Comment(f"{shift.new}{place} = {text(shift.rate)}")
        return (says, *filled(defined, shift.new, change, loops))
    if gathered:
        change = _gathered(defined, change)
    moved = at_loops(defined, change, loops)
    start = _forward(shift.transform, Ref(shift.old, at))
    parts: list[Scalar] = [start, moved if gathered else Times((Ref(EPS), moved))]
    inside: Body = ()
    if noise is not None:
        parts += [increment for name, increment in noise.increments if name == shift.block.name]
        inside = tuple(s for name, body in noise.inside if name == shift.block.name for s in body)
    words = "" if noise is None else " + noise"
    new, old = (f"{name}{place}" for name in (shift.new, shift.old))
    if shift.transform is not None:
        new, old = shift.transform.says(new), shift.transform.says(old)
    says = Comment(f"{new} = {old} + eps*({text(shift.rate)}){words}")
    store = Assign(Ref(shift.new, at), _inverse(shift.transform, plus(tuple(parts))))
    return (says, *nested(loops, (*inside, store)))


def add_noise(defined: Definitions, block: Block, value: str, noise: LoweredNoise) -> Body:
    """Return the loop that adds a draw for a block to a value of its shape."""
    loops = defined.loops(block.shape.sizes)
    inside = (statement for _, body in noise.inside for statement in body)
    added = (Increment(Ref(value, entry_at(loops)), increment) for _, increment in noise.increments)
    return (Comment(f"{value} += noise"), *nested(loops, (*inside, *added)))


def _gathered(defined: Definitions, rate: Tensor) -> Tensor:
    """Return eps rate with the constants of each term, and eps, gathered in one factor that `prepare` computes."""
    terms: list[Term] = []
    for term in rate.terms:
        fixed = tuple(f for f in term.factors if defined.is_constant(f[0]) and not indices(f[0]))
        meant = Tensor((), (Term(term.coefficient, ((Component(EPS), ONE), *fixed)),))
        name = defined.name_of(meant)
        if name is None:
            value = scalar(defined, meant, (), {})
            name = defined.naming("step_factor")
            defined.having(Array(name), (Assign(Ref(name), value),), constant=True, meant=meant)
        moving = tuple(f for f in term.factors if f not in fixed)
        terms.append(Term(ONE, ((Component(name), ONE), *moving)))
    return Tensor(rate.free, tuple(terms))


def _forward(transform: Transform | None, x: Scalar) -> Scalar:
    """Return T(x) = log x, x**c or exp(c x) as a scalar expression; x if there is no transform."""
    if transform is None:
        return x
    c = transform.number
    match transform.family:
        case Family.LOG:
            return Call("log", (x,))
        case Family.POWER:
            return Raise(x, c)
        case Family.EXP:
            return Call("exp", (times(c, (x,)),))


def _inverse(transform: Transform | None, y: Scalar) -> Scalar:
    """Return the x with T(x) = y as a scalar expression, not a number if there is none; y if there is no transform."""
    if transform is None:
        return y
    c = transform.number
    match transform.family:
        case Family.LOG:
            return Call("inverse_log", (y,))
        case Family.POWER:
            return Call("inverse_power", (y, Constant(1 / c)))
        case Family.EXP:
            return Call("inverse_exp", (y, Constant(c)))
