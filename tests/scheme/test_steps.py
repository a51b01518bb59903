"""Steps by splitting: their statements, what is refused, what chains make beside solutions, faults in their texts."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from advancing import advance
from answers import SPECS, document
from processor_time import ends
from read_back import check_shipped, read_back
from reports import granted
from scipy import stats
from scipy.integrate import solve_ivp
from scipy.linalg import expm

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError, DocumentError
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Evaluate, Noise, Program, Propagator, Shift
from recipe_compiler.run.load_module import load_text
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.splitting import transformed
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.tensor.show import text

pytestmark = pytest.mark.usefixtures("taken_for_granted")

BUILD = """
dynamics: {dynamics}
target: SPECS/targets/{target}.yaml
{bind}parameters: {{{parameters}}}
scheme: {scheme}
variant: full
{sizes}run: {{step_size: 0.1}}
"""
Text = tuple[str, dict[str, str]]
"""A build, and the dynamics beside it, if these are its own."""
OF_A_GAUSSIAN = "mu: {value: [1, -2]}, Sigma: {value: [[2, 1/2], [1/2, 1]]}"
STATED = "{A: {Q: all, H: r}, B: {Q: all, H: U}, O: {D: all}}"
BAOAB = "{name: baoab}"
REPEATED = "{split: [{repeat: 2, of: [A/4, B/4, O/2, B/4, A/4]}]}"
NESTED = "{split: [B/4, {repeat: 2, of: [A/4, B/4, O/2, A/4]}, B/4]}"
MIDPOINT = "{name: baoab, flows: {A: midpoint, O: midpoint}}"
REGISTERS, ARRAYS = "sizes: {d: 2}\n", ""


def build(
    dynamics: str, parameters: str, scheme: str, target: str = "gaussian", sizes: str = REGISTERS, bound: str = ""
) -> Text:
    found = f"SPECS/dynamics/{dynamics}.yaml" if dynamics != "other" else "other.yaml"
    own = f"bind: {bound}\n" if bound else ""
    return BUILD.format(
        dynamics=found, target=target, bind=own, parameters=parameters, scheme=scheme, sizes=sizes
    ), {}  # fmt: skip


def well(scheme: str) -> Text:
    parameters = "m: {is: positive, value: 1}, c: {is: nonnegative, value: 1}"
    return build("sghmc", parameters, scheme, "double_well", "sizes: {d: 1}\n", "{M: m*I, C: c*I}")


def dense(sizes: str = REGISTERS) -> Text:
    M_and_C = "M: {value: [[2, 1/2], [1/2, 1]]}, C: {value: [[1, 1/3], [1/3, 2]]}"
    return build("sghmc", f"{M_and_C}, {OF_A_GAUSSIAN}", BAOAB, sizes=sizes)


def memory(sizes: str = REGISTERS) -> Text:
    own = ("M: {value: [[2, 1/2], [1/2, 1]]}, Lambda: {value: [[1, 1/2, 0], [-1/3, 1, 2]]}, "
           "A: {value: [[2, 1/2, 0], [1/2, 1, 0], [0, 0, 0]]}")  # fmt: skip
    sizes = sizes.replace("d: 2", "d: 2, k: 3")
    return build("generalised_langevin", f"{own}, {OF_A_GAUSSIAN}", BAOAB, sizes=sizes)


def metric(scheme: str = MIDPOINT) -> Text:
    own = "A: {shape: [d, d], is: positive definite, value: [[1, 1/4], [1/4, 2]]}"
    return build("gsgrhmc", f"{own}, {OF_A_GAUSSIAN}", scheme, bound='{K: "sqrt(1 + norm2(theta)/4)*A"}')


def riemann(sizes: str = REGISTERS) -> Text:
    own, scheme = (
        "a: {shape: d, is: positive, value: [1, 3]}",
        "{split: [H], pieces: {H: {Q: all}}, flows: {H: generalised}}",
    )
    bound = '{G: "(1 + norm2(theta)/4)*diag(a)"}'
    return build("rhmc", f"{own}, {OF_A_GAUSSIAN}", scheme, sizes=sizes, bound=bound)


X_WORD = ("{split: [B/2, A/2, X/2, O, X/2, A/2, B/2], "
          "pieces: {A: {Q: all, H: r}, B: {Q: all, H: U}, O: {D: [[r, r]]}, X: {D: [[x, x]]}}}")  # fmt: skip


def friction(sizes: str = REGISTERS) -> Text:
    own = "kappa: {value: 1/2}, m: {value: [0, 1/2]}, v: {value: 1/4}"
    return build("sghmc_lognormal_friction", f"{own}, {OF_A_GAUSSIAN}", X_WORD, sizes=sizes)


def noisy(energy: str, noise: str) -> Text:
    """Return a build whose friction x has an energy and a noise of its own."""
    other = f"""
