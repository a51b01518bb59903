"""A Q that is not skew, a D that is not symmetric: of two places that do not mirror each other, one is changed."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from recipe_compiler import limits
from recipe_compiler.ansatz.simplify import simplest, tensor_of
from recipe_compiler.ansatz.unknowns import entries
from recipe_compiler.explain.changes import CURL, NOISE, Change
from recipe_compiler.formula import build
from recipe_compiler.formula.expression import Formula, Number
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus


def mirrored(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the changes that make Q skew and D symmetric, by setting one of each pair of places that do not match.

    Q_ba = -Q_ab.T or D_ba = D_ab.T, [n_b, n_a], either place by the other; a diagonal place by its half (Q - Q.T)/2 or
    (D + D.T)/2, 0 of a scalar Q_aa. Q = [[0, -I], [K, 0]] gives Q[r,theta] = I, or Q[theta,r] = -K.T. (Ma, Chen, Fox
    2015, Theorem 1, asks for both.)
    """
    del derived
    old, declarations = entries(dynamics), dynamics.declarations
    names = [block.name for block in declarations.blocks]
    c = calculus(declarations)

    def opposite(*formulas: Formula) -> bool:
        return c.is_zero(c.add(*(tensor_of(formula, declarations) for formula in formulas)))

    options: list[list[tuple[str, Formula, str]]] = []
    for name, sign in (("Q", -1), ("claims.diffusion" if dynamics.D is None else "D", 1)):
        for n, row in enumerate(names):
            for col in names[n:]:
                here, there = f"{name}[{row},{col}]", f"{name}[{col},{row}]"
                if here not in old or opposite(old[here], _mirror_entry(old[there], -sign)):
                    continue
                new = {there: _mirror_entry(old[here], sign), here: _mirror_entry(old[there], sign)}
                if here == there:
                    whole = build.add((old[here], new[here]), old[here].shape)
                    new = {here: build.multiply(Number(Fraction(1, 2)), whole, whole.shape)}
                pair = {entry: simplest(formula, declarations) for entry, formula in new.items()}
                flips = {entry for entry, formula in pair.items() if here != there and opposite(old[entry], formula)}
                words = {e: f"flip the sign of {e}" if e in flips else f"take {text(pair[e])} for {e}" for e in pair}
                options.append([(entry, formula, words[entry]) for entry, formula in pair.items()])
    for chosen in product(*options) if 0 < len(options) <= limits.CASES else ():
        rank = CURL if any(entry.startswith("Q[") for entry, _, _ in chosen) else NOISE
        formulas = tuple((entry, formula) for entry, formula, _ in chosen)
        yield Change(rank, len(chosen), ", and ".join(says for _, _, says in chosen), formulas)


def _mirror_entry(formula: Formula, sign: int) -> Formula:
    """Return the transpose of a formula, negated for a skew matrix."""
    transposed = build.transpose(formula)
    return transposed if sign > 0 else build.negate(transposed)
