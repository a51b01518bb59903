"""Reading a claimed step: order, draws, moments, powers of eps; by both engines."""

from fractions import Fraction

import pytest
import sympy
from answers import document
from sympy import Symbol

from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.derive.ordered_update import stated_step
from recipe_compiler.derive.update import read_update
from recipe_compiler.errors import Place
from recipe_compiler.tensor.show import text
from recipe_compiler.verify.updates.claimed_step import claimed_step, disagreement
from recipe_compiler.verify.updates.expansion import NoExpansionError, by_power
from recipe_compiler.verify.updates.gaussian_moments import StepMoments
from recipe_compiler.verify.updates.step_moments import step_moments
from recipe_compiler.verify.updates.step_residual import MomentCoefficient, NotAStepError, at_zero, by_powers, residual

ONE, NONE = Fraction(1), sympy.Integer(0)
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
    assert text(read_update(step).covariance_at(Fraction(2))[0][1]) == "V[i,j]"


def test_moments_of_products_of_draws_and_of_updated_blocks():
    dynamics = phase("theta + norm2(next(r))*theta", "r + sqrt(2*eps)*C @ w", noise="w: {shape: d}")
    update = read_update(stated_step(dynamics))
    assert text(update.mean_at(ONE)[0]) == "2 sum_jk theta[i] C[j,k]**2"
    assert text(update.covariance_at(ONE)[1][1]) == "2 sum_k C[k,i] C[k,j]"


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
    asked = claimed_step(phase(*update), Place(""))
    for sizes in asked.sizes:
        assert all(is_zero(entry) for entry in disagreement(asked)(sizes))


def test_the_engines_see_when_their_moments_differ():
    asked = claimed_step(phase("theta + eps*inv(M) @ r", "r - eps*grad(U, theta) + N(0, 2*eps*C)"), Place(""))
    other = stated_step(phase("theta + eps*inv(M) @ r", "r - eps*grad(U, theta) + N(0, eps*C)"))
    asked.moments[("d", 2),] = step_moments(other, {"d": 2})
    assert not all(is_zero(entry) for entry in disagreement(asked)({"d": 2}))


# moments at fixed sizes


def test_orders_of_a_step_at_fixed_sizes():
    naive = StepMoments((theta, r), eps, (eps * r / m, -eps * sympy.diff(U, theta)), ((NONE, NONE), (NONE, eps**2 * V)))
    limit, finite = by_powers(naive).values()
    assert is_zero(residual(naive.z, limit, ENERGY))
    assert is_zero(residual(naive.z, finite, ENERGY) - V * (r**2 - m) / (2 * m**2))
    assert limit == MomentCoefficient((r / m, -sympy.diff(U, theta)), ((NONE, NONE), (NONE, NONE)))


def test_exact_damping_has_its_limit():
    moments = StepMoments((r,), eps, ((sympy.exp(-C * eps) - 1) * r,), ((m * (1 - sympy.exp(-2 * C * eps)),),))
    limit = by_powers(moments)[ONE]
    assert is_zero(limit.mean[0] + C * r)
    assert is_zero(limit.covariance[0][0] - 2 * C * m)
    assert is_zero(residual(moments.z, limit, ENERGY))


@pytest.mark.parametrize(
    ("mean", "spread", "power"), [(r, eps, 0), (eps * r, V, 0), (sympy.sqrt(eps) * r, eps, Fraction(1, 2))]
)
def test_a_moment_that_does_not_shrink_like_eps_has_a_lower_power(mean, spread, power):
    assert min(by_powers(StepMoments((r,), eps, (mean,), ((spread,),)))) == power


def test_a_moment_that_grows_is_no_step():
    with pytest.raises(NotAStepError, match="grows as eps becomes small"):
        at_zero(StepMoments((r,), eps, (r / eps,), ((eps,),)))


def test_expansion_about_a_small_step():
    found = by_power(sympy.sqrt(eps + eps**2 * C) * (1 - sympy.exp(-eps)) / eps, eps, Fraction(3, 2))
    assert [*found] == [Fraction(1, 2), Fraction(3, 2)]
    assert [sympy.simplify(value) for value in found.values()] == [1, C / 2 - sympy.Rational(1, 2)]
    for other in (sympy.log(eps), sympy.Function("g")(Symbol("x"), eps)):
        with pytest.raises(NoExpansionError):
            by_power(other, eps, ONE)
