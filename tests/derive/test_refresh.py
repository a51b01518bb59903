"""The law of a block given all others: what a refresh draws it from."""

import pytest

from recipe_compiler.algebra.dynamics.system import gradient, system
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.evaluate import evaluate
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.refresh import conditional_law, refreshes
from recipe_compiler.verify.core.scalars import leaf_of, written_out

CANONICAL = {"theta,r": "-I", "r,theta": "I"}
NAMES = "M:d d:positive definite; K:d d:positive definite; C:d d:positive semidefinite; S:d d:symmetric; a::positive"
FUNCTIONS = "U:theta; G:theta:d d:positive definite"


def derived(make, H: str, state: str = "theta:d; r:d", *, stated: bool = False):
    Q = CANONICAL if state == "theta:d; r:d" else {}
    return derive(make(state, NAMES, FUNCTIONS, H, {}, Q), stated=stated)


@pytest.mark.parametrize("stated", [False, True])
@pytest.mark.parametrize(
    ("H", "size"),
    [
        ("U + r.T @ inv(M) @ r / 2", 3),
        ("U + r.T @ inv(G) @ r / 2 + logdet(G)/2", 2),
        ("U + r.T @ (M + C) @ r / 2", 3),
        ("U + r.T @ M @ K @ M @ r / 2", 2),
        ("U + a*(r.T @ (G + a*K) @ r)", 2),
        ("U + a*sum((ones + theta**2)*r**2)/3", 3),
    ],
)
def test_the_precision_is_the_hessian_and_the_covariance_its_inverse(make, H: str, size: int, stated: bool) -> None:
    """M and K do not commute; the second engine differentiates H entry by entry, at exact points."""
    derivation = derived(make, H, stated=stated)
    law = conditional_law(derivation, "r")
    assert law is not None
    of, sizes = derivation.dynamics, {"d": size}
    whole = system(of.declarations, of.H, of.D or (), of.Q or (), sizes)
    r = coordinates(of.declarations.blocks[1], sizes)
    hessian = [slope(g, y) for x, g in zip(whole.z, gradient(whole.H, whole.z), strict=True) if x in r for y in r]
    leaf = leaf_of(of.declarations, sizes)
    P, S = (written_out(one, sizes, leaf) for one in (law.precision, law.covariance))
    for at in (point for _, point in zip(range(4), points(of.declarations, sizes), strict=False)):
        p, s, h = ([evaluate(entry, at.leaf) for entry in entries] for entries in (P, S, hessian))
        assert p == h
        product = [
            [sum(p[i * size + k] * s[k * size + j] for k in range(size)) for j in range(size)] for i in range(size)
        ]
        assert product == [[i == j for j in range(size)] for i in range(size)]


def test_a_scalar_block_has_a_scalar_law(make) -> None:
    derivation = derived(make, "U + (a + norm2(theta))*s**2/2", "theta:d; s:")
    law = conditional_law(derivation, "s")
    assert law is not None
    assert not law.precision.free
    assert refreshes(derivation) == ("s ~ N(0, 1/(a + theta.T @ theta))",)


@pytest.mark.parametrize(
    "H",
    [
        "U + r.T @ r / 2 + r.T @ theta",
        "U + norm2(r - theta)/2",
        "U + r.T @ r / 2 + sum(r)",
        "U + norm2(r)**2/2",
        "U + sum(softplus(r))",
        "U + sum(abs(r))",
        "U + r.T @ S @ r / 2",
        "U + r.T @ C @ r / 2",
        "U - r.T @ M @ r / 2",
        "U + norm2(theta)*norm2(r)/2",
        "U",
    ],
)
def test_what_is_no_centred_gaussian_has_no_law(make, H: str) -> None:
    assert conditional_law(derived(make, H), "r") is None
    assert refreshes(derived(make, H)) == ()


@pytest.mark.parametrize("domain", ["positive", "nonnegative", "circle"])
def test_a_block_that_is_not_on_the_whole_line_is_not_gaussian(make, domain: str) -> None:
    assert conditional_law(derived(make, "U + norm2(x)/2", f"theta:d; x:d:{domain}"), "x") is None
