"""Data that a Gaussian process explains, with noise: a likelihood that is at most a power of the length scale.

Let rows y_n be N(m, S) with S = alpha**2 R + s I, R_ij = exp(-(x_i - x_j)**2/(2 rho**2)) at d different numbers x, s
positive and m known. The eigenvalues of R have the sum d, so its least, l, is at most 1, and

    l (alpha**2 + s) I <= S <= d (alpha**2 + s) I.

With v = alpha**2 + s and r**2 the sum of all (y_n - m)_i**2 over the N rows, the log likelihood is at most

    -(N d/2) log l - (N d/2) log v - r**2/(2 d v)

but for a constant. If r > 0 the last two are bounded over v > 0, whatever the state makes of alpha and s. Of l, the
others being at most d, det R <= l d**(d - 1). With t = 1/rho**2, det R = exp(-t sum_i x_i**2) det(exp(t x_i x_j)), and
by Harish-Chandra's integral the last is t**(d(d - 1)/2) times a positive constant times a mean of exp(t tr(X U X U*)),
which is at least exp(-t d max_i x_i**2). So det R >= c rho**(-d(d - 1)) where rho >= 1; where it is less, R tends to I
as rho tends to 0, and det R is continuous and positive up to there. So -log l <= C + d(d - 1) log max(rho, 1), and the
likelihood is at most a power of rho, which has a mean if all moments of rho's law are finite.
"""

from flint import fmpq

from recipe_compiler.formula.build import add, negate
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES, POWERS
from recipe_compiler.formula.expression import Add, Compare, Formula, Identity, Multiply, Role, Symbol
from recipe_compiler.formula.kernels import ExpQuad, read_exp_quad
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.cases import Sample
from recipe_compiler.verify.builds.proper_prior import ZERO, integrated_out
from recipe_compiler.verify.builds.target import defined
from recipe_compiler.verify.core.premises import depends_on_state, holds
from recipe_compiler.verify.from_data.reading import read_matrix
from recipe_compiler.verify.from_data.values import NotReadError, at_row

METHOD = "a Gaussian process with noise, bounded by a power of its length scale"


def by_process(target: Target, sample: Sample) -> tuple[Proved, tuple[str, ...]] | None:
    """Return the proof of a finite integral by a Gaussian process with noise, and data off its mean; else None.

    y: [d] is N(m, alpha**2 R + s I), R_ij = exp(-(x_i - x_j)**2/(2 rho**2)) at d different numbers x, m known, s > 0:
    the likelihood is at most C max(rho, 1)**(N d**2 (d - 1)/2), N the rows, whatever alpha and s are; rho has a law
    with all moments, free of the state. None too where the target has other summands, or another kernel.

    Args:
        target: as it is sampled; looked at as it is declared.
        sample: its data, exact.

    Returns:
        the proof, and what it says of the data.
    """
    plain, stated = target.declared or target, target.stated
    priors = [one for one in stated.densities if one.entry == "log_prior"]
    of_data = [one for one in stated.densities if one.entry == "log_likelihood"]
    if plain.potential is not None or plain.recursion or stated.others or len(of_data) != 1:
        return None
    (law,) = of_data
    declared = plain.declarations
    order = integrated_out(priors, declared) if all(one.is_term for one in priors) else None
    kernel = _kernel(law, declared)
    if order is None or kernel is None or not law.is_term or not _has_moments(kernel.rho, priors):
        return None
    shown = defined(target).decision
    try:
        if not isinstance(shown, Proved) or not _is_seen(law, kernel, sample):
            return None
    except NotReadError:
        return None
    names = " and ".join(sorted(dependence(law.arguments[0]).data))
    data = (("prior, integrated out in this order", ", ".join(order)),)
    return Proved(METHOD, shown.given, data), (f"points that all differ, {names} not at its mean",)


def _kernel(law: StatedDensity, declared: Declarations) -> ExpQuad | None:
    """Return the covariance of a process in a normal law of data, at known points, with s I beside it, s > 0."""
    if law.name != "multi_normal" or any(dependence(one).blocks for one in law.arguments[:2]):
        return None
    match law.arguments[2]:
        case Add((one, Multiply(s, Identity())) | (Multiply(s, Identity()), one)) if not dependence(s).data:
            kernel, positive = read_exp_quad(one), holds((Compare(">", s, ZERO, SCALAR),), declared)
            known = kernel is not None and not positive.open and not depends_on_state(kernel.x)
            return kernel if known and not dependence(one).data else None
        case _:
            return None


def _has_moments(rho: Formula, priors: list[StatedDensity]) -> bool:
    """Whether rho is a block of one number whose law has all moments, whatever the state is."""
    if not isinstance(rho, Symbol) or rho.role is not Role.BLOCK:
        return False
    own = [one for one in priors if one.arguments[0] == rho]
    if len(own) != 1 or any(map(depends_on_state, own[0].arguments[1:])):
        return False
    return POWERS in DENSITIES[own[0].name].moments


def _is_seen(law: StatedDensity, kernel: ExpQuad, sample: Sample) -> bool:
    """Whether the points all differ, and some number of the data is not its mean.

    Raises:
        NotReadError: they are no rational numbers.
    """
    y, m, _ = law.arguments
    points = [str(x[0]) for x in _numbers(kernel.x, sample)]
    apart = _numbers(add([y, negate(m)], y.shape), sample)
    return len({*points}) == len(points) and any(x != 0 for row in apart for x in row)


def _numbers(formula: Formula, sample: Sample) -> list[tuple[fmpq, ...]]:
    """Return the entries of what the data alone decide, each as its numbers for all data."""
    entries = [value for row in read_matrix(formula, sample.known) for value in row]
    if any(value.number is None for value in entries):
        raise NotReadError("an unknown number")
    return [tuple(at_row(value.number, n) for n in range(sample.rows)) for value in entries if value.number is not None]
