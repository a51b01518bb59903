"""Bound matrices whose inverse has no formula: claims about the step are decided of any that are of their kinds.

Of G = X.T diag(w(theta)) X + P the calculus knows of inv(G) that it is an inverse, as it does of an abstract G(theta)
declared positive definite, and the formula in its place is only long. What is proved of every smooth G of the kinds
declared is proved of the one that is bound: that it is of these kinds and smooth is `bindings`, which every build is
asked, and that it is of no block but theta is seen where it is read.
"""

from dataclasses import replace

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Apply, Formula, FunctionAt
from recipe_compiler.formula.operators import INVERTING
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.spec.positions import stated_formulas
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.inverses import grid_indices
from recipe_compiler.tensor.terms import Coordinate, MatrixFunction


def leave_abstract(build: Build) -> Build:
    """Return the build without bindings of functions that its dynamics invert, where the inverse has no formula."""
    inverted = _find_inverted_functions(build.dynamics)
    declared = bind(build).declarations
    bound = tuple(
        (name, formula)
        for name, formula in build.bind
        if name not in inverted or _has_written_inverse(formula, declared)
    )
    return build if bound == build.bind else replace(build, bind=bound)


def _find_inverted_functions(dynamics: Dynamics) -> frozenset[str]:
    """Return the matrices, functions of the state, of which dynamics take an inverse or a determinant."""
    functions = {f.name for f in dynamics.declarations.functions if len(f.shape.sizes) == 2}
    taken = (node for formula in stated_formulas(dynamics) for node in nodes(formula) if isinstance(node, Apply))
    of = (part for node in taken if node.fn in INVERTING for arg in node.args for part in nodes(arg))
    return frozenset(part.name for part in of if isinstance(part, FunctionAt)) & functions


def _has_written_inverse(formula: Formula, declarations: Declarations) -> bool:
    """Whether the calculus can write the inverse and the determinant of a matrix entry by entry."""
    row, col = grid_indices(formula.shape.rows or 1)
    try:
        whole = convert(Apply("inv", (formula,), formula.shape), declarations, row, col)
    except ModelError:  # a formula that no index notation has: it is left as it is bound, and refused where it is read
        return True
    matrices = (atom.of.entry for atom in everywhere(whole) if isinstance(atom, MatrixFunction))
    return not any(isinstance(atom, Coordinate) for matrix in matrices for atom in everywhere(matrix))
