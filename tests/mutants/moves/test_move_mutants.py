"""Wrong cycles of moves: each fails the claim that is about it, by name, or leaves it open with the reason."""

from pathlib import Path

import pytest
from loaders import load_build
from reports import report
from some import some

from recipe_compiler.errors import VerificationError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Finding, Refuted, Report, Undecided, Verdict

HERE = Path(__file__).parent
OFF = "(pi K - pi)/pi, pi = exp(-H) = "
TURNED = "a refused move has to be turned, r -> -r"

RATIO = "log_ratio as claimed less log q(w'|z')/q(w|z) + log |det DS|"

REFUTED = {
    "ghmc_without_flip": ("metropolis", f"{OFF}(-1) exp(-1) + (1) exp(-15)", TURNED),
    "ghmc_every_third_without_flip": ("metropolis", "theta = ", "r is not drawn wholly anew before `"),
    "ghmc_of_some_steps_without_flip": ("metropolis", "steps = uniform(1, 3)", "the refresh of r keeps 9/10 of it"),
    "ghmc_of_ten_steps_without_flip": ("metropolis", "U(theta) = theta[0]**2/2", "state `flip: {r: -r}`"),
    "second_word_without_flip": ("metropolis", "1/4*eps = 1/8, steps = 1, ", "move 4: exact witness"),
    "words_that_hold_one_part": ("cycle", "moved = beta, r", "no move moves tau"),
    "flip_of_the_position": ("metropolis", OFF, "this one turns theta -> -theta"),
    "halves_of_other_lengths": ("metropolis", "-4/3 eps**2", "letter 1 = B/3, letter 3 = 2*B/3"),
    "words_in_turn_that_are_no_palindrome": ("metropolis", "-1/200 eps**2", "move 2: exact witness"),
    "no_palindrome": ("metropolis", OFF, "letter 1 = B, letter 2 = A"),
    "momentum_of_another_mean": ("refresh", "dH/dr - P r = ", ""),
    "momentum_around_the_position": ("refresh", "dH/dr - P r = ", ""),
    "momentum_of_a_quartic": ("refresh", "dH/dr - P r = ", ""),
    "momentum_without_a_law": ("refresh", "d^2H/dr^2 = [[1, 1], [1, 1]]", "not positive definite"),
    "half_a_kick": ("pieces", "share of B in the step = 1/2", ""),
    "walk_that_goes_nowhere": ("cycle", "moved = nothing", "no move moves theta"),
    "nothing_moves_the_position": ("cycle", "moved = r", "no move moves theta"),
    "shape_of_all_data": ("draw", "N = 1, y = [0], mu = -1, tau = 1, d(U - E)/dtau", ""),
    "cir_of_all_data": ("cir", "N = 1, y = [0], mu = -1, tau = 1, d(U - E)/dtau", ""),
    "cir_without_a_rest": ("cycle", "moved = tau", "no move moves mu"),
    "rate_of_whole_squares": ("draw", "d(U - E)/dtau", ""),
    "law_of_the_unbounded_variable": ("draw", "d(U - E)/dtau", ""),
    "law_of_another_block": ("draw", "d(U - E)/da for N(b/3, 1/2) = 1/3", ""),
    "slice_of_a_law_without_its_weights": ("draw", "U - E with a row of z at one place less that at another", ""),
    "weights_by_levels_that_are_gone": ("draw", "d(U - E)/dtheta for Gamma(2*ones, 1*ones) = -1", ""),
    "counts_at_the_rate_of_those_seen": ("draw", "left = [0], U - E with a count of left one larger less U - E", ""),
    "counts_from_one_on": ("draw", "left = [0], U - E with a count of left one larger less U - E", ""),
    "counts_with_terms_elsewhere": ("draw", "left = [0], U - E with a count of left one larger less U - E", ""),
    "rate_without_what_is_left": ("draw", "d(U - E)/dmu for Gamma(2 + sum(y + left), 1 + p*sum(area)) = 3/4", ""),
    "trials_of_another_field": ("draw", "k = [0], U - E with a count of k one larger less U - E", ""),
    "counts_of_an_improper_joint": ("normalisable", "what must be positive for lam -> oo = 0", ""),
    "draw_under_a_metric": ("draw", "d(H - U(theta))/da = ", "H - U(theta) depends on a, whose law is another one"),
    "scale_without_its_jacobian": ("involution", f"theta = [2, 1, 1], w = 1, {RATIO} = -3", ""),
    "scale_by_the_wrong_power": ("involution", f"{RATIO} = -1", ""),
    "scale_with_the_sign_of_the_way_back": ("involution", f"{RATIO} = -6", ""),
    "scale_by_a_law_that_is_forgotten": ("involution", f"{RATIO} = ", ""),
    "scale_of_each_as_of_one": ("involution", f"{RATIO} = ", ""),
    "walk_that_drifts": ("involution", f"{RATIO} = ", ""),
    "scale_that_does_not_come_back": ("involution", "S(S(theta)) - theta = ", ""),
    "shift_that_does_not_come_back": ("involution", "S(S(theta)) - theta = 2", ""),
    "walk_out_of_the_domain": ("involution", "theta + w - 0 = ", "maps theta out of its domain"),
    "other_mass": ("use", "the drift of theta by the H here less that by the H used = ", ""),
    "energy_of_another": ("use", "the drift of theta by the H here less that by the H used = ", ""),
    "position_that_code_reads_alone": ("cycle", "moved = r", "no move moves theta"),
    "scale_that_is_held": ("cycle", "moved = beta, r", "no move moves tau"),
    "coefficients_that_are_held": ("cycle", "moved = r, tau", "no move moves beta"),
    "block_that_is_never_drawn": ("cycle", "moved = mu", "no move moves tau"),
    "precision_of_the_name_of_a_momentum": ("cycle", "moved = beta, r", "no move moves r"),
}
"""Mutant to the claim that it fails, what its witness says, and by what it was decided."""

