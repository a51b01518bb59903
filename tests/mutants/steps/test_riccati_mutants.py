"""Flows that are not those of Riccati's equation: each is refuted by what it fails, at a point."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from loaders import load_dynamics

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import ModelError
from recipe_compiler.spec.model import Scheme, Selection
from recipe_compiler.spec.words import Letter
from recipe_compiler.splitting import riccati
from recipe_compiler.splitting.flow import Change
from recipe_compiler.splitting.flow_table import flow_of
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.riccati import Riccati
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Component, Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted
from recipe_compiler.verify.core.subject import subject_of
from recipe_compiler.verify.steps import flow as claim
from recipe_compiler.verify.steps.split import Split, split_of

DYNAMICS = """
format: 1
name: quadratic
state:
  x: {shape: d}
  w: {shape: d}
parameters:
  M: {shape: [d, d], is: positive definite}
  p: {shape: d}
functions:
  U: {of: x, role: potential}
H: U(x) + w.T @ inv(M) @ w/2
D: [[0, 0], [0, 0]]
Q: [[0, -G], [G.T, 0]]
"""
WHOLE = "diag(p - 2*x + 3*x**2)"
A = Selection(Q=(("x", "w"),), H=("w",))


def split(folder: Path, text: str = "", piece: Selection = A) -> Split:
    path = folder / "quadratic.yaml"
    path.write_text(text or DYNAMICS.replace("G", WHOLE), encoding="utf-8")
    scheme = Scheme("split", (Letter("A", Fraction(1, 2)), Letter("A", Fraction(1, 2))), (("A", (piece,)),))
    return split_of(subject_of(load_dynamics(path)), scheme)


def failed(found: Answer) -> str:
    assert isinstance(found.decision, Refuted), found.decision
    assert dict(found.decision.witness)["eps"]
    return found.decision.witness[-1][0]


@pytest.mark.slow
def test_the_flow_is_shown_at_three_sizes(tmp_path: Path) -> None:
    found = claim.flow(split(tmp_path))
    assert isinstance(found.decision, Proved), found.decision
    assert found.decision.by == "A: Riccati, entry by entry; second engine"
    assert [dict(sizes)["d"] for sizes in found.checked_at] == [1, 2, 3]


BLOCKS = """
format: 1
name: blocks
state:
  x: {shape: d}
  y: {}
  w: {shape: d}
  v: {}
parameters:
  p: {shape: d}
functions:
  U: {of: x, role: potential}
H: U(x) + y**2/2 + w.T @ w/2 + v**2/2
D: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
Q:
  - [0, 0, -diag(p - x**2), 0]
  - [0, 0, 0, -(1 + y + y**2)]
  - [diag(p - x**2), 0, 0, 0]
  - [0, 1 + y + y**2, 0, 0]
