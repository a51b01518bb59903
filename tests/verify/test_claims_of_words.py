"""What a scheme claims where its flows are numerical, or its letters are not what they are called."""

import json
from pathlib import Path

import pytest

from recipe_compiler import recheck
from recipe_compiler.report.as_json import certificate
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Decision, Proved, Refuted, Undecided

SPECS = Path(__file__).parents[2] / "specs"
RUTH = "[7*A/24, 2*B/3, 3*A/4, -2*B/3, -A/24, B]"
BUILD = f"""
format: 1
name: own
dynamics: DYNAMICS
target: {SPECS}/targets/TARGET.yaml
PARAMETERS
scheme: {{use: scheme.yaml}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.1}}
"""
GAUSSIAN = "parameters: {mu: {value: [1, -2]}, Sigma: {value: [[2, 1/2], [1/2, 1]]}OTHERS}"
TWO_MOMENTA = """
format: 1
name: two_momenta
state:
  theta: {shape: d}
  r: {shape: d}
  p: {shape: d}
functions:
  U: {of: theta, role: potential}
H: U(theta) + r.T @ r/2 + p.T @ p/2
D: [[0, 0, 0], [0, I, 0], [0, 0, I]]
Q: [[0, -I, -I], [I, 0, 0], [I, 0, 0]]
"""


def decided(folder: Path, scheme: str, build: str = "") -> dict[str, Decision]:
    """Return what is decided of a scheme, by itself or in a build that uses it, and check it again."""
    (folder / "scheme.yaml").write_text(f"format: 1\nname: own\n{scheme}\n")
    (folder / "build.yaml").write_text(build)
    document = load(folder / ("build.yaml" if build else "scheme.yaml"))
    report = check(document)
    found = {f.id: f.decision for f in report.findings}
    assert recheck.recheck(json.loads(json.dumps(certificate(document, report))))
    return found


@pytest.mark.parametrize(
    ("split", "order", "kind"),
    [
        (RUTH, 3, Undecided),
        ("[A]", 4, Undecided),
        ("[A/2, B, A/2]", 3, Undecided),  # what is off in the word and in the flow may cancel
        ("[A/2, B, A/2]", 2, Proved),
        ("[A, B]", 2, Refuted),
        ("[A, B]", 3, Refuted),
        (RUTH, 2, Proved),
    ],
)
def test_a_word_of_numerical_flows_has_no_more_than_their_order(
    tmp_path: Path, split: str, order: int, kind: type[Decision]
) -> None:
    claim = f"claims: {{order: {order}}}"
    found = decided(tmp_path, f"split: {split}\nflows: {{A: midpoint}}\n{claim}")["claimed_order"]
    assert isinstance(found, kind)
    if isinstance(found, Proved):
        assert any("or by numerical ones of order 2" in fact for fact in found.given)


def test_the_checker_refuses_an_order_beyond_that_of_numerical_flows(tmp_path: Path) -> None:
    (tmp_path / "scheme.yaml").write_text(f"format: 1\nname: own\nsplit: {RUTH}\nclaims: {{order: 3}}\n")
    document = load(tmp_path / "scheme.yaml")
    whole = json.loads(json.dumps(certificate(document, check(document))))
    assert dict(recheck.recheck(whole))["claimed_order"].startswith("rechecked: exactly")
    claim = next(one for one in whole["claims"] if one["id"] == "claimed_order")
    stated = {"split": RUTH[1:-1].split(", "), "claims": {"order": 3}, "flows": {"A": "midpoint"}}
    documents = recheck.Documents({"scheme": stated})
    with pytest.raises(recheck.FailureError, match="order 2"):
        recheck.of_word(claim, documents, None, "")


@pytest.mark.parametrize(
    ("scheme", "why"),
    [
        ("split: [A]\npieces: {A: {Q: all, H: all}}\nflows: {A: generalised}", "A takes the gradient and moves"),
        (
            "split: [B/2, A, B/2]\npieces: {A: {Q: all, H: r}, B: {Q: all, H: U}}\nflows: {B: generalised}",
            "within the flow",
        ),
        ("split: [S/2, F/2, A, F/2, S/2]", "no piece of the word is called B"),
    ],
)
@pytest.mark.parametrize("count", [0, 1])
def test_gradients_are_not_counted_where_a_flow_or_another_letter_may_take_them(
    tmp_path: Path, scheme: str, why: str, count: int
) -> None:
    found = decided(tmp_path, f"{scheme}\nclaims: {{gradients: {count}}}")["claimed_gradients"]
    assert isinstance(found, Undecided)
    assert why in found.tried[0]


