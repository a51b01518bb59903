"""Control variates around a mode: the minibatch estimates differences of gradients, which are small near it.

With g_i the gradient of -log likelihood of datum i and p that of -log prior,

    p(theta) - p(theta_mode) + grad U(theta_mode) + (N/n) sum_{i in batch} (g_i(theta) - g_i(theta_mode)),

unbiased for grad U(theta) whatever theta_mode is (Baker, Fearnhead, Fox, Nemeth 2019), the prior taken exactly.
theta_mode and grad U(theta_mode) are parameters of the step: they are found once, before a run.
"""

from dataclasses import replace
from fractions import Fraction

from recipe_compiler.program.atoms import replace_atoms
from recipe_compiler.program.combine import unsupported
from recipe_compiler.program.program import Gradient
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Index, Tensor, Term

ONE = Fraction(1)


def with_control_variates(gradient: Gradient, mode: str, at_mode: str) -> Gradient:
    """Return the gradient as differences to that at `mode`, a vector at which the full gradient is `at_mode`."""
    if gradient.count is None:
        return gradient
    if gradient.stacked or gradient.code:
        what = "a target of several blocks or of a matrix" if gradient.stacked else "a gradient that is code"
        raise unsupported(f"control variates of {what}", "leave them out, or state the target as one vector block")
    (part,) = gradient.parts
    place = tuple(Index(size, "i") for size in gradient.block.shape.sizes)
    known = Term(ONE, ((Component(at_mode, place), ONE),))
    part = part.mapped(lambda tensor: Tensor(tensor.free, _difference(tensor, gradient.block.name, mode)))
    prior, stated = (Tensor(place, (*tensor.terms, known)) for tensor in (part.prior, part.stated_prior))
    return replace(gradient, parts=(replace(part, prior=prior, stated_prior=stated),))


def _difference(tensor: Tensor, block: str, mode: str) -> tuple[Term, ...]:
    """Return the terms of a tensor less those at the mode; terms without the block cancel, exactly."""

    def rule(atom: Atom) -> Atom:
        match atom:
            case Coordinate(name, at) if name == block:
                return Component(mode, at)
            case _:
                return atom

    moved = replace_atoms(tensor, rule)
    pairs = [(here, there) for here, there in zip(tensor.terms, moved.terms, strict=True) if here != there]
    return tuple(term for here, there in pairs for term in (here, Term(-there.coefficient, there.factors)))
