"""Runs of chains with code: what it is given, the law where it is right, doubts where it is wrong, and its trial."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import running
from code_moves import HMC, MOVES, code, coded_build
from emitted_file import file_of
from running import shipped
from scipy import stats

from recipe_compiler.errors import RunError
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_function
from recipe_compiler.run.rerun import checkpoint_facts
from recipe_compiler.run.sample import Draws
from recipe_compiler.spec.model import Build
from recipe_compiler.streams import exponential, gamma, integer, normal, uniform

RUN = {"draws": 40, "warmup": 3, "chains": 2, "seed": 5, "step_size": 0.4}


def drawn(build: Build, **changes: object) -> Draws:
    return running.drawn(build, **{**RUN, **changes})


# what it is given


def test_it_is_given_parameters_data_and_random_numbers(tmp_path: Path) -> None:
    build = coded_build(tmp_path, f"refresh: r, {code('one_of')}", target="logistic_regression")
    fields = {field.name: field.values for field in load_data(build.data, build.target).fields}
    theta = drawn(build, draws=12).block("theta").reshape(-1, 3)
    rows = theta[:, 2].astype(int)
    assert len({*rows}) > 20
    np.testing.assert_array_equal(theta[:, 0], fields["x"][rows, 1])
    np.testing.assert_array_equal(theta[:, 1], fields["y"][rows] + 10.0)


def test_it_is_done_where_it_is_due(tmp_path: Path) -> None:
    build = coded_build(tmp_path, f"refresh: r, {code('turn', 'every: 3')}")
    theta = drawn(build, warmup=0, draws=60).block("theta")
    moved = np.abs(np.diff(theta, axis=1)).sum(axis=2) > 0
    assert not np.delete(moved, np.arange(2, 59, 3), axis=1).any()
    assert 3 < moved[:, 2::3].sum() < 35


@pytest.mark.slow
def test_the_file_draws_the_same(tmp_path: Path) -> None:
    build = coded_build(tmp_path, f"{HMC}, {code('turn')}, {code('along', 'reads: r')}")
    (tmp_path / "made").mkdir()
    module, functions = file_of(build, tmp_path / "made"), [load_function(one) for one in build.codes]
    found = module.sample(*functions, draws=40, warmup=3, chains=2, seed=5, step_size=0.4)
    np.testing.assert_array_equal(found["theta"], drawn(build).block("theta")[:, 3:])
    with pytest.raises(TypeError, match="move_turn: found builtin_function_or_method, expected a function jitted by"):
        module.sample(print, functions[1])


def test_two_functions_of_one_name_are_two(tmp_path: Path) -> None:
    (tmp_path / "others").mkdir()
    (tmp_path / "others/my_moves.py").write_text(MOVES.replace("2.0 * mu[i] - theta[i]", "0.0"), encoding="utf-8")
    other = code("turn").replace("my_moves.py", "others/my_moves.py")
    build = coded_build(tmp_path, f"{code('turn')}, refresh: r, {other}")
    assert "move_turn, move_turn_, theta" in " ".join(shipped(build).text.replace('"', "").split())
    theta = drawn(build).block("theta")
    assert (theta == 0.0).all(axis=2).any()


@pytest.mark.parametrize("name", ["my_moves.py", "others/my_moves.py"])
def test_each_of_two_files_of_one_name_is_a_fact(tmp_path: Path, name: str) -> None:
    (tmp_path / "others").mkdir()
    (tmp_path / "others/my_moves.py").write_text(MOVES, encoding="utf-8")
    build = coded_build(tmp_path, f"{HMC}, {code('turn')}, {code('turn').replace('my_moves', 'others/my_moves')}")
    data = load_data(build.data, build.target)
    before = checkpoint_facts({}, build, build.run, data)
    (tmp_path / name).write_text(MOVES.replace("< 0.5", "< 0.25"), encoding="utf-8")
    after = checkpoint_facts({}, build, build.run, data)
    assert [fact for fact in after if after[fact] != before[fact]] == [f"move {name}:turn"]


# what it imports

IMPORTING = """
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy as np
from numba import njit
from {package}.inner import step


@njit(cache=True)
def turn(theta, mu, Sigma, stream):
    step(theta)
"""
INNER = """
from numba import njit
from . import number as other

MORE = other.MORE


@njit(cache=True)
def step(theta):
    theta += MORE
