"""A covariance S that data have a normal law of, integrated over the cone: what is left has the laws of other blocks.

Let y_n be N(m_n, S), m_n free of S, and let the log prior have a log det S - c tr S of it. With r_n = y_n - m_n

    prod_n N(y_n | m_n, S) = C det(S)**(-N/2) exp(-tr(inv(S) A)/2),    A = sum_n r_n r_n^T.

Let m_n be sums of columns of the data, times what the state makes of them. Where no combination of the entries of y is
in the span of these columns, v.A v = sum_n (v.r_n)**2 is at least lambda > 0 for all unit v and all states (Gram), and

    int det(S)**(a - N/2) exp(-c tr S - lambda tr inv(S)/2) dS    over S > 0

is finite for every a if c > 0, and for c = 0 if N - 2 a > 2 K, which is an inverse Wishart's. So it is at most one
constant for all values of the other blocks, which are integrated out as their laws are.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from flint import fmpq

from recipe_compiler.formula.build import add, negate
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Apply, Formula, Multiply, Number, Role, Symbol
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.cases import Sample
from recipe_compiler.verify.builds.proper_prior import integrated_out
from recipe_compiler.verify.builds.target import defined
from recipe_compiler.verify.from_data.ranks import rank_of
from recipe_compiler.verify.from_data.reading import read_matrix
from recipe_compiler.verify.from_data.values import Column, NotReadError, at_row
from recipe_compiler.verify.integrability.bounded import bounded_above

METHOD = "a covariance that the data keep nonsingular, integrated out"
NONE, ONE = Fraction(0), Fraction(1)


def by_covariance(target: Target, sample: Sample) -> tuple[Proved, tuple[str, ...]] | None:
    """Return the proof of a finite integral over a covariance S > 0, [K, K], by data y_n ~ N(m_n, S); else None.

    With a log det S - c tr S in the log prior, N data, and no combination of the K entries of y in the span of the
    columns that the m_n are made of, sum_n (y_n - m_n) (y_n - m_n).T >= lambda I for one lambda > 0 and all states, and

        int det(S)**(a - N/2) exp(-c tr S - lambda tr inv(S)/2) dS < oo    where c > 0, or c = 0 and N - 2 a > 2 K,

    an inverse Wishart law. The other blocks are integrated out as their laws are, each being proper. Worked: y_n ~ N(m,
    S) with K = 2, a proper law of m and none of S (a = c = 0) needs N > 4, and y_n that are not all on one line.

    Args:
        target: as it is sampled; looked at as it is declared.
        sample: its data, exact.

    Returns:
        the proof, and what it says of the data.
    """
    plain, stated = target.declared or target, target.stated
    declared = plain.declarations
    cones = [block for block in declared.blocks if block.constraint is Constraint.COV]
    of_data = [one for one in stated.densities if one.entry == "log_likelihood"]
    others = [term for entry, formula in stated.others if entry == "log_prior" for term in terms_of(formula)]
    if plain.potential is not None or len(cones) != 1 or len(of_data) != 1:
        return None
    if any(entry != "log_prior" for entry, _ in stated.others):
        return None
    (S,), (law,) = cones, of_data
    priors = [one for one in stated.densities if one.entry == "log_prior"]
    fewer = replace(declared, blocks=tuple(block for block in declared.blocks if block != S))
    order = integrated_out(priors, fewer) if all(one.is_term for one in priors) else None
    kernel = [(term, _of_cone(term, S.name)) for term in others]
    left = [term for term, part in kernel if part is None and not bounded_above(term, declared)]
    if order is None or not isinstance(S.shape.rows, int) or not _is_of(law, S) or left:
        return None
    a, c = (sum((part[k] for _, part in kernel if part is not None), NONE) for k in (0, 1))
    if c < 0 or (c == 0 and sample.rows - 2 * a <= 2 * S.shape.rows):
        return None
    shown = defined(target).decision
    try:
        if not isinstance(shown, Proved) or not _is_apart(law, sample):
            return None
    except NotReadError:
        return None
    names = " and ".join(sorted(dependence(law.arguments[0]).data))
    data = (("integrated out in this order", ", ".join((*order, S.name))),)
    return Proved(METHOD, shown.given, data), (
        f"{S.shape.rows} entries of {names} of which no combination is a location",
    )


def _is_of(law: StatedDensity, S: Block) -> bool:
    """Whether a law is the normal one of data alone whose covariance is a block, its mean free of that."""
    if law.name != "multi_normal" or not law.is_term:
        return False
    x, mu, covariance = law.arguments
    return covariance == Symbol(S.name, S.shape, Role.BLOCK) and not (
        dependence(x).blocks or S.name in dependence(mu).blocks
    )


def _of_cone(term: Formula, S: str) -> tuple[Fraction, Fraction] | None:
    """Return a and c of a summand a log det S - c tr S, one of them alone; None of any other."""
    match _multiple(term):
        case by, Apply("logdet", (Symbol(name, _, Role.BLOCK),)) if name == S:
            return by, NONE
        case by, Apply("trace", (Symbol(name, _, Role.BLOCK),)) if name == S:
            return NONE, -by
        case _:
            return None


def _multiple(term: Formula) -> tuple[Fraction, Formula]:
    match term:
        case Multiply(Number(by), rest) | Multiply(rest, Number(by)):
            own, inner = _multiple(rest)
            return by * own, inner
        case _:
            return ONE, term


def _is_apart(law: StatedDensity, sample: Sample) -> bool:
    """Whether the entries of y less what is known of m, and columns of m, have as many ranks more as entries.

    Raises:
        NotReadError: m is not seen to be a sum of columns of the data.
    """
    x, mu, _ = law.arguments
    values = [value for row in read_matrix(add([x, negate(mu)], x.shape), sample.known) for value in row]
    if any(value.products for value in values):
        raise NotReadError("a location that is not a linear form")
    columns = [column for value in values for _, column in value.affine.slopes]
    own = [value.affine.constant for value in values]
    apart = rank_of(list(_rows([*columns, *own], sample)), len(columns) + len(own)).rank
    return apart == rank_of(list(_rows(columns, sample)), len(columns)).rank + len(own)


def _rows(columns: list[Column], sample: Sample) -> Iterator[tuple[fmpq, ...]]:
    for n in range(sample.rows):
        yield tuple(at_row(column, n) for column in columns)
