"""What follows from D, Q and H: drift, noise of the gradient, laws of blocks, and what is computed of all that."""

from dataclasses import replace

import pytest
from answers import document

from recipe_compiler.algebra.dynamics.system import gradient, system
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.evaluate import evaluate
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.noise import noise_covariance
from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.derive.refresh import OwnLaw, conditional_law, is_gaussian, own_laws, refreshes
from recipe_compiler.errors import ModelError
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Index
from recipe_compiler.verify.core.scalars import make_leaf, write_out

LINE, PLANE = "theta: {shape: d}", "theta: {shape: d}, r: {shape: d}"
CURL = "[[0, -I], [I, 0]]"
THREE = f"{PLANE}, xi: {{}}"
THERMOSTAT = (THREE, "U + r.T @ r / 2 + d/2*(xi - A)**2", "[[0, 0, 0], [0, A*I, 0], [0, 0, 0]]",
              "[[0, -I, 0], [I, 0, r/d], [0, -r.T/d, 0]]")  # fmt: skip
NAMES = """
parameters:
  {a: {is: positive}, b: {}, e: {}, A: {is: positive}, m: {shape: d}, u: {shape: d}, v: {shape: d},
   M: {shape: [d, d], is: positive definite}, N: {shape: [d, d], is: positive definite}, B: {shape: [d, d]},
   C: {shape: [d, d], is: positive semidefinite}, V: {shape: [d, d], is: positive semidefinite},
   S: {shape: [d, d], is: symmetric}}
functions:
  {U: {of: theta, role: potential}, G: {of: theta, shape: [d, d], is: positive definite}, R: {of: theta, shape: [d, d]},
   K: {of: theta, shape: [d, d], is: symmetric}, W: {of: theta, shape: [d, d], is: skew}}
"""


def dynamics(state: str, H: str, D: str = "0", Q: str = "0") -> Dynamics:
    zero = f"{[[0] * state.count('{')] * state.count('{')}"
    D, Q = (zero if matrix == "0" else matrix for matrix in (D, Q))
    return document(f"state: {{{state}}}\n{NAMES}H: '{H}'\nD: '{D}'\nQ: '{Q}'\n")


def of_momenta(H: str, *, stated: bool = False) -> Derivation:
    return derive(dynamics(PLANE, H, "0", CURL), stated=stated)


def shown(derivation: Derivation, tensors: object) -> list[str]:
    c = calculus(derivation.dynamics.declarations)
    return [matrix_form(c, PLAIN, tensor) for tensor in tensors]  # type: ignore[union-attr]


def test_Gamma_sums_over_the_columns() -> None:
    """Gamma_i = sum_j dD_ij/dz_j, not sum_i: they differ where D + Q is not symmetric (ma2015recipe Eq. 3)."""
    derivation = derive(dynamics(LINE, "U", "0", "[[W]]"))
    assert shown(derivation, derivation.Gamma) == ["div(W, theta)"]


def test_without_Q_there_is_no_drift() -> None:
    with pytest.raises(ModelError, match="found no Q"):
        derive(replace(dynamics(PLANE, "U", "0", CURL), Q=None))


def test_a_drift_that_no_Q_was_proved_to_give_says_so() -> None:
    """`claims.drift` in the place of Q: a search has been there, whose words `recipe check` has."""
    own = dynamics(PLANE, "U", "0", CURL)
    with pytest.raises(ModelError, match=r"found no Q, neither stated nor proved to give `claims.drift`"):
        derive(replace(own, Q=None, claims=replace(own.claims, drift=())))


@pytest.mark.parametrize(
    ("state", "H", "D", "Q", "expected"),
    [
        (PLANE, "U + r.T @ inv(M) @ r / 2", "[[0, 0], [0, C]]", CURL, [["0", "0"], ["0", "V"]]),
        (PLANE, "U + r.T @ r / 2", "[[0, 0], [0, K @ K]]", "[[0, -K], [K, 0]]", [["0", "0"], ["0", "K @ V @ K"]]),
        (LINE, "U", "[[R]]", "0", [["R @ V @ R.T"]]),
        (LINE, "U", "[[2*I]]", "0", [["4*V"]]),
    ],
)
def test_noise_of_the_minibatch_gradient(state: str, H: str, D: str, Q: str, expected: list[list[str]]) -> None:
    """B_hat = (D + Q) V (D + Q).T of the potential's block (ma2015recipe Sec. 3.1); K does not commute with V."""
    derivation = derive(dynamics(state, H, D, Q))
    c = calculus(derivation.dynamics.declarations)
    B_hat = noise_covariance(derivation, "theta", c.component("V", Index("d", "i"), Index("d", "j")))
    assert [shown(derivation, row) for row in B_hat] == expected