@pytest.mark.slow
@pytest.mark.parametrize(("count", "kind"), [(1, Refuted), (2, Proved)])
def test_in_a_build_every_piece_that_moves_theta_counts(tmp_path: Path, count: int, kind: type[Decision]) -> None:
    (tmp_path / "dynamics.yaml").write_text(TWO_MOMENTA)
    pieces = """
pieces:
  A: {Q: [[theta, r]], H: r}
  C: {Q: [[theta, p]], H: p}
  B: {Q: all, H: U}
  O: {D: all}
"""
    scheme = f"split: [B/2, C/2, B/2, A, O, C/2]{pieces}claims: {{gradients: {count}}}"
    build = BUILD.replace("DYNAMICS", "dynamics.yaml").replace("TARGET", "gaussian")
    found = decided(tmp_path, scheme, build.replace("PARAMETERS", GAUSSIAN.replace("OTHERS", "")))
    assert isinstance(found["pieces"], Proved)
    assert isinstance(found["claimed_gradients"], kind)


def test_exactness_is_claimed_of_the_draws_that_are_kept(tmp_path: Path) -> None:
    """Var theta of `baoab` is 1 - eps**2 omega**2/4 after its first A, which its end does not tell."""
    assert isinstance(decided(tmp_path, EXACT)["claimed_configurational"], Proved)
    found = decided(tmp_path, f"{EXACT}\nkeep: 2")["claimed_configurational"]
    assert isinstance(found, Refuted)
    assert dict(found.witness)["omega^2 Var theta"] == "3/4"


def test_no_order_is_given_to_a_word_in_which_noise_goes_back(tmp_path: Path) -> None:
    word = "split: [O, B/2, A, B/2, -O, O]\nclaims: {order: 1}"
    assert isinstance(decided(tmp_path, word)["claimed_order"], Undecided)
    assert isinstance(decided(tmp_path, word.replace("O", "C"))["claimed_order"], Proved)


EXACT = "split: [B/2, A/2, O, A/2, B/2]\nclaims: {configurational: exact}"
MASS = ", M: {value: [[2, 1/2], [1/2, 1]]}, C: {value: [[1, 0], [0, 2]]}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "dynamics", "target", "parameters", "kind"),
    [
        (EXACT, "sghmc", "gaussian", GAUSSIAN.replace("OTHERS", MASS), Proved),
        (f"{EXACT}\nkeep: 2", "sghmc", "gaussian", GAUSSIAN.replace("OTHERS", MASS), Refuted),
        (EXACT.replace("B/2, A/2, O, A/2, B/2", "A/2, B/2, B/2, A/2, O") + "\nkeep: 2", "sghmc", "gaussian",
         GAUSSIAN.replace("OTHERS", MASS), Proved),
        (EXACT.replace("B", "X").replace("O", "B").replace("X", "O"), "sghmc", "gaussian",
         GAUSSIAN.replace("OTHERS", MASS), Refuted),
        (f"{EXACT}\nflows: {{O: midpoint}}", "sghmc", "gaussian", GAUSSIAN.replace("OTHERS", MASS), Undecided),
        (EXACT, "sgrhmc_positive", "inverse_gaussian",
         "parameters: {b: {value: [6, 2]}, c: {value: [1/2, 1/3]}, k: {value: 1/4}}", Undecided),
    ],
)  # fmt: skip
def test_in_a_build_the_pieces_have_to_be_those_of_langevin_dynamics(
    tmp_path: Path, scheme: str, dynamics: str, target: str, parameters: str, kind: type[Decision]
) -> None:
    build = BUILD.replace("DYNAMICS", f"{SPECS}/dynamics/{dynamics}.yaml").replace("TARGET", target)
    found = decided(tmp_path, scheme, build.replace("PARAMETERS", parameters))
    assert isinstance(found["claimed_configurational"], kind)


def test_in_a_build_letters_may_have_any_names(tmp_path: Path) -> None:
    pieces = "pieces: {K: {Q: [[theta, r]], H: U}, X: {Q: [[theta, r]], H: r}, F: {D: all}}"
    scheme = f"split: [K/2, X/2, F, X/2, K/2]\n{pieces}\nclaims: {{configurational: exact, gradients: 1}}"
    build = BUILD.replace("DYNAMICS", f"{SPECS}/dynamics/sghmc.yaml").replace("TARGET", "gaussian")
    found = decided(tmp_path, scheme, build.replace("PARAMETERS", GAUSSIAN.replace("OTHERS", MASS)))
    assert isinstance(found["claimed_configurational"], Proved)
    assert isinstance(found["claimed_gradients"], Proved)
