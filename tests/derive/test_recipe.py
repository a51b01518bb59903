"""What follows from D, Q and H."""

import pytest

from recipe_compiler.derive.noise import noise_covariance
from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.refresh import OwnLaw, is_gaussian, own_laws
from recipe_compiler.errors import ModelError
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Index

CANONICAL = {"theta,r": "-I", "r,theta": "I"}
SGHMC = (
    "theta:d; r:d", "M:d d:positive definite; C:d d:positive semidefinite; V:d d:positive semidefinite", "U:theta",
    "U + r.T @ inv(M) @ r / 2", {"r,r": "C"}, CANONICAL,
)  # fmt: skip
SGNHT = (
    "theta:d; r:d; xi:", "A::positive; V:d d:positive semidefinite", "U:theta",
    "U + r.T @ r / 2 + d/2*(xi - A)**2", {"r,r": "A*I"}, {**CANONICAL, "r,xi": "r/d", "xi,r": "-r.T/d"},
)  # fmt: skip


def shown(derivation, tensors) -> list[str]:
    c = calculus(derivation.dynamics.declarations)
    return [matrix_form(c, PLAIN, tensor) for tensor in tensors]


def test_sghmc(make):
    derivation = derive(make(*SGHMC))
    assert shown(derivation, derivation.grad_H) == ["grad(U, theta)", "inv(M) @ r"]
    assert all(entry.is_zero for entry in derivation.Gamma)
    assert shown(derivation, derivation.drift) == ["inv(M) @ r", "-C @ inv(M) @ r - grad(U, theta)"]


def test_sgnht(make):
    derivation = derive(make(*SGNHT))
    assert shown(derivation, derivation.Gamma) == ["0", "0", "-1"]
    assert shown(derivation, derivation.drift) == ["r", "-grad(U, theta) - xi*r", "r.T @ r/d - 1"]


def test_free_indices_are_those_of_the_blocks(make):
    derivation = derive(make(*SGNHT))
    i, j = Index("d", "i"), Index("d", "j")
    assert [entry.free for entry in derivation.drift] == [(i,), (i,), ()]
    assert [entry.free for entry in derivation.Gamma] == [(i,), (i,), ()]
    assert [[entry.free for entry in row] for row in derivation.Q] == [
        [(i, j), (i, j), (i,)],
        [(i, j), (i, j), (i,)],
        [(j,), (j,), ()],
    ]


def test_Gamma_sums_over_the_columns(make):
    """Gamma_i = sum_j dD_ij/dz_j, not sum_i: they differ where D + Q is not symmetric (ma2015recipe Eq. 3)."""
    derivation = derive(make("z:d", "", "E:z; R:z:d d:skew", "E", {}, {"z,z": "R"}))
    assert shown(derivation, derivation.Gamma) == ["div(R, z)"]


def test_without_Q_there_is_no_drift(make):
    dynamics = make(*SGHMC)
    with pytest.raises(ModelError, match="found no Q"):
        derive(Dynamics(dynamics.name, dynamics.declarations, dynamics.H, dynamics.D, None))


def test_noise_of_the_minibatch_gradient_in_sghmc(make):
    """B_hat = V in the place (r, r) (ma2015recipe Sec. 3.1)."""
    derivation = derive(make(*SGHMC))
    c = calculus(derivation.dynamics.declarations)
    i, j = Index("d", "i"), Index("d", "j")
    B_hat = noise_covariance(derivation, "theta", c.component("V", i, j))
    assert [shown(derivation, row) for row in B_hat] == [["0", "0"], ["0", "V"]]


def test_noise_of_the_minibatch_gradient_in_riemannian_dynamics(make):
    """B_hat = K V K with K not commuting with V."""
    derivation = derive(
        make("theta:d; r:d", "V:d d:positive semidefinite", "U:theta; K:theta:d d:symmetric",
             "U + r.T @ r / 2", {"r,r": "K @ K"}, {"theta,r": "-K", "r,theta": "K"})
    )  # fmt: skip
    c = calculus(derivation.dynamics.declarations)
    B_hat = noise_covariance(derivation, "theta", c.component("V", Index("d", "i"), Index("d", "j")))
    assert [shown(derivation, row) for row in B_hat] == [["0", "0"], ["0", "K @ V @ K"]]


