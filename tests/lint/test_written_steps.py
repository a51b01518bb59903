"""Steps that are written here, variants of one text: each with the verdict that it must get."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from recipe_compiler.lint import process
from recipe_compiler.lint.metropolis import OF_THE_REST
from recipe_compiler.lint.plain_run.returned import EXPECTED
from recipe_compiler.lint.replay import ADVICE, BY_ROUNDING, FAR_OUT, OF_OVERFLOW, OF_ROUNDING, OF_SINGLE, SINGLE
from recipe_compiler.verdict import Finding, Undecided

pytestmark = pytest.mark.usefixtures("few_calls")

Written = Callable[..., Finding]
PLAINLY = "run with plain numbers"

CHANGES = {
    "- 0.3 * eps * p": ("+ 0.3 * eps * p", "", "- 0.31 * eps * p", "- 0.3 * eps * x"),
    "np.sqrt(0.6 * eps)": ("np.sqrt(0.3 * eps)", "0.6 * np.sqrt(eps)", "np.sqrt(0.6) * eps", "np.sqrt(0.6)"),
    "eps * (x - x**3)": ("eps * (x**3 - x)", "eps * x", "2 * eps * (x - x**3)", "(x - x**3)"),
    "x + eps * p": ("x - eps * p", "x + eps", "x + 2 * eps * p", "x + eps * p**2", "x"),
}
STEP = """\
import numpy as np


def step(x, p, eps, rng):
    p = p + eps * (x - x**3) - 0.3 * eps * p + np.sqrt(0.6 * eps) * rng.standard_normal()
    return x + eps * p, p
"""


@pytest.mark.slow
def test_the_step_that_is_changed_is_right(written_step: Written) -> None:
    written_step(STEP, "double_well", "proved")


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new"), [(old, new) for old, changed in CHANGES.items() for new in changed])
def test_no_changed_step_is_proved(old: str, new: str, written_step: Written) -> None:
    assert STEP.count(old) == 1
    written_step(STEP.replace(old, new), "double_well", "not proved")


MUTANTS = {
    "mala": [
        ("eps * grad_U(new)", "2 * eps * grad_U(new)"),
        ("np.sum(back**2)) / (4 * eps)", "np.sum(back**2)) / (2 * eps)"),
        ("np.sqrt(2 * eps) * np.random.randn", "np.sqrt(eps) * np.random.randn"),
    ],
    "hmc": [
        ("p = p - eps / 2 * grad_U(q)\n    for", "p = p - eps * grad_U(q)\n    for"),
        ("+ r @ r / 2 - U(q) - p @ p / 2))", "+ r @ r - U(q) - p @ p / 2))"),
        ("np.exp(U(theta)", "np.exp(1 + U(theta)"),
    ],
    "ghmc": [("0.8 * rng", "0.4 * rng")],
    "lognormal_walk": [(" + np.log(new / x)", ""), ("np.log(new / x)", "2 * np.log(new / x)")],
}
"""What is put in the place of a part of a right step of `accepted.py`: it holds at no size then."""
SPEC = {"mala": "sgld_unit", "hmc": "sgld_unit", "ghmc": "hmc_unit", "lognormal_walk": "positive"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "was", "put"), [(name, *one) for name, changes in MUTANTS.items() for one in changes])
def test_no_mutant_of_a_move_holds_at_any_size(name: str, was: str, put: str, written_step: Written) -> None:
    text = (Path(__file__).parent / "steps/accepted.py").read_text(encoding="utf-8")
    assert text.count(was) == 1
    assert written_step(text.replace(was, put), SPEC[name], "not proved", name=name).checked_at == ()


ACCEPT = "np.log(rng.random()) < U(theta) - U(new)"
OPEN = {
    "two_moves": (
        f"theta = new if {ACCEPT} else theta\n    return new if {ACCEPT} else theta",
        "a second comparison with a uniform draw",
    ),
    "of_a_metric": (
        f"new = theta + (1 + theta**2) * rng.normal(size=len(theta))\n    return new if {ACCEPT} else theta",
        "the log of the ratio is not H(z) - H(z') with its draws",
    ),
    "back_to_no_draw": (
        f"new = theta + rng.normal(size=len(theta)) ** 2\n    return new if {ACCEPT} else theta",
        "does not lead back",
    ),
    "noise_left": (f"return 2 * theta if {ACCEPT} else 3 * theta", "neither way leaves the state as it was"),
    "drawn_by_chance": ("return theta + rng.random() * (new - theta)", "the random draw `random`"),
    "of_two": (
        "return new if rng.random() < rng.random() * np.exp(U(theta) - U(new)) else theta",
        "something else than a comparison of u with what is known",
    ),
    "negative": ("return new if rng.random() < U(theta) - U(new) else theta", "not seen to be positive"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPEN)
def test_what_is_not_followed_says_why(name: str, written_step: Written) -> None:
    body, why = OPEN[name]
    head = "import numpy as np\n\ndef step(theta, U, rng):\n    new = theta + rng.normal(size=len(theta))\n    "
    written_step(f"{head}{body}\n", "sgld_unit", "undecided", why)


FRESH = """
import numpy as np


