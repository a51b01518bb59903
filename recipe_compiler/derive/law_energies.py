"""The laws that documents may claim, by their energies: E = -log p up to a constant, in the language of formulas."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula import build
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Apply, Filled, Formula, MatMul, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.model import Law

HALF = Number(Fraction(1, 2))


@dataclass(frozen=True, slots=True)
class LawEnergy:
    """A law by its energy E(x; parameters), a scalar formula, and formulas defined exactly at admissible parameters."""

    energy: Callable[..., Formula]
    needs: Callable[..., tuple[Formula, ...]]


def energy(law: Law, block: Block) -> Formula:
    """Return E(b) = -log p(b) of a law, a scalar, up to a constant in b.

        N               (b - m).T inv(cov) (b - m)/2
        LogNormal       (log b - m)**2/(2 v) + log b
        Gamma           rate b - (shape - 1) log b
        InverseGamma    scale/b + (shape + 1) log b
        Exponential     rate b
        Beta            -(a - 1) log b - (b' - 1) log(1 - b)
        Dirichlet       -sum((alpha - 1) log b), and -(b' - 1) log(1 - sum(b)) where the last share is left out
        Uniform         0
        Categorical     -sum(logits b), b being one-hot
        Poisson         log b! - b log(mean), log b! = loggamma(b + 1)
        Binomial        log b! + log (n - b)! - b (log p - log(1 - p))

    Entry by entry, and summed over the entries, except for N and Dirichlet, which are laws of the whole block.
    """
    return DENSITIES[law.name].energy(of_block(block), *law.arguments)


def needs(law: Law) -> tuple[Formula, ...]:
    """Return formulas that have a value exactly where the parameters are those of a law.

    log(shape) and log(rate) for Gamma, logdet(cov) for N, log(b - a) for Uniform: a claim that they are defined is a
    claim about the signs of the parameters.
    """
    return DENSITIES[law.name].needs(*law.arguments)


def of_block(block: Block) -> Symbol:
    """Return a block as a formula, the symbol of its name."""
    return Symbol(block.name, block.shape, Role.BLOCK)


def _normal(x: Formula, m: Formula, cov: Formula) -> Formula:
    off = minus(x, m)
    return build.multiply(HALF, _dot(off, build.matmul(precision(cov), off, x.shape)), SCALAR)


def _gamma(x: Formula, shape: Formula, rate: Formula) -> Formula:
    return _sum(_times(rate, x), _minus(_times(_less_one(shape), _log(x))))


def _inverse_gamma(x: Formula, shape: Formula, scale: Formula) -> Formula:
    return _sum(_times(scale, _inverse(x)), _times(_plus(shape, _one(x)), _log(x)))


def _exponential(x: Formula, rate: Formula) -> Formula:
    return _total(_times(rate, x))


def _uniform(x: Formula, a: Formula, b: Formula) -> Formula:
    del x, a, b
    return Number(Fraction(0))


def _log_normal(x: Formula, m: Formula, v: Formula) -> Formula:
    off = minus(_log(x), m)
    square = build.multiply(HALF, _times(_times(off, off), _inverse(v)), x.shape)
    return _sum(square, _log(x))


def _beta(x: Formula, a: Formula, b: Formula) -> Formula:
    rest = minus(_one(x), x)
    return _sum(_minus(_times(_less_one(a), _log(x))), _minus(_times(_less_one(b), _log(rest))))


def _dirichlet(x: Formula, a: Formula, b: Formula | None = None) -> Formula:
    own = _minus(_total(_times(_less_one(a), _log(x))))
    if b is None:
        return own
    rest = minus(Number(Fraction(1)), _total(x))
    return build.add([own, _minus(_times(_less_one(b), _log(rest)))], SCALAR)


def _categorical(x: Formula, logits: Formula) -> Formula:
    return _minus(_total(_times(logits, x)))


@dataclass(frozen=True, slots=True)
class Counted:
    """A law of counts b, p(b) ~ exp(-base(b)) (above/below)**b: all but its base is seen in the ratio p(b + 1)/p(b)."""

    base: Formula
    """A scalar, free of the law's parameters but for the number of trials."""
    above: Formula
    below: Formula


def counted(law: Law, block: Block) -> Counted:
    """Return a law of counts by the ratio of consecutive probabilities, up to that of exp(-base) above/below.

        Poisson     base log b!                     ratio mean
        Binomial    base log b! + log (n - b)!      ratio p/(1 - p)

    Entry by entry, the base summed over all entries.
    """
    return COUNTED[law.name](of_block(block), *law.arguments)


def _as_poisson(x: Formula, mean: Formula) -> Counted:
    return Counted(_sum(_log_factorial(x)), mean, _one(mean))


def _as_binomial(x: Formula, n: Formula, p: Formula) -> Counted:
    return Counted(_sum(_log_factorial(x), _log_factorial(minus(n, x))), p, minus(_one(p), p))


COUNTED: Mapping[str, Callable[..., Counted]] = {"Poisson": _as_poisson, "Binomial": _as_binomial}


def _energy_of_counts(own: Counted, x: Formula) -> Formula:
    log_ratio = minus(_log(own.above), _log(own.below))
    return build.add([own.base, _minus(_total(_times(x, log_ratio)))], SCALAR)


def _poisson(x: Formula, mean: Formula) -> Formula:
    return _energy_of_counts(_as_poisson(x, mean), x)


def _binomial(x: Formula, n: Formula, p: Formula) -> Formula:
    return _energy_of_counts(_as_binomial(x, n, p), x)


def precision(cov: Formula) -> Formula:
    """Return inv(cov) of a covariance, n x n or a scalar, as a formula; P itself where it is written `inv(P)`."""
    match cov:
        case Apply("inv", (P,)):
            return P
        case _:
            return build.apply("inv", (cov,), cov.shape)


def minus(left: Formula, right: Formula) -> Formula:
    """Return `left - right`, of one shape."""
    return build.add([left, build.negate(right)], left.shape)


def _plus(left: Formula, right: Formula) -> Formula:
    return build.add([left, right], left.shape)


def _minus(x: Formula) -> Formula:
    return build.negate(x)


def _times(left: Formula, right: Formula) -> Formula:
    return build.multiply(left, right, left.shape)


def _one(x: Formula) -> Formula:
    return Number(Fraction(1)) if x.shape == SCALAR else Filled(1, x.shape)


def _less_one(x: Formula) -> Formula:
    return minus(x, _one(x))


def _log(x: Formula) -> Formula:
    return Apply("log", (x,), x.shape)


def _log_factorial(x: Formula) -> Formula:
    return Apply("loggamma", (_plus(x, _one(x)),), x.shape)


def _inverse(x: Formula) -> Formula:
    return build.power(x, build.MINUS_ONE, x.shape)


def _total(x: Formula) -> Formula:
    return x if x.shape == SCALAR else Apply("sum", (x,), SCALAR)


def _sum(*terms: Formula) -> Formula:
    return build.add([_total(term) for term in terms], SCALAR)


def _dot(left: Formula, right: Formula) -> Formula:
    return _times(left, right) if left.shape == SCALAR else MatMul(build.transpose(left), right, SCALAR)


def _logs(*parameters: Formula) -> tuple[Formula, ...]:
    return tuple(map(_log, parameters))


def _of_normal(m: Formula, cov: Formula) -> tuple[Formula, ...]:
    return (m, _log(cov) if cov.shape == SCALAR else Apply("logdet", (cov,), SCALAR))


def _of_log_normal(m: Formula, v: Formula) -> tuple[Formula, ...]:
    return (m, _log(v))


def _of_uniform(a: Formula, b: Formula) -> tuple[Formula, ...]:
    return (_log(minus(b, a)),)


def _of_categorical(logits: Formula) -> tuple[Formula, ...]:
    return (logits,)


def _of_binomial(n: Formula, p: Formula) -> tuple[Formula, ...]:
    return (n, *_logs(p, minus(_one(p), p)))


DENSITIES: Mapping[str, LawEnergy] = {
    "N": LawEnergy(_normal, _of_normal),
    "Gamma": LawEnergy(_gamma, _logs),
    "InverseGamma": LawEnergy(_inverse_gamma, _logs),
    "Exponential": LawEnergy(_exponential, _logs),
    "LogNormal": LawEnergy(_log_normal, _of_log_normal),
    "Beta": LawEnergy(_beta, _logs),
    "Uniform": LawEnergy(_uniform, _of_uniform),
    "Dirichlet": LawEnergy(_dirichlet, _logs),
    "Categorical": LawEnergy(_categorical, _of_categorical),
    "Poisson": LawEnergy(_poisson, _logs),
    "Binomial": LawEnergy(_binomial, _of_binomial),
}
"""Every law of `spec.laws.FAMILIES` by its density."""