state: {{theta: {{shape: d}}, r: {{shape: d}}, x: {{shape: d, domain: positive}}}}
parameters: {{s: {{is: positive}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta) + r.T @ r/2 + {energy}
D: [[0, 0, 0], [0, I, 0], [0, 0, {noise}]]
Q: [[0, -I, 0], [I, 0, 0], [0, 0, 0]]
"""
    return build("other", f"s: {{value: 1}}, {OF_A_GAUSSIAN}", X_WORD)[0], {"other": other}


def moving(g: str, domain: str = "", sizes: str = REGISTERS, word: str = "[A/2, B, A/2]", mass: str = "") -> Text:
    """Return a build whose A is x' = g(x) w, or g(x) inv(M) w."""
    on_line = (domain or ("real" if "exp" in g or mass else "positive")) == "real"
    other = f"""
state: {{x: {{shape: d, domain: {"real" if on_line else "positive"}}}, w: {{shape: d}}}}
functions: {{U: {{of: x, role: potential}}}}
H: U(x) + w.T @ {mass}w/2
D: [[0, 0], [0, 0]]
Q: [[0, -diag({g})], [diag({g}), 0]]
"""
    other += "parameters: {M: {shape: [d, d], is: positive definite}}\n" if mass else ""
    own = "M: {value: [[2, 1/2], [1/2, 1]]}, " if mass else ""
    on_half_line = "b: {value: [6, 2]}, c: {value: [1/2, 1/3]}, k: {value: 1/4}"
    target, values = ("gaussian", own + OF_A_GAUSSIAN) if on_line else ("inverse_gaussian", on_half_line)
    return build("other", values, f"{{split: {word}}}", target, sizes)[0], {"other": other}


def quadratic(g: str, sizes: str = REGISTERS, word: str = "[A/2, B, A/2]") -> Text:
    return moving(g, "real", sizes, word, "inv(M) @ ")


def program_of(stated: Text) -> Program:
    own = document(stated[0], **stated[1])
    return discretise(own, derive(bind(own), stated=True))


@cache
def _compiled(stated: str, other: str) -> Module:
    with granted():
        return compile_build(document(stated, **({"other": other} if other else {})), allow_undecided=True)


def compiled(stated: Text) -> Module:
    return _compiled(stated[0], stated[1].get("other", ""))


# Statements


def spelled(program: Program) -> list[str]:
    return [
        f"{s.new} = grad({s.at})" if isinstance(s, Evaluate)
        else f"{s.name} ~ {text(s.two_D[0][0])}" if isinstance(s, Noise)
        else f"{s.new} = {s.old} + {text(s.rate)}{' + ' + s.noise if s.noise else ''}"
        for s in program.statements
    ]  # fmt: skip


def test_baoab_is_five_flows_and_one_gradient() -> None:
    program = program_of(well(BAOAB))
    assert spelled(program) == [
        "r_v1 = r + -grad_U[i]/2",
        "theta_v1 = theta + r_v1[i]/(2 m)",
        "w_r_v2 ~ 2 c exprel(-2 c eps/m) delta[i,j]",
        "r_v2 = r_v1 + -c exprel(-c eps/m) r_v1[i]/m + w_r_v2",
        "theta_new = theta_v1 + r_v2[i]/(2 m)",
        "grad_U_new = grad(theta_new)",
        "r_new = r_v2 + -grad_U_new[i]/2",
    ]
    assert program.carried
    stated = f"{{split: [B/2, A/2, O, A/2, B/2], pieces: {STATED}}}"
    assert program_of(well(stated)).statements == program.statements


@pytest.mark.parametrize(
    ("scheme", "evaluations", "carried"),
    [
        (BAOAB, 1, True),
        ("{name: aboba}", 1, False),
        ("{name: obabo}", 1, True),
        ("{name: lie}", 1, False),
        ("{split: [A/2, B/3, A/4, O, 2*B/3, A/4]}", 2, False),
        ("{split: [B/4, A/2, B/4, O, B/4, A/2, B/4]}", 2, True),
    ],
)
def test_the_gradient_is_evaluated_where_its_block_has_moved(scheme: str, evaluations: int, carried: bool) -> None:
    program = program_of(well(scheme))
    assert len(program.evaluations) == evaluations
    assert program.carried is carried
    known = {"grad_U"} if carried else set()
    newest = "theta"
    for statement in program.statements:
        match statement:
            case Evaluate(at, new):
                assert at == newest
                known = {new}
            case Shift(block, _, new, rate) if "grad_U" in text(rate):
                (used,) = set(re.findall(r"grad_U\w*", text(rate)))
                assert used in known
            case Shift(block, _, new):
                known, newest = (set(), new) if block.name == "theta" else (known, newest)
            case _:
                pass


def test_the_draw_of_a_frozen_coefficient_is_made_where_that_is_known() -> None:
    thermostat = "A: {value: 1}, mu: {value: [0, 1]}, Sigma: {value: [[2, 1], [1, 3]]}"
    found = spelled(program_of(build("sgnht", thermostat, "{name: badodab}")))
    draw = found.index("w_r_v2 ~ 2 A exprel(-2 eps xi_v1) delta[i,j]")
    assert [line.partition(" = ")[0] for line in found[:draw]] == ["r_v1", "theta_v1", "xi_v1"]


def test_friction_with_a_full_matrix_is_one_draw_from_prepared_matrices() -> None:
    program = program_of(dense())
    first, *_ = program.statements
    assert isinstance(first, Propagator)
    assert text(first.F[0][0]) == "sum_k C[k,i] inv(M)[k,j]"  # C is symmetric
    assert text(first.two_D[0][0]) == "2 C[i,j]"
    (noise,) = program.noises
    assert text(noise.two_D[0][0]) == "covariance_O[i,j]"
    assert [text(s.rate) for s in program.shifts if s.noise] == ["sum_j change_O[i,j] r_v1[j]"]


def test_memory_moves_momenta_and_its_variables_together() -> None:
    program = program_of(memory())
    (noise,) = program.noises
    assert [block.name for block in noise.blocks] == ["r", "w"]
    assert isinstance(program.statements[0], Propagator)
    assert [type(s) for s in program.statements[1:]][2:5] == [Noise, Shift, Shift]


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        # midpoint: a half step that is solved for and one that is not; a kick by a known gradient is no equation
        (metric(), "r_v1 theta_v1* theta_v2 r_v2~ r_v3* theta_v3* theta_new r_new"),
        (metric("{name: baoab, flows: {A: midpoint, B: midpoint, O: midpoint}}"),
         "r_v1 r_v2 theta_v1* theta_v2 r_v3~ r_v4* theta_v3* theta_v4 r_v5 r_new"),
        (riemann(), "r_v1* theta_v1 theta_new* r_new"),
    ],
    ids=["midpoint", "every piece", "generalised leapfrog"],
)  # fmt: skip
def test_which_half_steps_are_solved_for(stated: Text, expected: str) -> None:
    program = program_of(stated)
    found = [f"{s.new}{'*' if s.implicit else ''}{'~' if s.noise else ''}" for s in program.shifts]
    if "r_v5" in expected:
        found, expected = [one for one in found if "*" in one], "theta_v1* r_v4* theta_v3*"
    assert found == expected.split()
    if "~" in expected:
        solved, after = program.shifts[1], program.shifts[2]
        assert text(solved.rate) == text(after.rate) == "sum_j sqrt(sum_k theta_v1[k]**2 + 4) A[j,i] r_v1[j]/8"