def step(theta, r, U, grad_U, eps, rng):
    p = OLD rng.standard_normal(len(r))
    k = p - eps / 2 * grad_U(theta)
    q = theta + eps * k
    k = k - eps / 2 * grad_U(q)
    if np.log(rng.random()) < U(theta) + p @ p / 2 - U(q) - k @ k / 2:
        return q, k
    return theta, p
"""


@pytest.mark.slow
@pytest.mark.parametrize("partly", [False, True])
def test_momenta_that_no_step_reads_may_be_left_as_they_are(partly: bool, written_step: Written) -> None:
    """theta keeps its law where momenta are drawn anew; theta and r together do not, nor theta where r is read."""
    text = FRESH.replace("OLD", "0.6 * r + 0.8 *" if partly else "")
    written_step(text, "hmc_unit", "refuted" if partly else "not proved", "" if partly else OF_THE_REST)


def test_a_step_that_hangs_with_numbers_is_ended(
    step_finding: Callable[..., Finding], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = process.run_plainly

    def shortly(request: Mapping[str, Any]) -> Any:
        return run(request, total=0.5)

    monkeypatch.setattr(process, "run_plainly", shortly)
    decision = step_finding("hostile.py:hangs", "double_well").decision
    assert isinstance(decision, Undecided)
    assert f"{PLAINLY}, it did not end in 0.5 s" in decision.tried[0]


LOST = """
import numpy as np


def step(x, p, gamma, eps, rng):
    size = {size}
    p = p - eps * {slope} - eps * gamma * p + np.sqrt(2 * gamma * eps) * rng.standard_normal() * size
    return x + eps * p, p
"""


@pytest.mark.parametrize("slope", ["(x**3 - x)", "x * (x**2 - 1)"])
@pytest.mark.parametrize(
    ("size", "says"),
    [
        ("(1 + x**2) ** -60 * (1 + x**2) ** 30 * (1 + x**2) ** 30", FAR_OUT),
        ("np.exp(-(x**2)) * np.exp(x**2 / 2) * np.exp(x**2 / 2)", FAR_OUT),
        ("np.minimum(1, 2 * np.exp(-(x**2)) * np.exp(x**2 / 2) * np.exp(x**2 / 2))", ""),
        ("1", None),
        ("(1 + np.exp(x)) / (1 + np.exp(x))", None),
        ("np.exp(x**2 - x**2)", None),
    ],
)
def test_noise_that_is_lost_where_doubles_underflow_is_seen(
    size: str, says: str | None, slope: str, written_step: Written
) -> None:
    """Of real numbers all are 1; at x = 1000 the first factor of some is 0, and with it the noise."""
    text = LOST.format(slope=slope, size=size)
    if says is None:
        written_step(text, "double_well", "proved")
        return
    decision = written_step(text, "double_well", "undecided").decision
    assert isinstance(decision, Undecided)
    assert any(says in one and one.endswith(OF_OVERFLOW * bool(says)) for one in decision.tried)


def test_a_step_that_differs_by_rounding_alone_is_told_what_to_do_about_that(written_step: Written) -> None:
    text = LOST.format(slope="(((1e17 + x**3) - 1e17) - x)", size="1")
    decision = written_step(text, "double_well", "undecided", f"{BY_ROUNDING}; {OF_ROUNDING}").decision
    assert isinstance(decision, Undecided)
    assert not any(BY_ROUNDING in one and ADVICE in one for one in decision.tried)


OF_TWO = """
import numpy as np
from typing import NamedTuple


class Lazy:
    def __init__(self, numbers):
        self.numbers = numbers

    def __len__(self):
        return len(self.numbers)

    def __getitem__(self, k):
        return self.numbers[k]


