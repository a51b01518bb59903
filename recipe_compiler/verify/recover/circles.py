"""Circles: where every block is one, a current may go round them, and then no skew Q gives the drift.

With J = W exp(-H) free of divergence, div(Q exp(-H)) = J for a periodic skew Q makes the mean of every J_i over the
torus zero. A drift that is constant and not zero in a direction has the mean of exp(-H) times it: not zero.
"""

from sympy import Expr

from recipe_compiler.algebra.points.witness import Witness, witness
from recipe_compiler.algebra.scalars.symbols import Sizes
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.verify.recover.averages import mean
from recipe_compiler.verify.recover.fields import Fields
from recipe_compiler.verify.recover.skew_problem import Problem


def current_around(problem: Problem, at: Fields, sizes: Sizes) -> tuple[str, Witness] | None:
    """Return a direction in which the mean current is certainly not zero, with a point that shows it.

    None where there is a block that is no circle, or where nothing is shown.
    """
    declarations = problem.dynamics.declarations
    if any(block.domain.name is not DomainName.CIRCLE for block in declarations.blocks):
        return None
    flat = not any(e for e in at.g)
    for x, w in zip(at.z, at.W, strict=True):
        around: Expr | None = mean(w, at.z) if flat else (w if not w.free_symbols & set(at.z) else None)
        if around is None or around == 0:
            continue
        found = witness(around, declarations, sizes)
        if found is not None:
            return f"mean of f + D grad H - div D along {x}, weighted by exp(-H)", found
    return None