@pytest.mark.parametrize(
    ("H", "gaussian", "own"),
    [
        ("U + r.T @ r / 2", True, OwnLaw.NORMAL),
        ("U + norm2(r)/2 + logdet(M)", True, OwnLaw.NORMAL),
        ("U + trace(r @ r.T)/2", True, OwnLaw.NORMAL),
        ("U + r.T @ M @ inv(M) @ r / 2", True, OwnLaw.NORMAL),
        ("U + r.T @ inv(M) @ r / 2", True, OwnLaw.GAUSSIAN),
        ("U + r.T @ M @ r - sum(r)", True, OwnLaw.GAUSSIAN),
        ("U - r.T @ r / 2", True, OwnLaw.GAUSSIAN),
        ("U + norm2(r)/2 + sum(r)**2/2", True, OwnLaw.GAUSSIAN),
        ("U + r.T @ r / (2*(1 + norm2(theta)))", False, None),
        ("U + norm2(r)/2 + r.T @ theta", False, None),
        ("U + norm2(r)/2 + sum(theta)*sum(r)", False, None),
        ("U + norm2(r)*norm2(r)/2", False, None),
        ("U + sum(r)", False, None),
        ("U + U*norm2(r)", False, None),
        ("U + sum(softplus(r))", False, None),
    ],
)
def test_the_law_that_a_block_has_of_its_own(H: str, gaussian: bool, own: OwnLaw | None) -> None:
    derivation = of_momenta(H)
    assert is_gaussian(derivation, "r") is gaussian
    assert own_laws(derivation, ("r",)) == ({} if own is None else {"r": own})


@pytest.mark.parametrize(("H", "own"), [("s**2/2", OwnLaw.NORMAL), ("(s - 1)**2/2", OwnLaw.GAUSSIAN)])
def test_scalars_may_have_the_standard_law(H: str, own: OwnLaw) -> None:
    assert own_laws(derive(dynamics(f"{LINE}, s: {{}}", f"U + {H}")), ("theta", "s")) == {"s": own}


def test_a_thermostat_is_gaussian() -> None:
    derivation = derive(dynamics(*THERMOSTAT))
    assert is_gaussian(derivation, "xi")
    assert not is_gaussian(derivation, "theta")


# The law of a block given all others: what a refresh draws it from.


@pytest.mark.parametrize("stated", [False, True])
@pytest.mark.parametrize(
    ("H", "size"),
    [
        ("U + r.T @ inv(M) @ r / 2", 3),
        ("U + r.T @ inv(G) @ r / 2 + logdet(G)/2", 2),
        ("U + r.T @ (M + C) @ r / 2", 3),
        ("U + r.T @ M @ N @ M @ r / 2", 2),
        ("U + a*(r.T @ (G + a*N) @ r)", 2),
        ("U + a*sum((ones + theta**2)*r**2)/3", 3),
    ],
)
def test_the_precision_is_the_hessian_and_the_covariance_its_inverse(H: str, size: int, stated: bool) -> None:
    """M and N do not commute; the second engine differentiates H entry by entry, at exact points."""
    derivation = of_momenta(H, stated=stated)
    law = conditional_law(derivation, "r")
    assert law is not None
    of, sizes = derivation.dynamics, {"d": size}
    whole = system(of.declarations, of.H, of.D or (), of.Q or (), sizes)
    r = coordinates(of.declarations.blocks[1], sizes)
    hessian = [slope(g, y) for x, g in zip(whole.z, gradient(whole.H, whole.z), strict=True) if x in r for y in r]
    leaf = make_leaf(of.declarations, sizes)
    P, S = (write_out(one, sizes, leaf) for one in (law.precision, law.covariance))
    at = range(size)
    for point in (point for _, point in zip(range(4), points(of.declarations, sizes), strict=False)):
        p, s, h = ([evaluate(entry, point.leaf) for entry in entries] for entries in (P, S, hessian))
        assert p == h
        product = [[sum(p[i * size + k] * s[k * size + j] for k in at) for j in at] for i in at]
        assert product == [[i == j for j in at] for i in at]


