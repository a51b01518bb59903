"""Few columns of all data are read by one loop over rows, of mapped ones from flat views: faults in both are found."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.fuse import fuse
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.loops import Array, Assign, For, Increment, Ref
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.program.unroll import ONE, ZERO
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

BUILDS = Path(__file__).parents[2] / "specs" / "builds"
STACKED = ("sgld_gaussian_mixture", "sghmc_softmax_regression", "sghmc_matrix_factorisation", "sghmc_eight_schools")


MAPPED = "sgld_poisson_regression, mapped"


@cache
def shipped(name: str) -> tuple[Module, dict[str, int]]:
    """Return the module of a build as it is shipped, of mapped data where the name says so, and its sizes."""
    build = load_build(BUILDS / f"{name.removesuffix(', mapped')}.yaml")
    sizes = dict(build.sizes)
    program = rename(discretise(build, derive(bind(build), stated=True)), sizes)
    program = replace(program, mapped=name == MAPPED)
    return emit_module(build.name, program, schedule(program, lower(program)), "A test.\n", "0" * 64), sizes


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sgld_poisson_regression", MAPPED, *STACKED])
def test_one_loop_over_the_rows_is_read_back(name: str) -> None:
    module, sizes = shipped(name)
    assert module.kernel.shape.startswith("Small rows")
    gradient = module.text[module.text.index("def gradient(") : module.text.index("def step(")]
    assert "math.exp" not in gradient
    check_shipped(module, sizes)


FAULTS = [
    ("another column", "sgld_poisson_regression", "x_1 = x[row, 1]", "x_1 = x[row, 0]"),
    ("a row too few", "sgld_poisson_regression", "for row in range(N)", "for row in range(N - 1)"),
    ("another column of a view", MAPPED, "3) * row + np.uint64(1)]", "3) * row]"),
    ("rows of another length in a view", MAPPED, "np.uint64(3) * row", "np.uint64(2) * row"),
    ("a row too few of a view", MAPPED, "range(np.uint64(N))", "range(np.uint64(N - 1))"),
    ("a view of something else", MAPPED, "x_flat = x.reshape(x.size)", "x_flat = y"),
    ("another component", "sgld_gaussian_mixture", "grad_U_3 = grad_U_3 + theta[3]", "grad_U_3 = grad_U_3 + theta[2]"),
    ("what cancels is not 1", "sgld_gaussian_mixture", "exp_2[0] = 1.0 +", "exp_2[0] ="),
    ("another function", "sgld_gaussian_mixture", "exp_1 = 1.0 + _exp(", "exp_1 = 1.0 + _sigmoid("),
]  # fmt: skip


@pytest.mark.parametrize(("name", "found", "wrong"), [fault[1:] for fault in FAULTS], ids=[f[0] for f in FAULTS])
def test_faults_are_found(name: str, found: str, wrong: str) -> None:
    module, sizes = shipped(name)
    assert found in module.text, "the fault must have a place"
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=module.text.replace(found, wrong)), sizes)


def over_rows(written: int, read: int) -> For:
    """Return a loop over rows that adds to one place of `sums` an entry of `given`."""
    return For("row", "N", (Increment(Ref("sums", (written,)), Ref("given", (read,))),))


@pytest.mark.parametrize(("cleared", "joined"), [(1, True), (0, False)])
def test_a_loop_moves_past_what_writes_another_place_of_its_array(cleared: int, *, joined: bool) -> None:
    sums, given = Array("sums", (2,)), Array("given", (2,))
    body = (Assign(Ref("sums", (0,)), ZERO), over_rows(0, 0), Assign(Ref("sums", (cleared,)), ONE), over_rows(1, 1))
    assert (fuse(Procedure("gradient", (), (sums,), (given,), (), body)) is not None) is joined
