"""Builds that are right but unusual compile, read back and run; what no step can compute has its place."""

import math
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import document

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.readback.text import check_names
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build

BUILD = """name: unusual
variant: full
DYNAMICS
TARGET
MORE
run: {step_size: 0.01, thin: 20, draws: 4000, warmup: 200, chains: 2, seed: 5}
"""
SGHMC = "dynamics: sghmc\nbind: {M: I, C: I}\nscheme: {name: sequential_euler, order: [r, theta]}"
LANGEVIN = """
state: {theta: {shape: SHAPE}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [["DIFFUSION"]]
Q: [["CURL"]]
PARAMETERS
"""
PLAIN = {"SHAPE": "d", "PARAMETERS": "", "DIFFUSION": "I", "CURL": "0"}


def built(dynamics: str, target: str, more: str = "", of: dict[str, str] = PLAIN) -> Build:
    """Return a build of a target that ships, or of the text of one, with data of three rows."""
    text = BUILD.replace("DYNAMICS", dynamics).replace("MORE", more)
    beside = {"data.csv": "x,y\n1,2\n2,3\n3,5\n"}
    if "\n" not in target:
        return document(text.replace("TARGET", f"target: {target}"), **beside)
    own = LANGEVIN
    for old, new in of.items():
        own = own.replace(old, new)
    text = text.replace("TARGET", "target: target.yaml")
    if "data:" in target:
        text += "data: {file: data.csv, x: x, y: y}\n"
    return document(text, target=target, dynamics=own, **beside)


def model(state: str, prior: str, likelihood: str) -> str:
    data = "data: {x: {shape: N}, y: {shape: N}}"
    return f"{data}\nstate: {{{state}}}\nlog_prior: {prior}\nlog_likelihood: {likelihood}\n"