def test_a_lognormal_piece_shifts_the_logarithm() -> None:
    program = program_of(friction())
    first, last = (shift for shift in program.shifts if shift.block.name == "x")
    assert first.transform == last.transform == Transform(Family.LOG)
    assert text(first.rate) == "kappa exprel(-eps kappa/2) (m[i] - log(x[i]))/2"
    assert text(program.noises[0].two_D[0][0]) == "kappa v exprel(-eps kappa) delta[i,j]"
    assert all(shift.transform is None for shift in program.shifts if shift.block.name != "x")


def test_riccati_has_one_hyperbolic_function_for_either_sign() -> None:
    stated = quadratic("ones + x**2")
    program = program_of(stated)
    first = program.shifts[0]
    assert first.transform is None
    v = "sum_j inv(M)[j,i] w[j]"
    assert text(first.rate).startswith("reciprocal(-sum_j eps x[i] inv(M)[j,i] w[j]/2 + sqrtcoth(-sum_jk eps**2 inv(M)")
    assert text(first.rate).endswith(f"(sum_j x[i]**2 inv(M)[j,i] w[j] + {v})/2")
    own = document(stated[0], **stated[1])
    piece, flow = split_by(derive(bind(own)), own.scheme)["A"]
    assert (flow.row, flow.may_end, flow.order, piece.moved) == ("Riccati, entry by entry", True, None, ("x",))
    assert "not a number where a solution runs off to infinity before t" in flow.says


# What is refused