OPEN = {
    "reflection_with_masses_that_are_correlated": (
        "metropolis",
        "does not hold: A is reflected with the momentum of its entry alone",
        "M = [[6, -1], [-1, 3]]",
        "the velocity of an entry of theta by the r of another = 1/17",
    ),
    "position_that_is_not_reflected": ("metropolis", "not shown that a move over it is refused"),
    "first_word_without_flip": ("metropolis", "move 2: ", TURNED, "r is not drawn wholly anew before `"),
    "every_other_word_without_flip": ("metropolis", "move 1: ", TURNED, "r is not drawn wholly anew before `"),
    "hmc_every_other_without_flip": (
        "metropolis",
        TURNED,
        "r is not drawn wholly anew before `",
        "open whether r, drawn wholly anew",
    ),
    "hmc_every_third_refresh_without_flip": (
        "metropolis",
        TURNED,
        "r is not drawn wholly anew before `",
        "open whether r, drawn wholly anew",
    ),
    "code_that_reads_an_unturned_momentum": ("metropolis", TURNED, "r is not drawn wholly anew before `"),
    "use_without_flip": ("metropolis", TURNED, "the refresh of r keeps 9/10 of it"),
    "path_without_flip": ("metropolis", TURNED, "r is not drawn wholly anew before `"),
    "path_that_is_no_palindrome": (
        "metropolis",
        "wrong for some U, not shown for this one: m = 1, c = 1",
    ),
    "metric_that_is_not_kept": ("metropolis", "A keeps volume", "midpoint is known to keep volume where a constant"),
    "one_part_under_a_metric": ("draw", "H - U(theta) is free of theta"),
    "counts_without_a_value_at_none": ("draw", "not shown: left > 0"),
    "slice_by_weights_without_a_value": ("draw", "theta - ones > 0, in what z is sliced by"),
    "reflection_in_a_vector": ("involution", "the Jacobian of the involution: dtheta'/dtheta is a sum"),
    "inverse_over_the_line": ("involution", "theta is not zero", "is not known to be positive"),
    "walk_of_a_flat_law": ("involution", "v @ v.T is positive definite"),
    "walk_of_two_of_three": ("cycle", "an involution moves theta, or a part that it leaves as it is, is not shown"),
    "heat_that_is_turned": ("metropolis", "O is in detailed balance up to r -> -r", "its current runs backwards"),
}
"""Mutant to its open claim and what that names."""


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def test_every_mutant_is_looked_at() -> None:
    builds = {path.stem for path in HERE.glob("*.yaml") if isinstance(load(path), Build)}
    assert {*REFUTED, *OPEN} == builds


@pytest.mark.parametrize("name", some(REFUTED, 2))
def test_a_mutant_fails_the_right_claim(name: str) -> None:
    claim, at, by = REFUTED[name]
    found = report(HERE / f"{name}.yaml")
    decision = finding(found, claim).decision
    assert isinstance(decision, Refuted), decision
    assert at in ", ".join(f"{key} = {value}" for key, value in decision.witness)
    assert by in decision.by
    assert found.verdict is Verdict.REFUTED
    assert finding(found, "stationary").verdict is Verdict.PROVED


@pytest.mark.parametrize("name", some(OPEN, 2))
def test_what_no_point_refutes_is_open_and_says_why(name: str) -> None:
    found = report(HERE / f"{name}.yaml")
    claim, *reasons = OPEN[name]
    decision = finding(found, claim).decision
    assert isinstance(decision, Undecided), decision
    assert all(reason in "; ".join(decision.tried) for reason in reasons)
    assert found.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("name", [*some(REFUTED, 2), *some(OPEN, 2)])
def test_the_cycle_of_no_mutant_is_proved_but_of_one_with_another_equation(name: str) -> None:
    found = report(HERE / f"{name}.yaml")
    kept = [finding(found, claim).verdict for claim in ("cycle", "irreducible")]
    assert (Verdict.PROVED in kept) is (name in ("half_a_kick", "other_mass", "counts_of_an_improper_joint"))


@pytest.mark.parametrize(
    "name", ["ghmc_without_flip", "momentum_of_a_quartic", "nothing_moves_the_position", "shape_of_all_data"]
)
def test_no_module_is_made_of_it(name: str) -> None:
    with pytest.raises(VerificationError, match=f"{REFUTED[name][0]} is refuted"):
        compile_build(load_build(HERE / f"{name}.yaml"))


def test_the_guilty_move_is_named() -> None:
    """That the chain departs from exp(-H) is not shown by that: other moves might make up for it."""
    found = report(HERE / "ghmc_without_flip.yaml")
    wrong, chain = (finding(found, claim).decision for claim in ("cycle", "exact"))
    assert isinstance(wrong, Refuted)
    assert isinstance(chain, Undecided)
    assert wrong.by == chain.tried[0] == "move 2, Metropolis, does not keep exp(-H)"