"""


def importing(folder: Path, package: str) -> Build:
    """Return a build whose move calls what it imports from a package beside it."""
    build = coded_build(folder, code("turn"))
    (folder / package).mkdir()
    texts_of = {
        "my_moves.py": IMPORTING.format(package=package),
        f"{package}/__init__.py": "",
        f"{package}/inner.py": INNER,
        f"{package}/number.py": "MORE = 1.0\n",
    }
    for name, text in texts_of.items():
        (folder / name).write_text(text, encoding="utf-8")
    return build


@pytest.mark.parametrize("changed", ["__init__", "inner", "number"])
def test_what_it_imports_of_its_authors_is_a_fact(tmp_path: Path, changed: str) -> None:
    package = f"beside_{changed}"
    build = importing(tmp_path, package)
    load_function(build.codes[0])
    data = load_data(build.data, build.target)
    before = checkpoint_facts({}, build, build.run, data)
    own = [f"move my_moves.py:turn, {name}" for name in (package, f"{package}.inner", f"{package}.number")]
    assert [fact for fact in before if fact.startswith("move")] == ["move my_moves.py:turn", *own]
    (tmp_path / package / f"{changed}.py").write_text("MORE = 2.0\n", encoding="utf-8")
    after = checkpoint_facts({}, build, build.run, data)
    name = package if changed == "__init__" else f"{package}.{changed}"
    assert [fact for fact in after if after[fact] != before[fact]] == [f"move my_moves.py:turn, {name}"]


def moved_by_turn(build: Build) -> float:
    theta = np.zeros(3)
    load_function(build.codes[0])(theta, np.zeros(3), np.eye(3), np.zeros(4, np.uint64))
    return float(theta[0])


def test_what_numba_kept_of_a_file_is_not_run_with_another_that_it_imports(tmp_path: Path) -> None:
    """Files that did not change have numbers in them of one that did."""
    package = "kept_beside"
    build = importing(tmp_path, package)
    assert moved_by_turn(build) == 1.0
    (tmp_path / package / "number.py").write_text("MORE = 2.0 \n", encoding="utf-8")
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        del sys.modules[name]  # as in another process
    assert moved_by_turn(build) == 2.0


@pytest.mark.parametrize(
    ("draw", "law"),
    [(lambda words: gamma(words, 2.5), stats.gamma(2.5)), (uniform, stats.uniform()), (normal, stats.norm()),
     (exponential, stats.expon()), (lambda words: integer(words, 1, 10**9) / 1e9, stats.uniform())],
)  # fmt: skip
def test_draws_for_code_have_their_laws(draw: Callable[[np.ndarray], float], law: Any) -> None:
    words = np.array([1, 2, 3, 4], np.uint64)
    assert stats.kstest([draw(words) for _ in range(300)], law.cdf).pvalue > 1e-6


# the trial


def mine(folder: Path, body: str, head: str = "theta, r, mu, Sigma, stream") -> Build:
    """Return a build whose move has a body."""
    build = coded_build(folder, f"refresh: r, {code('mine', 'reads: r')}")
    imports = "import numpy as np\nfrom numba import njit\nfrom recipe_compiler.streams import uniform\n"
    (folder / "my_moves.py").write_text(f"{imports}\n\n@njit\ndef mine({head}):\n    {body}\n", encoding="utf-8")
    return build


CALL = "my_moves.py: mine(theta, r, mu, Sigma, stream)"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("r[0] = 1.0", "writes to r: expected it to change theta alone"),
        ("mu[1] = 0.0", "writes to mu: expected it to change theta alone"),
        ("theta[1] = np.nan", "gives theta[1] = nan at theta = ["),
        ("theta[2] *= np.inf", "gives theta[2] = "),
        ("theta[0] = np.random.random()", "at the next: expected the same, of the same arguments"),
        ("return theta", "returns a value, which is ignored: expected it to change theta in place"),
        ("theta[theta.size] = 1.0", "writes to theta[3]: expected places from 0 to 2 alone"),
        ("theta[-theta.size - 2] = 1.0", "writes to theta[-2]: expected places from 0 to 2 alone"),
        ("r[r.size + 40] = 1.0", "writes to r[43]: expected places from 0 to 2 alone"),
        ("stream[4] = 1", "writes to stream[4]: expected places from 0 to 3 alone"),
        ("theta = -theta", "leaves theta as it is, 1000 times and more: expected it to change theta in place"),
        ("theta[0] = np.inf if theta[0] == 7.0 else 7.0", "gives theta[0] = inf"),  # where the first call led
        ("theta[0] = undefined", "cannot be compiled by numba"),
        ("raise ValueError('no')", "raises ValueError at theta = ["),
        ("theta[0] = 1.0/(stream.size - 4)", "raises ZeroDivisionError at theta = ["),
    ],
)
def test_what_no_move_may_be_is_refused_before_a_chain_runs(tmp_path: Path, body: str, said: str) -> None:
    with pytest.raises(RunError) as caught:
        drawn(mine(tmp_path, body))
    assert CALL in str(caught.value)
    assert said in str(caught.value)


def test_what_is_written_to_blocks_that_are_read_goes_nowhere(tmp_path: Path) -> None:
    """Where the trial did not look: the chain keeps the momenta that were drawn."""
    found = drawn(mine(tmp_path, "theta[0] += 1.0\n    if theta[0] > 60.0:\n        r[:] = 1e6"), draws=150)
    assert found.block("theta").max() > 100.0
    assert np.abs(found.block("r")).max() < 100.0


def test_a_function_of_other_arguments_and_a_file_that_does_not_run_are_refused(tmp_path: Path) -> None:
    build = mine(tmp_path, "pass", head="theta, stream")
    for text, said in (
        ("", r"raises TypeError at theta = \["), ("def other():\n    pass\n", "found no function mine"),
        ("1/0\n", "ZeroDivisionError"),
    ):  # fmt: skip
        if text:
            (tmp_path / "my_moves.py").write_text(text, encoding="utf-8")
        with pytest.raises(RunError, match=said):
            drawn(build)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("statement", "said"),
    [("raise ValueError('no way')", "ValueError where a chain calls it: no way"),
     ("theta[0] = 1.0 / (stream.size - 4)", "ZeroDivisionError where a chain calls it: division by zero"),
     ("theta[:] = np.linalg.solve(Sigma - Sigma, mu)", "LinAlgError where a chain calls it")],
)  # fmt: skip
def test_what_it_raises_in_a_chain_is_told_as_its_own(tmp_path: Path, statement: str, said: str) -> None:
    build = mine(tmp_path, f"theta[1] += 1e-3\n    if uniform(stream) < 1e-3:\n        {statement}")
    with pytest.raises(RunError, match=rf"my_moves\.py:mine raises {said}"):
        drawn(build, draws=20_000)
