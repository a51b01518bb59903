"""Wrong flows, planted, fail by name; wrong words and pieces do in `tests/documents/mutants/steps.yaml`."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from loaders import load_build
from reports import only

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.errors import VerificationError
from recipe_compiler.formula.transforms import Family, Transform
from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.check import check
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.spec.words import Letter
from recipe_compiler.splitting import transformed
from recipe_compiler.splitting.entrywise import Entrywise
from recipe_compiler.splitting.flow import Change
from recipe_compiler.splitting.flow_table import flow_of
from recipe_compiler.splitting.implicit import Midpoint
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.transformed import Transformed
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Finding, Refuted, Report, Undecided, Verdict
from recipe_compiler.verify.steps import pieces

HERE = Path(__file__).parent
BAOAB = HERE.parents[2] / "specs/builds/sghmc_double_well_baoab.yaml"
BADODAB = HERE.parents[2] / "specs/builds/sgnht_gaussian_badodab.yaml"
FRICTION = HERE.parents[2] / "specs/builds/sghmc_lognormal_friction_gaussian.yaml"
ROOT = HERE.parents[2] / "specs/builds/sgrhmc_inverse_gaussian_baoab.yaml"
METRIC = HERE.parents[2] / "specs/builds/gsgrhmc_gaussian_baoab.yaml"


def finding(found: Report, claim: str) -> Finding:
    return next(f for f in found.findings if f.id == claim)


def decided(path: Path, claim: str) -> Report:
    """Return the verdict on one claim about a build, with the fault that a test has planted."""
    with only(claim):
        return check(load_build(path))


def refuted(found: Report, claim: str) -> Refuted:
    decision = finding(found, claim).decision
    assert isinstance(decision, Refuted), decision
    return decision


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "claim"), [("missing_half_kick", "pieces"), ("gamma_twice", "pieces"), ("noise_backwards", "flow")]
)
def test_no_module_is_made_of_it(name: str, claim: str) -> None:
    with pytest.raises(VerificationError, match=f"{claim} is refuted"):
        compile_build(load_build(HERE / f"{name}.yaml"))


def without_phi(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
    """Euler's noise 2 D eps, at an exact decay."""
    c = derivation.calculus
    return replace(change, two_D=tuple(tuple(c.scale(x, 2 * share) for x in row) for row in piece.D))