POSITIVE = "{shape: scalar, domain: positive, transform: log}"
MODELS = {
    "negative binomial": (
        f"a: {{shape: scalar}}, s: {POSITIVE}", "-a**2/20 - s",
        "loggamma(y + s) - loggamma(s) - loggamma(y + 1) + s*log(s) + y*a*x - (y + s)*log(s + exp(a*x))",
    ),
    "Student's t of unknown nu": (
        f"m: {{shape: scalar}}, s: {POSITIVE}, nu: {POSITIVE}", "-m**2/20 - s - nu/10",
        "loggamma((nu + 1)/2) - loggamma(nu/2) - log(nu*pi)/2 - log(s) - (nu + 1)/2*log1p((y - m)**2/(nu*s**2))",
    ),
    "a datum of no data": ("m: {shape: scalar}", "-m**2/2", "-digamma(1 + m**2)"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
@pytest.mark.parametrize("name", MODELS)
def test_a_textbook_model_with_gamma_functions_is_compiled_and_read_back(name: str) -> None:
    text = compile_build(built(SGHMC, model(*MODELS[name]))).text
    assert ("def _digamma(" in text) == ("gamma" in MODELS[name][2])  # U is in it, too
    assert ("def _trigamma(" in text) == ("digamma" in MODELS[name][2])


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
@pytest.mark.parametrize(
    ("likelihood", "state", "problem", "where"),
    [
        ("-1e400*(m - y)**2", "scalar", "a number of 401 digits", ("document.yaml", "dynamics")),
        ("-trigamma(1 + m**2)*y", "scalar", "the derivative of trigamma", ("target.yaml", "-trigamma")),
        ("-y*(m.T @ inv(m @ m.T - I) @ m)", "2", "the inverse of a matrix that depends on the state",
         ("document.yaml", "target")),
    ],
)  # fmt: skip
def test_what_cannot_be_emitted_has_file_line_and_place(
    likelihood: str, state: str, problem: str, where: tuple[str, str]
) -> None:
    own = built(SGHMC, model(f"m: {{shape: {state}}}", "-norm2(m)/2" if state == "2" else "-m**2/2", likelihood))
    with pytest.raises(ModelError, match=problem) as raised:
        compile_build(own, allow_undecided=True)
    found = raised.value.faults[0].where
    line = Path(found.file).read_text().splitlines()[found.line - 1]
    assert (Path(found.file).name, found.column > 0) == (where[0], True)
    assert where[1] in line


KINETIC = """
state: {theta: {shape: d}, r: {shape: d}}
parameters: {m: {is: positive}, C: {shape: [d, d], is: positive semidefinite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + ENERGY
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
"""
METRIC = """dynamics: gsgrhmc
bind: {K: "B/(1 + norm2(theta)) + I"}
parameters: {B: {shape: [d, d], is: positive definite, value: [[2, 1/2], [1/2, 1]]}}
scheme: {name: sequential_euler, order: ORDER}"""
STUDENT = """state: {b: {shape: 2}}
data: {x: {shape: N}, y: {shape: N}}
parameters: {nu: {is: positive, default: 4}}
log_prior: -b.T @ b/200
log_likelihood: -(nu + 1)/2*log1p((y - b[0] - b[1]*x)**2/nu)
"""
ODD: dict[str, tuple[str, str]] = {
    "relativistic": ("m*sqrt(1 + r.T @ r/m)", ""),
    "quartic": ("(r.T @ r)**2/(4*m) + r.T @ r/2", ""),
    "metric": ("", "standard_normal"),
    "metric and Student's errors": ("", STUDENT),
}


def processor_time() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
@pytest.mark.parametrize("order", ["[r, theta]", "[theta, r]"])
@pytest.mark.parametrize("name", ODD)
def test_steps_that_are_no_polynomials_in_their_noise_take_seconds(name: str, order: str) -> None:
    """20 s of processor time, where about one is needed; by the moments of its noise the quartic one took 97 s."""
    energy, target = ODD[name]
    if energy:
        parameters = "parameters: {m: {value: 2}, C: {value: [[2, 1/2], [1/2, 1]]}}"
        text = f"dynamics: own.yaml\n{parameters}\nscheme: {{name: sequential_euler, order: {order}}}"
        text = (
            BUILD.replace("DYNAMICS", text)
            .replace("TARGET", "target: standard_normal")
            .replace("MORE", "sizes: {d: 2}")
        )
        own = document(text, own=KINETIC.replace("ENERGY", energy))
    else:
        own = built(METRIC.replace("ORDER", order), target, "sizes: {d: 2}")
    before = processor_time()
    assert "def step(" in compile_build(own).text
    assert processor_time() - before < 20.0


@pytest.mark.slow
def test_a_scalar_target_is_the_one_entry_of_a_column() -> None:
    own = model("m: {shape: scalar}", "-m**2/2", "-(y - m)**2/2")
    text = compile_build(built("dynamics: sgld\nbind: {D: I}\nscheme: {name: euler}", own)).text
    assert "weight = -(y[row] - theta[0])" in text
    assert 'BLOCKS = (("theta", 1),)' in text


def drawn(potential: str, more: str = "", shape: str = "d", **dynamics: str) -> np.ndarray:
    """Return the draws of theta by Langevin dynamics, all chains together."""
    euler, target = "dynamics: dynamics.yaml\nscheme: {name: euler}", f"state: {{q: {{shape: {shape}}}}}\n"
    own = built(euler, f"{target}potential: {potential}\n", more, {**PLAIN, **dynamics})
    # that a banana stated for any number of coordinates has a finite integral is undecided
    module = compile_build(own, allow_undecided=True)
    draws = sample(load_text(module.name, module.loaded), own, own.run, Data(()))
    return np.concatenate(draws.arrays[0][:, draws.warmup :])


BANANA, ROUND = "q[0]**2/2 + (q[1] - (q[0]**2 - 1)/2)**2/2", "q.T @ q / 2"
TURNED = "parameters: {J: {value: [[0, 2, 0], [-2, 0, 1], [0, -1, 0]]}}\nsizes: {d: 3}"
WIDE = "parameters: {B: {value: [[1, 0, 1], [0.5, 1, 0]]}}\nsizes: {d: 2}"
SKEW = {"PARAMETERS": "parameters: {J: {shape: [d, d], is: skew}}", "CURL": "J"}
BY_ROOT = {"PARAMETERS": "parameters: {B: {shape: [d, k]}}", "DIFFUSION": "B @ B.T + I"}
WAVE = {"potential": "q[0]**2/2 + (q[1] - sin(q[0]))**2/2", "more": "sizes: {d: 2}", "shape": "2"}
OF_WAVE = [[1, math.exp(-0.5)], [math.exp(-0.5), 1.5 - math.exp(-2) / 2]]
HESSIAN = "hessian(U, theta) @ hessian(U, theta).T/8"
TURN = {"PARAMETERS": "parameters: {J: {shape: [d, d], is: skew}}", "CURL": "J/(1 + norm2(grad(U, theta)))"}
RUNS: dict[str, tuple[dict[str, Any], list[float], list[Any]]] = {
    "two coordinates": ({"potential": BANANA, "more": "sizes: {d: 2}", "shape": "2"}, [0, 0], [1, 1.5]),
    "any number that are two": ({"potential": BANANA, "more": "sizes: {d: 2}"}, [0, 0], [1, 1.5]),
    "a scalar": ({"potential": "(q - 3)**2/2", "shape": "scalar", "SHAPE": "scalar", "DIFFUSION": "2"}, [3], [1]),
    "a skew parameter": ({"potential": ROUND, "more": TURNED, **SKEW}, [0] * 3, [1] * 3),
    "the value of U in D": ({**WAVE, "DIFFUSION": "sqrt(1 + U(theta)**2)*I"}, [0, 0], OF_WAVE),
    "grad U in D": ({**WAVE, "DIFFUSION": "I/(1 + norm2(grad(U, theta)))"}, [0, 0], OF_WAVE),
    "third derivatives of U in Gamma": ({**WAVE, "DIFFUSION": f"I + {HESSIAN}"}, [0, 0], OF_WAVE),
    "grad U in Q": (
        {**WAVE, **TURN, "more": "parameters: {J: {value: [[0, 2], [-2, 0]]}}\nsizes: {d: 2}"},
        [0, 0],
        OF_WAVE,
    ),
    "a size that only a parameter has": ({"potential": ROUND, "more": WIDE, **BY_ROOT}, [0, 0], [1, 1]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_an_unusual_build_samples_its_law(name: str) -> None:
    given, mean, variance = RUNS[name]
    theta = drawn(**given)
    np.testing.assert_allclose(theta.mean(axis=0), mean, atol=0.1)
    covariance = variance[0] if len(mean) == 1 else np.diag(variance) if np.ndim(variance) == 1 else variance
    np.testing.assert_allclose(np.cov(theta.T), covariance, atol=0.25)


@pytest.mark.usefixtures("taken_for_granted")
def test_more_than_the_gradient_is_computed_of_a_formula_alone() -> None:
    of = {**PLAIN, "DIFFUSION": "I/(1 + norm2(grad(U, theta)))", "SHAPE": "1"}
    own = built("dynamics: dynamics.yaml\nscheme: {name: euler}", model(*MODELS["a datum of no data"]), of=of)
    with pytest.raises(ModelError, match=r"order 2 of U(.|\n)*where a target without data states it"):
        compile_build(own)


def test_a_constant_that_no_double_holds_is_refused() -> None:
    with pytest.raises(ModelError, match=r"constant of about 1e-?400"):
        drawn("1e-400*q.T @ q / 2", "sizes: {d: 2}")


@pytest.mark.usefixtures("taken_for_granted")
def test_a_constant_gradient_is_compiled_for_every_size() -> None:
    dynamics = "dynamics: sgrhmc_positive\nscheme: {name: sequential_euler, order: [r, theta], reflect: theta}"
    target = "state: {theta: {shape: d, domain: positive}}\npotential: sum(theta)\n"
    assert "grad_U[i] = 1.0" in compile_build(built(dynamics, target)).text


def test_a_name_that_nothing_defines_is_found() -> None:
    check_names("import math\n\ndef f(a):\n    b = a + math.pi\n    return b\n")
    with pytest.raises(CompilerError, match="f reads k"):
        check_names("def f(a):\n    return a + k\n")


@pytest.mark.slow
def test_dynamics_of_five_coordinates_take_a_target_of_two_blocks() -> None:
    """Its sizes are read back where they add up to five, and nowhere else."""
    target = "state: {a: {shape: d}, b: {shape: e}}\npotential: sum(b)*sum(a) + a.T @ a + 3*(b.T @ b)\n"
    more = "dynamics: dynamics.yaml\nscheme: {name: euler}"
    own = built(more, target, "sizes: {d: 2, e: 3}", {**PLAIN, "SHAPE": "5"})
    assert compile_build(own, allow_undecided=True).program.blocks[0].shape.sizes == (5,)


GAMMA = (np.array([6.0, 4.0]), np.sqrt([6.0, 4.0]))
ROOTS = 2.0 * np.array([math.gamma(a + 0.5) / math.gamma(a) for a in (6, 4)])
LOGNORMAL = np.exp(np.array([0.0, 0.5]) + 1 / 8)
SHARES = np.array([8.0, 12.0, 7.0])  # theta = omega s, omega ~ Dirichlet(SHARES) and s ~ Gamma(10) apart
SQUARES = SHARES * (SHARES + 1) / (27 * 28)
COMPLETE: dict[str, tuple[str, str, float, int, np.ndarray, np.ndarray]] = {
    "cir": ("a: {value: [6, 4]}", "euler", 0.002, 500, *GAMMA),
    "cir_root": ("a: {value: [6, 4]}", "euler", 0.01, 100, ROOTS, np.sqrt(4 * GAMMA[0] - ROOTS**2)),
    "exponential_ou": (
        "kappa: {value: 1}, m: {value: [0, 1/2]}, v: {value: 1/4}", "euler", 0.002, 500,
        LOGNORMAL, LOGNORMAL * math.sqrt(math.expm1(0.25)),
    ),
    "exponential_ou, by its flow": (
        "kappa: {value: 2}, m: {value: [0, 1/2]}, v: {value: 1/4}", "split: [O]", 1.0, 1,
        LOGNORMAL, LOGNORMAL * math.sqrt(math.expm1(0.25)),
    ),
    "ornstein_uhlenbeck": (
        "kappa: {value: 2}, m: {value: [0, 1/2]}, v: {value: 1/4}", "split: [O]", 1.0, 1,
        np.array([0.0, 0.5]), np.full(2, 0.5),
    ),
    "mirrored_gamma": (
        "alpha: {value: [3, 4, 3]}, n: {value: [5, 8, 4]}", "euler", 0.002, 500,
        10 * SHARES / 27, np.sqrt(110 * SQUARES - (10 * SHARES / 27) ** 2),
    ),
    "sgrhmc_gamma": ("a: {value: [6, 4]}", "baoab", 0.1, 50, *GAMMA),
    "sgrhmc_potential": ("", "sequential_euler, order: [r, theta]", 0.01, 200, np.zeros(1), np.ones(1)),
}  # fmt: skip


OF_POTENTIAL: dict[str, tuple[str, str, float]] = {
    "a metric of U": ("standard_normal", "sqrt(U + 1/2)", 1.0),
    "a metric of U smoothed at its zeros": ("double_well", "sqrt(sqrt((U + 1/2)**2 + 1/100))", math.sqrt(0.832745)),
}
"""Metrics of supplement F.1 of Ma, Chen, Fox 2015 to the standard deviation of theta."""
for _name, (_target, _weight, _sd) in OF_POTENTIAL.items():
    _more = f"}}\ntarget: {_target}\nbind: {{K: sqrt(3/2*{_weight})*I}}\nsizes: {{d: 1"
    _scheme = "sequential_euler, order: [r, theta]"
    COMPLETE[f"gsgrhmc, {_name}"] = (_more, _scheme, 0.01, 200, np.zeros(1), np.array([_sd]))


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPLETE)
def test_dynamics_with_a_complete_h_sample_it(name: str) -> None:
    values, scheme, eps, thin, mean, sd = COMPLETE[name]
    dynamics = f"name: whole\ndynamics: {name.partition(',')[0]}"
    how = scheme if ":" in scheme.partition(",")[0] else f"name: {scheme}"
    text = f"{dynamics}\nparameters: {{{values}}}\nscheme: {{{how}}}\nvariant: full\n"
    own = document(f"{text}run: {{step_size: {eps}, thin: {thin}, draws: 3000, warmup: 100, chains: 4, seed: 1}}\n")
    module = compile_build(own)
    draws = sample(load_text(module.name, module.loaded), own, own.run, Data(()))
    theta = np.concatenate(draws.arrays[0][:, draws.warmup :]).reshape(12000, -1)
    np.testing.assert_allclose(theta.mean(axis=0) / sd, mean / sd, atol=0.07)  # some 5,000 effective draws
    np.testing.assert_allclose(theta.std(axis=0) / sd, 1.0, atol=0.07)
