"""How the flow of a piece acts on volume, on a constant Q and under a flip of momenta, for every size.

These are properties of the field f_k in index notation: no flow is written out, and no determinant of one.
"""

from collections.abc import Mapping
from fractions import Fraction

from recipe_compiler.derive.recipe import Matrix, Vector, col_slots, row_coordinate, row_slots, slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.atoms import indices
from recipe_compiler.tensor.atoms import nested
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.rewrite import rewritten
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, MatrixFunction, Tensor

Centres = Mapping[str, Tensor]
"""The centre m of the reflection z_b -> 2 m - z_b of a block, 0 unless the block is a scalar."""


def compute_divergence(c: Calculus, blocks: tuple[Block, ...], f: Vector) -> Tensor:
    """Return div f = sum_i df_i/dz_i, a scalar, f: [n]: the flow of dz = f dt keeps volume iff it is 0.

    (Liouville; Hairer, Lubich, Wanner 2006, Lemma VI.9.1.)
    """
    parts = [
        c.total(c.diff(entry, row_coordinate(block)), *row_slots(block)) for block, entry in zip(blocks, f, strict=True)
    ]
    return c.settled(c.add(c.zero(), *parts))


def compute_change_of_form(c: Calculus, blocks: tuple[Block, ...], f: Vector, Q: Matrix) -> Matrix:
    """Return F Q + Q F.T with F = df/dz, [n, n] over z; it is 0 iff the flow phi of f keeps a constant Q.

    Kept means dphi Q dphi.T = Q, where dphi is the Jacobian of the flow: a symplectic map for Q = [[0, -I], [I, 0]]
    (Hairer, Lubich, Wanner 2006, Sec. VI.2). For f = -Q grad H, F = -Q Hess H and F Q + Q F.T = -Q (Hess H) Q - Q (Hess
    H) Q.T = 0, as Q.T = -Q.
    """

    def entry(a: int, b: int) -> Tensor:
        rows, columns = row_slots(blocks[a]), col_slots(blocks[b])
        other = c.rename(f[b], dict(zip(row_slots(blocks[b]), columns, strict=True)))
        parts = [c.zero(*rows, *columns)]
        for m, block in enumerate(blocks):
            inner = slots(block, "k")
            by = Coordinate(block.name, inner)
            left = c.rename(Q[m][b], dict(zip(row_slots(block), inner, strict=True)))
            right = c.rename(Q[a][m], dict(zip(col_slots(block), inner, strict=True)))
            parts.append(c.total(c.multiply(c.diff(f[a], by), left), *inner))
            parts.append(c.total(c.multiply(c.diff(other, by), right), *inner))
        return c.settled(c.add(*parts))

    places = range(len(blocks))
    return tuple(tuple(entry(a, b) for b in places) for a in places)


def find_centre(c: Calculus, block: Block, slope: Tensor) -> Tensor:
    """Return the m at which dH/dz_b vanishes if H is quadratic in a scalar block b; else 0.

    `slope` is dH/dz_b. For H = (xi - A)**2/2 it is A: H keeps its value when xi becomes 2 A - xi.
    """
    zero = c.zero()
    if block.shape.sizes:
        return zero
    own = Coordinate(block.name)
    curvature = c.settled(c.diff(slope, own))
    if len(curvature.terms) != 1 or not c.is_zero(c.diff(curvature, own)):
        return zero
    linear = c.multiply(curvature, c.atom(own))
    found = c.settled(c.multiply(c.subtract(linear, slope), c.power(curvature, -1)))
    plain = all(not indices(atom) and not _list_arguments(atom) for term in found.terms for atom, _ in term.factors)
    return found if plain else zero


def reflect(c: Calculus, tensor: Tensor, centres: Centres) -> Tensor | None:
    """Return T(F z), F the reflection z_b -> 2 m_b - z_b of the blocks with a centre; None if it is not known.

    -xi r[i] becomes xi r[i] under r -> -r; sqrt(1 + sum_i r[i]**2) is unchanged. The effect on a function
    whose argument changes is not known.
    """

    def rule(atom: Atom, exponent: Fraction) -> Tensor:
        match atom:
            case Coordinate(block) if block in centres:
                if exponent.denominator != 1 or exponent < 0:
                    raise _UnknownImageError
                return c.power(c.subtract(c.scale(centres[block], 2), c.atom(atom)), exponent)
            case Component(name) if any(name == function and of in centres for function, of in c.rules.depends):
                raise _UnknownImageError
            case _ if all(reflect(c, inner, centres) == inner for inner in _list_arguments(atom)):
                return c.atom(atom, exponent)
            case _:
                raise _UnknownImageError

    try:
        return c.settled(rewritten(c, tensor, rule))
    except _UnknownImageError:
        return None


class _UnknownImageError(Exception):
    """The effect of a reflection is not known."""


def _list_arguments(atom: Atom) -> tuple[Tensor, ...]:
    return (atom.of.entry,) if isinstance(atom, MatrixFunction) else nested(atom)
