"""Laws of blocks given all others, and all data, that are read off U: Gaussian and Gamma, for every size."""

from dataclasses import dataclass, replace

from recipe_compiler.derive.conditional import potential_of
from recipe_compiler.derive.marginal import occurs
from recipe_compiler.derive.recipe import col_slots, row_coordinate, row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.transform import with_one_bound
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.style import LATEX, PLAIN
from recipe_compiler.tensor.terms import Coordinate, Tensor

NONE = "no block is found to have a Gaussian or Gamma conditional distribution"


@dataclass(frozen=True, slots=True)
class FoundLaw:
    """The law of a block of n entries given all others, read off U; its parameters are shown to be those of a law.

    N(inv(P) h, inv(P)) with P: [n, n] and h: [n], or Gamma(shape, rate) entry by entry.
    """

    block: Block
    name: str
    """`N` or `Gamma`."""
    parameters: tuple[Tensor, Tensor]
    """The precision P, n x n, and h = P m, n entries, of N; shape and rate, of the block's shape, of Gamma."""


def found_laws(target: Target) -> tuple[FoundLaw, ...]:
    """Return the blocks that have a Gaussian or a Gamma law given all others, and all data, under exp(-U).

        Gaussian    U = b.T P b/2 - h.T b + c, P positive definite, P and h free of b:    b ~ N(inv(P) h, inv(P))
        Gamma       b dU/db = rate b - (shape - 1), entry by entry, b > 0, rate and shape positive and free of b

    What is not shown for every size is left out, and so is a block that lies in a set, or has one bound: its law is
    cut off there. None is returned where U is code or a recursion, or has a kink in the block. Worked: U = N log(s)/2 +
    s2/(2 s) in a variance s has s dU/ds = N/2 - s2/(2 s), which is not of that form; in the precision tau = 1/s, tau
    dU/dtau = -N/2 + s2 tau/2, so tau ~ Gamma(N/2 + 1, s2/2).
    """
    bounded = with_one_bound(target)
    target = target.as_declared
    if target.gradient is not None or target.recursion:
        return ()
    declared = of_all_data(target.declarations)
    U = potential_of(target, stated=True)
    restricted = {name for compare in declared.assume for name in dependence(compare).blocks} | {*bounded}
    free = [block for block in declared.blocks if block.name not in restricted and block.constraint is None]
    found = (_find_law(U, block, declared) for block in free if len(block.shape.sizes) < 2)
    return tuple(law for law in found if law is not None)


def _find_law(U: Tensor, block: Block, declared: Declarations) -> FoundLaw | None:
    """Return the Gaussian or Gamma law of a block, by its domain; None if U gives neither."""
    find = {DomainName.REAL: _find_normal, DomainName.POSITIVE: _find_gamma}.get(block.domain.name)
    c = calculus(declared, stated=True)
    try:
        return None if find is None else find(c, c.diff(U, row_coordinate(block)), block)
    except ModelError:
        return None


def _find_normal(c: Calculus, slope: Tensor, block: Block) -> FoundLaw | None:
    """Return N(inv(P) h, inv(P)) with P = d^2U/db db' and h = P b - dU/db; None if P or h depends on b."""
    cols = col_slots(block)
    P = c.diff(slope, Coordinate(block.name, cols))
    h = _expand_tensor(c, c.subtract(c.total(c.multiply(P, c.coordinate(block.name, *cols)), *cols), slope))
    plain = _with_expanded_sums(c)
    if occurs(c, P, block.name) or occurs(c, h, block.name):
        return None
    if definiteness(plain, _expand_tensor(c, P)) is not Definiteness.DEFINITE:
        return None
    return FoundLaw(block, "N", (P, h))


def _find_gamma(c: Calculus, slope: Tensor, block: Block) -> FoundLaw | None:
    """Return Gamma(shape, rate) with b dU/db = rate b - (shape - 1), entry by entry; None if there is none."""
    rows, cols = row_slots(block), col_slots(block)
    b = c.coordinate(block.name, *rows)
    scaled = c.multiply(b, slope)
    rate = c.total(c.diff(scaled, Coordinate(block.name, cols)), *cols)
    shape = _expand_tensor(c, c.add(c.multiply(rate, b), c.scale(scaled, -1), c.constant(1)))
    if occurs(c, rate, block.name) or occurs(c, shape, block.name):
        return None
    if not (is_positive(c.rules, rate) and is_positive(c.rules, shape)):
        return None
    return FoundLaw(block, "Gamma", (shape, rate))


def _with_expanded_sums(c: Calculus) -> Calculus:
    """Return the calculus that multiplies sums out, instead of keeping factors as stated."""
    return Calculus(replace(c.rules, stated=False))


def _expand_tensor(c: Calculus, tensor: Tensor) -> Tensor:
    """Return a tensor multiplied out."""
    return _with_expanded_sums(c).collect(tensor.terms, tensor.free)


def laws_text(target: Target) -> str:
    """Return the laws as text, one per line: `tau ~ Gamma(N/2 + a, b + sum_i (y[i] - mu)**2/2)`."""
    c = calculus(of_all_data(target.as_declared.declarations), stated=True)
    lines = [f"given the other blocks, under exp(-U) of {target.name}:"]
    for law in found_laws(target):
        first, second = (matrix_form(c, PLAIN, parameter) for parameter in law.parameters)
        told = f"{law.block.name} ~ Gamma({first}, {second})"
        if law.name == "N":
            mean = "inv(P) @ h, inv(P)" if law.block.shape.sizes else "h/P, 1/P"
            told = f"{law.block.name} ~ N({mean}), P = {first}, h = {second}"
        lines.append(f"  {told}")
    return "\n".join(lines) if len(lines) > 1 else f"{target.name}: {NONE}"


def laws_latex(target: Target) -> str:
    """Return the laws as one LaTeX `align*` environment (needs amsmath)."""
    c = calculus(of_all_data(target.as_declared.declarations), stated=True)
    lines: list[str] = []
    for law in found_laws(target):
        first, second = (matrix_form(c, LATEX, parameter) for parameter in law.parameters)
        told = rf"\mathrm{{Gamma}}\left({first}, {second}\right)"
        if law.name == "N":
            told = rf"\mathcal{{N}}\left(P^{{-1}} h, P^{{-1}}\right), \quad P = {first}, \quad h = {second}"
        lines.append(rf"  {LATEX.symbol(law.block.name)} &\sim {told}")
    body = " \\\\\n".join(lines)
    return f"% {target.name}\n\\begin{{align*}}\n{body}\n\\end{{align*}}\n" if lines else f"% {target.name}: {NONE}\n"
