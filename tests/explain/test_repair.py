"""Repairs: the right one is found, each one shown holds in the document it is put into, a right document gets none."""

import re
from functools import cache

import pytest
from answers import document as written
from processor_time import ends
from repair_specs import amended, changed, document, loaded, renamed, renamed_entry, same_formulas
from some import some

from recipe_compiler.ansatz.simplify import read
from recipe_compiler.ansatz.unknowns import entries
from recipe_compiler.explain.changes import DRIFT, ENERGY, Change, prove_change, unchanged
from recipe_compiler.explain.repairs import repairs
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Explanation, Proved, Topic, Verdict
from recipe_compiler.verify.core.subject import prepare_subject
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew
from recipe_compiler.verify.stationarity.stationary import claimed_stationary

FIRST = {
    "sghmc_naive": {"claims.drift.r": "-grad(U, theta) - V @ inv(M) @ r / 2"},
    "sgrhmc_naive": {"claims.drift.r": "-K @ grad(U, theta) + div(K, theta) - K @ K @ r"},
    "sgrhmc_naive_without_q": {"claims.drift.r": "-K @ grad(U, theta) + div(K, theta) - K @ K @ r"},
    "sgrhmc_naive_line": {"claims.drift.r": "-g*grad(U, theta) - g**2*r + grad(g, theta)"},
    "sgrld_gamma_dropped": {"claims.drift.theta": "-G_inverse @ grad(U, theta) + div(G_inverse, theta)"},
    "sgrld_gamma_wrong_sign": {"claims.drift.theta": "-G_inverse @ grad(U, theta) + div(G_inverse, theta)"},
    "sgrld_dropped_line": {"claims.drift.theta": "-g*grad(U, theta) + grad(g, theta)"},
    "sgrld_wrong_sign_line": {"claims.drift.theta": "-g*grad(U, theta) + grad(g, theta)"},
    "inverse_metric": {"claims.drift.x": "-inv(I + outer(x, x)) @ grad(U, x) + div(inv(I + outer(x, x)), x)"},
    "historic_factor_two": {"claims.drift.theta": "-W @ grad(U, theta) + div(W, theta)"},
    "sgrhmc_eq17": {"claims.drift.r": "-K @ grad(U, theta) + div(K, theta) - K @ K @ r"},
    "gradient_sign": {"claims.drift.r": "-grad(U, theta) - C @ inv(M) @ r"},
    "force_sign": {"claims.drift.p": "grad(L, theta) - C @ inv(M) @ p"},
    "memory_sign": {"claims.drift.r": "-grad(U, theta) + Lambda @ w"},
    "c_transposed": {"claims.drift.r": "-grad(U, theta) - B @ B.T @ r"},
    "friction_without_mass": {"claims.drift.r": "-grad(U, theta) - C @ inv(M) @ r"},
    "friction_scale": {"claims.diffusion[r,r]": "V"},
    "nose_poincare_friction": {"D[q,q]": "2*A"},
    "sgnht_energy": {"H": "U + r.T @ r / 2 + d*(xi - A)**2/2"},
    "sgnht_norm": {"claims.drift.xi": "r.T @ r / d - 1"},
    "cir_minus_two": {"claims.drift.theta": "a*ones - theta"},
    "geometric_brownian": {"claims.drift.x": "sigma**2*x/2 - sigma**2*x*log(x)/(2*v)"},
    "stratonovich": {"H": "x - (a - 1/2)*log(x)"},
    "rational_metric": {"claims.drift.x": "-(x + y/3)/(1 + x**2 + y**2) - 2*x/(1 + x**2 + y**2)**2"},
    "dense_metric": {
        "claims.drift.x": "-(2 + x**2)*grad(U, x) - x*y*grad(U, y) + 3*x",
        "claims.drift.y": "-x*y*grad(U, x) - (2 + y**2)*grad(U, y) + 3*y",
    },
    "thermostat_slides_q": {"Q[theta,r]": "-I", "Q[xi,r]": "-r.T/d"},
}
"""The repair shown first."""