def test_a_scalar_block_has_a_scalar_law() -> None:
    derivation = derive(dynamics(f"{LINE}, s: {{}}", "U + (a + norm2(theta))*s**2/2"))
    law = conditional_law(derivation, "s")
    assert law is not None
    assert not law.precision.free
    assert refreshes(derivation) == ("s ~ N(0, 1/(a + theta.T @ theta))",)


@pytest.mark.parametrize(
    "H",
    ["U + r.T @ r / 2 + r.T @ theta", "U + norm2(r - theta)/2", "U + r.T @ r / 2 + sum(r)", "U + norm2(r)**2/2",
     "U + sum(softplus(r))", "U + sum(abs(r))", "U + r.T @ S @ r / 2", "U + r.T @ C @ r / 2", "U - r.T @ M @ r / 2",
     "U + norm2(theta)*norm2(r)/2", "U"],
)  # fmt: skip
def test_what_is_no_centred_gaussian_has_no_law(H: str) -> None:
    assert conditional_law(of_momenta(H), "r") is None
    assert refreshes(of_momenta(H)) == ()


@pytest.mark.parametrize("domain", ["positive", "nonnegative", "circle"])
def test_a_block_that_is_not_on_the_whole_line_is_not_gaussian(domain: str) -> None:
    own = dynamics(f"{LINE}, x: {{shape: d, domain: {domain}}}", "U + norm2(x)/2")
    assert conditional_law(derive(own), "x") is None


# What is to be computed is equal to what is proved with, and multiplied out only where that saves work.

CASES = {
    "thermostat": THERMOSTAT,
    "distance": (LINE, "U", "[[(1 + norm2(theta - m))*I]]"),
    "two distances": (LINE, "U", "[[(b + norm2(theta - m))*(e + norm2(theta - u))*I]]"),
    "skew of rank 2": (LINE, "U", "[[C]]", "[[b*(u @ v.T - v @ u.T)]]"),
    "skew of distances": (LINE, "U", "[[C]]", "[[(theta - m) @ u.T - u @ (theta - m).T]]"),
    "product of sums of matrices": (LINE, "U", "[[(B + u @ v.T) @ (B + u @ v.T).T]]"),
    "momenta": (PLANE, "U + (r - m).T @ inv(M) @ (r - m)/2", "[[0, 0], [0, C]]", CURL),
    "energy of a difference": (PLANE, "U + norm2(r - theta)**2/4", "[[0, 0], [0, norm2(r - theta)*C]]",
                               "[[0, -norm2(r - theta)*I], [norm2(r - theta)*I, 0]]"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_both_forms_are_equal(name: str) -> None:
    own = dynamics(*CASES[name])
    plain, found = derive(own), derive(own, stated=True)
    c = plain.calculus
    for one, other in ((plain.drift, found.drift), (plain.grad_H, found.grad_H), (plain.Gamma, found.Gamma)):
        for a, b in zip(one, other, strict=True):
            assert c.is_zero(c.subtract(a, c.collect(b.terms, b.free)))
    wrong = c.scale(plain.drift[0], 2)
    assert not c.is_zero(c.subtract(wrong, c.collect(found.drift[0].terms, found.drift[0].free)))


def test_a_sum_is_multiplied_out_where_terms_cancel() -> None:
    found = derive(dynamics(*THERMOSTAT), stated=True)
    assert [text(entry) for entry in found.drift] == ["r[i]", "-d_theta[i] U - xi r[i]", "sum_i r[i]**2/d - 1"]


def test_an_entry_that_is_zero_as_a_whole_is_zero() -> None:
    zero = "((a - b)**2 - a**2 + 2*a*b - b**2)*I"
    own = dynamics(PLANE, "U + r.T @ r/2", f"[[{zero}, 0], [0, C]]", CURL)
    assert derive(own, stated=True).D[0][0].is_zero
