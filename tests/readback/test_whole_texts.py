"""Texts are read back as they are emitted, in every shape that a kernel is given."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from _pytest.mark import ParameterSet
from cycles import CYCLES, VALUES
from draws import GIBBS
from emitted_texts import FORMS, ITERATION, SPECS, read, text_of
from loaders import load_sized
from some import some

from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build

NAMES = sorted(path.stem for path in (SPECS / "builds").glob("*.yaml"))
EVERY, SHIPPED, SCHEDULED, PLAIN = "plain scheduled shipped", "shipped", "scheduled", "plain"
DEFAULT = [
    # the build, its texts, and what they have
    ("again_every of gaussian", EVERY, ""),
    ("two words and a walk", EVERY, ""),
    ("chunked sghmc", "scheduled, scheduled at a point", "def sweep("),
    ("squares in blocks by a mode", SCHEDULED, "np.float64(x["),
    *((name, SHIPPED, "def step_lanes(") for name in ("sgnht_gaussian", "hmc of gaussian")),
    ("sghmc_gaussian_mean_baoab", SHIPPED, "grad_U_tilde[entry] = grad_U_tilde_new[entry]"),
    ("sghmc_gaussian, d = 2", SHIPPED, "Registers"),
    ("sghmc_logistic, d = 2", SHIPPED, "Small rows"),
    ("sgnht_logistic, d = 14", SHIPPED, "Small rows"),
    ("sghmc_logistic, d = 17", SHIPPED, "Blocks of rows"),
    ("sgld_logistic, d = any", SHIPPED, "Blocks of rows"),
]  # fmt: skip
SLOW = [
    *((name, EVERY, "") for name in ("again of gaussian", "two words")),
    *((f"chunked {name}", "scheduled, scheduled at a point", "def sweep(") for name in ("sgld", "hmc")),
    ("squares", SCHEDULED, "_shuffle_indices(batch_state"),
    ("squares by a mode", SCHEDULED, "grad_U_mode[i]"),
    ("squares in singles by a mode", SCHEDULED, "np.float64(x["),
    ("squares in blocks", SCHEDULED, "_block_indices(batch_state"),
    *((name, SHIPPED, "def step_lanes(") for name in ("sghmc_gaussian", "sgld_gaussian", "sghmc_gaussian_baoab")),
    ("sghmc_logistic, d = 32", SHIPPED, "Blocks of rows"),
    *((name, SHIPPED, "Small rows") for name in (
        "sgld_poisson_regression", "sgld_poisson_regression, mapped", "sgld_gaussian_mixture",
        "sghmc_softmax_regression", "sghmc_matrix_factorisation", "sghmc_eight_schools",
    )),
    *((f"{cycle} of {target}", EVERY, "") for target in VALUES for cycle in CYCLES),
    ("hmc of gaussian", SCHEDULED, "Loops over arrays."),
    ("hmc of gaussian", SHIPPED, "Registers: no data and 6 coordinates"),
    ("hmc of double_well", SCHEDULED, "Registers: no data and 2 coordinates"),
    ("hmc of logistic_regression", SCHEDULED, "Blocks of rows"),
    ("hmc of logistic_regression", SHIPPED, "Small rows"),
    ("hmc of eight_schools", SCHEDULED, "Small rows"),
    *((name, EVERY, "") for name in (*GIBBS, "two involutions", "involutions of matrices")),
    ("involutions of some cycles", EVERY, ""),
    *((name, EVERY, "") for name in ("two functions", "a function of some cycles", "a function of two blocks")),
    ("a function of data", EVERY, ""),
    ("guarded_funnel", SHIPPED, ""),
    ("rats", "plain, plain at a point", ""),
    ("a factor of two", "plain scheduled", "_noise_root_2("),
    ("a factor of many", PLAIN, "_noise_root("),
    *((form, "plain shipped", name) for form, (_, name) in FORMS.items()),
]  # fmt: skip


def cases() -> Iterator[ParameterSet]:
    """Yield every case."""
    for marks, rows in ((), DEFAULT), (pytest.mark.slow, SLOW):
        for build, shapes, has in rows:
            every = shapes.split(", ") if "," in shapes else shapes.split()
            yield pytest.param(build, every, has, id=f"{build}, {shapes}", marks=marks)


@pytest.mark.parametrize(("build", "shapes", "has"), list(cases()))
def test_a_text_without_a_fault_is_read_back(build: str, shapes: list[str], has: str) -> None:
    for shape in shapes:
        text = text_of(build, shape)
        assert has in text.module.text or has in text.module.kernel.shape
        read(build, text, text.module)


@pytest.mark.parametrize("name", some([name for name in NAMES if name != "rhmc_logistic"], 7))
def test_every_build_reads_back(name: str) -> None:
    """As a compilation reads it, which in one run of the tests is done once of every text."""
    compile_build(load_sized(SPECS / f"builds/{name}.yaml"))


@pytest.mark.parametrize(
    "build", ["sghmc_gaussian, d = 2", "sghmc_logistic, d = 2", "sghmc_logistic, d = 3, replacement", "sgld_w5"]
)
def test_an_iteration_is_read(build: str) -> None:
    read(build, text := text_of(build, "shipped"), text.module, ITERATION)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_covariance_that_is_written_with_a_factor_is_not_factored_again(form: str) -> None:
    assert "_noise_root" not in text_of(form, "plain").module.text
    wrong = text_of(form, "shipped")
    faulty = wrong.module.text.replace("math.sqrt(", "2.0 * math.sqrt(")
    assert faulty != wrong.module.text
    with pytest.raises(CompilerError, match=r"covariance|differs"):
        wrong.read(replace(wrong.module, text=faulty))


@pytest.mark.slow
def test_few_columns_are_read_without_an_exponential_of_each_row() -> None:
    text = text_of("sgld_poisson_regression", "shipped").module.text
    assert "math.exp" not in text[text.index("def gradient(") : text.index("def step(")]
