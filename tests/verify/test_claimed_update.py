"""Reading a claimed step: order, draws, moments, powers of eps; by both engines."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from loaders import load_dynamics
from sympy import Symbol

from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.derive.ordered_update import stated_step, update_order
from recipe_compiler.derive.update import read_update
from recipe_compiler.errors import ModelError, Place
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.show import text
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.stationarity.stationary import claimed_stationary
from recipe_compiler.verify.updates.claimed_step import claimed_step, disagreement
from recipe_compiler.verify.updates.claimed_update import claimed_update, claims_update
from recipe_compiler.verify.updates.expansion import NoExpansionError, by_power
from recipe_compiler.verify.updates.gaussian_moments import StepMoments
from recipe_compiler.verify.updates.step_moments import step_moments
from recipe_compiler.verify.updates.step_residual import MomentCoefficient, NotAStepError, at_zero, by_powers, residual

Read = Callable[..., Dynamics]

ONE = Fraction(1)
theta, r = sympy.symbols("theta r", real=True)
eps, m, V, C = sympy.symbols("eps m V C", positive=True)
U = sympy.Function("U", real=True)(theta)
ENERGY = U + r**2 / (2 * m)
NONE = sympy.Integer(0)


@pytest.fixture
def phase(tmp_path: Path) -> Read:
    """A document with position, momentum, non-commuting M and C, and an update."""

    def read(theta: str, r: str, *, more: str = "", functions: str = "", noise: str = "") -> Dynamics:
        path = tmp_path / "document.yaml"
        path.write_text(
            "name: phase\nstate: {theta: {shape: d}, r: {shape: d}}\n"
            "parameters: {M: {shape: [d, d], is: positive definite}, C: {shape: [d, d], is: positive semidefinite}"
            f"{more}}}\nfunctions: {{U: {{of: theta, role: potential}}{functions}}}\n"
            "H: U(theta) + r.T @ inv(M) @ r / 2\n"
            f"claims:\n  noise: {{{noise}}}\n  update:\n    theta: {theta}\n    r: {r}\n",
            encoding="utf-8",
        )
        return load_dynamics(path)

    return read


def decided(dynamics: Dynamics) -> Answer:
    assert claims_update(dynamics)
    return claimed_update(subject_of(dynamics))


def test_blocks_that_wait_for_each_other_are_a_fault(phase: Read) -> None:
    dynamics = phase("theta + eps*next(r)", "r - eps*next(theta)")
    with pytest.raises(ModelError, match="these updates wait for each other") as error:
        update_order(dynamics)
    assert [fault.entry for fault in error.value.faults] == ["claims.update.theta", "claims.update.r"]
    assert error.value.faults[0].where.line == 9
    with pytest.raises(ModelError, match="these updates wait for each other"):
        subject_of(dynamics)


def test_a_block_that_waits_for_itself_is_a_fault(phase: Read) -> None:
    with pytest.raises(ModelError, match=r"next\(r\)"):
        update_order(phase("theta", "r + eps*next(r)"))


def test_a_covariance_of_the_gradient_of_another_shape_is_a_fault(phase: Read) -> None:
    with pytest.raises(ModelError, match=r"found V, a scalar, expected a matrix \[d, d\]"):
        stated_step(phase("theta", "r - eps*grad_tilde(U, theta)", more=", V: {is: positive}"))


def test_an_estimated_gradient_is_one_draw_however_often_it_is_written(phase: Read) -> None:
    step = stated_step(phase("theta - eps*grad_tilde(U, theta)", "r - eps*grad_tilde(U, theta)"))
    assert len(step.draws) == 1
    cross = read_update(step).covariance_at(Fraction(2))[0][1]
    assert text(cross) == "V[i,j]"


def test_the_square_of_a_draw_must_be_said(phase: Read) -> None:
    with pytest.raises(ModelError, match="the same draw twice"):
        stated_step(phase("theta", "r + eps*norm2(N(0, C))*r"))


def test_moments_of_products_of_draws_and_of_updated_blocks(phase: Read) -> None:
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
def test_the_engines_read_the_same_moments(phase: Read, update: tuple[str, str]) -> None:
    asked = claimed_step(phase(*update), Place(""))
    for sizes in asked.sizes:
        assert all(is_zero(entry) for entry in disagreement(asked)(sizes))


def test_the_engines_see_when_their_moments_differ(phase: Read) -> None:
    asked = claimed_step(phase("theta + eps*inv(M) @ r", "r - eps*grad(U, theta) + N(0, 2*eps*C)"), Place(""))
    other = stated_step(phase("theta + eps*inv(M) @ r", "r - eps*grad(U, theta) + N(0, eps*C)"))
    asked.moments[("d", 2),] = step_moments(other, {"d": 2})
    assert not all(is_zero(entry) for entry in disagreement(asked)({"d": 2}))


@pytest.mark.parametrize(
    ("term", "reason"),
    [
        ("eps*exp(w)", "a draw that does not become small"),
        ("eps*log(eps)*r", "log"),
        ("eps*norm2(grad_tilde(U, theta))*grad_tilde(U, theta)", "only its mean and covariance are known"),
        ("eps*abs(next(theta))", "abs of what a step changes"),
    ],
)
def test_what_is_not_read_is_undecided(phase: Read, term: str, reason: str) -> None:
    dynamics = phase("theta + sqrt(eps)*w", f"r + {term}", noise="w: {shape: d}")
    decision = decided(dynamics).decision
    assert isinstance(decision, Undecided)
    assert reason in " ".join(decision.tried)


def test_the_step_size_may_not_be_a_parameter(phase: Read) -> None:
    decision = decided(phase("theta - eps*grad(U, theta)", "r", more=", eps: {is: positive}")).decision
    assert isinstance(decision, Undecided)
    assert "eps is declared here" in decision.tried[0]


def test_a_step_of_order_one_half_is_not_proved(phase: Read) -> None:
    wrong = decided(phase("theta", "r + sqrt(eps)*r")).decision
    assert isinstance(wrong, Refuted)
    assert "of order eps^(1/2), not eps" in wrong.by
    right = decided(phase("theta + sqrt(eps)*inv(M) @ r", "r - sqrt(eps)*grad(U, theta)"))
    assert right.verdict is Verdict.UNDECIDED


def test_a_draw_of_a_parameter_that_may_be_no_covariance_is_refuted(phase: Read) -> None:
    update = "r - eps*grad(U, theta) - eps*A @ inv(M) @ r + N(0, 2*eps*A)"
    found = decided(phase("theta + eps*inv(M) @ r", update, more=", A: {shape: [d, d]}")).decision
    assert isinstance(found, Refuted)
    assert "not positive semidefinite" in found.by


def test_a_block_that_only_higher_powers_move_is_not_decided(phase: Read) -> None:
    damped = "r - eps*C @ inv(M) @ r + N(0, 2*eps*C)"
    assert decided(phase("theta", damped)).verdict is Verdict.PROVED
    decision = decided(phase("theta + eps**2*theta", damped)).decision
    assert isinstance(decision, Undecided)
    assert "theta moves with higher powers of eps only" in decision.tried[0]


def test_a_part_between_the_orders_is_told(phase: Read) -> None:
    found = decided(phase("theta + eps*inv(M) @ r", "r - eps*grad(U, theta) + eps**(3/2)*r")).decision
    assert isinstance(found, Proved)
    assert "biased at finite step: the eps^(1/2) part of the residual" in " ".join(found.remarks)


def test_a_limit_that_is_not_the_recipes_is_told(tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(
        "name: other\nstate: {theta: {shape: d}}\nfunctions: {U: {of: theta, role: potential}}\nH: U(theta)\n"
        "D: [[I]]\nQ: [[0]]\nclaims: {update: {theta: 'theta - 2*eps*grad(U, theta) + N(0, 4*eps*I)'}}\n",
        encoding="utf-8",
    )
    document = load_dynamics(path)
    found = decided(document).decision
    assert isinstance(found, Proved)
    said = " ".join(found.remarks)
    assert "another equation than that of D and Q: its drift of theta less the recipe's is -d_theta[i] U" in said


def test_orders_of_a_step_at_fixed_sizes() -> None:
    naive = StepMoments((theta, r), eps, (eps * r / m, -eps * sympy.diff(U, theta)), ((NONE, NONE), (NONE, eps**2 * V)))
    limit, finite = by_powers(naive).values()
    assert is_zero(residual(naive.z, limit, ENERGY))
    assert is_zero(residual(naive.z, finite, ENERGY) - V * (r**2 - m) / (2 * m**2))
    assert limit == MomentCoefficient((r / m, -sympy.diff(U, theta)), ((NONE, NONE), (NONE, NONE)))


def test_exact_damping_has_its_limit() -> None:
    moments = StepMoments((r,), eps, ((sympy.exp(-C * eps) - 1) * r,), ((m * (1 - sympy.exp(-2 * C * eps)),),))
    limit = by_powers(moments)[ONE]
    assert is_zero(limit.mean[0] + C * r)
    assert is_zero(limit.covariance[0][0] - 2 * C * m)
    assert is_zero(residual(moments.z, limit, ENERGY))


@pytest.mark.parametrize(
    ("mean", "spread", "power"), [(r, eps, 0), (eps * r, V, 0), (sympy.sqrt(eps) * r, eps, Fraction(1, 2))]
)
def test_a_moment_that_does_not_shrink_like_eps_has_a_lower_power(
    mean: sympy.Expr, spread: sympy.Expr, power: Fraction
) -> None:
    assert min(by_powers(StepMoments((r,), eps, (mean,), ((spread,),)))) == power


def test_a_moment_that_grows_is_no_step() -> None:
    with pytest.raises(NotAStepError, match="grows as eps becomes small"):
        at_zero(StepMoments((r,), eps, (r / eps,), ((eps,),)))


def test_expansion_about_a_small_step() -> None:
    found = by_power(sympy.sqrt(eps + eps**2 * C) * (1 - sympy.exp(-eps)) / eps, eps, Fraction(3, 2))
    assert {power: sympy.simplify(value) for power, value in found.items()} == {
        Fraction(1, 2): 1,
        Fraction(3, 2): C / 2 - sympy.Rational(1, 2),
    }
    with pytest.raises(NoExpansionError):
        by_power(sympy.log(eps), eps, ONE)
    with pytest.raises(NoExpansionError):
        by_power(sympy.Function("g")(Symbol("x"), eps), eps, ONE)


CIR = """name: cir
state: {theta: {shape: d, domain: positive}}
parameters: {a: {is: positive}}
H: sum(theta) - (a - 1)*sum(log(theta))
D: [[diag(theta)]]
Q: [[0]]
claims: {interpretation: stratonovich, drift: {theta: DRIFT}}
"""


@pytest.mark.parametrize(
    ("drift", "verdict"), [("(a - 1/2)*ones - theta", Verdict.PROVED), ("a*ones - theta", Verdict.REFUTED)]
)
def test_a_diagonal_stratonovich_equation_is_converted(tmp_path: Path, drift: str, verdict: Verdict) -> None:
    path = tmp_path / "cir.yaml"
    path.write_text(CIR.replace("DRIFT", drift), encoding="utf-8")
    document = load_dynamics(path)
    assert claimed_drift(subject_of(document)).verdict is verdict
    assert claimed_stationary(subject_of(document)).verdict is verdict


FULL = """name: full
state: {theta: {shape: d}}
parameters: {V: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}, g: {of: theta, is: positive}}
H: U(theta)
D: [[g(theta)*V]]
Q: [[0]]
claims: {interpretation: stratonovich, drift: {theta: -g(theta)*V @ grad(U, theta) + HALF*V @ grad(g, theta)}}
"""
COUPLED = """name: coupled
state: {x: {}, r: {shape: 2}}
H: (x**2 + norm2(r))/2
D: [["3*(1 + x**2)", "(1 + x**2)*[1, 0].T"], ["(1 + x**2)*[1, 0]", "(1 + x**2)*[[1, 0], [0, 2]]"]]
Q: [[0, 0], [0, 0]]
claims:
  interpretation: stratonovich
  drift: {x: "-(1 + x**2)*(3*x + r[0]) + 6*HALF*x", r: "-(1 + x**2)*[x + r[0], 2*r[1]] + 2*HALF*x*[1, 0]"}
