"""The kernel agrees with the two engines on the identities of all dynamics of the net, and is complete there.

What they prove it reduces to zero at three sizes, with all that is declared unknown; what they refute is certainly not
zero at a point that it draws, but for currents through infinity, of which the residual vanishes.
"""

import json
from pathlib import Path

import pytest
from some import some

from recipe_compiler.errors import DocumentError
from recipe_compiler.kernel import equations, field, pages
from recipe_compiler.kernel.relations import is_zero
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.places import documents

ROOT = Path(__file__).parents[2]
VERDICTS: dict[str, dict[str, str]] = json.loads((ROOT / "tests/golden/verdicts.json").read_text(encoding="utf-8"))
FOLDERS = ("specs/dynamics", "tests/mutants", "tests/errata", "tests/recover", "tests/repair")
FILES = [file for file in VERDICTS if file.startswith(FOLDERS)]
IDENTITIES = tuple(id_ for id_ in equations.IDENTITIES if id_ != "recovered_q")
THROUGH_INFINITY = ("abstract", "decoupled", "half_line", "line", "student", "vector")


def opinions(d: pages.Documents, id_: str) -> set[str]:
    """Return what the kernel sees of an identity at three sizes, two instances each."""
    found = set[str]()
    for sizes in d.sizes(every=True):
        for seed in ("one", "two"):
            page = pages.drawn(d, sizes, [], seed, is_open=True)
            left = equations.CHECKS[id_](page, {"id": id_, "data": {}, "witness": None}, "")
            left = left[: {"claimed_drift": page.coordinates, "stationary": 1, "claimed_stationary": 1}.get(id_)]
            if any(page.sign(x) for x in left):
                found.add("not zero")
            else:
                found.add("zero" if all(is_zero(page, x) for x in left) else "open")
    return found


@pytest.mark.parametrize("file", some(FILES, 24))
def test_the_kernel_agrees_with_the_verdicts(file: str) -> None:
    try:
        dynamics = load(ROOT / file)
    except DocumentError:
        pytest.skip("it is faulty")
    if not isinstance(dynamics, Dynamics):
        pytest.skip("the kernel is compared on dynamics")
    d = pages.Documents(documents(dynamics))
    for id_ in IDENTITIES:
        verdict = VERDICTS[file].get(id_, "undecided")
        if verdict == "undecided":
            continue
        current = verdict == "refuted" and Path(file).stem.removesuffix("_current") in THROUGH_INFINITY
        seen = opinions(d, id_)
        assert seen == {"zero"} if verdict == "proved" or current else "not zero" in seen, (id_, verdict, seen)


def test_the_kernel_contradicts_what_index_calculus_would_prove_wrongly() -> None:
    """Plant a fault of the first engine: a drift without Gamma, or of a metric that is not a multiple of I."""
    stated = {
        "state": {"x": {"shape": "d"}},
        "functions": {"U": {"of": "x", "role": "potential"}, "G": {"of": "x", "shape": ["d", "d"], "is": field.PD}},
        "H": "U(x)",
        "D": [["inv(G)"]],
        "Q": [["0"]],
        "claims": {"drift": {"x": "-inv(G) @ grad(U, x)"}},
    }
    assert "not zero" in opinions(pages.Documents({"dynamics": stated}), "claimed_drift") <= {"not zero", "open"}
    right = {**stated, "claims": {"drift": {"x": "-inv(G) @ grad(U, x) + div(inv(G), x)"}}}
    assert opinions(pages.Documents({"dynamics": right}), "claimed_drift") == {"zero"}


@pytest.mark.parametrize(
    ("drift", "seen"),
    [
        ("grad(V(y, x), y) - V(y, x)*grad(f(y), y)", "zero"),
        ("grad(V(y, x), y) - V(y, x)*grad(f(x), x)", "not zero"),
        ("grad(V(y, x), y) - V(x, y)*grad(f(y), y)", "not zero"),
        ("grad(V(x, y), y) - V(y, x)*grad(f(y), y)", "not zero"),
    ],
)
def test_the_kernel_tells_a_function_at_other_blocks_from_itself(drift: str, seen: str) -> None:
    stated = {
        "state": {"x": {"shape": "d"}, "y": {"shape": "d"}},
        "functions": {"f": {"of": "x"}, "V": {"of": ["x", "y"], "is": "positive"}},
        "H": "f(x) + f(y)",
        "D": [["0", "0"], ["0", "V(y, x)*I"]],
        "Q": [["0", "0"], ["0", "0"]],
        "claims": {"drift": {"y": drift}},
    }
    assert seen in opinions(pages.Documents({"dynamics": stated}), "claimed_drift")
    assert opinions(pages.Documents({"dynamics": stated}), "stationary") == {"zero"}
