"""The draw of a block of the target from the law that the target claims for it, as a move of a Program."""

from collections.abc import Mapping

from recipe_compiler.derive.conditional import apply_precision
from recipe_compiler.derive.law_energies import precision
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Apply, Formula
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.by_datum import ByDatum, by_datum
from recipe_compiler.program.combine import fresh, unsupported
from recipe_compiler.program.lower_draw import is_computed
from recipe_compiler.program.program import SLICES, Draw, Gradient
from recipe_compiler.program.rename import renamed
from recipe_compiler.scheme.quotients import without_overflow
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import ByLaw, Cir, Law, Slices, Target
from recipe_compiler.spec.model import Draw as StatedDraw
from recipe_compiler.spec.places import placed
from recipe_compiler.spec.transform import value
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor


def draw(target: Target, move: ByLaw, gradient: Gradient, newest: Mapping[str, str], declared: frozenset[str]) -> Draw:
    """Return the draw of a block of the target from its claimed law, at the newest value of the potential's block.

    For a Gamma law it may also be the exact flow that keeps it, dg = (a - b g) dt + sqrt(2 g) dW (Cox, Ingersoll, Ross
    1985); with minibatches its shape a is then estimated from one.

    Args:
        target: in unbounded variables where it has a transform.
        move: of the block, as the target declares it.
        gradient: of the target at the potential's block: it says where the blocks of the target are.
        newest: block to its newest value.
        declared: every name of the user's.

    Raises:
        ModelError: a law that no emitted step draws from.
    """
    name, laws = move.block, dict(target.as_declared.laws)
    stated = target.as_declared.declarations.blocks
    own = next(k for k, block in enumerate(stated) if block.name == name)
    via = {one.block.name: one.via for one in target.transforms}.get(name, stated[own].constraint or "")
    law = laws[name]
    slices = move.slices if isinstance(move, StatedDraw) else None
    own_name = "CIR" if isinstance(move, Cir) else law.name if slices is None else SLICES
    if not is_computed(own_name, via):
        how = f" of a block in the variable {via}" if via else ""
        raise unsupported(f"a draw from {law.name}{how}", "move the block by a word")
    theta, places = gradient.block, tuple((part.block, part.start) for part in gradient.parts)
    names = {block.name: place.name for block, (place, _) in zip(target.declarations.blocks, places, strict=True)}
    with placed(target.source, f"laws.{name}"):
        parameters, by_precision = _parameters(target, law, stated[own])
        parameters = parameters if slices is None else _sliced(target, parameters[0], slices, stated[own])
        estimated = _estimated(target, move, parameters[0]) if gradient.minibatch else None

    old = newest[theta.name]
    if estimated is not None:
        parameters = (estimated.fixed, *parameters[1:])
    return Draw(
        theta,
        old,
        fresh(f"{theta.name}_{name}", declared | {*newest.values()}),
        places,
        places[own][0],
        name,
        own_name,
        tuple(renamed(parameter, names) for parameter in parameters),
        by_precision,
        via,
        None if estimated is None else renamed(estimated.datum, names),
        None if estimated is None else target.declarations.data[0].size,
        reported=fresh(f"too_few_{name}", declared) if slices is not None and slices.left is not None else "",
    )


def _estimated(target: Target, move: ByLaw, shape: Tensor) -> ByDatum | None:
    """Return the shape of a Gamma law by datum, None where it holds no data.

    Raises ModelError where it is no sum over the data.
    """
    fields = frozenset(field.name for field in target.declarations.data)
    if not fields & names_of(shape):
        return None
    found = by_datum(shape, fields) if isinstance(move, Cir) else None
    if found is None:
        problem = f"a shape of {move.block} that is no sum over the data, from a minibatch"
        raise unsupported(problem, "state it as one, as `a*ones + z.T @ ones`, or take `variant: full`")
    return found


def _parameters(target: Target, law: Law, block: Block) -> tuple[tuple[Tensor, ...], bool]:
    """Return the parameters of a law in index notation, as stated, and whether they are u and P of a normal one."""
    arguments, by_precision = law.arguments, False
    plain = of_all_data(target.as_declared.declarations)
    if law.name == "N" and block.shape != SCALAR:
        m, cov = arguments
        by_precision = isinstance(cov, Apply) and cov.fn == "inv"
        arguments = (apply_precision(m, cov, precision(cov), plain), precision(cov)) if by_precision else arguments
    return tuple(_lowered(target, argument, block) for argument in arguments), by_precision


def _sliced(target: Target, logits: Tensor, slices: Slices, block: Block) -> tuple[Tensor, ...]:
    """Return logits less log w, log w, and the logarithm of what no place holds where levels below it are counted."""
    rules = calculus(of_all_data(target.declarations), stated=True)
    log_weights, *left = (_lowered(target, formula, block) for formula in slices.formulas)
    return (rules.subtract(logits, log_weights), log_weights, *left)


def _lowered(target: Target, formula: Formula, block: Block) -> Tensor:
    """Return a parameter in index notation; of a column beside a matrix its index is that of the places of a row."""
    declarations = of_all_data(target.declarations)
    own = substitute(formula, {one.block.name: value(one) for one in target.transforms})
    labels = "ij"[max(0, len(block.shape.sizes) - len(own.shape.sizes)) :]
    slots = tuple(Index(size, label) for size, label in zip(own.shape.sizes, labels, strict=False))
    return without_overflow(calculus(declarations, stated=True), convert(own, declarations, *slots, stated=True))
