"""Targets whose rows pass states on: no reader that takes rows apart reads one (`documents/verify/recursion.yaml`)."""

import pytest
from answers import document

from recipe_compiler.derive.conditional import potential_of
from recipe_compiler.derive.found_laws import found_laws
from recipe_compiler.errors import ModelError, RunError
from recipe_compiler.run.predictive import predictive_of
from recipe_compiler.verify.builds.explosion import _bound_below_by_square
from recipe_compiler.verify.builds.laws import scalar_potential
from recipe_compiler.verify.builds.of_data import list_data_questions
from recipe_compiler.verify.builds.target import is_only_c1
from recipe_compiler.verify.core.generalise_size import generalise_target

MA = """
state: {mu: {}, theta: {constraint: "interval(-1, 1)"}, sigma: {constraint: positive}}
data: {y: {shape: N}}
recursion:
  e: {start: 0, next: y - mu - theta*e}
log_prior: normal(mu, 0, 5) + inverse_gamma(sigma, 2, 1)
log_likelihood: normal(y, mu + theta*e, sigma)
"""
WIDE = """
state: {theta: {shape: 5}}
data: {x: {shape: [N, 5]}}
recursion: {s: {shape: 5, start: theta, next: s/2 + x.T}}
log_likelihood: -norm2(s - theta)
"""


def test_a_kink_in_a_state_bends_u():
    assert is_only_c1(document(MA.replace("theta*e}", "theta*where(e > 0, e**2, 0)}")))
    assert not is_only_c1(document(MA))


def test_no_reader_of_independent_rows_reads_one():
    own = document(MA)
    with pytest.raises(ModelError, match="found the recursion of e, expected independent rows"):
        potential_of(own)
    with pytest.raises(ModelError, match="expected independent rows"):
        scalar_potential(own, {"N": 2})
    with pytest.raises(RunError, match="found a recursion"):
        predictive_of(own)
    assert found_laws(own) == list_data_questions(own) == ()
    assert _bound_below_by_square(own) is None


def test_sizes_of_states_are_generalised_with_all_others():
    wide = generalise_target(document(WIDE))
    assert wide.recursion[0].block.shape.rows == wide.declarations.blocks[0].shape.rows == "n_5"
