"""Certificates of builds: words, cycles of moves, discrete blocks, moves that are code; what they may rest on."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from answers import written
from certificates import ROOT, Json, claim_in, of, said, sealed, settled
from code_moves import HMC, MOVES, code
from cycles import document

from recipe_compiler import recheck
from recipe_compiler.kernel import moves as moves_of
from recipe_compiler.kernel import words
from recipe_compiler.spec.catalogue import NAMED
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.spec.words import letters

BUILDS, MUTANTS = ROOT / "specs/builds", ROOT / "tests/mutants"
BAOAB = BUILDS / "sghmc_double_well_baoab.yaml"
REVERSED, HALF = (MUTANTS / f"steps/{name}.yaml" for name in ("reversed_half", "missing_half_kick"))
REMOVAL, ALLOCATED = (BUILDS / f"gibbs_{name}.yaml" for name in ("removal", "mixture"))
TRIALS = MUTANTS / "moves/trials_of_another_field.yaml"
MIXTURE, FUNNEL = BUILDS / "gibbs_dp_mixture.yaml", BUILDS / "rhmc_funnel.yaml"
BY_AUTHOR = "exp(-U) has a finite integral, as the document states under `assume`"
KEPT = "the code of my_moves.py:turn preserves exp(-H)"
ALL = (
    "refresh: {r: -1/2}, {of: {theta: [a]}, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}, draw: b, "
    "{involution: {theta: theta*exp(w), w: -w}, draws: {w: 'N(0, 1/4)'}, log_ratio: d*w}"
)
FOLLOWED = "refresh: r, split: [B/2, A/2, O, A/2, B/2]"


def coded(*of_code: str) -> Path:
    return written(document("gaussian", f"[{', '.join((HMC, *of_code))}]"), **{"my_moves.py": MOVES})


def moves(cycle: str) -> Path:
    noisy = "O" in cycle
    text = f"""
dynamics: SPECS/dynamics/{"sghmc" if noisy else "hmc"}.yaml
target: own.yaml
parameters: {{M: {{value: [[2, 1], [1, 3]]}}{", C: {value: [[1, 1/2], [1/2, 2]]}" if noisy else ""}}}
scheme: {{cycle: [{cycle}]}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.2}}
"""
    own = "state: {a: {}, b: {}}\npotential: a**4 + a*b/2 + b**2\nlaws: {b: 'N(-a/4, 1/2)'}\n"
    return written(text, own=own)


def bound() -> Path:
    """Return a build whose `bind` names a parameter of the target."""
    text = """
dynamics: SPECS/dynamics/rhmc.yaml
target: own.yaml
bind: {G: diag(ones + theta**2)*v}
scheme:
  cycle:
    - refresh: r
    - metropolis: {split: [H], pieces: {H: {Q: all, H: all}}, flows: {H: generalised}, flip: {r: -r}}