"""


def test_blocks_that_move_together_each_have_their_own(tmp_path: Path) -> None:
    """A vector and a scalar in one piece, Delta of one sign and of the other."""
    of = split(tmp_path, BLOCKS, Selection(Q=(("x", "w"), ("y", "v")), H=("w", "v")))
    assert of.pieces[0].moved == ("x", "y")
    found = claim.flow(of)
    assert isinstance(found.decision, Proved), found.decision
    assert found.decision.by == "A: Riccati, entry by entry; second engine"


def rho(q: Fraction, s: Fraction) -> Callable[..., Tensor]:
    """Return rho with other multiples of q and s."""

    def wrong(c: Calculus, slope: Tensor, discriminant: Tensor, share: Fraction) -> Tensor:
        eps = c.atom(Component("eps"))
        inside = c.scale(c.multiply(discriminant, eps, eps), share * share * q / 4)
        turned = c.applied("sqrtcoth", inside)
        return c.applied("reciprocal", c.subtract(turned, c.scale(c.multiply(slope, eps), share * s / 2)))

    return wrong


FACTORS = {
    "q four times": rho(Fraction(4), Fraction(1)),
    "q of the other sign": rho(Fraction(-1), Fraction(1)),
    "q of half the time": rho(Fraction(1, 4), Fraction(1)),
    "s of the other sign": rho(Fraction(1), Fraction(-1)),
    "s twice": rho(Fraction(1), Fraction(2)),
    "no s": rho(Fraction(1), Fraction(0)),
    "no rho: Euler": lambda c, *_: c.constant(1),
}


@pytest.mark.parametrize("name", FACTORS)
def test_another_factor_is_refuted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    of = split(tmp_path)
    monkeypatch.setattr(riccati, "_rho", FACTORS[name])
    assert failed(claim.flow(of)) == "d E[z']/d eps - f(E[z']) of A/2"


def moved(change: Callable[[Calculus, Tensor], Tensor]) -> Callable[..., Any]:
    """Return changes with something else in the place of f."""
    right = Riccati.changes

    def wrong(self: Riccati, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        (found,) = right(self, derivation, piece, share)
        rate = tuple(x if x.is_zero else change(derivation.calculus, x) for x in found.rate)
        return (Change(found.moved, rate, found.two_D),)

    return wrong


RATES: dict[str, tuple[Callable[[Calculus, Tensor], Tensor], str]] = {
    "half of f": (lambda c, rate: c.scale(rate, Fraction(1, 2)), "d E[z']/d eps"),
    "f the other way": (lambda c, rate: c.scale(rate, -1), "d E[z']/d eps"),
    "f at twice x": (
        lambda c, rate: c.add(rate, c.multiply(rate, c.coordinate("x", *rate.free))),
        "d E[z']/d eps",
    ),
    "something at once": (
        lambda c, rate: c.add(rate, c.power(c.atom(Component("eps")), -1)),
        "z' - z at eps = 0",
    ),
}


@pytest.mark.parametrize("name", RATES)
def test_another_f_is_refuted(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change, fails = RATES[name]
    of = split(tmp_path)
    monkeypatch.setattr(Riccati, "changes", moved(change))
    assert failed(claim.flow(of)).startswith(fails)


NO_FLOW: dict[str, tuple[str, Selection, str]] = {
    "a coefficient that moves": (
        DYNAMICS.replace("G", "diag(x**3)"), A, "the drift of x is not a + b x + c x**2 with a, b, c frozen",
    ),
    "a coefficient that is moved beside": (
        DYNAMICS.replace("G", WHOLE), Selection(Q=None), "entries of x drift by others of w",
    ),
    "entries that depend on each other": (
        DYNAMICS.replace("G", "diag(x)*sum(x)"), A, "entries of x drift by others of x",
    ),
    "noise": (
        DYNAMICS.replace("G", WHOLE).replace("D: [[0, 0]", "D: [[I, 0]"), Selection(D=None, Q=(("x", "w"),), H=("w",)),
        "Riccati's equation has no noise",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_FLOW)
def test_what_is_not_riccati_has_no_flow(name: str, tmp_path: Path) -> None:
    text, piece, why = NO_FLOW[name]
    of = split(tmp_path, text, piece)
    with pytest.raises(ModelError) as raised:
        flow_of(of.derivation, of.pieces[0])
    assert why in raised.value.faults[0].problem
    assert "Riccati, entry by entry" in raised.value.faults[0].hint


@pytest.mark.parametrize("name", ["a coefficient that moves", "entries that depend on each other", "noise"])
def test_a_row_that_takes_it_nevertheless_is_refuted(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second engine finds what the first one would let pass."""
    text, piece, _ = NO_FLOW[name]
    of = split(tmp_path, text, piece)
    c = of.derivation.calculus

    def taken(derivation: Derivation, own: Piece, named: str = "") -> Riccati:
        slope = c.settled(c.diff(own.drift[0], c.coordinate("x", *own.drift[0].free).terms[0].factors[0][0]))
        zero = c.zero(*slope.free)
        return Riccati((slope, zero), (c.multiply(slope, slope), zero))

    monkeypatch.setattr(claim, "flow_of", taken)
    fails = "what is not linear in what moves" if name == "noise" else "d E[z']/d eps - f(E[z'])"
    assert failed(claim.flow(of)).startswith(fails)
