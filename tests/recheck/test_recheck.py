"""The standalone checker: it accepts what was certified, rejects every change, and finds what is wrong by itself."""

import ast
import contextlib
import json
import subprocess
import sys
import time
from functools import cache
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from recipe_compiler import recheck
from recipe_compiler.spec.load import load
from recipe_compiler.verify.certificate import certificate
from recipe_compiler.verify.report import check

pytestmark = pytest.mark.usefixtures("without_explanations")

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*(ROOT / "specs/dynamics").glob("*.yaml"), *(ROOT / "tests/mutants").glob("*.yaml")])
CHANGED = ("digest", "documents", "verdict", "assumptions", "claims", "points", "caveats", "versions", "seal")
EDITS = 10_000

Json = dict[str, Any]


@cache
def made(path: Path) -> str:
    document = load(path)
    return json.dumps(certificate(document, check(document)))


def of(name: str) -> Json:
    return json.loads(made(next(path for path in DOCUMENTS if path.stem == name)))


def sealed(changed: Json) -> Json:
    """Return a certificate with the seal (and the digest) of somebody who knows how they are made."""
    changed["digest"] = sha256(recheck.canonical(changed["documents"]).encode()).hexdigest()
    rest = {key: value for key, value in changed.items() if key != "seal"}
    return {**rest, "seal": sha256(recheck.canonical(rest).encode()).hexdigest()}


def rejected(changed: Json) -> bool:
    try:
        recheck.recheck(changed)
    except (recheck.FailureError, ValueError, LookupError, TypeError, AttributeError, SyntaxError):
        return True
    return False


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_what_was_certified_is_rechecked(path: Path) -> None:
    found = json.loads(made(path))
    says = dict(recheck.recheck(found))
    for claim in found["claims"]:
        if claim["verdict"] != "undecided" and claim["id"] in recheck.IDENTITIES:
            assert says[claim["id"]].startswith("rechecked")


def test_every_change_is_rejected() -> None:
    random = Random(2015)
    whole = of("sgrhmc_naive")
    text = json.dumps(whole)
    for _ in range(EDITS):
        changed = json.loads(text)
        edit(changed, random)
        assert changed == whole or rejected(changed)


def edit(value: Any, random: Random, key: Any = None, holder: Any = None) -> None:
    """Change one leaf, or drop or repeat one item, at random."""
    if isinstance(value, dict) and value and random.random() < 0.95:
        key = random.choice(sorted(value))
        edit(value[key], random, key, value)
    elif isinstance(value, list) and value and random.random() < 0.95:
        key = random.randrange(len(value))
        edit(value[key], random, key, value)
    elif isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, str) and value:
        at = random.randrange(len(value))
        holder[key] = value[:at] + random.choice("0123456789abcxyz+-*/ []") + value[at + 1 :]
    elif isinstance(value, int | float):
        holder[key] = value + random.choice((-1, 1))
    elif holder is not None:
        del holder[key]


@pytest.mark.parametrize("part", CHANGED)
def test_a_part_that_is_missing_is_noticed(part: str) -> None:
    changed = of("c_transposed")
    del changed[part]
    assert rejected(changed)


@pytest.mark.parametrize("path", [p for p in DOCUMENTS if "mutants" in p.parts], ids=lambda path: path.stem)
def test_a_refuted_claim_cannot_be_sealed_as_proved(path: Path) -> None:
    changed = json.loads(made(path))
    wrong = [c for c in changed["claims"] if c["verdict"] == "refuted" and c["id"] in recheck.IDENTITIES]
    if not wrong:
        pytest.skip("what is wrong here is no identity")
    for claim in wrong:
        claim |= {"verdict": "proved", "by": "hope", "witness": None, "residual": None}
    changed["verdict"] = "undecided" if any(c["verdict"] == "undecided" for c in changed["claims"]) else "proved"
    assert rejected(sealed(changed))


def test_a_proved_claim_cannot_be_sealed_as_refuted() -> None:
    changed = of("sghmc")
    claim = next(c for c in changed["claims"] if c["id"] == "stationary")
    claim |= {"verdict": "refuted", "witness": {**changed["points"][-1], "the residual": "1"}, "residual": "1"}
    changed["verdict"] = "refuted"
    assert rejected(sealed(changed))