def noise_of_half_the_time(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
    """Variance 2 (1 - c) for 1 - c**2."""
    flow = Entrywise("", decays(derivation, piece))
    c, half = derivation.calculus, flow.changes(derivation, piece, share / 2)[0].two_D
    return replace(change, two_D=tuple(tuple(c.scale(x, 2) for x in row) for row in half))


def decay_twice(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
    """z E**2 for z E: the change of twice the time."""
    return replace(change, rate=Entrywise("", decays(derivation, piece)).changes(derivation, piece, 2 * share)[0].rate)


def decays(derivation: Derivation, piece: Piece) -> tuple:
    found = flow_of(derivation, piece)
    assert isinstance(found, Entrywise)
    return found.decay


def half_a_kick(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
    c = derivation.calculus
    return replace(change, rate=tuple(c.scale(f, Fraction(1, 2)) for f in change.rate)) if piece.name == "B" else change


FLOWS: dict[str, tuple[Callable[..., Change], str]] = {
    "Euler's noise at an exact decay": (without_phi, "d Cov[z']/d eps"),
    "variance 2 (1 - c)": (noise_of_half_the_time, "d Cov[z']/d eps"),
    "E twice": (decay_twice, "d E[z']/d eps"),
    "half a kick": (half_a_kick, "d E[z']/d eps"),
}


@pytest.mark.parametrize("build", [BAOAB, BADODAB], ids=lambda path: path.stem)
@pytest.mark.parametrize("name", FLOWS)
def test_a_flow_that_is_none_is_refuted(name: str, build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, fails = FLOWS[name]
    changes = Entrywise.changes

    def wrong(self: Entrywise, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        (found,) = changes(self, derivation, piece, share)
        monkeypatch.setattr(Entrywise, "changes", changes)
        try:
            return (mutant(found, derivation, piece, share) if piece.is_noisy or mutant is half_a_kick else found,)
        finally:
            monkeypatch.setattr(Entrywise, "changes", wrong)

    monkeypatch.setattr(Entrywise, "changes", wrong)
    found = decided(build, "flow")
    decision = refuted(found, "flow")
    assert decision.witness[-1][0].startswith(fails)
    assert dict(decision.witness)["eps"]
    assert found.verdict is Verdict.REFUTED


def law_of_x(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
    """The noise 2 D of x for that of log x."""
    c = derivation.calculus
    return replace(change, two_D=tuple(tuple(c.scale(x, 2 * share) for x in row) for row in piece.D))


def of_logarithm(mutant: Callable[..., Change]) -> Callable[..., Change]:
    """Return what a mutant of flows of coordinates makes of that of a logarithm."""

    def wrong(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
        own = flow_of(derivation, piece)
        assert isinstance(own, Transformed)
        plain = replace(change, transforms={})
        return replace(mutant(plain, derivation, own.piece, share), transforms=change.transforms)

    return wrong


def decay_of_x(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
    """E**2 for E in the mean of log x."""
    own = flow_of(derivation, piece)
    assert isinstance(own, Transformed)
    return replace(change, rate=own.flow.changes(derivation, own.piece, 2 * share)[0].rate)


def noise_over_half(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
    """Variance 2 v (1 - e) for v (1 - e**2)."""
    own = flow_of(derivation, piece)
    assert isinstance(own, Transformed)
    c, half = derivation.calculus, own.flow.changes(derivation, own.piece, share / 2)[0].two_D
    return replace(change, two_D=tuple(tuple(c.scale(x, 2) for x in row) for row in half))


def half_a_drift(change: Change, derivation: Derivation, piece: Piece, share: Fraction) -> Change:
    c = derivation.calculus
    return replace(change, rate=tuple(c.scale(f, Fraction(1, 2)) for f in change.rate))


TRANSFORMED: dict[str, tuple[Callable[..., Change], str]] = {
    "Euler's noise of the logarithm": (of_logarithm(without_phi), "d Cov[T(z)']/d eps"),
    "variance 2 v (1 - e)": (noise_over_half, "d Cov[T(z)']/d eps"),
    "the noise of x": (law_of_x, "d Cov[T(z)']/d eps"),
    "E twice": (decay_of_x, "d E[T(z)']/d eps"),
    "half a drift": (half_a_drift, "d E[T(z)']/d eps"),
    "x for its logarithm": (lambda change, *_: replace(change, transforms={}), "what is not linear in what moves"),
    "a root for the logarithm": (
        lambda change, *_: replace(change, transforms={"x": Transform(Family.POWER, Fraction(1, 2))}),
        "what is not linear in what moves",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMED)
def test_a_lognormal_flow_that_is_none_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, fails = TRANSFORMED[name]
    changes = Transformed.changes

    def wrong(self: Transformed, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        (found,) = changes(self, derivation, piece, share)
        monkeypatch.setattr(Transformed, "changes", changes)
        try:
            return (mutant(found, derivation, piece, share),)
        finally:
            monkeypatch.setattr(Transformed, "changes", wrong)

    monkeypatch.setattr(Transformed, "changes", wrong)
    decision = refuted(decided(FRICTION, "flow"), "flow")
    assert decision.witness[-1][0].startswith(fails)
    assert decision.witness[-1][0].endswith("of X/2")


@pytest.mark.parametrize("sign", [0, -1], ids=["lost", "of the other sign"])
def test_a_wrong_term_of_ito_is_refuted(sign: int, monkeypatch: pytest.MonkeyPatch) -> None:
    slopes = transformed._slopes

    def wrong(c: Calculus, transform: Transform, z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        T, first, second = slopes(c, transform, z)
        return T, first, c.scale(second, sign)

    monkeypatch.setattr(transformed, "_slopes", wrong)
    found = decided(FRICTION, "flow")
    decision = refuted(found, "flow")
    assert decision.witness[-1][0] == "d E[T(z)']/d eps - f(E[T(z)']) of X/2"
    assert found.verdict is Verdict.REFUTED


ROOTS: dict[str, tuple[Callable[..., Change], str]] = {
    "half a drift": (half_a_drift, "d E[T(z)']/d eps"),
    "the other way": (
        lambda change, derivation, *_: replace(
            change, rate=tuple(derivation.calculus.scale(f, -1) for f in change.rate)
        ),
        "d E[T(z)']/d eps",
    ),
    "the drift of theta": (
        lambda change, derivation, piece, share: replace(
            change, rate=tuple(derivation.calculus.scale(f, share) for f in piece.drift)
        ),
        "d E[T(z)']/d eps",
    ),
    "another power": (
        lambda change, *_: replace(change, transforms={"theta": Transform(Family.POWER, Fraction(1, 3))}),
        "what is not linear in what moves",
    ),
    "no root": (lambda change, *_: replace(change, transforms={}), "d E[z']/d eps"),
}  # fmt: skip


@pytest.mark.parametrize("name", ROOTS)
def test_a_flow_of_a_root_that_is_none_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, fails = ROOTS[name]
    changes = Transformed.changes

    def wrong(self: Transformed, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        (found,) = changes(self, derivation, piece, share)
        return (mutant(found, derivation, piece, share),)

    monkeypatch.setattr(Transformed, "changes", wrong)
    decision = refuted(decided(ROOT, "flow"), "flow")
    assert decision.witness[-1][0].startswith(fails)
    assert decision.witness[-1][0].endswith("of A/2")


def doubled(tensor: Tensor) -> Tensor:
    return replace(tensor, terms=tuple(replace(term, coefficient=2 * term.coefficient) for term in tensor.terms))


@pytest.mark.parametrize(
    ("mutant", "fails"),
    [
        (lambda own: (own[0], replace(own[1], rate=tuple(map(doubled, own[1].rate)))), "the halves of the drift"),
        (lambda own: own[:1], "the halves of the drift"),
        (lambda own: (own[0], replace(own[1], two_D=own[0].two_D)), "the noise"),
    ],
    ids=["a whole step for a half", "one half alone", "noise twice"],
)
def test_a_midpoint_that_is_none_is_refuted(mutant, fails: str, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = Midpoint.changes

    def wrong(self: Midpoint, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        found = changes(self, derivation, piece, share)
        return mutant(found) if piece.is_noisy else found

    monkeypatch.setattr(Midpoint, "changes", wrong)
    decision = refuted(decided(METRIC, "flow"), "flow")
    assert decision.witness[-1][0].startswith(fails)


def test_a_wrong_share_in_a_named_word_refutes_a_shipped_build(monkeypatch: pytest.MonkeyPatch) -> None:
    scheme = named_scheme("baoab")
    first, *others = scheme.split
    assert isinstance(first, Letter)
    wrong = replace(scheme, split=(replace(first, share=Fraction(1, 3)), *others))
    monkeypatch.setattr("recipe_compiler.spec.read_word.named_scheme", lambda _: wrong)
    found = decided(BAOAB, "pieces")
    assert dict(refuted(found, "pieces").witness)["share of B in the step"] == "5/6"
    assert found.verdict is Verdict.REFUTED


def test_a_fault_in_the_count_of_shares_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "shares", lambda word: dict.fromkeys("ABO", Fraction(1)))
    found = decided(HERE / "missing_half_kick.yaml", "pieces")
    open_ = finding(found, "pieces").decision
    assert isinstance(open_, Undecided)
    assert "the engines disagree on f[r] less the sum of the pieces" in open_.tried[0]