class Pair(NamedTuple):
    first: float
    second: float

    def __getitem__(self, k):
        return self.first if k == 0 else self.second


def step(theta, grad_U, eps, rng):
    noise = rng.standard_normal(2)
    FIRST
    new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * noise
    return RETURNED
"""
OF_SINGLES = f"(with scalars of {SINGLE}), {OF_SINGLE}, entry "
AS_FOLLOWED = " as it was followed"
NO_ARRAY = f"an object of the class Lazy returned, {EXPECTED}"


@pytest.mark.parametrize(
    ("first", "returned", "says"),
    [
        *(
            pytest.param(first, "new", says, marks=pytest.mark.slow)
            for first, says in (
                ("one = np.ones(2, dtype=theta.dtype); noise = noise * (((one + 2**-30) - one) * 2**30)", OF_SINGLES),
                ("noise = noise * ((theta * 0 + 1 + 2**-30 - 1) * 2**30)", OF_SINGLES),
                ("noise = noise.astype(theta.dtype)", None),
                ("theta = theta + np.zeros(2, dtype=theta.dtype)", None),
            )
        ),
        ("noise = noise.astype('float32')", "new", AS_FOLLOWED),
        ("noise = np.array(noise, dtype='f')", "new", AS_FOLLOWED),
        ("kept = np.zeros(2, 'float32'); kept[:] = theta; theta = kept", "new", AS_FOLLOWED),
        *(("pass", returned, NO_ARRAY) for returned in ("Lazy(new)", "[Lazy(new)][0]", "(Lazy(new),)")),
        ("pass", "{'theta': Lazy(new)}", NO_ARRAY),
        ("pass", "Pair(*new)", NO_ARRAY.replace("Lazy", "Pair")),
        *(
            pytest.param("pass", returned, None, marks=pytest.mark.slow)
            for returned in ("new", "(new,)", "{'theta': new}", "[new[0], new[1]]", "new.copy()")
        ),
        pytest.param("pass", "tuple(new)", "", marks=pytest.mark.slow),
    ],
)
def test_numbers_of_32_bits_and_what_is_no_array_are_not_let_pass(
    first: str, returned: str, says: str | None, written_step: Written
) -> None:
    """In 32 bits some lose their noise; what makes its numbers when it is read is no new state."""
    text = OF_TWO.replace("FIRST", first).replace("RETURNED", returned)
    found = written_step(
        text, "langevin_of_two", "not proved" if says else "proved", *([says] if says != ADVICE else [])
    )
    if says == OF_SINGLES:
        assert isinstance(found.decision, Undecided)
        assert found.decision.tried[0].endswith(ADVICE)


IN_PLACE = {
    "g = grad_U(theta); g *= eps; new = theta - g + noise": "it changes in place what grad_U returned",
    "g = grad_U(theta); theta += noise; new = theta - eps * g": "where a gradient returns its argument, the same array",
    "g = grad_U(theta); theta -= eps * g; new = theta + noise": "",
    "g = grad_U(theta); g = eps * g; g += theta; new = theta - (g - theta) + noise": "",
}
COMPILED = {
    "WIDTH[0] = np.sqrt(2 * eps); new = theta - eps * grad_U(theta) + wide(z)": "takes WIDTH for what it was",
    "WIDTH[0] = np.sqrt(2 * eps); new = theta - eps * grad_U(theta) + wide(z); WIDTH[0] = 1.0": (
        "takes WIDTH for what it was"
    ),
    "WIDTH[0] = np.sqrt(2 * eps); new = theta - eps * grad_U(theta) + typed(z)": "takes WIDTH for what it was",
    "new = theta - eps * grad_U(theta) + np.sqrt(2 * eps) * wide(z)": "",
    "AROUND[0][0] = np.sqrt(2 * eps); new = theta - eps * grad_U(theta) + AROUND[1](z)": "takes own for what it was",
}
OF_CHANGES = """
import numpy as np
from numba import njit

WIDTH = np.ones(1)


@njit
def wide(z):
    return WIDTH[0] * z


@njit("float64[:](float64[:])")
def typed(z):
    return WIDTH[0] * z


def _around():
    own = np.ones(1)

    @njit
    def of(z):
        return own[0] * z

    return own, of


AROUND = _around()


def step(theta, grad_U, eps, rng):
    z = rng.standard_normal(2)
    noise = np.sqrt(2 * eps) * z
    CHANGES
    return new
