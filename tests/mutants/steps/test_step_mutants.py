"""Wrong flows, planted, fail by name; wrong words and pieces do in `tests/documents/mutants/steps.yaml`."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pytest
from answers import ROOT, SPECS, answer, document, expect, split

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.spec.model import Selection
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.splitting import riccati, transformed
from recipe_compiler.splitting.flow import Change, Flow
from recipe_compiler.splitting.flow_table import find_flow
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Component, Tensor
from recipe_compiler.verify.steps import flow as claim
from recipe_compiler.verify.steps import pieces
from recipe_compiler.verify.steps.split import Split

BAOAB, BADODAB, FRICTION, POWER, METRIC = (
    SPECS / f"builds/{name}.yaml"
    for name in ("sghmc_double_well_baoab", "sgnht_gaussian_badodab", "sghmc_lognormal_friction_gaussian",
                 "sgrhmc_inverse_gaussian_baoab", "gsgrhmc_gaussian_baoab")
)  # fmt: skip
QUADRATIC = """
state: {x: {shape: d}, w: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}, p: {shape: d}}
functions: {U: {of: x, role: potential}}
H: U(x) + w.T @ inv(M) @ w/2
D: [[0, 0], [0, 0]]
Q: [[0, -G], [G.T, 0]]
"""
WHOLE = "diag(p - 2*x + 3*x**2)"
OF_RICCATI = QUADRATIC.replace("G", WHOLE)
A = Selection(Q=(("x", "w"),), H=("w",))


@dataclass(frozen=True)
class Right:
    """What the flow of a piece does in a share of the step, and in other shares."""

    changes: Sequence[Change]
    at: Callable[[Fraction], Sequence[Change]]
    c: Calculus
    piece: Piece
    share: Fraction
    inner: Piece
    """The piece in the coordinates that it is affine in."""

    def rate(self, change: Callable[[Tensor], Tensor]) -> list[Change]:
        """Return it with another rate where there is one."""
        (found,) = self.changes
        return [replace(found, rate=tuple(f if f.is_zero else change(f) for f in found.rate))]

    def noise(self, two_D: Sequence[Sequence[Tensor]], k: Fraction | int) -> list[Change]:
        """Return it with a multiple of another covariance."""
        scaled = tuple(tuple(self.c.scale(x, k) for x in row) for row in two_D)
        return [replace(self.changes[0], two_D=scaled)]

    def transform(self, **transforms: Transform) -> list[Change]:
        return [replace(self.changes[0], transforms=transforms)]

    def second(self, **parts: Any) -> list[Change]:
        """Return two halves of which the second has other parts."""
        return [self.changes[0], replace(self.changes[1], **parts)]


Wrong = Callable[[Right], Sequence[Change]]


def plant(monkeypatch: pytest.MonkeyPatch, letter: str, wrong: Wrong) -> None:
    """Let the flow of a piece be a wrong one; what the wrong one is made of is right."""

    def planted(derivation: Derivation, piece: Piece, named: str = "") -> Flow:
        flow = find_flow(derivation, piece, named)
        inner = next((own for own in getattr(flow.changes, "args", ()) if isinstance(own, Piece)), piece)

        def changes(derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
            at = lambda s: flow.changes(derivation, piece, s)  # noqa: E731
            return tuple(wrong(Right(at(share), at, derivation.calculus, piece, share, inner)))

        return replace(flow, changes=changes) if piece.name == letter else flow

    monkeypatch.setattr(claim, "find_flow", planted)


def half_a_rate(of: Right) -> Sequence[Change]:
    return of.rate(lambda f: of.c.scale(f, Fraction(1, 2)))


def power(n: int) -> Transform:
    return Transform(Family.POWER, Fraction(1, n))


TWICE_THE_TIME: Wrong = lambda of: [replace(of.changes[0], rate=of.at(2 * of.share)[0].rate)]  # noqa: E731
OF_THE_NOISE: dict[str, tuple[Wrong, str]] = {
    "Euler's noise 2 D eps at an exact decay": (lambda of: of.noise(of.inner.D, 2 * of.share), "Cov"),
    "variance 2 (1 - c) for 1 - c**2": (lambda of: of.noise(of.at(of.share / 2)[0].two_D, 2), "Cov"),
    "the change of twice the time": (TWICE_THE_TIME, "E"),
}  # fmt: skip
MEAN = {"x": "d E[z']/d eps", "T": "d E[T(z)']/d eps"}
NOT_LINEAR = "the part that is not linear in the moved blocks"
WRONG: list[tuple[Any, str, str, Wrong, str]] = [
    *((BAOAB, "O", fault, wrong, f"d {of}[z']/d eps") for fault, (wrong, of) in OF_THE_NOISE.items()),
    (BADODAB, "O", "the change of twice the time", TWICE_THE_TIME, MEAN["x"]),
    (BAOAB, "B", "half a kick", half_a_rate, MEAN["x"]),
    *((FRICTION, "X", fault, wrong, f"d {of}[T(z)']/d eps")
      for fault, (wrong, of) in OF_THE_NOISE.items()),
    (FRICTION, "X", "the noise of x", lambda of: of.noise(of.piece.D, 2 * of.share), "d Cov[T(z)']/d"),
    (FRICTION, "X", "half a drift", half_a_rate, MEAN["T"]),
    (FRICTION, "X", "x for its logarithm", lambda of: of.transform(), NOT_LINEAR),
    (FRICTION, "X", "a root for it", lambda of: of.transform(x=power(2)), NOT_LINEAR),
    (POWER, "A", "half a drift", half_a_rate, MEAN["T"]),
    (POWER, "A", "the drift of theta",
     lambda of: [replace(of.changes[0], rate=tuple(of.c.scale(f, of.share) for f in of.piece.drift))], MEAN["T"]),
    (POWER, "A", "another power", lambda of: of.transform(theta=power(3)), NOT_LINEAR),
    (POWER, "A", "no root", lambda of: of.transform(), MEAN["x"]),
    (METRIC, "O", "a whole step for a half",
     lambda of: of.second(rate=tuple(of.c.scale(f, 2) for f in of.changes[1].rate)), "the halves of the drift"),
    (METRIC, "O", "one half alone", lambda of: of.changes[:1], "the halves of the drift"),
    (METRIC, "O", "noise twice", lambda of: of.second(two_D=of.changes[0].two_D), "the noise"),
    (None, "A", "half of f", half_a_rate, MEAN["x"]),
    (None, "A", "f at twice x",
     lambda of: of.rate(lambda f: of.c.add(f, of.c.multiply(f, of.c.coordinate("x", *f.free)))), MEAN["x"]),
    (None, "A", "something at once",
     lambda of: of.rate(lambda f: of.c.add(f, of.c.power(of.c.atom(Component("eps")), -1))), "z' - z at eps = 0"),
]  # fmt: skip


def of_a_piece(text: str = OF_RICCATI, piece: Selection = A) -> Split:
    return split(document(text), "A/2 A/2", pieces=(("A", (piece,)),))


def refuted(asked: Any) -> str:
    """Return the residual that refutes the flow of a build, or of a piece, at a step size of its witness."""
    found = claim.flow(asked) if isinstance(asked, Split) else answer(document(asked), "flow")
    witness = expect(found, "refuted")
    assert witness["eps"]
    return [*witness][-1]


@pytest.mark.parametrize(
    ("build", "letter", "wrong", "fails"), [(*row[:2], *row[3:]) for row in WRONG],
    ids=[f"{getattr(row[0], 'stem', 'quadratic')}, {row[1]}: {row[2]}" for row in WRONG],
)  # fmt: skip
def test_a_flow_that_is_none_is_refuted(
    build: Any, letter: str, wrong: Wrong, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = build or of_a_piece()
    plant(monkeypatch, letter, wrong)
    label = refuted(asked)
    assert label.startswith(fails)
    if build is not METRIC:
        assert label.rpartition(" of ")[2].partition("/")[0] == letter


@pytest.mark.parametrize("sign", [0, -1], ids=["lost", "of the other sign"])
def test_a_wrong_term_of_ito_is_refuted(sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    slopes = transformed._write_slopes

    def wrong(c: Calculus, transform: Transform, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        T, first, second = slopes(c, transform, z)
        return T, first, c.scale(second, sign)

    monkeypatch.setattr(transformed, "_write_slopes", wrong)
    assert refuted(FRICTION) == "d E[T(z)']/d eps - f(E[T(z)']) of X/2"


def rho(q: Fraction | int, s: int) -> Callable[..., Tensor]:
    """Return the factor of Riccati's flow with other multiples of q and s."""

    def wrong(c: Calculus, slope: Tensor, discriminant: Tensor, share: Fraction) -> Tensor:
        eps = c.atom(Component("eps"))
        turned = c.applied("sqrtcoth", c.scale(c.multiply(discriminant, eps, eps), share * share * q / 4))
        return c.applied("reciprocal", c.subtract(turned, c.scale(c.multiply(slope, eps), share * s / 2)))

    return wrong


