"""Steps by splitting: their statements, where the gradient is evaluated, what is refused, and what chains make."""

import re

import numpy as np
import pytest
from advancing import advance
from processor_time import ends

from recipe_compiler.errors import DocumentError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.program.program import Evaluate, Noise, Program, Shift
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.run.load_module import load_text
from recipe_compiler.tensor.show import text

pytestmark = pytest.mark.usefixtures("taken_for_granted")

WELL = """
format: 1
name: well
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/double_well.yaml
bind: {M: m*I, C: c*I}
parameters:
  m: {is: positive, value: 1}
  c: {is: nonnegative, value: 1}
scheme: SCHEME
variant: full
sizes: {d: 1}
run: {step_size: 0.1}
"""
THERMOSTAT = """
format: 1
name: thermostat
dynamics: SPECS/dynamics/sgnht.yaml
target: SPECS/targets/gaussian.yaml
parameters:
  A: {value: 1}
  mu: {value: [0, 1]}
  Sigma: {value: [[2, 1], [1, 3]]}
scheme: SCHEME
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""
BAOAB = "{name: baoab}"
REPEATED = "{split: [{repeat: 2, of: [A/4, B/4, O/2, B/4, A/4]}]}"
NESTED = "{split: [B/4, {repeat: 2, of: [A/4, B/4, O/2, A/4]}, B/4]}"


def spelled(program: Program) -> list[str]:
    return [
        f"{s.new} = grad({s.at})" if isinstance(s, Evaluate)
        else f"{s.name} ~ {text(s.two_D[0][0])}" if isinstance(s, Noise)
        else f"{s.new} = {s.old} + {text(s.rate)}{' + ' + s.noise if s.noise else ''}"
        for s in program.statements
    ]  # fmt: skip


def test_baoab_is_five_flows_and_one_gradient(program_of) -> None:
    program = program_of(WELL.replace("SCHEME", BAOAB))
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
def test_the_gradient_is_evaluated_where_its_block_has_moved(
    program_of, scheme: str, evaluations: int, carried
) -> None:
    program = program_of(WELL.replace("SCHEME", scheme))
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


def test_the_draw_of_a_frozen_coefficient_is_made_where_that_is_known(program_of) -> None:
    found = spelled(program_of(THERMOSTAT.replace("SCHEME", "{name: badodab}")))
    draw = found.index("w_r_v2 ~ 2 A exprel(-2 eps xi_v1) delta[i,j]")
    assert [line.partition(" = ")[0] for line in found[:draw]] == ["r_v1", "theta_v1", "xi_v1"]


@pytest.mark.parametrize(
    ("scheme", "problem"),
    [
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
        (
            "{split: [A, B, O, N], pieces: {A: {Q: all, H: r}, B: {Q: all, H: U}, O: {D: all}, N: {D: all, H: U}}}",
            "D[r,r] - their sum = -c delta[i,j]",
        ),
        ("{split: [A, B, O], pieces: {A: {Q: all, H: r}, B: {Q: all, H: V}, O: {D: all}}}", "the summand `V`"),
    ],
)
def test_a_wrong_word_is_a_fault_of_its_entry(program_of, scheme: str, problem: str) -> None:
    with pytest.raises(DocumentError) as raised:
        program_of(WELL.replace("SCHEME", scheme))
    assert problem in str(raised.value)
    assert raised.value.faults[0].where.file.endswith("build.yaml")


def test_stated_pieces_make_the_step_of_the_default_ones(program_of) -> None:
    stated = "{split: [B/2, A/2, O, A/2, B/2], pieces: {A: {Q: all, H: r}, B: {Q: all, H: U}, O: {D: all}}}"
    assert program_of(WELL.replace("SCHEME", stated)).statements == program_of(WELL.replace("SCHEME", BAOAB)).statements


MUTANTS = {
    "a kick of the other sign": ("r_v1_0 = r_0 + step_factor * grad_U_0", "r_v1_0 = r_0 - step_factor * grad_U_0"),
    "a drift by the old momentum": ("theta_0 + step_factor_2 * r_v1_0", "theta_0 + step_factor_2 * r_0"),
    "a stale gradient": ("grad_U_new_0 = gradient(theta_new_0)", "grad_U_new_0 = gradient(theta_0)"),
    "noise of another scale": ("scale_r * noise_r_0", "eps * noise_r_0"),
    "Euler's noise": ("_noise_scale(2.0 * c * exprel_of_constants, 0.0", "_noise_scale(2.0 * c, 0.0"),
    "a decay of half a step": ("constants_2 = _exprel(-c * eps / m)", "constants_2 = _exprel(-c * eps / m / 2.0)"),
    "another gradient carried on": ("r_new_0, grad_U_new_0\n", "r_new_0, grad_U_0\n"),
    "a first gradient that is none": ("    grad_U_0 = gradient(theta_0)\n", "    grad_U_0 = theta_0\n"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_fault_in_the_text_of_a_word_is_found(written, assert_found, mutant: str) -> None:
    assert_found(compile_build(written(WELL.replace("SCHEME", BAOAB))), *MUTANTS[mutant], d=1)


OTHERS = {
    "kept, its gradient a letter early": ("{name: baoab, keep: 2}", "gradient(theta_v1_0)", "gradient(theta_0)"),
    "kept, half a kick": ("{name: baoab, keep: O}", "step_factor_2 = -eps", "step_factor_2 = -eps / 2.0"),
    "repeated, a draw used twice": (REPEATED, "* noise_r_2_0", "* noise_r_0"),
    "repeated, a gradient without its argument": (REPEATED, "gradient(theta_v3_0)", "gradient()"),
    "inner and outer kicks": (NESTED, "r_v2_0 = r_v1_0 + ", "r_v2_0 = r_0 + "),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mutant", OTHERS)
def test_a_fault_in_the_text_of_another_word_is_found(written, assert_found, mutant: str) -> None:
    """Of words that are kept within, that repeat, and that take small steps within large ones."""
    scheme, *change = OTHERS[mutant]
    module = compile_build(written(WELL.replace("SCHEME", scheme)))
    check_shipped(module, {"d": 1})
    assert_found(module, *change, d=1)


PLANE = """
format: 1
name: plane
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/gaussian.yaml
bind: {M: diag(m), C: diag(c)}
parameters:
  m: {shape: d, is: positive, value: [1, 3]}
  c: {shape: d, is: nonnegative, value: [1, 2]}
  mu: {value: [1, -2]}
  Sigma: {value: [[2, 1/2], [1/2, 1]]}
