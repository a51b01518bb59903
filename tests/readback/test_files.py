"""What stands in a written file alone is read back: every fault planted there is found, and named."""

# ruff: noqa: E501

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from answers import ROOT
from loaders import load_build
from reports import decided

import recipe_compiler as rc
from recipe_compiler import pipeline
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build, emit_unread
from recipe_compiler.run.observed import with_sizes
from recipe_compiler.run.read_file import check_file
from recipe_compiler.spec.model import Build, Schedule

BUILDS = ROOT / "specs/builds"
M, C = [[1.0, 0.2], [0.2, 2.0]], [[1.0, 0.3], [0.3, 0.5]]


def shipped(name: str, **changed: Any) -> Build:
    """Return a shipped build, with other settings of its run."""
    build = load_build(BUILDS / f"{name}.yaml")
    return replace(build, name="own", run=replace(build.run, **changed)) if changed else build


def of_any(dynamics: str, **stated: Any) -> Build:
    return rc.Build(name="any_U", dynamics=dynamics, **stated).document


HMC = {"cycle": [{"refresh": "r"}, {"metropolis": {"split": ["B/2", "A", "B/2"], "steps": 3, "flip": {"r": "-r"}}}]}
OWN: Mapping[str, Callable[[], Build]] = {
    "any U": lambda: of_any("sghmc", scheme="baoab", parameters={"M": M, "C": C}),
    "any U by batches": lambda: of_any("sghmc", scheme="sequential_euler", order=["r", "theta"], variant="minibatch"),
    "any U, accepted": lambda: of_any("hmc", scheme=HMC, parameters={"M": M}),
    "power": lambda: shipped("sgld_gaussian", schedule=Schedule("power", b=10.0, c=0.4)),
    "cyclic": lambda: shipped("sgld_gaussian", schedule=Schedule("cyclic", period=9)),
    "lanes": lambda: shipped("hmc_double_well", lanes=True),
    "lanes that fall": lambda: shipped("sghmc_double_well", lanes=True, schedule=Schedule("power", b=10.0, c=0.4)),
    "replacement": lambda: replace(shipped("sghmc_logistic"), name="own", replacement=True),
    "diagnostics": lambda: replace(shipped("sghmc_logistic"), name="own", diagnostics=True),
}
SLOW = ("any U by batches", "any U, accepted", "cyclic", "lanes that fall", "replacement", "diagnostics")