REFUSED: list[tuple[Text, str]] = [
    *((well(scheme), problem) for scheme, problem in (
        ("{split: [B/2, A/2, O, A/2]}", "the piece B for 1/2 of the step"),
        ("{split: [B, A, O, A]}", "the piece A for 2 of the step"),
        ("{split: [B/2, A, B/2]}", "found no letter O in [B/2, A, B/2], expected every piece: A, B, O"),
        ("{split: [B/2, A, X, B/2, O]}", "the letter X in"),
        ("{split: [B, 2*O, A, -O]}", "noise cannot be reversed"),
        ("{name: baoabs}", "expected one of euler, sequential_euler, aboba"),
        ("{name: baoab, order: [r, theta]}", "found an order"),
        ("{name: baoab, split: [B, A, O]}", "beside `name`"),
        ("{split: [B/2, A/0]}", "a piece with its share"),
        ("{split: [0*O, B, A, O]}", "a piece with its share, not 0"),
        ("{split: []}", "found a word of 0 letters, expected 1 to 1000"),
        ("{split: [{repeat: 2000, of: [A/2000]}, B, O]}", "how often it is repeated"),
        ("{order: [r, theta]}", "no `name`, no `use` and no word"),
        ("{split: [B, A, O], pieces: {A: {Q: [[theta, p]]}, B: {Q: all}, O: {D: all}}}", "the block `p`"),
        ("{split: [A, O], pieces: {A: {Q: all, H: r}, O: {D: all}}}", "f[r] - their sum = -d_theta[i] U"),
        ("{split: [A, B, O], pieces: {A: {Q: all, H: r}, B: {Q: all}, O: {D: all}}}", "f[theta] - their sum"),
        ("{split: [A, B, O, N], pieces: {A: {Q: all, H: r}, B: {Q: all, H: U}, O: {D: all}, N: {D: all, H: U}}}",
         "D[r,r] - their sum = -c delta[i,j]"),
        ("{split: [A, B, O], pieces: {A: {Q: all, H: r}, B: {Q: all, H: V}, O: {D: all}}}", "the summand `V`"),
    )),
    *((metric(scheme), problem) for scheme, problem in (
        ("{split: [O, A, B]}", "its drift is not a polynomial in theta"),
        ("{name: baoab, flows: {A: midpoint}}", "found the piece O"),
        ("{name: baoab, flows: {A: midpoint, O: midpoint, X: midpoint}}", "found a flow of X"),
        ("{name: baoab, flows: {A: midpoint, O: generalised}}", "two blocks without noise"),
        ("{name: baoab, flows: {A: newton}}", "midpoint"),
        ("{name: euler, flows: {A: midpoint}}", "found `flows`, expected none"),
        ("{split: [H, O], pieces: {H: {Q: all}, O: {D: all}}, flows: {H: midpoint, O: midpoint}}", "midpoint solves"),
    )),
    *((noisy(energy, noise), problem) for energy, noise, problem in (
        ("norm2(log(x))/2", "s*diag(x)", "the noise of log(x) depends on x"),
        ("norm2(x)/2", "s*diag(x**2)", "the drift of log(x) is not affine in it"),
        ("sum(log(x))**2/2", "s*diag(x**2)", "entries of log(x) drift by others of x"),
        ("norm2(log(x))/2", "s*(diag(x**2) + x @ x.T)", "its noise is correlated"),
    )),
    *((moving(g, domain), problem) for g, domain, problem in (
        ("sqrt(ones + x**2)", "real", "it has no transform of x, whose domain is real"),
        ("x**3", "real", "it has no transform of x, whose domain is real"),
        ("sqrt(x) + x**2", "positive", "the drift of x**(1/2) is not affine in it; the drift of x**(-1) is not"),
        ("exp(x) + exp(2*x)", "real", "the drift of exp(-x) is not affine in it"),
        ("ones + x**3", "real", "its drift is of degree 3 in x; it has no transform of x, whose domain is real"),
        ("ones + x + x**3", "positive", "the drift of x**(-2) is not affine in it"),
        ("exp(x**2)", "real", "it has no transform of x, whose domain is real"),
    )),
]  # fmt: skip


@pytest.mark.parametrize(("stated", "problem"), REFUSED)
def test_a_word_or_a_piece_without_a_flow_is_refused_and_says_why(stated: Text, problem: str) -> None:
    with pytest.raises(DocumentError) as raised:
        program_of(stated)
    assert problem in str(raised.value)
    assert raised.value.faults[0].where.file.endswith("document.yaml")


# Chains, beside NumPy and SciPy


M, C = np.array([[2, 0.5], [0.5, 1]]), np.array([[1, 1 / 3], [1 / 3, 2]])
Lambda, A = np.array([[1, 0.5, 0], [-1 / 3, 1, 2]]), np.array([[2, 0.5, 0], [0.5, 1, 0], [0, 0, 0.0]])
mu, Sigma = np.array([1.0, -2.0]), np.array([[2, 0.5], [0.5, 1]])
a, kappa, m, v = np.array([1.0, 3.0]), 0.5, np.array([0.0, 0.5]), 0.25
ON_HALF_LINE = (np.array([6.0, 2.0]), np.array([1 / 2, 1 / 3]), 0.25)
Array = np.ndarray
BOTH_SIZES = pytest.mark.parametrize("sizes", [REGISTERS, ARRAYS], ids=["registers", "arrays"])


def moved(
    stated: Text, state: Sequence[Sequence[float]], given: Sequence[Any], eps: float, steps: int = 1
) -> list[Array]:
    """Return blocks after steps of a chain; raises ValueError where it ends."""
    made = compiled(stated)
    module = load_text(made.name, made.loaded)
    blocks = [np.array(block, float) for block in state]
    streams, _ = module.seed_streams(1, 1)
    if len(advance(module, blocks, given, eps, streams[0], thin=steps)[0]) != 1:
        raise ValueError([*np.isnan(blocks[0])], blocks[0])
    return blocks


def gradient(x: Array) -> Array:
    return np.linalg.solve(Sigma, x - mu)


def friction_of_memory(A: Array) -> Array:
    return np.block([[np.zeros((2, 2)), -Lambda], [Lambda.T @ np.linalg.inv(M), A]])


@pytest.mark.slow
@BOTH_SIZES
def test_prepared_matrices_are_those_of_the_flow(sizes: str) -> None:
    """The covariance of O by Van Loan's exponential."""
    emitted, eps = compiled(memory(sizes)), 0.3
    module = load_text(emitted.name, emitted.loaded)
    constants = module.prepare(M, Lambda, A, mu, Sigma, eps, *([] if sizes else [2, 3]))
    two_D = np.zeros((5, 5))
    two_D[2:, 2:] = 2 * A
    F = friction_of_memory(A)
    whole = expm(eps * np.block([[-F, two_D], [np.zeros((5, 5)), F.T]]))
    found = dict(zip((array.name for array in emitted.kernel.prepare.outputs), constants, strict=True))
    L = np.vstack([found["L_r"], found["L_w"]])
    np.testing.assert_allclose(L @ L.T, whole[:5, 5:] @ whole[:5, :5].T, atol=1e-14)
    change = np.block([[found[f"change_O_{a}_{b}"] for b in "rw"] for a in "rw"])
    np.testing.assert_allclose(np.eye(5) + eps * change, expm(-eps * F), atol=1e-14)