FACTORS = {
    **{f"q by {q}, s by {s}": rho(q, s) for q, s in ((4, 1), (-1, 1), (1, -1), (1, 0))},
    "no factor: Euler": lambda c, *_: c.constant(1),
}


@pytest.mark.parametrize("name", FACTORS)
def test_another_factor_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = of_a_piece()
    monkeypatch.setattr(riccati, "_write_rho", FACTORS[name])
    assert refuted(asked) == "d E[z']/d eps - f(E[z']) of A/2"


BLOCKS = """
state: {x: {shape: d}, y: {}, w: {shape: d}, v: {}}
parameters: {p: {shape: d}}
functions: {U: {of: x, role: potential}}
H: U(x) + y**2/2 + w.T @ w/2 + v**2/2
D: [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
Q: [[0, 0, -diag(p - x**2), 0], [0, 0, 0, -(1 + y + y**2)], [diag(p - x**2), 0, 0, 0], [0, 1 + y + y**2, 0, 0]]
"""
"""A vector and a scalar in one piece, Delta of one sign and of the other."""


@pytest.mark.parametrize(
    ("text", "piece", "moved"),
    [
        pytest.param(OF_RICCATI, A, ("x",), marks=pytest.mark.slow),
        (BLOCKS, Selection(Q=(("x", "w"), ("y", "v")), H=("w", "v")), ("x", "y")),
    ],
    ids=["alone", "blocks together"],
)
def test_the_flow_of_riccati_is_shown_at_three_sizes(text: str, piece: Selection, moved: tuple[str, ...]) -> None:
    asked = of_a_piece(text, piece)
    found = claim.flow(asked)
    expect(found, "proved", "A: Riccati, entry by entry; second engine")
    assert asked.pieces[0].moved == moved
    assert [dict(sizes)["d"] for sizes in found.checked_at] == [1, 2, 3]


