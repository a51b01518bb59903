"""A Q that is not skew, a D that is not symmetric: of two places that do not mirror each other, one is changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from recipe_compiler.ansatz.simplify import simplest, tensor_of
from recipe_compiler.derive.stationarity import skewness_defect, symmetry_defect
from recipe_compiler.explain.changes import CURL, NOISE, Change
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.block_matrices import Matrix, place_shape
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verify.core.subject import Subject

MAX_PAIRS = 4


@dataclass(frozen=True, slots=True)
class _Option:
    """One place with a new formula."""

    entry: str
    new: Formula
    says: str


def mirrored(subject: Subject) -> Iterator[Change]:
    """Yield the changes that make Q skew and D symmetric, by setting one of each pair of places that do not match.

    Q_ba = -Q_ab.T or D_ba = D_ab.T, [n_b, n_a], either place by the other; a diagonal place by its half (Q - Q.T)/2 or
    (D + D.T)/2, 0 of a scalar Q_aa. Q = [[0, -I], [K, 0]] gives Q[r,theta] = I, or Q[theta,r] = -K.T. (Ma, Chen, Fox
    2015, Theorem 1, asks for both.)
    """
    derivation = subject.derivation
    if derivation is None:
        return
    dynamics = subject.dynamics
    options: list[list[_Option]] = []
    if dynamics.Q is not None:
        options += _options(dynamics, "Q", dynamics.Q, skewness_defect(derivation), -1)
    if dynamics.D is not None:
        options += _options(dynamics, "D", dynamics.D, symmetry_defect(derivation), 1)
    elif dynamics.claims.diffusion is not None:
        options += _options(dynamics, "claims.diffusion", dynamics.claims.diffusion, symmetry_defect(derivation), 1)
    if not options or len(options) > MAX_PAIRS:
        return
    for chosen in product(*options):
        rank = CURL if any(option.entry.startswith("Q[") for option in chosen) else NOISE
        says = ", and ".join(option.says for option in chosen)
        yield Change(rank, len(chosen), says, tuple((option.entry, option.new) for option in chosen))


def _options(
    dynamics: Dynamics, name: str, matrix: Matrix, defect: tuple[tuple[Tensor, ...], ...], sign: int
) -> list[list[_Option]]:
    """Return, for each pair of places that do not mirror each other, the ways to set one of them."""
    blocks = dynamics.declarations.blocks
    found: list[list[_Option]] = []
    for a, row in enumerate(blocks):
        for b, col in enumerate(blocks[a:], start=a):
            if defect[a][b].is_zero:
                continue
            here, there = f"{name}[{row.name},{col.name}]", f"{name}[{col.name},{row.name}]"
            if a == b:
                half = _half(matrix[a][a], sign)
                new = zero(place_shape(row, row)) if half is None else simplest(half, dynamics.declarations)
                found.append([_Option(here, new, f"take {text(new)} for {here}")])
                continue
            found.append(
                [
                    _option(dynamics, there, matrix[b][a], _mirror(matrix[a][b], sign)),
                    _option(dynamics, here, matrix[a][b], _mirror(matrix[b][a], sign)),
                ]
            )
    return found


def _option(dynamics: Dynamics, entry: str, old: Formula, new: Formula) -> _Option:
    declarations = dynamics.declarations
    c = calculus(declarations)
    simple = simplest(new, declarations)
    flipped = c.is_zero(c.add(tensor_of(old, declarations), tensor_of(simple, declarations)))
    says = f"flip the sign of {entry}" if flipped else f"take {text(simple)} for {entry}"
    return _Option(entry, simple, says)


def _mirror(formula: Formula, sign: int) -> Formula:
    transposed = build.transpose(formula)
    return transposed if sign > 0 else build.negate(transposed)


def _half(formula: Formula, sign: int) -> Formula | None:
    """Return the symmetric or skew part of a square place, None for the skew part of a scalar."""
    if not formula.shape.sizes:
        return None
    whole = build.add((formula, _mirror(formula, sign)), formula.shape)
    return build.multiply(ex.Number(Fraction(1, 2)), whole, formula.shape)