EVERY, LOGISTIC, SCHOOLS = ("sghmc_logistic", "any U"), ("sghmc_logistic",), ("sghmc_eight_schools",)
FAULTS: dict[str, tuple[tuple[str, ...], str, str, str]] = {
    # what is wrong: the builds whose files have it, what stands there, what then, words of the message
    "another target": (("any U",), "out[k] = found[k]", "out[k] = 2.0 * found[k]", "another _adapted"),
    "half a step": (EVERY, '"eps": eps', '"eps": eps / 2.0', "another eps"),
    "the first chains again": (EVERY, "first_chain + chain", "chain", "another theta than"),
    "warm-up kept in the place of what comes after": (EVERY, "array[:, warmup:]", "array[:, :-warmup]", "another _after_warmup"),
    "blocks exchanged": (EVERY, '"theta": drawn["theta"], "r": drawn["r"]', '"theta": drawn["r"], "r": drawn["theta"]', "other draws of"),
    "chains that never go on": (EVERY, "_goes_on(states, init)", "_goes_on(states, None)", "another noise_state|another theta"),
    "functions that are not tried": (("any U",), "_try_given(grad_U, U, data,", "(lambda *_: lambda *_: None)(grad_U, U, data,", "_try_given"),
    "the state of one chain for all": (EVERY, "np.array([state[name] for state in states])", "np.array([states[0][name] for state in states])", "another _left"),
    "more draws than asked for are proved": (EVERY, "\nProved", "\nProved, given that U is smooth", "says proved"),
    "a claim that is not proved": (LOGISTIC, "exp(-H) is stationary", "exp(-H) is the only one and stationary", "says proved"),
    "other documents": (EVERY, 'SPEC_DIGEST = "', 'SPEC_DIGEST = "0', "another SPEC_DIGEST in its file"),
    "a digest of other documents": (EVERY, "Spec digest (SHA-256): ", "Spec digest (SHA-256): 0", "other documents"),
    "another gradient": (LOGISTIC, "def gradient(grad_U_tilde, theta,", "def gradient(theta, grad_U_tilde,", "another gradient"),
    "a function twice": (EVERY, "# Facts", "def seed_streams(seed, chains, first_chain=0):\n    return seed, seed\n\n\n# Facts", "twice"),
    "another NumPy": (EVERY, "import numpy as np", "import math as np", "import math as np"),
    "what is done on import": (EVERY, "# Facts", "np.seterr(all='ignore')\n# Facts", "cannot be read back: np.seterr"),
    "sums in any order": (EVERY, '_FASTMATH = {"contract"', '_FASTMATH = {"reassoc", "contract"', "another _FASTMATH"),
    "arguments in another order": (EVERY, 'ARGUMENTS = (', 'ARGUMENTS = ("r", ', "another ARGUMENTS"),
    "streams of another chain": (EVERY, "seed_streams(seed, chains, first_chain)", "seed_streams(seed, chains, 0)", "another noise_state"),
    "streams of another seed": (EVERY, "seed_streams(seed, chains, first_chain)", "seed_streams(1, chains, first_chain)", "another noise_state"),
    "streams exchanged": (LOGISTIC, "noise, batches = seed_streams", "batches, noise = seed_streams", "another noise_state"),
    "thin ignored": (EVERY, '"thin": thin', '"thin": 1', "another thin"),
    "one thread, whatever is asked for": (EVERY, "states, drawn, threads", "states, drawn, 1", "runs its chains by something else"),
    "warm-up counted twice": (EVERY, "chains, warmup + draws)", "chains, warmup + draws + warmup)", "other draws"),
    "a callback of warm-up": (EVERY, "_telling(tell, callback, cut, drawn, warmup)", "_telling(tell, callback, cut, drawn, 0)", "hands a callback"),
    "no callback": (EVERY, "_telling(tell, callback, cut,", "_telling(tell, None, cut,", "hands a callback"),
    "no progress": (EVERY, "_checked_progress(progress, warmup)", "_checked_progress(False, warmup)", "another progress"),
    "the phase of progress": (EVERY, "_checked_progress(progress, warmup)", "_checked_progress(progress, 99)", "another progress"),
    "another default of a parameter": (LOGISTIC, "prior_variance=10.0", "prior_variance=1.0", "another prior_variance"),
    "another default of a setting": (EVERY, "warmup=", "warmup=1", "another default of warmup"),
    "another step size by default": (LOGISTIC, "step_size=0.006", "step_size=0.06", "another default of step_size"),
    "another batch size by default": (LOGISTIC, "min(512,", "min(51,", "another batch_size"),
    "one parameter for another": (LOGISTIC, '"prior_variance": prior_variance', '"prior_variance": c', "another prior_variance"),
    "one field for another": (LOGISTIC, '"y": y', '"y": x[:, 0].copy()', "another y"),
    "data that are copied in another order": (LOGISTIC, '"x": x,', '"x": np.asfortranarray(x),', "in another order"),
    "a bound of a parameter": (LOGISTIC, '"c", c, least=0', '"c", c, least=-1', "c by _checked_number"),
    "labels of another kind": (LOGISTIC, "values=[0, 1]", "values=[0, 1, 2]", "y by _checked_array"),
    "constants of another step size": (LOGISTIC, "prepare(c, prior_variance, eps)))", "prepare(c, prior_variance, 2.0 * eps)))", "another scale_r"),
    "constants in another order": (LOGISTIC, "prepare(c, prior_variance, eps)))", "prepare(prior_variance, c, eps)))", "another c than"),
    "a start of another seed": (EVERY, "first_state(seed, first_chain + chain", "first_state(0, first_chain + chain", "another theta than"),
    "starts that are not looked at": (EVERY, "starts = _checked_starts(starts, init)", "starts = _checked_starts(starts, None)", "another theta than"),
    "a start drawn by another seed": (LOGISTIC, "spawn_key=(chain, 2)", "spawn_key=(chain, 1)", "starts theta"),
    "a narrower start": (EVERY, "rng.uniform(-2.0, 2.0,", "rng.uniform(-1.0, 1.0,", "starts theta"),
    "a start at another law": (LOGISTIC, "rng.standard_normal(30)", "2.0 * rng.standard_normal(30)", "starts r"),
    "a start of another energy": (("sghmc_double_well",), "* 0.5)", "* 0.25)", "starts r"),
    "permutations that leave the first row out": (LOGISTIC, "np.arange(x.shape[0], dtype", "np.arange(1, x.shape[0] + 1, dtype", "another permutation"),
    "chains that do not move unseen": (EVERY, "_tell_still(", "(lambda *_: None)(", "_tell_still"),
    "parts of a target exchanged": (SCHOOLS, "[:, :, 2:10]", "[:, :, 1:9]", "other draws of eta"),
    "a part without its transform": (SCHOOLS, "np.exp(drawn", "np.abs(drawn", "other draws"),
    "a domain that is not looked at": (("sgrld_categories",), "_check_starts_inside(", "(lambda *_: None)(", "_check_starts_inside"),
    "another domain": (("sgrld_categories",), '_tell_outside("theta", drawn["theta"], "positive"', '_tell_outside("theta", drawn["theta"], "nonnegative"', "_tell_outside"),
    "U that is not begun": (("hmc_double_well",), "if not _goes_on(states, init):", "if _goes_on(states, init):", "another (grad_U|U) than"),
    "U begun anew": (("hmc_double_well",), "if not _goes_on(states, init):", "_goes_on(states, init)\n    if True:", "another (grad_U|U) than"),
    "acceptance of another kind": (("hmc_double_well",), 'drawn["acceptance"][:, :, 0]', 'drawn["theta"][:, :, 0]', "other draws of acceptance"),
    "a step size that does not fall": (("power", "lanes that fall"), "of_draw)\n", "lambda draw: of_draw(0))\n", "another (eps|L_theta|scale_r)"),
    "a schedule that begins anew": (("power", "cyclic"), 'made[0] = states[0]["made"][0]', "made[0] = 0.0", "another (eps|L_theta)"),
    "a schedule of fewer steps": (("power", "cyclic"), "(made[0] + draw) * thin", "(made[0] + draw)", "another (eps|L_theta)"),
    "weights of warm-up": (("power", "cyclic"), "of_draw(warmup + k)", "of_draw(k)", "other draws of step_size"),
    "a count of draws that stands still": (("power",), '["made"] += warmup + draws', '["made"] += draws', "another state"),
    "lanes that carry less": (("lanes",), '["theta", "r", "grad_U", "U"]', '["theta", "r", "U", "grad_U"]', "something else along in lanes"),
    "a matrix by default": (("any U",), "        M = [[1.0", "        M = [[1.5", "another M"),
    "a kind of a matrix": (("any U",), '_check_kinds("C", C, ["positive semidefinite"])', '_check_kinds("C", C, ["symmetric"])', "_check_kinds"),
    "U in the place of its gradient": (("any U, accepted",), '_adapted("grad_U", grad_U,', '_adapted("U", U,', "another gradient"),
    "draws that are not tried": (("any U",), "try_draws(", "(lambda *_: None)(", "try_draws"),
    "a seed that nobody tells": (("any U",), "_tell_seed(seed, 0,", "_tell_seed(0, 0,", "_tell_seed"),
    "the gradient of a state": (("any U",), "for state in states:  #", "for state in states if init is None else []:  #", "another grad_U|another state"),
    "batches of fewer rows": (("any U by batches",), "np.arange(rows,", "np.arange(rows - 1,", "another permutation"),
}  # fmt: skip


