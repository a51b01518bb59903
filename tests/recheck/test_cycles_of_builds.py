"""Certificates of shipped cycles are rechecked; what their laws rest on is what documents state, or it is rejected."""

import json
import re
from pathlib import Path

import pytest
from certificates import ROOT, Json, claim_in, of, said, sealed, settled

from recipe_compiler import recheck
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

BUILDS = ROOT / "specs/builds"
BY_AUTHOR = "exp(-U) has a finite integral, as the document states under `assume`"
MIXTURE, FUNNEL = BUILDS / "gibbs_dp_mixture.yaml", BUILDS / "rhmc_funnel.yaml"


def is_cycle(path: Path) -> bool:
    build = load(path)
    return isinstance(build, Build) and bool(build.scheme.cycle)


TOO_LARGE = {"rhmc_logistic"}
"""Its metric is of 24 rows: it is read in two minutes, and what has too many terms is trusted."""
CYCLES = sorted(path for path in BUILDS.glob("*.yaml") if is_cycle(path) and path.stem not in TOO_LARGE)


def test_a_cycle_over_an_integral_that_its_author_gives_is_rechecked() -> None:
    says = said(of(MIXTURE))
    for id_ in ("normalisable", "irreducible"):
        assert f"granted, not declared: {BY_AUTHOR}" in says[id_]


@pytest.mark.slow
@pytest.mark.parametrize("path", CYCLES, ids=lambda path: path.stem)
def test_every_shipped_cycle_is_rechecked(path: Path) -> None:
    says = said(of(path))
    assert says["stationary"].startswith("rechecked")


BOUND = f"""
format: 1
name: bound
dynamics: {ROOT}/specs/dynamics/rhmc.yaml
target: own.yaml
bind: {{G: diag(ones + theta**2)*v}}
scheme:
  cycle:
    - refresh: r
    - metropolis: {{split: [H], pieces: {{H: {{Q: all, H: all}}}}, flows: {{H: generalised}}, flip: {{r: -r}}}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.2}}
"""
"""What is bound names a parameter of the target."""


def bound(folder: Path, kinds: str = "is: positive, ") -> Json:
    (folder / "own.yaml").write_text(
        f"format: 1\nname: own\nstate: {{theta: {{shape: d}}}}\nparameters: {{v: {{{kinds}default: 3}}}}\n"
        "potential: sum(theta**4)/v\n"
    )
    (folder / "bound.yaml").write_text(BOUND)
    return of(folder / "bound.yaml")


@pytest.mark.slow
def test_what_is_bound_may_name_a_parameter_of_the_target(tmp_path: Path) -> None:
    whole = bound(tmp_path)
    says = said(whole)
    assert says["stationary"].startswith("rechecked")
    whole["documents"]["build"]["bind"]["G"] = "diag(ones + theta**2)*w"
    with pytest.raises(recheck.UnreadError, match="w has no value"):
        recheck.recheck(sealed(settled(whole)))


@pytest.mark.slow
@pytest.mark.parametrize("id_", ["irreducible", "cycle", "stationary"])
def test_an_integral_that_no_author_gives_is_rejected(id_: str) -> None:
    """Of no document that assumes nothing, and of no claim that does not need it."""
    changed = of(MIXTURE)
    claim = claim_in(changed, id_)
    claim["given"] = sorted({*claim["given"], BY_AUTHOR})
    if id_ == "irreducible":
        del changed["documents"]["target"]["assume"]
    with pytest.raises((recheck.FailureError, recheck.UnreadError)):
        recheck.recheck(sealed(settled(changed)))


@pytest.mark.slow
def test_growth_that_stationarity_rests_on_is_of_a_function() -> None:
    changed = of(FUNNEL)
    claim = claim_in(changed, "stationary")
    claim["given"] = [fact.replace("-> oo as", "-> 0 as") for fact in claim["given"]]
    with pytest.raises((recheck.FailureError, recheck.UnreadError)):
        recheck.recheck(sealed(settled(changed)))


MOVES = """
format: 1
name: moves
dynamics: {root}/specs/dynamics/{dynamics}.yaml
target: own.yaml
parameters: {{M: {{value: [[2, 1], [1, 3]]}}{more}}}
scheme: {{cycle: [{cycle}]}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.2}}
"""
ALL = (
    "refresh: {r: -1/2}, {of: {theta: [a]}, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}, draw: b, "
    "{involution: {theta: theta*exp(w), w: -w}, draws: {w: 'N(0, 1/4)'}, log_ratio: d*w}"
)
FOLLOWED = "refresh: r, split: [B/2, A/2, O, A/2, B/2]"