def test_a_refuted_claim_cannot_be_called_advisory() -> None:
    changed = of("c_transposed")
    for claim in changed["claims"]:
        claim["required"] = claim["verdict"] != "refuted"
    changed["verdict"] = "proved"
    assert rejected(sealed(changed))


def test_a_witness_that_is_not_admissible_is_rejected() -> None:
    changed = of("c_transposed")
    changed["documents"]["dynamics"]["parameters"] = [
        [name, {**entry, "is": "positive definite"}] for name, entry in changed["documents"]["dynamics"]["parameters"]
    ]
    assert rejected(sealed(changed))


def test_a_changed_document_is_rejected_though_sealed() -> None:
    changed = of("sghmc")
    changed["documents"]["dynamics"]["D"] = [["0", "0"], ["0", "2*C"]]
    assert rejected(sealed(changed))


def test_a_claim_that_is_left_out_is_missed() -> None:
    changed = of("sghmc")
    changed["claims"] = [claim for claim in changed["claims"] if claim["id"] != "q_skew"]
    assert rejected(sealed(changed))


SQUARES = """
name: squares
state: {x: {}, y: {}}
H: x**2/2 + y**2/2
D: [["1 + x**2 + y**2 - x*y/2", "x*y"], ["x*y", "1 + x**4 + y**2"]]
Q: [[0, 0], [0, 0]]
"""


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> str:
    return json.dumps(written(tmp_path_factory.mktemp("squares"), SQUARES))


@pytest.fixture
def squares(certified: str) -> Json:
    return json.loads(certified)


def test_a_sum_of_squares_is_rechecked_by_its_gram_matrix(squares: Json) -> None:
    assert dict(recheck.recheck(squares))["d_psd"].endswith("Gram matrices exactly")


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [("Gram matrix", "[[1", "[[2"), ("Gram matrix", "1/4", "-9"), ("times", "1", "2"), ("g0", "x", "y")],
)
def test_a_gram_matrix_that_was_changed_is_rejected_though_sealed(squares: Json, key: str, old: str, new: str) -> None:
    claim = next(c for c in squares["claims"] if c["id"] == "d_psd")
    for name in [name for name in claim["data"] if key in name]:
        claim["data"][name] = claim["data"][name].replace(old, new)
    assert rejected(sealed(squares))


@pytest.mark.parametrize(
    "text", ["9**9**9**9", "(" * 3000 + "x", "__import__('os')", "x.__class__", "9" * 10**6, "lambda: x"]
)
def test_hostile_formulas_end_at_once_and_are_not_rechecked(squares: Json, text: str) -> None:
    squares["documents"]["dynamics"]["H"] = text
    start = time.process_time()
    with contextlib.suppress(recheck.FailureError, ValueError, SyntaxError, MemoryError, RecursionError):
        assert not dict(recheck.recheck(sealed(squares)))["stationary"].startswith("rechecked")
    assert time.process_time() - start < 10


def test_it_runs_from_anywhere_without_the_compiler(tmp_path: Path) -> None:
    alone, good, bad = tmp_path / "recheck.py", tmp_path / "good.json", tmp_path / "bad.json"
    alone.write_text((ROOT / "recipe_compiler/recheck.py").read_text(encoding="utf-8"), encoding="utf-8")
    good.write_text(made(DOCUMENTS[0]), encoding="utf-8")
    bad.write_text(made(DOCUMENTS[0]).replace('"proved"', '"refuted"', 1), encoding="utf-8")
    ended = [
        subprocess.run([sys.executable, "-I", alone, *files], capture_output=True, cwd=tmp_path)
        for files in ([good], [good, bad], [alone], [])
    ]
    assert [run.returncode for run in ended] == [0, 1, 2, 2]
    assert ended[-1].stderr.startswith(b"usage:")