"""


@pytest.mark.parametrize("changes", [*IN_PLACE, *COMPILED])
def test_what_others_keep_is_not_changed(changes: str, written_step: Written) -> None:
    """A gradient may return its argument (`lambda x: x`); compiled code has the arrays of its file as constants."""
    says = {**IN_PLACE, **COMPILED}[changes]
    written_step(OF_CHANGES.replace("CHANGES", changes), "plane", "undecided" if says else "proved", says)


ASKED = {
    "u = rng.random(out=slack)": "`random(..., out=...)`",
    "u = rng.random(None, np.float32)": "`random(..., dtype=...)`",
    "u = np.exp(-rng.standard_exponential(out=slack))": "`standard_exponential(..., out=...)`",
    "u = np.exp(-rng.standard_exponential(method='inv'))": "`standard_exponential(..., method=...)`",
    "rng.standard_normal(2, dtype='f'); u = rng.random()": "`standard_normal(..., dtype=...)`",
    "u = rng.random(dtype=np.float64)": "",
}


OF_DRAWS = """
import numpy as np


def step(theta, U, eps, rng):
    slack = np.zeros(1)
    new = theta + eps * rng.standard_normal(2)
    ASKED
    if np.log(u) < U(theta) - U(new) + slack[0]:
        return new
    return theta
"""


@pytest.mark.parametrize("asked", ASKED)
def test_an_argument_of_a_draw_that_is_not_followed_is_told(asked: str, written_step: Written) -> None:
    """What is drawn into an array was left out, and the array taken for zeros."""
    says = ASKED[asked]
    written_step(OF_DRAWS.replace("ASKED", asked), "plane", "undecided" if says else "proved", says)


FULL = """
import numpy as np

N_ALL = 569


def step(theta, r, x, y, prior_variance, m, eps, rng):
    grad = theta / prior_variance + N_ALL * x.T @ (1 / (1 + np.exp(-x @ theta)) - y) / {whole}
    return theta + eps * r / m, r - eps * grad
"""


@pytest.mark.slow
@pytest.mark.parametrize("whole", ["len(x)", "3", "7"])
def test_a_number_of_data_that_is_computed_with_is_no_refutation_at_two_rows(whole: str, written_step: Written) -> None:
    """It may be right of all rows: with 569 of them N_ALL/len(x) is 1."""
    says = "it computes with the build's N = 569 as a number"
    written_step(FULL.format(whole=whole), "hmc_logistic", "not proved", says)


OF_ITS_FILE = """
import numpy as np

X = np.zeros((569, 30))


def step(theta, b, N, eps, rng):
    p = 1 / (1 + np.exp(-X @ theta))
    return theta - eps * (theta + N / len(X) * X.T @ (p - b)) + np.sqrt(2 * eps) * rng.standard_normal(len(theta))
"""


@pytest.mark.slow
def test_data_that_the_file_holds_are_mapped(written_step: Written) -> None:
    found = written_step(OF_ITS_FILE, "sgld_logistic", "not proved", maps=(("X", "x"), ("b", "y")))
    assert isinstance(found.decision, Undecided)
    assert found.decision.tried[0] == "holds at d = 2"


OF_DATA = """
import numpy as np


def step(theta, r, x, y, prior_variance, m, eps, rng):
    left = y
    left -= 1 / (1 + np.exp(-x @ theta))
    grad = theta / prior_variance - x.T @ left
    return theta + eps * r / m, r - eps * grad
"""
OWN_GRADIENT = """
import numpy as np


def grad_U(theta):
    return 7 * theta**3


def step(theta, r, M, C, eps, rng):
    noise = np.linalg.cholesky(2 * eps * C) @ rng.standard_normal(len(r))
    return theta + eps * np.linalg.solve(M, r), r - eps * grad_U(theta) - eps * C @ np.linalg.solve(M, r) + noise
"""


def test_a_step_that_writes_into_its_data_is_undecided(written_step: Written) -> None:
    """The first call does what it should; the next is given residuals in the place of y."""
    written_step(OF_DATA, "hmc_logistic", "undecided", "it changes its argument y in place")


@pytest.mark.slow
def test_a_gradient_of_the_file_is_its_own(written_step: Written) -> None:
    """It is no gradient of the target, whatever it is called."""
    written_step(OWN_GRADIENT, "sghmc_gaussian", "refuted")
