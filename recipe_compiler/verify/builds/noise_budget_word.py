"""What the letters of a word give up for noise of the gradient, at the exact values of a build: is it there?

A letter of O adds Sigma = int_0^t exp(-u F) 2D exp(-u F)^T du over a time t, and gives up eps^2 B_hat
(`splitting/gradient_noise.py`). F, D and B are rational, E and Sigma balls around real numbers (Arb; Johansson 2017):
the exponential of t [[F, 2D], [0, -F^T]] holds E^T below and E^-1 Sigma on the right (Van Loan 1978). The sign of a
ball that does not hold 0 is proved; the largest step is between two at which the signs differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import sympy
from flint import arb, arb_mat, ctx, fmpq

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.splitting.gradient_noise import GivenUp, Subtraction, format_given_up
from recipe_compiler.tensor.atoms import indices
from recipe_compiler.tensor.diagonal import diagonal
from recipe_compiler.tensor.scalars import Scalar, scalarise
from recipe_compiler.tensor.terms import Atom, Component, Index, Tensor
from recipe_compiler.verdict import Decision, Evidence, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.noise_budget_exact import NotExactError
from recipe_compiler.verify.core.build_values import evaluate_exactly, find_known_sizes

Rational = tuple[tuple[Fraction, ...], ...]
CLOSE = Fraction(10001, 10000)
"""How near to each other the steps are that hold and that do not."""
DIRECTION = 10**6
"""The denominators of a direction in which a matrix is negative."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """F, D and B at the values of a build; of multiples of the identity, of any size, the multiples alone."""

    F: Rational
    D: Rational
    B: Rational
    of_any_size: bool

    @property
    def diagonal(self) -> bool:
        """Whether no coordinate touches another."""
        n = range(len(self.F))
        return all(M[i][j] == 0 for M in (self.F, self.D, self.B) for i in n for j in n if i != j)


def decide_word_at(found: Subtraction, build: Build, bound: Dynamics, eps: Fraction) -> Decision:
    """Decide that every letter of O has the noise that it gives up for the gradient's noise, at a step size.

    Sigma - eps**2 B_hat >= 0 for each letter, Sigma = int_0^t exp(-u F) 2D exp(-u F).T du (Van Loan 1978), in ball
    arithmetic (Johansson 2017). BAOAB with r' = -r, noise 2 and V = v I: 1 - E**2 >= eps**2 (1 + E)**2 v/4, E =
    exp(-eps), that is v <= 4 tanh(eps/2)/eps**2.

    Args:
        found: what the letters give up.
        build: a word, and the values of parameters.
        bound: its dynamics.
        eps: the step size.
    """
    try:
        numbers = _read_numbers(found, _Values(build, bound, find_known_sizes(build, bound)))
    except NotExactError as reason:
        why = (f"at exact values: {reason}", "the emitted module rejects a step that subtracts more, before its first")
        return Undecided(why)
    holds = _is_noise_enough(numbers, found, eps)
    if holds is None:
        return Undecided((f"at exact values: no sign was found with {limits.MOST_BITS} bits",))
    limit, words = _format_bracket(numbers, found, eps, holds=holds)
    says = format_given_up(build.scheme, found)
    names = f"{found.block}{' (times I)' if numbers.of_any_size else ''}"
    if holds:
        return Proved(f"exact values: {says}{words}", (), (("eps", str(eps)), *limit))
    shown = _find_negative_direction(numbers, found, eps)
    residual = f"{says}: it subtracts more noise of {names} than there is{words}"
    return Refuted("exact values", (("eps", str(eps)), *shown, *limit), residual)


def _format_bracket(numbers: Numbers, found: Subtraction, eps: Fraction, *, holds: bool) -> tuple[Evidence, str]:
    """Return two close step sizes, one that holds and one that fails, for a table and for a sentence."""
    pair = (
        _bracket_largest_step(lambda step: _is_noise_enough(numbers, found, step), eps, holds=holds)
        if _is_small_enough(numbers)
        else None
    )
    if pair is None:
        return (), ""
    good, bad = pair
    return (("holds at", str(good)), ("fails at", str(bad))), f"; it holds at eps = {good}, and not at {bad}"


def _is_small_enough(numbers: Numbers) -> bool:
    return numbers.diagonal or len(numbers.F) <= limits.DEGREE


def _bracket_largest_step(
    test: Callable[[Fraction], bool | None], start: Fraction, *, holds: bool
) -> tuple[Fraction, Fraction] | None:
    """Return a step at which a test holds and one at which it fails, within `CLOSE`; None where none is found."""
    good, bad = start, start
    for _ in range(limits.CANDIDATES):
        if holds:
            good, bad = bad, 2 * bad
        else:
            good, bad = good / 2, good
        found = test(bad if holds else good)
        if found is not holds:
            break
    else:
        return None
    while found is not None and bad > good * CLOSE:
        middle = Fraction(f"{float((good + bad) / 2):.6g}")
        if not good < middle < bad:
            break
        found = test(middle)
        good, bad = (middle, bad) if found else (good, middle) if found is False else (good, bad)
    return None if found is None else (good, bad)


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of parameters and sizes of a build."""

    build: Build
    bound: Dynamics
    sizes: Sizes
    rows: dict[str, Rational | None] = field(default_factory=dict[str, "Rational | None"])
    """Parameters that were read."""

    def entry(self, tensor: Tensor, at: Mapping[Index, int]) -> Fraction:
        """Return an entry of a tensor. Raises NotExactError where that is not known, or no rational number."""
        try:
            value = scalarise(tensor, self.sizes, at, self._read_leaf)
        except (CompilerError, KeyError) as reason:
            raise NotExactError(str(reason)) from None
        if not isinstance(value, sympy.Rational):
            raise NotExactError(f"{value} is not a rational number")
        return Fraction(int(value.p), int(value.q))

    def _read_leaf(self, atom: Atom) -> Scalar | None:
        """Return the ball of an atom: a value of the build or the step size."""
        if not isinstance(atom, Component):
            return None
        parameter = self.bound.declarations.find(atom.name)
        shape = parameter.shape if isinstance(parameter, Parameter) else None
        if atom.name not in self.rows and shape is not None:
            self.rows[atom.name] = evaluate_exactly(Symbol(atom.name, shape, Role.PARAMETER), self.build)
        if (known := self.rows.get(atom.name)) is None:
            raise NotExactError(f"{atom.name} is not known")
        i, j = (*(k for k in atom.at if isinstance(k, int)), 0, 0)[:2]
        return rational(known[i][j])