@pytest.mark.slow
@BOTH_SIZES
def test_three_steps_with_memory_are_the_composition_of_their_flows(sizes: str) -> None:
    """With memory that does not fade, so without noise."""
    state, eps = ([1.5, -0.5], [0.3, -1.0], [0.2, 0.1, -0.4]), 0.3
    x, p, z = map(np.array, state)
    decay = expm(-eps * friction_of_memory(np.zeros((3, 3))))
    for _ in range(3):
        p = p - eps / 2 * gradient(x)
        x = x + eps / 2 * np.linalg.solve(M, p)
        p, z = np.split(decay @ np.concatenate([p, z]), [2])
        x = x + eps / 2 * np.linalg.solve(M, p)
        p = p - eps / 2 * gradient(x)
    found = moved(memory(sizes), state, (M, Lambda, np.zeros((3, 3)), mu, Sigma), eps, 3)
    np.testing.assert_allclose(np.concatenate(found), [*x, *p, *z], rtol=1e-12)


@pytest.mark.slow
@BOTH_SIZES
@pytest.mark.parametrize("word", ["B/2 A/2 O A/2 B/2", "A/2 B/4 O/3 B/4 A/4 O/3 B/2 A/4 O/3", "O/2 A -B 2*B O/2"])
def test_a_word_without_friction_is_its_kicks_and_moves(word: str, sizes: str) -> None:
    own = "m: {shape: d, is: positive, value: [1, 3]}, c: {shape: d, is: nonnegative, value: [1, 2]}"
    scheme, eps, state = f"{{split: [{word.replace(' ', ', ')}]}}", 0.3, ([1.5, -0.5], [0.3, -1.0])
    plane = build("sghmc", f"{own}, {OF_A_GAUSSIAN}", scheme, sizes=sizes, bound="{M: diag(m), C: diag(c)}")
    x, p = map(np.array, state)
    for letter in 3 * word.split():
        share = {"/2": 1 / 2, "/3": 1 / 3, "/4": 1 / 4, "-B": -1, "2*B": 2}
        t = eps * next((value for text, value in share.items() if text in letter), 1)
        x = x + t * p / a if "A" in letter else x
        p = p - t * gradient(x) if "B" in letter else p
    found = moved(plane, state, (a, np.zeros(2), mu, Sigma), eps, 3)
    np.testing.assert_allclose(np.concatenate(found), [*x, *p], rtol=1e-13)


def forces(x: Array, p: Array) -> tuple[Array, Array]:
    """Return dH/dr and dH/dtheta of H = U + r.T inv(G) r/2 + logdet(G)/2, G = (1 + |theta|**2/4) diag(a)."""
    g, v = 1 + x @ x / 4, p / a
    return v / g, gradient(x) - p @ v * x / (4 * g**2) + len(x) * x / (4 * g)


def leapfrog(x: Array, p: Array, eps: float) -> tuple[Array, Array]:
    """One generalised leapfrog step, its equations solved by plain iteration."""
    half, y = p, x
    for _ in range(200):
        half = p - eps / 2 * forces(x, half)[1]
    for _ in range(200):
        y = x + eps / 2 * (forces(x, half)[0] + forces(y, half)[0])
    return y, half - eps / 2 * forces(y, half)[1]


@pytest.mark.slow
@BOTH_SIZES
def test_steps_of_the_generalised_leapfrog_go_back_where_they_came_from(sizes: str) -> None:
    state, eps = ([1.5, -0.5], [0.3, -1.0]), 0.2
    x, p = map(np.array, state)
    for _ in range(5):
        x, p = leapfrog(x, p, eps)
    theta, r = moved(riemann(sizes), state, (a, mu, Sigma), eps, 5)
    np.testing.assert_allclose([*theta, *r], [*x, *p], rtol=1e-10)
    back, _ = moved(riemann(sizes), (theta, -r), (a, mu, Sigma), eps, 5)
    np.testing.assert_allclose(back, state[0], rtol=1e-10)


@pytest.mark.slow
@BOTH_SIZES
def test_the_law_of_one_step_from_a_point_is_lognormal(sizes: str) -> None:
    """4,000 steps from a point, log x against its normal law, false alarms 1e-5 each.

    X is done twice for half the step, so log x has the mean m + e (log x - m), e = exp(-kappa eps), the variance
    v (1 - e**2), at any step size, here 0.3 and 3.
    """
    emitted = compiled(friction(sizes))
    module = load_text(emitted.name, emitted.loaded)
    start = np.array([3.0, 0.2])
    for seed, eps in enumerate((0.3, 3.0)):
        streams, _ = module.seed_streams(seed, 4000)
        found = np.empty((len(streams), 2))
        for k, stream in enumerate(streams):
            state = np.array([1.5, -0.5]), np.array([0.3, -1.0]), start.copy()
            (found[k],) = advance(module, state, (kappa, m, v, mu, Sigma), eps, stream)[2]
        e = np.exp(-kappa * eps)
        standard = (np.log(found) - m - e * (np.log(start) - m)) / np.sqrt(v * (1 - e**2))
        assert all(stats.kstest(standard[:, i], "norm").pvalue > 1e-5 for i in range(2))
        assert abs(np.corrcoef(standard.T)[0, 1]) < 4.4 / np.sqrt(len(streams))


