"""Polynomial inequalities by Z3: a trusted program without a checkable proof, run under a deterministic limit.

Transcendentals are real variables with true facts about them, so that "no solution" of the negation proves. A solution
may not be one of the original (a free transcendental), and refutes nothing. Z3 is imported when it is first needed.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq_mpoly
from sympy import Expr

from recipe_compiler.algebra.positivity.polynomial_problem import PolynomialProblem

RESOURCES = 1_000_000
"""Z3's own count of steps for all questions about one matrix: the same answer on every machine."""
ROUNDED = 6
"""Decimal digits of a solution that is no rational number."""


@dataclass(frozen=True, slots=True)
class OracleAnswer:
    """Whether Z3 proves that there is no counterexample, with its name and version."""

    holds: bool
    version: str
    used: int
    """Steps it took, in Z3's own count."""
    why: str = ""


def no_counterexample(
    p: fmpq_mpoly,
    problem: PolynomialProblem,
    op: str = ">=",
    resources: int = RESOURCES,
) -> OracleAnswer:
    """Decide by Z3 whether `p op 0` (`op` one of `>= > !=`) wherever all facts of a problem hold.

    It is proved if (facts and not p op 0) has no solution in real variables (de Moura, Bjorner 2008). A solution, an
    unknown answer or an error of Z3 proves nothing. `resources` bounds Z3's own count of its work, so that the answer
    is the same on every machine.
    """
    import z3

    solver, variables = _solver(problem, resources)
    value = _term(p, variables, z3, solver.ctx)
    solver.add({">=": value < 0, ">": value <= 0, "!=": value == 0}[op])
    version = f"z3 {z3.get_version_string()}"
    try:
        answer = solver.check()
    except z3.Z3Exception as error:
        return OracleAnswer(False, version, resources, str(error))
    used = _used(solver)
    if answer == z3.unsat:
        return OracleAnswer(True, version, used)
    why = "a solution, which may be none" if answer == z3.sat else solver.reason_unknown()
    return OracleAnswer(False, version, used, why)


def solution(problem: PolynomialProblem, resources: int = RESOURCES) -> dict[Expr, Fraction] | None:
    """Return rational values of the names of a problem at which its facts may hold; None where Z3 gives none.

    Inner points are preferred: where all facts can hold strictly, they do. A value that is no rational number is
    rounded, and a transcendental is a number of its own: what is returned has to be checked.
    """
    import z3

    for strict in (True, False):
        solver, variables = _solver(problem, resources, strict=strict)
        try:
            if solver.check() != z3.sat:
                continue
            model = solver.model()
            values = [model.evaluate(x, model_completion=True) for x in variables]
        except z3.Z3Exception:
            continue
        rational = [x if z3.is_rational_value(x) else x.approx(ROUNDED) for x in values]
        return {
            name: Fraction(x.numerator_as_long(), x.denominator_as_long())
            for name, x in zip(problem.names, rational, strict=True)
        }
    return None


def _solver(problem: PolynomialProblem, resources: int, *, strict: bool = False) -> tuple[Any, list[Any]]:
    """Return a solver that knows the facts of a problem, all of them as strict ones if so wanted; and its variables."""
    import z3

    context = z3.Context()  # of its own: what was decided before must not count
    variables = [z3.Real(f"g{k}", context) for k in range(len(problem.names))]

    def term(q: fmpq_mpoly) -> Any:
        return _term(q, variables, z3, context)

    solver = z3.SolverFor("QF_NRA", context)
    solver.set("rlimit", resources)
    for k in problem.signs.nonnegative:
        solver.add(variables[k] > 0 if strict or k in problem.signs.positive else variables[k] >= 0)
    for k in problem.signs.nonzero - problem.signs.positive:
        solver.add(variables[k] != 0)
    for fact in problem.facts:
        solver.add(term(fact.value) > 0 if strict or fact.strict else term(fact.value) >= 0)
    for q in problem.nonzero:
        solver.add(term(q) != 0)
    for q in problem.zeros:
        solver.add(term(q) == 0)
    return solver, variables


def _used(solver: Any) -> int:
    found = solver.statistics()
    counts = dict(found[k] for k in range(len(found)))
    return int(counts.get("rlimit count", 0))


def _term(p: fmpq_mpoly, variables: list[Any], z3: Any, context: Any) -> Any:
    """Return a polynomial as a term of Z3."""
    parts: list[Any] = []
    for exponents, coefficient in p.to_dict().items():
        factors = [z3.Q(int(coefficient.p), int(coefficient.q), context)]
        for k, n in enumerate(exponents):
            factors += [variables[k]] * int(n) if n else []  # a constant has an exponent of no generator
        parts.append(z3.Product(factors) if len(factors) > 1 else factors[0])
    return z3.Sum(parts) if parts else z3.RealVal(0, context)
