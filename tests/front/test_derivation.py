"""What is derived, as SymPy's objects: entry by entry what the second engine computes by itself."""

from collections.abc import Callable
from pathlib import Path

import pytest
import sympy

import recipe_compiler as rc

NAMES = ("sghmc_gaussian", "sgnht_gaussian", "gsgrhmc_gaussian", "generalised_langevin_gaussian", "sgrld_banana")


def shipped(name: str) -> rc.Build:
    return rc.load(Path(__file__).parents[2] / f"specs/builds/{name}.yaml")


def state(dynamics: rc.Dynamics, sizes: dict[str, int]) -> list[sympy.Expr]:
    """Return the coordinates of z as `to_sympy` names them."""
    found = []
    for block in dynamics.document.declarations.blocks:
        if not block.shape.sizes:
            found.append(sympy.Symbol(block.name, real=True))
            continue
        size = sizes.get(block.shape.rows, block.shape.rows)
        found += [sympy.MatrixSymbol(block.name, size, 1)[k, 0] for k in range(size)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_drift_is_that_of_ma_chen_and_fox_at_d_2(name: str) -> None:
    dynamics = shipped(name).dynamics
    sizes = dict.fromkeys(dynamics.document.declarations.sizes, 2)
    derived = dynamics.derive()
    z, both = state(dynamics, sizes), derived.D.to_sympy(**sizes) + derived.Q.to_sympy(**sizes)
    correction = sympy.Matrix([sum(both[i, j].diff(z[j]) for j in range(len(z))) for i in range(len(z))])
    expected = -both * derived.grad_H.to_sympy(**sizes) + correction.doit()
    assert sympy.simplify((derived.drift.to_sympy(**sizes) - expected).doit()) == sympy.zeros(len(z), 1)
    assert sympy.simplify((derived.Gamma.to_sympy(**sizes) - correction).doit()) == sympy.zeros(len(z), 1)


def test_what_goes_out_of_sympy_comes_in_again() -> None:
    x, y = sympy.symbols("x y", real=True)
    a = sympy.Symbol("a", positive=True)
    stated = {"name": "k", "state": [x, y], "D": [[0, 0], [0, a]], "Q": [[0, -1], [1, 0]]}
    dynamics = rc.Dynamics(**stated, H=x**4 + y**2 / 2)
    drift = dynamics.derive().drift.to_sympy()
    assert drift == sympy.Matrix([y, -4 * x**3 - a * y])
    claimed = rc.Dynamics(**stated, H=x**4 + y**2 / 2, claims={"drift": {"x": drift[0], "y": drift[1]}})
    findings = {finding.id: finding.verdict for finding in claimed.check().findings}
    assert findings["claimed_drift"] is rc.Verdict.PROVED


@pytest.mark.parametrize(
    ("sizes", "problem"),
    [
        ({}, "found no sizes, expected a number for each of d"),
        ({"k": 2}, "found k=2, expected a number for each of d"),
        ({"d": 0}, "found d=0, expected whole numbers, d >= 1"),
        ({"d": True}, "found d=True, expected whole numbers, d >= 1"),
        ({"d": 101}, r"found 202 coordinates \(d=101\), expected 200 at most"),
        ({"d": 10**5000}, r"found int of 1661\d bits coordinates \(d=int of 16610 bits\), expected 200 at most"),
    ],
)
def test_sizes_that_do_not_fit_are_named(sizes: dict[str, int], problem: str) -> None:
    with pytest.raises(rc.ModelError, match=problem):
        shipped("sghmc_gaussian").dynamics.derive().drift.to_sympy(**sizes)


def test_a_position_beyond_the_size_is_named() -> None:
    theta = rc.vector("theta", "d")
    dynamics = rc.Dynamics(name="k", state=[theta], H=theta.T @ theta + theta[1] ** 4, D=[[rc.I]], Q=[[0]])
    assert dynamics.derive().drift.to_sympy(d=2).shape == (2, 1)
    with pytest.raises(rc.ModelError, match="found d=1, expected whole numbers, d >= 2"):
        dynamics.derive().drift.to_sympy(d=1)


def test_a_build_is_derived_with_everything_bound() -> None:
    build = shipped("sghmc_banana")
    assert "c*r" in str(build.derive().drift)
    assert "C @" in str(build.dynamics.derive().drift)


def test_equations_are_shown_as_latex() -> None:
    derived = shipped("sgnht_gaussian").dynamics.derive()
    assert derived._repr_latex_().startswith("\\begin{align*}")
    assert derived._repr_latex_().endswith("\\end{align*}")
    assert "pmatrix" in derived.drift._repr_latex_()
    assert "pmatrix" in derived.D._repr_latex_()
    assert derived.drift._repr_latex_().count("$") == 2
    assert len(repr(derived)) < 100


@pytest.mark.parametrize(
    ("kind", "holds"),
    [
        ("skew", lambda G: G == -G.T),
        ("symmetric", lambda G: G == G.T),
        ("positive semidefinite", lambda G: G == G.T),
        ("positive definite", lambda G: G == G.T),
        ("diagonal", lambda G: G.is_diagonal() and not G.is_zero_matrix),
        (["diagonal", "positive"], lambda G: G.is_diagonal() and not G.is_zero_matrix),
        (["diagonal", "skew"], lambda G: G.is_zero_matrix),
        ("real", lambda G: G != G.T and G != -G.T),
    ],
)
@pytest.mark.parametrize("of_state", [False, True])
def test_kinds_are_kept_in_symbols(
    kind: str | list[str], holds: Callable[[sympy.Matrix], bool], of_state: bool
) -> None:
    theta = rc.vector("theta", "d")
    shape = {"shape": ("d", "d"), "is_": kind}
    G = rc.function("G", of=theta, **shape) if of_state else rc.matrix("G", "d", "d", is_=kind)
    stated = rc.Dynamics(name="g", state=[theta], H=rc.norm2(theta) / 2, D=[[0]], Q=[[G]])
    entries = stated.derive().Q.to_sympy(d=3)
    assert holds(entries)
    drift = stated.derive().drift.to_sympy(d=3).doit()
    z = sympy.Matrix([sympy.MatrixSymbol("theta", 3, 1)[k, 0] for k in range(3)])
    Gamma = sympy.Matrix([sum(entries[i, j].diff(z[j]) for j in range(3)) for i in range(3)])
    assert sympy.expand((drift + entries * z - Gamma).doit()) == sympy.zeros(3, 1)
