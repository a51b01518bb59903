"""The laws that documents may claim, by their energies: E = -log p up to a constant, in the language of formulas."""

from collections.abc import Mapping
from dataclasses import dataclass

from recipe_compiler.formula import build
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.density_terms import in_arguments
from recipe_compiler.formula.expression import Apply, Filled, Formula
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.laws import families_of
from recipe_compiler.spec.model import Law

OF_NUMBERS, OF_OTHERS = " of numbers", " of all shares but one"
"""Behind the name of a law whose energy is written otherwise there."""


@dataclass(frozen=True, slots=True)
class LawEnergy:
    """A law of x in the language's text, of its arguments; of `N` also of P, the precision."""

    energy: str
    """E up to a constant in x: of one entry, to be summed over all, unless it is a number."""
    needs: tuple[str, ...]
    """What has a value exactly where the arguments are those of a law: their signs."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A law of counts b, p(b) ~ exp(-base(b)) (above/below)**b: all but its base is seen in the ratio p(b + 1)/p(b)."""

    base: Formula
    """A scalar, free of the law's parameters but for the number of trials."""
    above: Formula
    below: Formula


COUNTED: Mapping[str, tuple[str, str, str]] = {
    "Poisson": ("loggamma(x + 1)", "mean", "1"),
    "Binomial": ("loggamma(x + 1) + loggamma(n - x + 1)", "p", "1 - p"),
}
"""Laws of counts by base, above and below."""
POSITIVE_SHAPES = ("log(a)", "log(b)")
ENERGIES: Mapping[str, LawEnergy] = {
    "N": LawEnergy("(x - m).T @ P @ (x - m)/2", ("m", "logdet(cov)")),
    f"N{OF_NUMBERS}": LawEnergy("P*(x - m)**2/2", ("m", "log(cov)")),
    "LogNormal": LawEnergy("(log(x) - m)**2/(2*v) + log(x)", ("m", "log(v)")),
    "Gamma": LawEnergy("rate*x - (shape - 1)*log(x)", ("log(shape)", "log(rate)")),
    "InverseGamma": LawEnergy("scale/x + (shape + 1)*log(x)", ("log(shape)", "log(scale)")),
    "Exponential": LawEnergy("rate*x", ("log(rate)",)),
    "Beta": LawEnergy("-(a - 1)*log(x) - (b - 1)*log(1 - x)", POSITIVE_SHAPES),
    "Uniform": LawEnergy("0", ("log(b - a)",)),
    "Dirichlet": LawEnergy("-(alpha - 1)*log(x)", ("log(alpha)",)),
    f"Dirichlet{OF_OTHERS}": LawEnergy("-sum((a - 1)*log(x)) - (b - 1)*log(1 - sum(x))", POSITIVE_SHAPES),
    "Categorical": LawEnergy("-logits*x", ("logits",)),
    "Poisson": LawEnergy("loggamma(x + 1) - x*log(mean)", ("log(mean)",)),
    "Binomial": LawEnergy(f"{COUNTED['Binomial'][0]} - x*(log(p) - log(1 - p))", ("n", "log(p)", "log(1 - p)")),
}
"""Every law of `spec.laws.FAMILIES`."""


def energy(law: Law, block: Block) -> Formula:
    """Return E(b) = -log p(b) of a law, a scalar, up to a constant in b (`ENERGIES`).

    Entry by entry, and summed over the entries, except for N and Dirichlet, which are laws of the whole block.
    """
    return _sum_entries(_read_law_text(_select_energy(law, block).energy, law, block))


def needs(law: Law, block: Block) -> tuple[Formula, ...]:
    """Return formulas that have a value exactly where the parameters are those of a law.

    log(shape) and log(rate) for Gamma, logdet(cov) for N, log(b - a) for Uniform: a claim that they are defined is a
    claim about the signs of the parameters.
    """
    return tuple(_read_law_text(text, law, block) for text in _select_energy(law, block).needs)


def counted(law: Law, block: Block) -> Counted:
    """Return a law of counts by the ratio of consecutive probabilities, up to that of exp(-base) above/below.

        Poisson     base log b!                     ratio mean
        Binomial    base log b! + log (n - b)!      ratio p/(1 - p)

    Entry by entry, the base summed over all entries.
    """
    base, above, below = (_read_law_text(text, law, block) for text in COUNTED[law.name])
    if below.shape != block.shape:
        below = Filled(1, block.shape)
    return Counted(_sum_entries(base), above, below)


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


def _select_energy(law: Law, block: Block) -> LawEnergy:
    """Return the table row of a law, chosen by its name, its shape and its number of arguments."""
    of_numbers = law.name == "N" and block.shape == SCALAR
    of_others = law.name == "Dirichlet" and len(law.arguments) > 1
    return ENERGIES[law.name + OF_NUMBERS * of_numbers + OF_OTHERS * of_others]


def _read_law_text(text: str, law: Law, block: Block) -> Formula:
    """Return the formula of a row's text with the law's arguments substituted."""
    named = dict(zip(families_of(block)[law.name].arguments, law.arguments, strict=True))
    if law.name == "N":
        named["P"] = precision(named["cov"])
    return in_arguments(text, {"x": block.symbol, **named})


def _sum_entries(x: Formula) -> Formula:
    """Return the sum over a formula's entries; a scalar itself."""
    return x if x.shape == SCALAR else Apply("sum", (x,), SCALAR)