def _read_numbers(found: Subtraction, values: _Values) -> Numbers:
    """Return F, D and B as numbers.

    Raises:
        NotExactError: a size or an entry is not known, or is no rational number.
    """
    tensors = (found.F, found.D, found.B)
    scalars = [_read_multiple(tensor) for tensor in tensors]
    known = [one for one in scalars if one is not None]
    if len(known) == len(tensors):
        F, D, B = (((values.entry(one, {}),),) for one in known)
        return Numbers(F, D, B, of_any_size=bool(found.F.free))
    (block,) = (block for block in values.bound.declarations.blocks if block.name == found.block)
    missing = [size for size in block.shape.sizes if isinstance(size, str) and size not in values.sizes]
    if missing:
        raise NotExactError(f"the size {missing[0]} is not known before the data are read")
    count = next((values.sizes[size] if isinstance(size, str) else size for size in block.shape.sizes), 1)
    if count > limits.ROWS:
        raise NotExactError(f"{count} coordinates, more than {limits.ROWS}")
    numbers = Numbers(*(_read_matrix(tensor, count, values) for tensor in tensors), of_any_size=False)
    if any(tuple(zip(*M, strict=True)) != M for M in (numbers.D, numbers.B)):
        raise NotExactError("D or V is not symmetric")
    return numbers


def _read_multiple(tensor: Tensor) -> Tensor | None:
    """Return c of a tensor c delta[i,j], or of a scalar; None of any other."""
    if not tensor.free:
        return tensor
    row, col = (next(index for index in tensor.free if index.label == label) for label in "ij")
    own = diagonal(tensor, row, col)
    if own is None or any(row in indices(term.factors) for term in own.terms):
        return None
    return Tensor((), own.terms)