AMONG = {
    "friction_scale": [{"claims.drift.r": "-grad(U, theta) - V @ inv(M) @ r / 2"}],
    "stratonovich": [{"claims.drift.x": "a - x - 1/2"}],
    "thermostat_mass": [
        {"claims.drift.p": "-grad(U, theta) - xi*p", "D[p,p]": "A*M"},
        {"claims.drift.xi": "(p.T @ inv(M) @ inv(M) @ p - trace(inv(M)))/d"},
    ],
    "thermostat_mass_with_q": [
        {"claims.drift.p": "-grad(U, theta) - xi*p", "D[p,p]": "A*M"},
        {
            "claims.drift.xi": "(p.T @ inv(M) @ inv(M) @ p - trace(inv(M)))/d",
            "Q[p,xi]": "inv(M) @ p / d",
            "Q[xi,p]": "-p.T @ inv(M) / d",
        },
    ],
    "q_entry": [{"Q[r,xi]": "r/d", "Q[xi,r]": "-r.T/d"}],
    "q_unclaimed": [{"Q[x,y]": "0", "Q[y,x]": "0"}],
    "q_symmetric": [{"Q[theta,r]": "-I"}, {"Q[r,theta]": "-I"}],
    "d_not_symmetric": [{"D[theta,r]": "0"}, {"D[r,theta]": "I"}],
}
"""Repairs that are shown somewhere."""

RIGHT = ["sgrhmc", "sgrld", "low_rank", "sghmc", "sgnht", "sgnht_mass"]

RENAMED = [
    "sghmc_naive", "sgrhmc_naive", "sgrld_gamma_wrong_sign", "sgrhmc_eq17", "memory_sign", "sgnht_energy", "sgnht_norm",
    "friction_scale", "geometric_brownian", "rational_metric", "historic_factor_two",
]  # fmt: skip


def shown(dynamics: Dynamics) -> tuple[Explanation, ...]:
    with ends():
        found = repairs(prepare_subject(dynamics))
    assert len(found) <= 5
    assert all(explanation.topic is Topic.REPAIR and explanation.says and explanation.by for explanation in found)
    return found


@cache
def shown_of(name: str) -> tuple[Explanation, ...]:
    """Return what is shown beside a document as it stands."""
    return shown(loaded(document(name)))


def holds(dynamics: Dynamics) -> bool:
    """Whether the claims of a document are proved."""
    subject = prepare_subject(dynamics)
    claims = [d_symmetric]
    if dynamics.claims.drift is not None:
        claims.append(claimed_stationary)
    if dynamics.Q is not None:
        claims.append(q_skew)
        claims += [claimed_drift] if dynamics.D is not None and dynamics.claims.drift is not None else []
    return all(isinstance(claim(subject).decision, Proved) for claim in claims)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FIRST.keys() | AMONG.keys()))