def power(a: float, b: float, c: float) -> tuple[Callable[..., Any], ...]:
    return lambda x: a + b * x + c * x**2, lambda x: b + 2 * c * x


LINE, HALF_LINE = ([0.3, -1.1], [0.7, -0.4]), ([1.5, 0.6], [0.7, -0.4])
TRANSFORMED = {
    "sqrt(x)": (np.sqrt, lambda x: 0.5 / np.sqrt(x), "shift, of x**(1/2)"),
    "x**2/2": (lambda x: x * x / 2, lambda x: x, "shift, of x**(-1)"),
    "1/x": (lambda x: 1 / x, lambda x: -1 / x**2, "shift, of x**2"),
    "x + x**2/4": (lambda x: x + x * x / 4, lambda x: 1 + x / 2, "linear, entry by entry, of x**(-1)"),
    "x*log(x)": (lambda x: x * np.log(x), lambda x: 1 + np.log(x), "linear, entry by entry, of log(x)"),
    "exp(2*x)/5": (lambda x: np.exp(2 * x) / 5, lambda x: 2 * np.exp(2 * x) / 5, "shift, of exp(-2*x)"),
}
QUADRATIC = {
    "ones + x**2": (1, 0, 1),  # Delta = -4 (inv(M) w)**2
    "ones - x**2": (1, 0, -1),  # 4
    "ones/4 + x + x**2": (0.25, 1, 1),  # 0
    "ones/4 + x + 999999/1000000*x**2": (0.25, 1, 0.999999),  # 1e-6
    "ones/4 + x + 1000001/1000000*x**2": (0.25, 1, 1.000001),  # -1e-6
    "x**2 - 2*x": (0, -2, 1),  # 4
    "3*x**2": (0, 0, 3),  # 0
    "2*ones - 5*x - 3*x**2": (2, -5, -3),  # 49
}
"""(1, 0, 1) is x' = (1 + x**2) v entry by entry, v = inv(M) w: coefficients of either sign, by what stands still."""


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [REGISTERS, ARRAYS], ids=["registers", "arrays"])
@pytest.mark.parametrize("g", [*TRANSFORMED, *QUADRATIC])
def test_steps_are_the_solutions_of_their_equations(g: str, sizes: str) -> None:
    """Three steps of [A/2, B, A/2] against SciPy's solution of x' = g(x) w, or of x' = g(x) inv(M) w."""
    is_quadratic, on_line = g in QUADRATIC, g in QUADRATIC or "exp" in g
    stated = quadratic(g, sizes) if is_quadratic else moving(g, sizes=sizes)
    value, derivative = power(*QUADRATIC[g]) if is_quadratic else TRANSFORMED[g][:2]
    if not is_quadratic:
        own = document(stated[0], **stated[1])
        assert split_by(derive(bind(own)), own.scheme)["A"][1].row == TRANSFORMED[g][2]
    given = ((M,) if is_quadratic else ()) + ((mu, Sigma) if on_line else ON_HALF_LINE)
    state = LINE if on_line else HALF_LINE
    x, w = map(np.array, state)
    for _ in range(3):
        for part in "ABA":
            if part == "B":
                slope = gradient(x) if on_line else 1.5 / x - [6, 2] / x**2 + [1 / 2, 1 / 3] + x.sum() / 4
                w = w + 0.1 * (derivative(x) - value(x) * slope)
                continue
            r = np.linalg.solve(M, w) if is_quadratic else w
            found = solve_ivp(lambda _, z, r=r: value(z) * r, (0, 0.05), x, rtol=1e-12, atol=1e-13, method="DOP853")
            x = found.y[:, -1]
    np.testing.assert_allclose(np.concatenate(moved(stated, state, given, 0.1, 3)), [*x, *w], rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("g", "x", "push", "alive"),
    [
        ("sqrt(x)", 1.5, -300.0, False), ("x**2/2", 1.5, 300.0, False), ("1/x", 1.5, -300.0, False),
        ("exp(2*x)/5", 1.5, 300.0, False),
        ("ones + x**2", 1.5, 10.0, True),  # tan(atan(1.5) + w/20): 1.48 of pi/2
        ("ones + x**2", 1.5, 15.0, False),  # 1.73
        ("ones + x**2", -1.5, 30.0, True),
        ("ones + x**2", 0.0, 400.0, False),  # before the last half turn, q < -pi**2
        ("ones - x**2", 1.5, 300.0, True),  # to 1
        ("ones - x**2", 1.5, -300.0, False),  # away from it
        ("3*x**2", 1.5, -300.0, True),  # to 0
        ("3*x**2", 1.5, 300.0, False),
        ("3*x**2", 0.0, 300.0, True),  # it stays
    ],
)  # fmt: skip
def test_a_solution_that_leaves_ends_its_chain(g: str, x: float, push: float, alive: bool) -> None:
    """It reaches 0, or infinity, within a step of 0.05: the second entry, which stays, does not hide it."""
    is_quadratic = g in QUADRATIC
    stated = quadratic(g, word="[A, B]") if is_quadratic else moving(g, word="[A, B]")
    given = ((np.eye(2),) if is_quadratic else ()) + ((mu, Sigma) if is_quadratic or "exp" in g else ON_HALF_LINE)
    state = [x, 0.6], [push, 0.0]
    if alive:
        position, _ = moved(stated, state, given, 0.05)
        assert np.isfinite(position[0])
        assert position[1] == 0.6
        return
    with pytest.raises(ValueError, match=r"\[.*True.*False.*\]"):
        moved(stated, state, given, 0.05)