def _read_matrix(tensor: Tensor, count: int, values: _Values) -> Rational:
    def at(i: int, j: int) -> dict[Index, int]:
        return {index: i if index.label == "i" else j for index in tensor.free}

    n = range(count)
    return tuple(tuple(values.entry(tensor, at(i, j)) for j in n) for i in n)


def _is_noise_enough(numbers: Numbers, found: Subtraction, eps: Fraction) -> bool | None:
    """Whether the remaining noise of every letter is positive semidefinite; None where no sign is found."""
    for bits in (limits.BITS, limits.MOST_BITS):
        with ctx.workprec(bits):
            signs = {_is_semidefinite(A) for A in _list_remainders(numbers, found.given_up, eps)}
        if False in signs:
            return False
        if None not in signs:
            return True
    return None


def _list_remainders(numbers: Numbers, own: GivenUp, eps: Fraction) -> list[arb_mat]:
    """Return Sigma - eps^2 B_hat of a letter: a matrix, or numbers if the coordinates are uncoupled."""
    if numbers.diagonal:
        parts = [[((M[k][k],),) for M in (numbers.F, numbers.D, numbers.B)] for k in range(len(numbers.F))]
        return [_compute_remainder(F, D, B, own, eps) for F, D, B in parts]
    return [_compute_remainder(numbers.F, numbers.D, numbers.B, own, eps)]


def _compute_remainder(F: Rational, D: Rational, B: Rational, own: GivenUp, eps: Fraction) -> arb_mat:
    left = _enclose_covariance(F, D, own.share * eps)
    V = _to_balls(B)
    for response in own.responses:
        powers = ((_to_balls(F) * _to_ball(-o * eps)).exp() * _to_ball(c) for o, c in response.items())
        K = sum(powers, arb_mat(len(F), len(F)))
        left -= K * V * K.transpose() * _to_ball(eps**2)
    return left


def _enclose_covariance(F: Rational, D: Rational, t: Fraction) -> arb_mat:
    """Return int_0^t exp(-u F) 2D exp(-u F)^T du, by the exponential of t [[F, 2D], [0, -F^T]]."""
    n = range(len(F))
    rows = [[*F[i], *(2 * D[i][j] for j in n)] for i in n] + [
        [*(Fraction(0) for _ in n), *(-F[j][i] for j in n)] for i in n
    ]
    whole = (_to_balls(rows) * _to_ball(t)).exp()
    E = arb_mat([[whole[len(F) + j, len(F) + i] for j in n] for i in n])
    return E * arb_mat([[whole[i, len(F) + j] for j in n] for i in n])


def _to_balls(rows: Sequence[Sequence[Fraction]]) -> arb_mat:
    return arb_mat([[_to_ball(x) for x in row] for row in rows])


def _to_ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def _is_semidefinite(A: arb_mat) -> bool | None:
    """Whether a symmetric matrix of balls is positive semidefinite, by elimination; None where a pivot may be 0.

    A row of zeros, exactly, is left out: nothing is added there, and nothing given up.
    """
    rows = [[A[i, j] for j in range(A.ncols())] for i in range(A.nrows())]
    while rows:
        first, *others = rows
        pivot = first[0]
        if all(x == 0 for x in first):
            rows = [row[1:] for row in others]
        elif pivot > 0:
            rows = [[x - row[0] * y / pivot for x, y in zip(row[1:], first[1:], strict=True)] for row in others]
        else:
            return False if pivot < 0 else None
    return True


def _find_negative_direction(numbers: Numbers, found: Subtraction, eps: Fraction) -> Evidence:
    """Return a direction in which the remaining noise is negative, proposed by floats and shown by balls."""
    n = len(numbers.F)
    A = _compute_remainder(numbers.F, numbers.D, numbers.B, found.given_up, eps)
    import numpy as np

    floats = np.array([[float(A[i, j].mid()) for j in range(n)] for i in range(n)])
    v = [Fraction(float(x)).limit_denominator(DIRECTION) for x in np.linalg.eigh(floats)[1][:, 0]]
    value = sum((_to_ball(v[i] * v[j]) * A[i, j] for i in range(n) for j in range(n)), arb(0))
    if not value < 0:
        return ()
    written = "[" + ", ".join(map(str, v)) + "]"
    return (("v", written), ("v.T @ (Sigma - eps^2 B_hat) @ v", f"< {float(value.upper()):.6g}"))
