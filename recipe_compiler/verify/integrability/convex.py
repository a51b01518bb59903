"""Refuting a marginal by convexity, where the integral over what is left has no closed form.

If what is left of H less the stated energy is A(theta) Phi(a) + psi(a), the integral over a is Z(A), and
Z(t)**2 < Z(t - h) Z(t + h) for all t and h > 0 (Cauchy and Schwarz; strictly, since Phi is not constant). A constant
has equality. So the law of theta is the stated one only if A takes no three values at equal distances, and a continuous
A that is not constant does.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sympy import Expr

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.tensor.atoms import Factor, indices
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor, Term
from recipe_compiler.verdict import Answer, Evidence, Refuted
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.premises import list_facts
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject

STRICTLY_CONVEX = "Cauchy-Schwarz: the logarithm of an integral is strictly convex in what multiplies its energy"


@dataclass(frozen=True, slots=True)
class Coupling:
    """The product A(theta) Phi(a) of two scalars that couples the blocks kept, theta, to the others, a."""

    of_kept: Tensor
    of_others: Tensor


def refute_by_convexity(
    c: Calculus, subject: Subject, keep: frozenset[str], difference: Tensor, scalars: Callable[[Sizes], Expr]
) -> Answer | None:
    """Return the refutation of a marginal by convexity; None where the form is another, or no exact point shows it.

    Let what is left of H less the stated energy be A(theta) Phi(a) + psi(a). Z(A) = int exp(-A Phi - psi) da has
    Z(A)**2 < Z(A - h) Z(A + h) for h > 0 (Cauchy and Schwarz; strictly, as Phi is not constant), so Z(A(theta)) is not
    constant and the marginal of theta is another law. Nose-Poincare dynamics are an example: A = U, Phi = s. The
    energies must have been shown to be smooth.

    Args:
        c: the calculus.
        subject: the document.
        keep: the names of the blocks kept.
        difference: what is left of H less the stated energy, a scalar in index notation.
        scalars: the same at given sizes, by the second engine.
    """
    coupling = find_coupling(c, keep, difference)
    declarations = subject.declarations
    if coupling is None or subject.contradiction:
        return None
    for sizes in subject.sizes:
        try:
            found = _find_witness(subject, keep, coupling, scalars(sizes), sizes)
        except (NoNormalFormError, NotScalarisableError, TooLargeError, NoInstanceError):
            continue
        if found is not None:
            given = tuple(sorted(list_facts([subject.dynamics.H], declarations)))
            kept, others = text(coupling.of_kept), text(coupling.of_others)
            by = STRICTLY_CONVEX
            formula = f"({kept}) ({others})"
            return Answer(Refuted(by, found, formula, given), tuple(sizes.items()) or "all", (), subject.place("H"))
    return None


def find_coupling(c: Calculus, keep: frozenset[str], difference: Tensor) -> Coupling | None:
    """Return the one product A(theta) Phi(a) by which a scalar depends on the blocks kept; None if several."""
    parts: dict[tuple[Factor, ...], list[Term]] = {}
    for term in difference.terms:
        if not blocks_in(c, Tensor((), (term,))) & keep:
            continue
        ours = [f for f in term.factors if _list_blocks(c, f) & keep]
        if any(_list_blocks(c, f) - keep for f in ours):
            return None
        theirs = [f for f in term.factors if f not in ours]
        if indices(ours) & indices(theirs):
            return None
        parts.setdefault(tuple(ours), []).append(Term(term.coefficient, tuple(theirs)))
    if len(parts) != 1:
        return None
    ((ours, theirs),) = parts.items()
    return Coupling(c.collect([Term(theirs[0].coefficient / theirs[0].coefficient, ours)], ()), c.collect(theirs, ()))


def _find_witness(
    subject: Subject, keep: frozenset[str], coupling: Coupling, difference: Expr, sizes: Sizes
) -> Evidence | None:
    """Return an exact point at which both factors move, once the second engine agrees on the form."""
    declarations = subject.declarations
    leaf = make_leaf(declarations, sizes)
    kept, others = (write_out(x, sizes, leaf)[0] for x in (coupling.of_kept, coupling.of_others))
    ours = [x for block in declarations.blocks if block.name in keep for x in coordinates(block, sizes)]
    theirs = [x for block in declarations.blocks if block.name not in keep for x in coordinates(block, sizes)]
    if not all(is_zero(slope(difference, x) - others * slope(kept, x)) for x in ours):
        return None
    for x in ours:
        for y in theirs:
            mixed = slope(kept, x) * slope(others, y)
            found = None if mixed == 0 else witness(mixed, declarations, sizes)
            if found is not None:
                value = (f"d2(energy left - stated)/(d{x} d{y})", format_value(found.value))
                return (*found.text, value)
    return None


def _list_blocks(c: Calculus, factor: Factor) -> frozenset[str]:
    return blocks_in(c, Tensor((), (Term(factor[1] / factor[1], (factor,)),)))
