"""The standalone checker: it accepts what was certified, rejects every change, and finds what is wrong by itself."""

import ast
import contextlib
import copy
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


LONG = [pytest.param(p, marks=pytest.mark.slow) if p.stem.startswith("rhmc") else p for p in DOCUMENTS]
"""Inverses of polynomial matrices, differentiated twice, take SymPy its time."""


@pytest.mark.parametrize("path", LONG, ids=lambda path: path.stem)
def test_what_was_certified_is_rechecked(path: Path) -> None:
    found = json.loads(made(path))
    says = dict(recheck.recheck(found))
    for claim in found["claims"]:
        if claim["verdict"] != "undecided" and claim["id"] in recheck.IDENTITIES:
            assert says[claim["id"]].startswith("rechecked")


def test_every_change_is_rejected() -> None:
    random = Random(2015)
    whole = of("sgrhmc_naive")
    for _ in range(EDITS):
        changed = copy.deepcopy(whole)
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


def squares(folder: Path) -> Json:
    (folder / "squares.yaml").write_text(SQUARES, encoding="utf-8")
    document = load(folder / "squares.yaml")
    return certificate(document, check(document))


def test_a_sum_of_squares_is_rechecked_by_its_gram_matrix(tmp_path: Path) -> None:
    assert dict(recheck.recheck(squares(tmp_path)))["d_psd"].endswith("Gram matrices exactly")


@pytest.mark.parametrize(
    ("key", "old", "new"),
    [("Gram matrix", "[[1", "[[2"), ("Gram matrix", "1/4", "-9"), ("times", "1", "2"), ("g0", "x", "y")],
)
def test_a_gram_matrix_that_was_changed_is_rejected_though_sealed(tmp_path: Path, key: str, old: str, new: str) -> None:
    changed = squares(tmp_path)
    claim = next(c for c in changed["claims"] if c["id"] == "d_psd")
    for name in [name for name in claim["data"] if key in name]:
        claim["data"][name] = claim["data"][name].replace(old, new)
    assert rejected(sealed(changed))


@pytest.mark.parametrize(
    "text", ["9**9**9**9", "(" * 3000 + "x", "__import__('os')", "x.__class__", "9" * 10**6, "lambda: x"]
)
def test_hostile_formulas_end_at_once_and_are_not_rechecked(tmp_path: Path, text: str) -> None:
    changed = squares(tmp_path)
    changed["documents"]["dynamics"]["H"] = text
    start = time.monotonic()
    with contextlib.suppress(recheck.FailureError, ValueError, SyntaxError, MemoryError, RecursionError):
        assert not dict(recheck.recheck(sealed(changed)))["stationary"].startswith("rechecked")
    assert time.monotonic() - start < 10


def test_it_runs_from_anywhere_without_the_compiler(tmp_path: Path) -> None:
    alone, good, bad = tmp_path / "recheck.py", tmp_path / "good.json", tmp_path / "bad.json"
    alone.write_text((ROOT / "recipe_compiler/recheck.py").read_text(encoding="utf-8"), encoding="utf-8")
    good.write_text(made(DOCUMENTS[0]), encoding="utf-8")
    bad.write_text(made(DOCUMENTS[0]).replace('"proved"', '"refuted"', 1), encoding="utf-8")
    codes = [
        subprocess.run([sys.executable, "-I", alone, *files], capture_output=True, cwd=tmp_path).returncode
        for files in ([good], [good, bad], [alone], [])
    ]
    assert codes == [0, 1, 2, 2]


def test_it_is_short_and_imports_nothing_of_the_compiler() -> None:
    text = (ROOT / "recipe_compiler/recheck.py").read_text(encoding="utf-8")
    imported = {
        name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
    }
    assert len(text.splitlines()) <= 300
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names == {"numpy", "sympy"}