@cache
def made(name: str) -> tuple[Any, ...]:
    """Return a module with its file, and what the file is read by."""
    build = with_sizes(OWN[name]() if name in OWN else shipped(name))
    report = decided(build, advisory=build.target.is_open)
    derivation, unread = emit_unread(build)
    module = pipeline._filed(unread, build, derivation, report, allow_undecided=False)
    return module, build, derivation, unread.names, report


CASES = [
    pytest.param(name, fault, id=f"{name}: {fault}", marks=pytest.mark.slow if name in SLOW else ())
    for fault, (names, *_) in FAULTS.items()
    for name in names
]


@pytest.mark.parametrize(("name", "fault"), CASES)
def test_a_fault_planted_in_a_file_is_found_and_named(name: str, fault: str) -> None:
    module, *given = made(name)
    _, old, new, says = FAULTS[fault]
    assert old in module.file, f"the fault has no place: {old}"
    before, _, after = module.file.partition(old)
    faulty = f"{before}{new}{after}"
    ast.parse(faulty)
    with pytest.raises(CompilerError, match=says):
        check_file(replace(module, file=faulty), *given)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in OWN])
def test_a_file_without_a_fault_is_read_back(name: str) -> None:
    module, *given = made(name)
    check_file(module, *given)


def test_a_compilation_reads_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    emit = pipeline.emit_file

    def planted(*given: Any) -> Any:
        module = emit(*given)
        return replace(module, file=module.file.replace('"thin": thin', '"thin": 1'))

    monkeypatch.setattr(pipeline, "emit_file", planted)
    build = shipped("sgld_gaussian")
    with pytest.raises(CompilerError, match="gives a chain another thin than its documents say"):
        compile_build(build)
    assert compile_build(build, with_file=False).file == ""