def test_it_is_short_and_imports_nothing_of_the_compiler() -> None:
    text = (ROOT / "recipe_compiler/recheck.py").read_text(encoding="utf-8")
    imported = {
        name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert len(text.splitlines()) <= 300
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names == {"numpy", "flint"}


def written(folder: Path, text: str) -> Json:
    (folder / "written.yaml").write_text(text, encoding="utf-8")
    document = load(folder / "written.yaml")
    return json.loads(json.dumps(certificate(document, check(document))))


MULTINOMIAL = """
name: multinomial
state: {z0: {}, z1: {}}
parameters: {p: {is: positive}, q: {is: positive}}
assume: ["1 - p - q >= 0"]
H: 0
D: [["p - p**2", "-p*q"], ["-p*q", "q - q**2"]]
Q: [["0", "0"], ["0", "0"]]
"""
NEGATIVE = """
name: negative
state: {v: {}, w: {}}
H: v**2/2 + w**2/2
D: [["1", "v"], ["v", "1"]]
Q: [["0", "0"], ["0", "0"]]
"""
BOUNDED = """
name: bounded
state: {x: {domain: "interval(a, b)"}}
parameters: {a: {}, b: {}}
assume: ["b - a > 0"]
H: x**2/2
D: [["x - a - 2*(b - a)"]]
Q: [["0"]]
"""
ROTATION = """
name: rotation
state: {x: {shape: d}}
parameters: {P: {shape: [d, d], is: positive definite}, S: {shape: [d, d], is: skew}}
H: x.T @ P @ x / 2
D: [["I"]]
claims: {drift: {x: "-P @ x - S @ P @ x"}}
"""


def test_a_point_that_none_drawn_meets_is_searched_for(tmp_path: Path) -> None:
    found = written(tmp_path, MULTINOMIAL)
    assert found["points"]
    assert dict(recheck.recheck(found))["d_psd"].startswith("rechecked")


def test_a_block_named_v_does_not_hide_the_direction(tmp_path: Path) -> None:
    found = written(tmp_path, NEGATIVE)
    claim = next(c for c in found["claims"] if c["id"] == "d_psd")
    assert list(claim["witness"])[-1] == "u.T @ D of (v, w) @ u"
    assert dict(recheck.recheck(found))["d_psd"] == "rechecked: exactly"


@pytest.mark.parametrize("x", ["5", "-5"])
def test_a_witness_outside_its_domain_is_rejected(tmp_path: Path, x: str) -> None:
    found = written(tmp_path, BOUNDED)
    claim = next(c for c in found["claims"] if c["id"] == "d_psd")
    assert dict(recheck.recheck(found))["d_psd"] == "rechecked: exactly"
    claim["witness"] = {"a": "0", "b": "1", "x": x, "D[x,x]": str(int(x) - 2)}
    assert rejected(sealed(found))


def test_a_witness_that_violates_an_assumption_is_rejected(tmp_path: Path) -> None:
    found = written(tmp_path, MULTINOMIAL)
    claim = next(c for c in found["claims"] if c["id"] == "d_psd")
    claim |= {"verdict": "refuted", "witness": {"p": "2", "q": "1", "v": "[1, 0]", "v.T @ D of (z0, z1) @ v": "-2"}}
    found["verdict"] = "refuted"
    assert rejected(sealed(found))


@pytest.mark.parametrize("text", ["[nothing]", "unknown(1)", "x.__class__", "((", "", "[1, 2, 3, 4, 5]"])
@pytest.mark.parametrize("place", [0, -1])
def test_a_witness_that_cannot_be_read_fails(text: str, place: int) -> None:
    changed = of("c_transposed")
    claim = next(c for c in changed["claims"] if c["verdict"] == "refuted" and c["id"] in recheck.IDENTITIES)
    claim["witness"][list(claim["witness"])[place]] = text
    assert rejected(sealed(changed))


def test_a_recovered_q_is_rechecked_and_another_rejected(tmp_path: Path) -> None:
    found = written(tmp_path, ROTATION)
    assert dict(recheck.recheck(found))["recovered_q"].startswith("rechecked at sizes d = 1; d = 2; d = 3")
    next(c for c in found["claims"] if c["id"] == "recovered_q")["data"]["Q[x,x]"] = "2*S"
    assert rejected(sealed(found))


def test_an_assumption_that_is_weakened_in_the_document_is_missed() -> None:
    changed = of("sghmc")
    for _, entry in changed["documents"]["dynamics"]["parameters"]:
        entry["is"] = "real"
    assert rejected(sealed(changed))


def test_a_refuted_size_cannot_be_made_every_size() -> None:
    changed = of("c_transposed")
    for claim in changed["claims"]:
        claim["for_d"] = "all"
    assert rejected(sealed(changed))


def test_a_document_that_is_swapped_is_rejected() -> None:
    changed = of("sghmc")
    changed["documents"] = of("c_transposed")["documents"]
    assert rejected(sealed(changed))