@pytest.mark.slow
def test_an_equation_without_a_solution_ends_its_chain() -> None:
    """Far out, with a step of 1000, Newton's iteration finds none, and nothing is kept."""
    with pytest.raises(ValueError, match="True"):
        moved(riemann(), ([1.5, -0.5], [30.0, -80.0]), (a, mu, Sigma), 1000.0)

    # Faults in texts


POWER_BUILD = SPECS / "builds/sgrhmc_inverse_gaussian_baoab.yaml"
SHIPPED_POWER: Text = POWER_BUILD.read_text(encoding="utf-8").replace("../", "SPECS/"), {}
OF_RICCATI = quadratic("2*ones - 5*x - 3*x**2")  # b**2 - 4 a c = 49 v**2
DEFAULT: list[tuple[Text, str, tuple[str, ...]]] = [
    *((well(BAOAB), fault, change) for fault, change in {
        "a kick of the other sign": ("r_v1_0 = r_0 + step_factor * grad_U_0", "r_v1_0 = r_0 - step_factor * grad_U_0"),
        "a stale gradient": ("grad_U_new_0 = gradient(theta_new_0)", "grad_U_new_0 = gradient(theta_0)"),
        "noise of another scale": ("scale_r * noise_r_0", "eps * noise_r_0"),
        "Euler's noise": ("_noise_scale(2.0 * c * exprel_of_constants, 0.0", "_noise_scale(2.0 * c, 0.0"),
        "a decay of half a step": ("constants_2 = _exprel(-c * eps / m)", "constants_2 = _exprel(-c * eps / m / 2.0)"),
        "another gradient carried on": ("r_new_0, grad_U_new_0\n", "r_new_0, grad_U_0\n"),
    }.items()),
    *((SHIPPED_POWER, fault, change) for fault, change in {
        "another power": ("r_v1_0, 2.0)", "r_v1_0, 1.0)"),
        "a power without its guard": (
            "_inverse_power(root + step_factor_2 * r_v1_0, 2.0)", "(root + step_factor_2 * r_v1_0) ** 2"),
        "the other momentum": ("step_factor_2 * r_v1_0, 2.0)", "step_factor_2 * r_v1_1, 2.0)"),
    }.items()),
]  # fmt: skip
SLOW: list[tuple[Text, str, tuple[str, ...]]] = [
    (well("{name: baoab, keep: 2}"), "kept, a gradient a letter early", ("gradient(theta_v1_0)", "gradient(theta_0)")),
    (well("{name: baoab, keep: O}"), "kept, half a kick", ("step_factor_2 = -eps", "step_factor_2 = -eps / 2.0")),
    (well(REPEATED), "repeated, a draw used twice", ("* noise_r_2_0", "* noise_r_0")),
    (well(REPEATED), "repeated, a gradient without its argument", ("gradient(theta_v3_0)", "gradient()")),
    (well(NESTED), "inner and outer kicks", ("r_v2_0 = r_v1_0 + ", "r_v2_0 = r_0 + ")),
    *((dense(), fault, change) for fault, change in {
        "a flow for half a step": ("1.0, eps)", "0.5, eps)"),
        "friction transposed": ("F_r[i, j] = C_inv_M[i, j]", "F_r[i, j] = C_inv_M[j, i]"),
        "noise of half its variance": ("two_D_r[i, j] = 2.0 * C[i, j]", "two_D_r[i, j] = C[i, j]"),
        "Euler's noise at an exact decay": ("_noise_factor([[two_D_r_2]]", "_noise_factor([[two_D_r]]"),
        "the integral for the change": (
            "((change_O,),)", "((X_O,),)", "((integral_O,),)", "((change_O,),)", "((X_O,),)", "((integral_O,),)"),
    }.items()),
    *((metric(), fault, change) for fault, change in {
        "an equation at the old position": ("theta_v1_theta_v1 = theta_v1_0 *", "theta_v1_theta_v1 = theta_0 *"),
        "an entry that is not compared": (
            "        _change, _size = _progress(_change, _size, theta_1, theta_v1_1, theta_v1_other_1)\n", ""),
        "differences that are forgotten": (
            "_change, _size = _progress(_change, _size, theta_1,", "_change, _size = _progress(0.0, _size, theta_1,"),
        "an iteration alone": ("for _ in range(100):", "for _ in range(1):"),
        "another entry that is no number": ("theta_v1_0 = np.nan", "_change = np.nan"),
        "a start elsewhere": ("    theta_v1_1 = theta_1\n", "    theta_v1_1 = theta_0\n"),
        "no step": ("        theta_v1_1 = theta_v1_1 + residual_theta_v1[1]\n", ""),
        "noise in the equation": ("r_v3_other_0 = r_v2_0 +", "r_v3_other_0 = r_v2_0 + noise_r_0 +"),
    }.items()),
    *((friction(), fault, change) for fault, change in {
        "an exponential of another number": ("_inverse_log(part)", "_inverse_log(2.0 * part)"),
        "noise beside the exponential": (
            "part = scale_x * noise_x_0 + log_part", "part = log_part",
            "_inverse_log(part)", "_inverse_log(part) + scale_x * noise_x_0"),
        "a stale value": ("math.log(x_v1_0)", "math.log(x_0)"),
        "a whole step for a half": ("step_factor_3 = eps * kappa * exprel_of_constants_2 / 2.0",
                                    "step_factor_3 = eps * kappa * exprel_of_constants"),
        "Euler's noise": ("_noise_scale(kappa * v * exprel_of_constants,", "_noise_scale(kappa * v,"),
        "one draw for both halves": ("scale_x * noise_x_2_0", "scale_x * noise_x_0"),
    }.items()),
    *((OF_RICCATI, fault, change) for fault, change in {
        "q four times": ("_sqrtcoth(3.0625 * eps_squared", "_sqrtcoth(12.25 * eps_squared"),
        "q of a coefficient that is stale": ("eps_squared * (inv_M_w_new_0 *", "eps_squared * (inv_M_w_0 *"),
        "s of the other sign": ("_reciprocal(eps * (inv_M_w_0 * (5.0 + 6.0 * x_0)) / 4.0 + part)",
                                "_reciprocal(-eps * (inv_M_w_0 * (5.0 + 6.0 * x_0)) / 4.0 + part)"),
        "f at a stale x": ("(-2.0 + x_v1_0 * (5.0 + 3.0 * x_v1_0)) * inv_M_w_new_0",
                           "(-2.0 + x_0 * (5.0 + 3.0 * x_0)) * inv_M_w_new_0"),
        "no denominator": ("* (5.0 + 3.0 * x_0))) * part_2", "* (5.0 + 3.0 * x_0)))"),
    }.items()),
]  # fmt: skip
CASES = [*DEFAULT, *(pytest.param(*row, marks=pytest.mark.slow) for row in SLOW)]