def test_noise_of_the_minibatch_gradient_transposes_on_the_right(make):
    derivation = derive(make("theta:d", "V:d d:positive semidefinite", "U:theta; R:theta:d d", "U",
                             {"theta,theta": "R"}, {}))  # fmt: skip
    c = calculus(derivation.dynamics.declarations)
    B_hat = noise_covariance(derivation, "theta", c.component("V", Index("d", "i"), Index("d", "j")))
    assert shown(derivation, B_hat[0]) == ["R @ V @ R.T"]


def test_noise_on_a_scalar_block(make):
    derivation = derive(make("x:", "s::positive", "U:x", "U", {"x,x": "2"}, {}))
    c = calculus(derivation.dynamics.declarations)
    assert noise_covariance(derivation, "x", c.component("s"))[0][0] == c.scale(c.component("s"), 4)


@pytest.mark.parametrize(
    ("H", "expected"),
    [
        ("U + r.T @ inv(M) @ r / 2", True),
        ("U + r.T @ M @ r - sum(r)", True),
        ("U + r.T @ r / (2*(1 + norm2(theta)))", False),
        ("U + r.T @ r / 2 + r.T @ theta", False),
        ("U + (r.T @ r)**2", False),
        ("U + sum(r)", False),
        ("U + U*norm2(r)", False),
        ("U + sum(softplus(r))", False),
    ],
)
def test_gaussian_auxiliary(make, H, expected):
    derivation = derive(make("theta:d; r:d", "M:d d:positive definite", "U:theta", H, {}, CANONICAL))
    assert is_gaussian(derivation, "r") is expected


def test_thermostat_is_gaussian(make):
    assert is_gaussian(derive(make(*SGNHT)), "xi")
    assert not is_gaussian(derive(make(*SGNHT)), "theta")


@pytest.mark.parametrize(
    ("H", "expected"),
    [
        ("U + r.T @ r / 2", OwnLaw.NORMAL),
        ("U + norm2(r)/2 + logdet(M)", OwnLaw.NORMAL),
        ("U + trace(r @ r.T)/2", OwnLaw.NORMAL),
        ("U + r.T @ M @ inv(M) @ r / 2", OwnLaw.NORMAL),
        ("U + r.T @ inv(M) @ r / 2", OwnLaw.GAUSSIAN),
        ("U + r.T @ r", OwnLaw.GAUSSIAN),
        ("U - r.T @ r / 2", OwnLaw.GAUSSIAN),
        ("U + norm2(r)/2 + sum(r)", OwnLaw.GAUSSIAN),
        ("U + norm2(r)/2 + sum(r)**2/2", OwnLaw.GAUSSIAN),
        ("U + norm2(r)/2 + r.T @ theta", None),
        ("U + norm2(r)/2 + sum(theta)*sum(r)", None),
        ("U + norm2(r)*norm2(r)/2", None),
        ("U + sum(r)", None),
    ],
)
def test_the_law_that_a_block_has_of_its_own(make, H, expected):
    derivation = derive(make("theta:d; r:d", "M:d d:positive definite", "U:theta", H, {}, CANONICAL))
    assert own_laws(derivation, ("r",)) == ({} if expected is None else {"r": expected})


def test_scalars_may_have_the_standard_law(make):
    derivation = derive(make("x:d; s:", "", "U:x", "U + s**2/2", {}, {}))
    assert own_laws(derivation, ("x", "s")) == {"s": OwnLaw.NORMAL}
    derivation = derive(make("x:d; s:", "", "U:x", "U + (s - 1)**2/2", {}, {}))
    assert own_laws(derivation, ("x", "s")) == {"s": OwnLaw.GAUSSIAN}
