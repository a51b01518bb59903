"""What is to be computed is equal to what is proved with, and multiplied out only where that saves work."""

import pytest

from recipe_compiler.derive.recipe import derive
from recipe_compiler.program.atoms import names_of
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Base

PARAMETERS = "a:; b:; A::positive; m:d; u:d; v:d; M:d d:positive definite; C:d d:positive semidefinite; K:d d"
CANONICAL = {"theta,r": "-I", "r,theta": "I"}
ONE, TWO, THREE = "theta:d", "theta:d; r:d", "theta:d; r:d; xi:"
SGNHT = (THREE, "U + r.T @ r / 2 + d/2*(xi - A)**2", {"r,r": "A*I"},
         {**CANONICAL, "r,xi": "r/d", "xi,r": "-r.T/d"})  # fmt: skip
CASES = {
    "thermostat": SGNHT,
    "distance": (ONE, "U", {"theta,theta": "(1 + norm2(theta - m))*I"}, {}),
    "two distances": (ONE, "U", {"theta,theta": "(a + norm2(theta - m))*(b + norm2(theta - u))*I"}, {}),
    "skew of rank 2": (ONE, "U", {"theta,theta": "C"}, {"theta,theta": "a*(u @ v.T - v @ u.T)"}),
    "skew of distances": (ONE, "U", {"theta,theta": "C"}, {"theta,theta": "(theta - m) @ u.T - u @ (theta - m).T"}),
    "product of sums of matrices": (ONE, "U", {"theta,theta": "(K + u @ v.T) @ (K + u @ v.T).T"}, {}),
    "momenta": (TWO, "U + (r - m).T @ inv(M) @ (r - m)/2", {"r,r": "C"}, CANONICAL),
    "energy of a difference": (TWO, "U + norm2(r - theta)**2/4", {"r,r": "norm2(r - theta)*C"},
                               {"theta,r": "-norm2(r - theta)*I", "r,theta": "norm2(r - theta)*I"}),
}  # fmt: skip


def stated(make, name: str):
    state, H, D, Q = CASES[name]
    dynamics = make(state, PARAMETERS, "U:theta", H, D, Q)
    return derive(dynamics), derive(dynamics, stated=True)


@pytest.mark.parametrize("name", CASES)
def test_both_forms_are_equal(make, name: str):
    plain, found = stated(make, name)
    c = plain.calculus
    for one, other in ((plain.drift, found.drift), (plain.grad_H, found.grad_H), (plain.Gamma, found.Gamma)):
        for a, b in zip(one, other, strict=True):
            assert c.is_zero(c.subtract(a, c.collect(b.terms, b.free)))
    wrong = c.scale(plain.drift[0], 2)
    assert not c.is_zero(c.subtract(wrong, c.collect(found.drift[0].terms, found.drift[0].free)))


def test_a_sum_is_multiplied_out_where_terms_cancel(make):
    _, found = stated(make, "thermostat")
    assert [text(entry) for entry in found.drift] == ["r[i]", "-d_theta[i] U - xi r[i]", "sum_i r[i]**2/d - 1"]


def test_parts_of_a_matrix_are_applied_apart(make):
    _, found = stated(make, "skew of rank 2")
    assert not any(isinstance(atom, Base) for atom in everywhere(found.drift[0]))
    assert len(found.drift[0].terms) == 3


@pytest.mark.parametrize(
    "name", ["distance", "two distances", "momenta", "energy of a difference", "skew of distances"]
)
def test_differences_stay_differences(make, name: str):
    _, found = stated(make, name)
    sums = [atom.arg for entry in found.drift for atom in everywhere(entry) if isinstance(atom, Base)]
    names = {frozenset(names_of(one)) for one in sums if len(one.terms) == 2}
    assert names & {frozenset(pair) for pair in (("m", "theta"), ("m", "r"), ("r", "theta"))}


def test_products_of_sums_of_matrices_are_not_multiplied_out(make):
    plain, found = stated(make, "product of sums of matrices")
    assert len(plain.drift[0].terms) == 4
    assert len(found.drift[0].terms) == 1


def test_an_entry_that_is_zero_as_a_whole_is_zero(make):
    zero = "((a - b)**2 - a**2 + 2*a*b - b**2)*I"
    dynamics = make(TWO, PARAMETERS, "U:theta", "U + r.T @ r/2", {"theta,theta": zero, "r,r": "C"}, CANONICAL)
    assert derive(dynamics, stated=True).D[0][0].is_zero