@pytest.mark.parametrize(("stated", "fault", "changes"), CASES)
def test_a_fault_in_a_text_is_found(stated: Text, fault: str, changes: tuple[str, ...]) -> None:
    module = compiled(stated)
    found, sizes = module.text, {"d": 1 if "double_well" in stated[0] else 2}
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert old in found, fault
        found = found.replace(old, new, 1)
    check_shipped(module, sizes)
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=found), sizes)


@pytest.mark.parametrize("name", ["part_2", "part_4"])
def test_a_quotient_without_its_guard_is_found(name: str) -> None:
    """Its formula is the same: what differs is that a chain goes on where a solution has run off."""
    module = compiled(OF_RICCATI)
    assert f"{name} = _reciprocal(" in module.text
    found = module.text.replace(f"{name} = _reciprocal(", f"{name} = 1.0 / (", 1)
    with pytest.raises(CompilerError, match="divides by a value that is not required to be positive"):
        check_shipped(replace(module, text=found), {"d": 2})


def test_another_transform_of_the_program_is_found() -> None:
    """The text moves the logarithm, the Program a power."""
    module = compiled(friction())
    statements = tuple(
        replace(s, transform=Transform(Family.POWER)) if getattr(s, "transform", None) else s
        for s in module.program.statements
    )
    with pytest.raises(CompilerError, match="does not move x"):
        check_shipped(replace(module, program=replace(module.program, statements=statements)), {"d": 2})


@pytest.mark.slow
def test_the_term_of_ito_is_missed_in_a_step_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Program and text agree, and the drift of x is not the derived one: kappa v x is missing."""
    own = document(friction()[0])
    derivation, slopes = derive(bind(own)), transformed._write_slopes

    def read() -> None:
        program = discretise(own, derive(bind(own), stated=True))
        module = emit_module(own.name, program, lower(program), "A test.\n", "0" * 64)
        read_back(module, derivation, {}, pinned_sizes(own, program))

    def without(c: Any, transform: Transform, z: Any) -> Any:
        T, first, second = slopes(c, transform, z)
        return T, first, c.subtract(second, second)

    read()
    monkeypatch.setattr(transformed, "_write_slopes", without)
    with pytest.raises(CompilerError, match=r"differs from its Program in entry \d of the drift"):
        read()


@pytest.mark.slow
def test_a_long_word_is_read_back_letter_by_letter() -> None:
    """200 letters: what is compared of one does not grow with those before it (a few seconds of processor time)."""
    with ends():
        module = compiled(well("{split: [{repeat: 40, of: [B/80, A/80, O/40, A/80, B/80]}]}"))
        check_shipped(module, {"d": 1})
    assert len(module.program.evaluations) == 40
