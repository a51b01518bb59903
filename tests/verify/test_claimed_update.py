"""Reading a claimed step: order, draws, moments, powers of eps; by both engines."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy
from answers import document
from sympy import Symbol

from recipe_compiler.algebra.dynamics.system import state
from recipe_compiler.algebra.scalars.entries import Setting
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.tensor.show import text
from recipe_compiler.trace.density_change import density_change
from recipe_compiler.trace.gaussian import invariance_at
from recipe_compiler.trace.moments import Coefficients, expectation
from recipe_compiler.trace.of_formulas import tensor_moments
from recipe_compiler.trace.of_scalars import scalar_moments, scale_draws
from recipe_compiler.trace.scalars import Scalars, poly_arithmetic, value_of
from recipe_compiler.trace.series import NoExpansionError
from recipe_compiler.trace.stated_step import stated_step
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.updates.claimed_step import claimed_step, residual_of

ONE, TWO, NONE = Fraction(1), Fraction(2), sympy.Integer(0)
theta, r = sympy.symbols("theta r", real=True)
eps, m, V, C = sympy.symbols("eps m V C", positive=True)
U = sympy.Function("U", real=True)(theta)
ENERGY = U + r**2 / (2 * m)
DAMPED = "r - eps*C @ inv(M) @ r + N(0, 2*eps*C)"


def phase(theta, r, *, more="", noise=""):
    """Return a document with position, momentum, non-commuting M and C, and an update."""
    return document(f"""
    state: {{theta: {{shape: d}}, r: {{shape: d}}}}
    parameters: {{M: {{shape: [d, d], is: positive definite}}, C: {{shape: [d, d], is: positive semidefinite}}{more}}}
    functions: {{U: {{of: theta, role: potential}}}}
    H: U(theta) + r.T @ inv(M) @ r / 2
    claims:
      noise: {{{noise}}}
      update:
        theta: {theta}
        r: {r}
    """)


def test_an_estimated_gradient_is_one_draw_however_often_it_is_written():
    step = stated_step(phase("theta - eps*grad_tilde(U, theta)", "r - eps*grad_tilde(U, theta)"))
    assert len(step.draws) == 1
    assert text(tensor_moments(step).at(TWO).covariance[0][1]) == "V[i,j]"


def test_moments_of_products_of_draws_and_of_updated_blocks():
    dynamics = phase("theta + norm2(next(r))*theta", "r + sqrt(2*eps)*C @ w", noise="w: {shape: d}")
    part = tensor_moments(stated_step(dynamics)).at(ONE)
    assert text(part.mean[0]) == "2 sum_jk theta[i] C[j,k]**2"
    assert text(part.covariance[1][1]) == "2 sum_k C[k,i] C[k,j]"


@pytest.mark.parametrize(
    "update",
    [
        ("theta + eps*inv(M) @ next(r)", "r - eps*grad_tilde(U, theta) + N(0, eps*(2*C - eps*M))"),
        ("theta + eps*inv(I + eps*M) @ next(r)", "exp(-eps)*r + sqrt(2*eps)*exp(eps)*N(0, M) - eps*grad(U, theta)"),
        ("theta + eps*norm2(next(r))*r", "r + N(0, eps*outer(r, r) + 2*eps*C)"),
        ("theta + sqrt(eps)*N(0, M) + eps*sin(next(r))", "r + sqrt(eps)*cos(eps*theta) - sqrt(eps)*ones"),
        ("theta + N(0, 2*eps*C + eps*outer(next(r), next(r)))", "r + N(0, eps*M)/(1 + eps)"),
    ],
)
def test_the_engines_read_the_same_moments(update):
    asked = claimed_step(prepare_subject(phase(*update)), Place(""))
    for sizes in asked.sizes:
        assert all(is_zero(entry) for entry in asked.disagreement(sizes))


def test_the_engines_see_when_their_moments_differ():
    asked = claimed_step(
        prepare_subject(phase("theta + eps*inv(M) @ r", "r - eps*grad(U, theta) + N(0, 2*eps*C)")), Place("")
    )
    other = stated_step(phase("theta + eps*inv(M) @ r", "r - eps*grad(U, theta) + N(0, eps*C)"))
    asked = replace(asked, at=lambda sizes: scalar_moments(other, sizes))
    assert not all(is_zero(entry) for entry in asked.disagreement({"d": 2}))


def test_an_euler_step_changes_a_gaussian_at_order_two():
    """The variance of theta' = (1 - eps) theta + N(0, 2 eps) is 1/(1 - eps/2): p' - p has eps**2 (theta**2 - d)/2."""
    text = """
    name: euler
    state: {theta: {shape: d}}
    H: norm2(theta)/2
    claims: {update: {theta: 'theta - eps*theta + N(0, 2*eps*I)'}}
    """
    asked = claimed_step(prepare_subject(document(text)), Place(""))
    change = density_change(asked.moments, asked.density, TWO)
    assert {power: asked.text(x) for power, x in change.parts.items() if not x.is_zero} == {
        TWO: "-d/2 + sum_i theta[i]**2/2"
    }
    for sizes in asked.sizes:
        z = sympy.symbols(f"theta[:{sizes['d']}]", real=True)
        assert is_zero(asked.change_at(sizes, ONE))
        assert is_zero(asked.change_at(sizes, TWO) - sum(x**2 - 1 for x in z) / 2)


def test_what_a_step_of_many_blocks_changes_is_not_looked_for():
    """A remark that takes longer than the claim has would leave a right step undecided."""
    names = [f"x{k}" for k in range(13)]
    update = ", ".join(f"{x}: '{x} - eps*{x} + N(0, 2*eps)'" for x in names)
    text = f"""
    name: many
    state: {{{", ".join(f"{x}: {{}}" for x in names)}}}
    H: ({" + ".join(f"{x}**2" for x in names)})/2
    claims: {{update: {{{update}}}}}
    """
    asked = claimed_step(prepare_subject(document(text)), Place(""))
    with pytest.raises(NoExpansionError, match="more than 600 products of entries"):
        density_change(asked.moments, asked.density, TWO)


HALF_KICK = "sqrt(1 - exp(-eps))*w + exp(-eps/2)*r - eps/2*A @ theta"


@pytest.mark.parametrize(("second", "order"), [("eps/2", None), ("eps/3", ONE), ("0", ONE)])
def test_a_symmetric_splitting_is_off_by_a_higher_order_for_every_size(second, order):
    """OBABO: exact damping around leapfrog, for a quadratic U."""
    dynamics = document(f"""
    state: {{theta: {{shape: d}}, r: {{shape: d}}}}
    parameters: {{A: {{shape: [d, d], is: positive definite}}}}
    H: theta.T @ A @ theta/2 + norm2(r)/2
    claims:
      noise: {{w: {{shape: d}}, v: {{shape: d}}}}
      update:
        theta: theta + eps*({HALF_KICK})
        r: exp(-eps/2)*({HALF_KICK} - {second}*A @ next(theta)) + sqrt(1 - exp(-eps))*v
    """)
    asked = claimed_step(prepare_subject(dynamics), Place(""))
    change = asked.moments.S.leading(density_change(asked.moments, asked.density, TWO))
    assert (change.low if change.parts else None) == order
    assert change.known == TWO


# series and moments at fixed sizes


def scalars(top: Fraction) -> Scalars:
    return Scalars(poly_arithmetic(top), eps, {})


def parts(e, top=TWO):
    return {power: value_of(x) for power, x in scalars(top).series(e).parts.items() if not is_zero(value_of(x))}


def test_orders_of_a_step_at_fixed_sizes():
    limit = Coefficients((r / m, -sympy.diff(U, theta)), ((NONE, NONE), (NONE, NONE)))
    finite = Coefficients((NONE, NONE), ((NONE, NONE), (NONE, V)))
    assert is_zero(residual_of((theta, r), limit, ENERGY))
    assert is_zero(residual_of((theta, r), finite, ENERGY) - V * (r**2 - m) / (2 * m**2))


def test_exact_damping_has_its_limit():
    mean, covariance = parts((sympy.exp(-C * eps) - 1) * r), parts(m * (1 - sympy.exp(-2 * C * eps)))
    assert is_zero(mean[ONE] + C * r)
    assert is_zero(covariance[ONE] - 2 * C * m)
    assert is_zero(residual_of((r,), Coefficients((mean[ONE],), ((covariance[ONE],),)), r**2 / (2 * m)))


@pytest.mark.parametrize(("e", "power"), [(r, 0), (sympy.sqrt(eps) * r, Fraction(1, 2)), (r / eps, -1)])
def test_the_lowest_power_is_that_of_the_step(e, power):
    assert min(parts(e)) == power


def test_expansion_about_a_small_step():
    found = parts(sympy.sqrt(eps + eps**2 * C) * (1 - sympy.exp(-eps)) / eps, Fraction(3))
    assert [*found][:2] == [Fraction(1, 2), Fraction(3, 2)]
    assert [sympy.simplify(value) for value in found.values()][:2] == [1, C / 2 - sympy.Rational(1, 2)]
    for other in (sympy.log(eps), sympy.Function("g")(Symbol("x"), eps)):
        with pytest.raises(NoExpansionError):
            parts(other)


@pytest.mark.parametrize("e", [1 / (1 + eps * C), sympy.exp(eps * C), sympy.sqrt(1 + eps), (1 + eps * r) ** C])
def test_a_series_is_what_its_derivatives_are(e):
    for power, value in parts(e, Fraction(3)).items():
        n = int(power)
        assert is_zero(value - sympy.diff(e, eps, n).subs(eps, 0) / sympy.factorial(n))


def test_expectations_are_sums_over_pairings():
    read = scalars(Fraction(3))
    v, w = draws = sympy.symbols("v w", real=True)
    entries = {(v, v): 2 * eps, (v, w): eps * C, (w, v): eps * C, (w, w): 3 * eps}
    group = scale_draws(draws, {pair: read.series(x) for pair, x in entries.items()}, read)
    found = expectation(read.S, read.series(v**2 * w**2 + v * w**2), [group])
    assert {power: sympy.expand(value_of(x)) for power, x in found.parts.items()} == {TWO: 6 + 2 * C**2}


@pytest.mark.parametrize(("F", "kept"), [((0, 0), True), ((1, 0), False)])
def test_a_law_stays_only_if_its_mean_and_covariance_do(F, kept):
    setting = Setting(Declarations((Block("x"), Block("y"))), {})
    x, y = state(setting.declarations, setting.sizes)
    noise = tuple(tuple(sympy.Rational(3 * k, 4) for k in row) for row in ((2, 1), (1, 2)))
    part = Coefficients((y / 2 - x + F[0], x / 2 - y + F[1]), noise)
    found = invariance_at(setting, part, (x**2 - x * y + y**2) / 3)
    assert all(is_zero(e) for _, e in found.conditions) == kept