NO_FLOW = {
    "a coefficient that moves": ("diag(x**3)", A, "the drift of x is not a + b x + c x**2 with a, b, c frozen"),
    "entries that depend on each other": ("diag(x)*sum(x)", A, "entries of x drift by others of x"),
    "noise": (WHOLE, Selection(D=None, Q=(("x", "w"),), H=("w",)), "Riccati's equation has no noise"),
    "a coefficient that is moved beside": (WHOLE, Selection(Q=None), "entries of x drift by others of w"),
}


@pytest.mark.parametrize("name", NO_FLOW)
def test_what_is_not_riccati_has_no_flow_and_is_refuted_where_a_row_takes_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second engine finds what the first one would let pass."""
    G, piece, why = NO_FLOW[name]
    text = QUADRATIC.replace("G", G)
    asked = of_a_piece(text.replace("D: [[0, 0]", "D: [[I, 0]") if name == "noise" else text, piece)
    with pytest.raises(ModelError) as raised:
        find_flow(asked.derivation, asked.pieces[0])
    assert why in raised.value.faults[0].problem
    assert "Riccati, entry by entry" in raised.value.faults[0].hint
    if name == "a coefficient that is moved beside":
        return
    c = asked.derivation.calculus

    def taken(derivation: Derivation, own: Piece, named: str = "") -> Flow:
        slope = c.settled(c.diff(own.drift[0], c.coordinate("x", *own.drift[0].free).terms[0].factors[0][0]))
        zero = c.zero(*slope.free)
        return riccati.riccati_flow((slope, zero), (c.multiply(slope, slope), zero))

    monkeypatch.setattr(claim, "find_flow", taken)
    assert refuted(asked).startswith(NOT_LINEAR if name == "noise" else "d E[z']/d eps - f(E[z'])")


def test_a_wrong_share_in_a_named_word_refutes_a_shipped_build(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = named_scheme("baoab")
    first, *others = scheme.split
    wrong = replace(scheme, split=(replace(first, share=Fraction(1, 3)), *others))
    monkeypatch.setattr("recipe_compiler.spec.read_scheme.named_scheme", lambda _: wrong)
    assert expect(answer(document(BAOAB), "pieces"), "refuted")["share of B in the step"] == "5/6"


def test_a_fault_in_the_count_of_shares_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "sum_shares", lambda word: dict.fromkeys("ABO", Fraction(1)))
    build = document(ROOT / "tests/mutants/steps/missing_half_kick.yaml")
    expect(answer(build, "pieces"), "undecided", "the engines disagree on f[r] minus the sum of the pieces")