scheme: {split: SCHEME}
variant: full
SIZES
run: {step_size: 0.1}
"""


@pytest.mark.slow
@pytest.mark.parametrize("sizes", ["sizes: {d: 2}", ""])
@pytest.mark.parametrize("word", ["B/2 A/2 O A/2 B/2", "A/2 B/4 O/3 B/4 A/4 O/3 B/2 A/4 O/3", "O/2 A -B 2*B O/2"])
def test_a_word_without_friction_is_its_kicks_and_moves(written, word: str, sizes: str) -> None:
    """In registers and in arrays, with one gradient and with several: three steps, written out in NumPy."""
    build = written(PLANE.replace("SCHEME", f"[{word.replace(' ', ', ')}]").replace("SIZES", sizes))
    emitted = compile_build(build)
    module = load_text(emitted.name, emitted.text)
    m, mu, Sigma, eps = np.array([1.0, 3.0]), np.array([1.0, -2.0]), np.array([[2, 0.5], [0.5, 1]]), 0.3
    theta, r = np.array([1.5, -0.5]), np.array([0.3, -1.0])
    x, p = theta.copy(), r.copy()
    for letter in 3 * word.split():
        share = {"/2": 1 / 2, "/3": 1 / 3, "/4": 1 / 4, "-B": -1, "2*B": 2}
        t = eps * next((value for text, value in share.items() if text in letter), 1)
        x += t * p / m if "A" in letter else 0
        p -= t * np.linalg.solve(Sigma, x - mu) if "B" in letter else 0
    given = (m, np.zeros(2), mu, Sigma)
    streams, _ = module.seed_streams(1, 1)
    assert len(advance(module, (theta, r), given, eps, streams[0], thin=3)[0]) == 1
    np.testing.assert_allclose([*theta, *r], [*x, *p], rtol=1e-13)


LONG = "{split: [{repeat: 40, of: [B/80, A/80, O/40, A/80, B/80]}]}"


@pytest.mark.slow
def test_a_long_word_is_read_back_letter_by_letter(written) -> None:
    """200 letters: what is compared of one does not grow with those before it (a few seconds of processor time)."""
    with ends():
        module = compile_build(written(WELL.replace("SCHEME", LONG)))
        check_shipped(module, {"d": 1})
    assert len(module.program.evaluations) == 40
