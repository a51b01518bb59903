"""Conditional laws in index notation: what is left of U beside a law, and laws that are found."""

import pytest
from answers import document, shipped

from recipe_compiler.derive.conditional import potential_of, residual
from recipe_compiler.derive.found_laws import found_laws, laws_latex, laws_text
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Index


def test_what_is_left_of_a_wrong_law_is_readable() -> None:
    target = document(
        "state: {tau: {domain: positive}}\ndata: {y: {shape: N}}\n"
        'log_likelihood: log(tau)/2 - tau*y**2/2\nlaws: {tau: "Gamma(1 + N, norm2(y)/2)"}'
    )
    ((_, law),) = target.laws
    left = residual(potential_of(target), law, target.declarations.blocks[0], of_all_data(target.declarations))
    assert text(left) == "N/(2 tau)"


@pytest.mark.parametrize("name", ["normal_mean_precision", "regression_precision"])
def test_what_is_found_is_what_is_claimed(name: str) -> None:
    """P and h of N(inv(P) @ h, inv(P)) against the formulas claimed, shape and rate too."""
    target = shipped(f"targets/{name}").declared
    declared = of_all_data(target.declarations)
    c = calculus(declared, stated=True)
    claimed, found = dict(target.laws), {law.block.name: law for law in found_laws(target)}
    assert found.keys() == claimed.keys()
    assert [law.name for law in found.values()] == ["N", "Gamma"]
    shape, rate = (convert(argument, declared) for argument in claimed["tau"].arguments)
    assert c.is_zero(c.subtract(shape, found["tau"].parameters[0]))
    assert c.is_zero(c.subtract(rate, found["tau"].parameters[1]))
    mean, cov = next(law for block, law in target.laws if block != "tau").arguments
    P, h = next(law for block, law in found.items() if block != "tau").parameters
    if name == "normal_mean_precision":
        assert c.is_zero(c.subtract(c.multiply(convert(cov, declared), P), c.constant(1)))
        assert c.is_zero(c.subtract(c.multiply(convert(mean, declared), P), h))
    else:  # inv(P) @ u beside inv(P)
        i, j = Index("p", "i"), Index("p", "j")
        assert c.is_zero(c.subtract(convert(cov.args[0], declared, i, j), P))
        assert c.is_zero(c.subtract(convert(mean.right, declared, i), h))


FOUND = {
    "each entry has its precision": (
        "state: {x: {shape: d}, s: {shape: d, domain: positive}}\npotential: sum(x**2*s)/2 + sum(s) - sum(log(s))/2",
        "x ~ N(inv(P) @ h, inv(P)), P = diag(s), h = 0",
        "s ~ Gamma(3/2, x[i]**2/2 + 1)",
    ),
    "coupled by a full matrix": (
        "state: {x: {shape: d}, y: {shape: d}}\n"
        "parameters: {A: {shape: [d, d], is: positive definite}, B: {shape: [d, d]}}\n"
        "potential: x.T @ A @ x/2 - x.T @ B @ y + y.T @ y/2",
        "x ~ N(inv(P) @ h, inv(P)), P = A, h = B @ y",
        "y ~ N(inv(P) @ h, inv(P)), P = I, h = B.T @ x",
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_laws_are_found(name: str) -> None:
    stated, *lines = FOUND[name]
    head, *found = laws_text(document(stated)).splitlines()
    assert head == "given the other blocks, under exp(-U) of written:"
    assert [line.strip() for line in found] == lines


@pytest.mark.parametrize(
    "stated",
    [
        "state: {x: {shape: d}}\nparameters: {A: {shape: [d, d], is: symmetric}}\npotential: x.T @ A @ x",
        "state: {x: {}}\npotential: x**4 + x**2",
        "state: {x: {}}\npotential: x**2 + abs(x)",
        "state: {x: {}}\npotential: where(x > 0, x**2, x**2 + 1)",
        "state: {x: {domain: positive}}\npotential: x**2/2",
        "state: {x: {domain: positive}}\nparameters: {a: {}}\npotential: a*x - log(x)",
        "state: {x: {domain: positive}}\npotential: x + log(x)",
        "state: {x: {shape: d, domain: positive}}\npotential: sum(x)**2 - sum(log(x))",
        "state: {x: {}}\nassume: [x > 1]\npotential: x**2",
        'state: {x: {domain: "interval(0, 1)"}}\npotential: x**2',
        "state: {x: {constraint: lower(1)}}\npotential: x**2",
        "state: {x: {shape: 2, constraint: upper(1)}}\npotential: norm2(x)",
        "state: {x: {shape: 2, constraint: ordered}}\npotential: norm2(x)",
        "state: {x: {shape: 2, constraint: unit_vector}}\npotential: norm2(x) - x[0]",
    ],
)
def test_what_is_not_shown_is_not_found(stated: str) -> None:
    target = document(stated)
    assert found_laws(target) == ()
    assert laws_text(target).startswith("written: no block is found")
    assert "align" not in laws_latex(target)


def test_latex_says_the_same() -> None:
    found = laws_latex(shipped("targets/regression_precision"))
    assert r"\beta &\sim \mathcal{N}\left(P^{-1} h, P^{-1}\right), \quad P = \tau x^{\top} x + S^{-1}" in found
    assert r"\tau &\sim \mathrm{Gamma}" in found