"""
TURNING = """name: turning
state: {x: {}, y: {}}
H: (x**2 + y**2)/2
D: [[2 + x**2, 1], [1, 1]]
Q: [[0, 0], [0, 0]]
claims: {interpretation: stratonovich, drift: {x: HALF*x, y: -y}}
"""


@pytest.mark.parametrize(
    ("text", "half", "verdict"),
    [
        (FULL, "1/2", Verdict.PROVED),
        (FULL, "1", Verdict.REFUTED),
        (COUPLED, "1/2", Verdict.PROVED),
        (COUPLED, "1", Verdict.REFUTED),
        (TURNING, "1/2", Verdict.UNDECIDED),
    ],
)
def test_a_stratonovich_equation_is_converted_where_d_is_a_function_times_a_constant_matrix(
    tmp_path: Path, text: str, half: str, verdict: Verdict
) -> None:
    path = tmp_path / "full.yaml"
    path.write_text(text.replace("HALF", half), encoding="utf-8")
    assert claimed_drift(subject_of(load_dynamics(path))).verdict is verdict


def test_a_claimed_diffusion_stands_for_a_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "missing.yaml"
    given = CIR.replace("D: [[diag(theta)]]\n", "").replace(
        "interpretation: stratonovich", "diffusion: [[diag(theta)]]"
    )
    path.write_text(given.replace("DRIFT", "a*ones - theta"), encoding="utf-8")
    document = load_dynamics(path)
    assert claimed_drift(subject_of(document)).verdict is Verdict.PROVED