variant: full
sizes: {d: 2}
run: {step_size: 0.2}
"""
    own = "state: {theta: {shape: d}}\nparameters: {v: {is: positive, default: 3}}\npotential: sum(theta**4)/v\n"
    return written(text, own=own)


def with_code() -> Path:
    return coded(code("turn"), code("hit_and_run"))


def is_cycle(path: Path) -> bool:
    build = load(path)
    return isinstance(build, Build) and bool(build.scheme.cycle)


CYCLES = [path for path in sorted(BUILDS.glob("*.yaml")) if is_cycle(path) and path.stem != "rhmc_logistic"]
"""But for one whose metric is of 24 rows: it is read in two minutes, and what has too many terms is trusted."""


def slow(*row: Any) -> Any:
    return pytest.param(*row, marks=pytest.mark.slow)


SAID: list[Any] = [
    *((MIXTURE, id_, f"granted, not declared: {BY_AUTHOR}") for id_ in ("normalisable", "irreducible")),
    *(slow(path, "stationary", "rechecked") for path in CYCLES),
    slow(bound, "stationary", "rechecked"),
    *(slow(path, *row) for path in (BAOAB, REVERSED, HALF) for row in (
        ("pieces", "shares rechecked: exactly"), ("palindrome", "rechecked: exactly"),
        ("order", "its letters rechecked: exactly"), ("flow", "trusted"))),
    *(slow(path, *row) for path in (REMOVAL, ALLOCATED, TRIALS)
      for row in (("laws", "trusted"), ("stationary", "rechecked"))),  # laws are trusted, right or wrong
    *(slow(with_code, id_, rf"trusted.*granted, not declared.*{words}") for id_ in ("code", "cycle", "exact")
      for words in ("hit_and_run preserves exp", "my_moves.py:turn preserves exp")),
    ("moves", ALL, "(refresh, metropolis, draw, involution: rechecked at points drawn here)"),
    ("moves", FOLLOWED, "(refresh, steps: rechecked at points drawn here)"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "id_", "words"), SAID)
def test_what_is_said_of_a_claim(path: Path | str | Callable[[], Path], id_: str, words: str) -> None:
    if path == "moves":
        assert said(of(moves(id_)))["cycle"].endswith(words)
        return
    assert not isinstance(path, str)
    found = said(of(path() if callable(path) else path))[id_]
    assert re.search(words, found) if ".*" in words else words in found


Edit = Callable[[Json], Any]


def set_claim(id_: str, **parts: Any) -> Edit:
    return lambda whole: claim_in(whole, id_).update(parts)


REJECTED: list[Any] = [
    (with_code, lambda whole: whole["claims"].remove(claim_in(whole, "code")), "apply, but it has"),
    slow(bound, lambda whole: whole["documents"]["build"]["bind"].update(G="diag(ones + theta**2)*w"), "w has no val"),
    (BAOAB, set_claim("order", data={"order": "1"}), "its letters do not give order 1"),
    slow(BAOAB, set_claim("order", data={"order": "3"}), ""),
    slow(BAOAB, set_claim("palindrome", by="it is not: letter 1 is B/2, letter 5 is A/2"), ""),
    slow(REVERSED, set_claim("order", data={"order": "2"}), ""),
    slow(REVERSED, set_claim("palindrome", by="it is a palindrome"), ""),
    slow(HALF, set_claim("pieces", witness={"share of B in the step": "1/3"}), ""),
    slow(BAOAB, lambda whole: whole["documents"]["build"].update(scheme={"split": ["B/2", "A/2", "O", "A/2"]}),
         "add up to one step"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "edit", "match"), REJECTED)
def test_what_was_changed_is_rejected_though_sealed(path: Path | Callable[[], Path], edit: Edit, match: str) -> None:
    changed = of(path() if callable(path) else path)
    before = recheck.canonical(changed)
    edit(changed)
    assert recheck.canonical(changed) != before
    with pytest.raises((recheck.FailureError, recheck.UnreadError), match=re.escape(match) or None):
        recheck.recheck(sealed(settled(changed)))


def test_named_words_are_those_of_the_schemes() -> None:
    assert set(words.WORDS) == set(NAMED)
    for name, text in words.WORDS.items():
        own = [(x.piece, str(x.share)) for x in letters(named_scheme(name).split)]
        assert [(piece, str(share)) for piece, share in words.letters(text.split())] == own


REGRESSION = BUILDS / "gibbs_regression.yaml"


@pytest.mark.parametrize(
    ("cycle", "old", "new", "says"),
    [
        (ALL, '["B/2", "A", "B/2"]', '["B", "A"]', "is not a palindrome"),
        (ALL, '{"r": "-r"}', "{}", "the Metropolis move does not preserve exp(-H)"),
        (ALL, '{"r": "-r"}', '{"r": "-r", "theta": "-theta"}', "the Metropolis move does not preserve exp(-H)"),
        (ALL, '{"r": "-1/2"}', '{"r": "-1"}', "the refresh of r keeps the share -1"),
        (ALL, "N(-a/4, 1/2)", "N(-a/4, 1)", "b is not N(-a/4, 1) under exp(-U)"),
        (ALL, '"w": "-w"', '"w": "w"', "the map of theta, w is not an involution"),
        (ALL, '"d*w"', '"w"', "the claimed log_ratio is wrong"),
        (ALL, "r.T @ inv(M) @ r / 2", "r.T @ inv(M) @ r / 2 + sum(r**4)", "r is not normal with mean 0"),
        (FOLLOWED, '["B/2", "A/2", "O", "A/2", "B/2"]', '["B", "A", "O"]', "does not tend to exp(-H)"),
        (FOLLOWED, '["B/2", "A/2", "O", "A/2", "B/2"]', '["A", "O/2", "B", "O/2"]', "does not tend to exp(-H)"),
        # of a regression: the laws of coefficients and precision, for all data and every prior
        ("", "shape + N/2", "shape + N", " under exp(-U)"),
        ("", "inv(tau*x.T @ x + inv(S))", "inv(x.T @ x + inv(S))", " under exp(-U)"),
    ],
)  # fmt: skip
def test_moves_that_do_not_keep_the_law_are_rejected(cycle: str, old: str, new: str, says: str) -> None:
    """What a certificate states of moves is about those of its documents, which here are others."""
    whole = of(moves(cycle) if cycle else REGRESSION)
    claim, text = claim_in(whole, "cycle" if cycle else "draw"), json.dumps(whole["documents"])
    if not cycle:
        tried = recheck.of_moves(claim, recheck.Documents(whole["documents"]), whole["points"], "seed")
        assert tried.endswith("(draw: rechecked at points drawn here)")
    assert old in text
    with pytest.raises(recheck.FailureError, match=re.escape(says)):
        recheck.of_moves(claim, recheck.Documents(json.loads(text.replace(old, new))), whole["points"], "seed")


WORD, DRAWN, PART = {"metropolis": {}}, {"refresh": "r"}, {"refresh": {"r": "1/2"}}


@pytest.mark.parametrize(
    ("cycle", "left"),
    [
        ([DRAWN, WORD], {"r"}),
        ([WORD, DRAWN], {"r"}),
        ([DRAWN, WORD, WORD], set()),
        ([DRAWN, {"repeat": "2", "of": [WORD]}], set()),
        ([{**DRAWN, "every": "2"}, WORD], set()),
        ([WORD, PART, DRAWN], set()),
        ([WORD, DRAWN, PART], {"r"}),
    ],
)
def test_what_is_forgotten_after_a_refusal(cycle: list[Json], left: set[str]) -> None:
    """That of the first word: what is drawn wholly anew before the next one."""
    moves = [*moves_of.every_move(cycle)]
    assert moves_of.blocks_redrawn_later(moves, moves.index(WORD)) == left