def of_moves(folder: Path, cycle: str) -> Json:
    (folder / "own.yaml").write_text(
        "format: 1\nname: own\nstate: {a: {}, b: {}}\npotential: a**4 + a*b/2 + b**2\nlaws: {b: 'N(-a/4, 1/2)'}\n"
    )
    noisy = {"dynamics": "sghmc", "more": ", C: {value: [[1, 1/2], [1/2, 2]]}"}
    (folder / "moves.yaml").write_text(
        MOVES.format(root=ROOT, cycle=cycle, **(noisy if "O" in cycle else {"dynamics": "hmc", "more": ""}))
    )
    return of(folder / "moves.yaml")


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {cycle: json.dumps(of_moves(tmp_path_factory.mktemp("moves"), cycle)) for cycle in (ALL, FOLLOWED)}


@pytest.mark.parametrize("cycle", [ALL, FOLLOWED])
def test_moves_are_tried_at_points(texts: dict[str, str], cycle: str) -> None:
    tried = "refresh, metropolis, draw, involution" if cycle == ALL else "refresh, steps"
    assert said(json.loads(texts[cycle]))["cycle"].endswith(f"({tried}: rechecked at points drawn here)")


@pytest.mark.parametrize(
    ("cycle", "old", "new", "says"),
    [
        (ALL, '["B/2", "A", "B/2"]', '["B", "A"]', "not its own reverse"),
        (ALL, '{"r": "-r"}', "{}", "exp(-H) changes under what is accepted"),
        (ALL, '{"r": "-r"}', '{"r": "-r", "theta": "-theta"}', "exp(-H) changes under what is accepted"),
        (ALL, '{"r": "-1/2"}', '{"r": "-1"}', "the share -1 is kept"),
        (ALL, "N(-a/4, 1/2)", "N(-a/4, 1)", "b is not N(-a/4, 1) under exp(-U)"),
        (ALL, '"w": "-w"', '"w": "w"', "the involution of theta, w is none"),
        (ALL, '"d*w"', '"w"', "the claimed log_ratio is another one"),
        (ALL, "r.T @ inv(M) @ r / 2", "r.T @ inv(M) @ r / 2 + sum(r**4)", "r is not normal of mean 0"),
        (FOLLOWED, '["B/2", "A/2", "O", "A/2", "B/2"]', '["B", "A", "O"]', "does not tend to exp(-H)"),
        (FOLLOWED, '["B/2", "A/2", "O", "A/2", "B/2"]', '["A", "O/2", "B", "O/2"]', "does not tend to exp(-H)"),
    ],
)  # fmt: skip
def test_moves_that_do_not_keep_the_law_are_rejected(
    texts: dict[str, str], cycle: str, old: str, new: str, says: str
) -> None:
    """What a certificate states of moves is about those of its documents, which here are others."""
    whole = json.loads(texts[cycle])
    text = json.dumps(whole["documents"])
    assert old in text
    whole["documents"] = json.loads(text.replace(old, new))
    d = recheck.Documents(whole["documents"])
    for claim in (one for one in whole["claims"] if one["id"] == "cycle"):
        with pytest.raises(recheck.FailureError, match=re.escape(says)):
            recheck.of_moves(claim, d, whole["points"], "seed")


@pytest.mark.parametrize(
    ("old", "new"), [("shape + N/2", "shape + N"), ("inv(tau*x.T @ x + inv(S))", "inv(x.T @ x + inv(S))")]
)
def test_laws_given_data_are_tried_at_numbers(old: str, new: str) -> None:
    """Of a regression: the laws of coefficients and precision, for all data and every prior."""
    whole = of(BUILDS / "gibbs_regression.yaml")
    claim = claim_in(whole, "draw")
    tried = recheck.of_moves(claim, recheck.Documents(whole["documents"]), whole["points"], "seed")
    assert tried.endswith("(draw: rechecked at points drawn here)")
    changed = json.loads(json.dumps(whole["documents"]).replace(old, new))
    with pytest.raises(recheck.FailureError, match=r"is not .* under exp\(-U\)"):
        recheck.of_moves(claim, recheck.Documents(changed), whole["points"], "seed")


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
    moves = [*recheck.every_move(cycle)]
    assert recheck.forgotten(moves, moves.index(WORD)) == left
