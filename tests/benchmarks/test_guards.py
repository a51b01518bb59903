"""Timings of emitted modules: slow, and of use on a quiet machine only."""

import subprocess
import sys
from pathlib import Path

import assembly
import pytest
import second_run
from assembly import Look

ROOT = Path(__file__).parents[2]


def guard(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], cwd=ROOT, check=False, capture_output=True, text=True)


def test_code_without_packed_instructions_is_told():
    scalar = Look({"multiply or add": 0, "divide": 3, "square root": 0}, 1.0)
    assert assembly.faults("w2_d14", scalar, scalar) == ["w2_d14: no packed multiply or add in its code"]


def test_vector_code_that_does_not_pay_off_is_told():
    counts = {"multiply or add": 9, "divide": 3, "square root": 1}
    assert assembly.faults("w5", Look(counts, 1.05), Look(counts, 1.0)) == []
    assert assembly.faults("w5", Look(counts, 1.5), Look(counts, 1.0)) == ["w5: 1.50 times as slow as its scalar form"]


@pytest.mark.slow
@pytest.mark.parametrize("workload", list(assembly.WANTED))
def test_hot_loops_are_vector_code(workload: str):
    done = guard("benchmarks/assembly.py", workload)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_second_run_has_a_draw_before_anything_slow_is_imported():
    found = second_run.second_runs(ROOT / "specs" / "builds" / "sghmc_double_well.yaml", [0.02, 0.03])
    assert [one.modules.intersection(second_run.SLOW_TO_IMPORT) for one in found] == [set(), set()]
    assert min(one.seconds for one in found) < 4.0, "twice what it takes beside other programs"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["scaling", "rows"])
def test_costs_are_as_they_should_be(name: str):
    done = guard(f"benchmarks/{name}.py")
    assert done.returncode == 0, done.stdout + done.stderr