def test_the_repair_is_found_and_every_one_shown_holds(name: str) -> None:
    dynamics = loaded(document(name))
    assert not holds(dynamics)
    found = shown_of(name)
    if name in FIRST:
        assert same_formulas(dynamics, found[0].formulas, FIRST[name])
    for expected in AMONG.get(name, []):
        assert any(same_formulas(dynamics, explanation.formulas, expected) for explanation in found)
    for explanation in found:
        assert holds(loaded(amended(document(name), explanation.formulas)))


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_document_needs_no_repair(name: str) -> None:
    assert shown(loaded(document(name))) == ()


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", some(RENAMED, 2))
def test_names_and_order_of_the_state_do_not_matter(name: str, seed: int) -> None:
    found, names = changed(name, seed)
    dynamics = loaded(found)
    expected = {renamed_entry(entry, names): renamed(formula, names) for entry, formula in FIRST[name].items()}
    first = shown(dynamics)[0]
    assert same_formulas(dynamics, first.formulas, expected)
    assert holds(loaded(amended(found, first.formulas)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", ["thermostat_mass", "thermostat_mass_with_q"])
def test_both_repairs_of_the_thermostat_are_found_under_any_names(name: str, seed: int) -> None:
    found, names = changed(name, seed + 7)
    dynamics = loaded(found)
    explanations = shown(dynamics)
    for repair in AMONG[name]:
        expected = {renamed_entry(entry, names): renamed(formula, names) for entry, formula in repair.items()}
        assert any(same_formulas(dynamics, explanation.formulas, expected) for explanation in explanations)


FRICTION = "-grad(U, theta) - {} @ inv(M) @ r"
SOLVED = [
    *(
        ("sghmc_naive", "D[r,r]", noise, {"claims.drift.r": FRICTION.format(noise)})
        for noise in ("V/2", "3*V/7", "5*V")
    ),
    *(
        ("sgnht_energy", "H", f"U(theta) + r.T @ r / 2 + {scale}*(xi - A)**2", FIRST["sgnht_energy"])
        for scale in ("1/(2*d)", "d**2", "7/3", "A/d")
    ),
    *(
        ("sgrhmc_naive", "claims.drift.r", f"-K @ grad(U, theta) - K @ K @ r + ({factor})*div(K, theta)",
         FIRST["sgrhmc_naive"])
        for factor in ("-1", "2/3", "-5", "d")
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "entry", "wrong", "repair"), SOLVED)
def test_any_friction_scale_and_factor_is_solved_for(name: str, entry: str, wrong: str, repair: dict[str, str]) -> None:
    dynamics = loaded(amended(document(name), [(entry, wrong)]))
    assert same_formulas(dynamics, shown(dynamics)[0].formulas, repair)


@pytest.mark.parametrize(
    ("entry", "formula"),
    [
        ("claims.drift.r", "-grad(U, theta) - V @ inv(M) @ r"),
        ("claims.drift.r", "-grad(U, theta) - inv(M) @ V @ r / 2"),
        ("claims.drift.r", "-grad(U, theta) + V @ inv(M) @ r / 2"),
        ("H", "U(theta) + r.T @ inv(M) @ r"),
    ],
)
def test_a_wrong_proposal_is_not_shown(entry: str, formula: str) -> None:
    dynamics = loaded(document("sghmc_naive"))
    shape = next(block.shape for block in dynamics.declarations.blocks if block.name == "r")
    typed = dynamics.H if entry == "H" else read(formula, dynamics.declarations, shape)
    change = Change(ENERGY if entry == "H" else DRIFT, 1, "a guess", ((entry, typed),))
    assert prove_change(dynamics, change, Topic.REPAIR, derived=False) is None
    assert prove_change(dynamics, change, Topic.REPAIR, derived=True) is None


def test_a_negative_energy_may_change_its_sign_but_no_potential() -> None:
    found = {
        "H": "U(theta) + r.T @ r / 2 - d*(xi - A)**2/2",
        "claims.drift.xi": "r.T @ r / d - 1",
    }
    dynamics = loaded(amended(document("sgnht_energy"), list(found.items())))
    assert shown(dynamics)[0].formulas == (("H", "U(theta) + r.T @ r / 2 + d*(xi - A)**2/2"),)
    force = loaded(document("force_sign"))
    assert not any(entry == "H" for explanation in shown(force) for entry, _ in explanation.formulas)


def test_a_skew_q_is_proposed_with_what_the_claim_needs_then() -> None:
    wrong = amended(document("thermostat_slides_q"), [("claims.drift.xi", "r.T @ r / d - 2")])
    (first, *_) = shown(loaded(wrong))
    assert dict(first.formulas) == {"Q[theta,r]": "-I", "Q[xi,r]": "-r.T/d", "claims.drift.xi": "r.T @ r / d - 1"}
    subject = prepare_subject(loaded(amended(wrong, first.formulas)))
    assert all(isinstance(claim(subject).decision, Proved) for claim in (q_skew, claimed_drift, claimed_stationary))


@pytest.mark.parametrize(
    ("above", "below"), [("{}", "{}"), ("-{}", "-{}"), ("-{}.T", "-{}.T"), ("{}", "-(-{}).T")], ids=str
)
def test_a_sign_of_q_and_its_divergence_are_one_repair_simplified(above: str, below: str) -> None:
    K = "diag(sqrt(ones + theta**2))"
    own = written(
        "state: {theta: {shape: d}, p: {shape: d}}\nparameters: {c: {is: positive}}\n"
        "functions: {U: {of: theta, role: potential}}\nH: U(theta) + norm2(p)/2\nD: [[0, 0], [0, c*I]]\n"
        f"Q: [[0, '{above.format(K)}'], ['{below.format(K)}', 0]]\n"
        f"claims: {{drift: {{theta: '{K} @ p', p: '-{K} @ grad(U, theta) - c*p'}}}}\n"
    )
    (first, *_) = shown(own)
    entry = "Q[p,theta]" if above.startswith("-") else "Q[theta,p]"
    new = K if above.startswith("-") else f"-{K}"
    drift = f"-{K} @ grad(U, theta) - c*p + div({K}, theta)"
    assert dict(first.formulas) == {entry: new, "claims.drift.p": drift}


def test_a_skew_q_is_proposed_even_where_the_claim_needs_more() -> None:
    other = "cos(xi) + sin(xi) + exp(xi) + xi**3 + xi**5"
    wrong = amended(document("thermostat_slides_q"), [("claims.drift.xi", other)])
    dynamics = loaded(wrong)
    found = shown(dynamics)
    assert found
    for explanation in found:
        assert explanation.says.endswith("the claimed drift then still differs")
        subject = prepare_subject(loaded(amended(wrong, explanation.formulas)))
        assert isinstance(q_skew(subject).decision, Proved)


@pytest.mark.slow
def test_a_repair_that_refutes_another_claim_is_not_shown() -> None:
    """With H = theta - (a - 3) log(theta) the claim holds, and exp(-H) has no integral for a < 2."""
    for name in ("cir_minus_two", "stratonovich"):
        dynamics = loaded(document(name))
        for explanation in shown(dynamics):
            amended_ = loaded(amended(document(name), explanation.formulas))
            refuted = [f.id for f in check(amended_).findings if f.required and f.verdict is Verdict.REFUTED]
            assert refuted == []
    given = amended(document("cir_minus_two"), [])
    given["parameters"]["a"] = {"is": "positive"}
    given["assume"] = ["a > 3"]
    assert any(entry == "H" for e in shown(loaded(given)) for entry, _ in e.formulas)


@pytest.mark.slow
def test_noise_that_is_not_known_to_be_a_covariance_is_no_repair() -> None:
    """Noise of V repairs where V is positive semidefinite, half the drift wherever V is symmetric."""
    given = amended(document("friction_scale"), [])
    given["parameters"]["V"] = {"shape": ["d", "d"], "is": "symmetric"}
    changed_entries = [[entry for entry, _ in e.formulas] for e in shown(loaded(given))]
    assert changed_entries == [["claims.drift.r"]]
    right = shown(loaded(document("friction_scale")))
    assert [[entry for entry, _ in e.formulas] for e in right] == [["claims.diffusion[r,r]"], ["claims.drift.r"]]
    assert not any("undecided" in explanation.says for explanation in right)


@pytest.mark.parametrize("name", some(sorted(FIRST.keys() | AMONG.keys()), 2))
def test_every_entry_of_a_repair_changes_something(name: str) -> None:
    dynamics = loaded(document(name))
    for explanation in shown_of(name):
        for entry, formula in explanation.formulas:
            new = read(formula, dynamics.declarations, entries(dynamics)[entry].shape)
            assert not unchanged(dynamics, entry, new)
        assert not re.search(r"take (.+) for \1( |,|$)", explanation.says)


@pytest.mark.parametrize(
    ("name", "says", "H"),
    [
        ("sghmc_naive", "add -V @ inv(M) @ r / 2 to the drift of r", ""),
        ("gradient_sign", "flip the sign of grad(U, theta) in the drift of r", ""),
        ("sgnht_energy", "multiply (xi - A)**2/(2*d) in H by d**2", "U(theta) + r.T @ r / 2 + d*(xi - A)**2/2"),
    ],
)
def test_words_say_what_changes(name: str, says: str, H: str) -> None:
    first = shown_of(name)[0]
    assert first.says == says
    assert not H or first.formulas == (("H", H),)


TWO_MATRICES = """\
name: spec
state: {theta: {shape: d}, r: {shape: d}}
parameters: {B: {shape: [d, d], is: positive semidefinite}, C: {shape: [d, d], is: positive semidefinite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r / 2
D: [[0, 0], [0, C]]
Q: [[0, -I], [I, 0]]
claims: {drift: {theta: "DRIFT", r: -C @ r - grad(U, theta)}}
"""


def explained(text: str) -> dict[Topic, Explanation]:
    return {explanation.topic: explanation for explanation in check(written(text)).explanations}


def test_that_no_repair_is_looked_for_is_said() -> None:
    text = TWO_MATRICES.replace('claims: {drift: {theta: "DRIFT", r: -C @ r - grad(U, theta)}}\n', "")
    found = explained(text.replace("[0, C]", "[0, -C]"))
    assert found[Topic.NO_REPAIR].says == "repairs are not searched for: D is positive semidefinite"


def test_a_claimed_drift_that_holds_is_not_shown_twice() -> None:
    assert Topic.DERIVED not in explained(TWO_MATRICES.replace("DRIFT", "r"))
