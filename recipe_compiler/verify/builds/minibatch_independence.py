"""Do D and Q, or the coefficients of a claimed update, leave the gradient's minibatch alone?

What is averaged over minibatches is f~ = -(D+Q) grad U~ + ...; its mean is f only if D and Q are independent of the
noise of grad U~. A coefficient S(U~) of the *same* minibatch adds Cov(S(U~), grad U~), a bias of order one that no step
size removes (Ma, Chen, Fox 2015, supplement F.1, builds its metric so).
"""

from collections.abc import Iterator, Mapping, Sequence

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.derive.recipe import derive
from recipe_compiler.formula.build import parts
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Formula,
    FunctionAt,
    GradTilde,
    MatMul,
    Multiply,
    Next,
    Transpose,
)
from recipe_compiler.formula.orders import orders, terms_of
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.terms import Component, Tensor
from recipe_compiler.verdict import Answer, Decision, Evidence, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import list_checked_sizes
from recipe_compiler.verify.core.subject import Subject

Place = tuple[str, Formula]
Update = Mapping[str, Formula]


def independence(build: Build, bound: Dynamics) -> Answer:
    """Decide that nothing random but the gradient itself depends on the gradient's minibatch.

    E[f~] = -(D + Q) grad U + Gamma needs E[(D + Q) grad U~] = (D + Q) E[grad U~] (Ma, Chen, Fox 2015, Sec. 2.3). D and
    Q depend on a minibatch only through the potential, which a minibatch build knows on its batch alone: refuted at a
    point where an entry of D or Q changes with U or a derivative of it.
    """
    where = build.source.place("variant")
    if build.variant != "minibatch":
        return Answer(Proved("there is no minibatch"), where=where)
    name = bound.potential
    if bound.D is None or bound.Q is None or name is None:
        reason = "D, Q or the potential is not given"
        return undecided(reason, where=where)
    return Answer(_decide_matrices(bound, name), where=where)


def independent_update(subject: Subject) -> Answer:
    """Decide that a claimed update uses its gradient estimate once in each term, and in no coefficient or covariance.

    All `grad_tilde(U, b)` of a step are of one minibatch. Used once in a term, its mean is that of the gradient; in a
    product with itself, in a function or a covariance it is not: E[grad U~ grad U~.T] = grad U grad U.T + V (Ma, Chen,
    Fox 2015, supplement F.1, builds a metric so). An updated block holds the estimate as well; where that is of order
    eps, using it again is of higher order than the drift.
    """
    where = subject.place("claims.update", "claims")
    tried: list[str] = []
    new = dict(subject.dynamics.claims.update or ())
    for block, formula in new.items():
        reused = (text(part) for part in _find_reuses(formula, new))
        tried += [f"the update of {block} reuses the gradient's minibatch in {part}" for part in reused]
    decision: Decision = Undecided(tuple(dict.fromkeys(tried))) if tried else Proved("structure of the update")
    return Answer(decision, where=where)


def estimates_gradients(dynamics: Dynamics) -> bool:
    """Whether a claimed update uses an estimate of a gradient."""
    return any(_count_estimates(formula, {}) for _, formula in dynamics.claims.update or ())


def _decide_matrices(bound: Dynamics, name: str) -> Decision:
    derivation = derive(bound)
    guilty = [
        place
        for matrix, of in (("D", derivation.D), ("Q", derivation.Q))
        for place in _find_entries_with(matrix, of, bound, name)
    ]
    if not guilty:
        return Proved(f"no entry of D or Q contains {name}")
    for entry, formula in guilty:
        found = _find_witness(formula, bound, name)
        if found is not None:
            return Refuted("exact witness", found, f"{entry} = {text(formula)} changes with the minibatch of {name}")
    return Undecided(tuple(f"{entry} = {text(formula)} holds {name}" for entry, formula in guilty))


def _find_entries_with(matrix: str, of: Sequence[Sequence[Tensor]], bound: Dynamics, name: str) -> Iterator[Place]:
    """Yield the entries of a matrix whose canonical form holds a function or one of its derivatives."""
    blocks = bound.declarations.blocks
    written = (bound.D if matrix == "D" else bound.Q) or ()
    for row, line, formulas in zip(blocks, of, written, strict=True):
        for col, tensor, formula in zip(blocks, line, formulas, strict=True):
            if any(isinstance(atom, Component) and atom.name == name for atom in everywhere(tensor)):
                yield f"{matrix}[{row.name},{col.name}]", formula


def _find_witness(formula: Formula, bound: Dynamics, name: str) -> Evidence | None:
    """Return an exact point at which an entry has a slope in the value of a function, or in one of its derivatives."""
    declarations = bound.declarations
    for sizes in list_checked_sizes(bound):
        try:
            entries = [x for row in rows(formula, Setting(declarations, sizes)) for x in row]
        except (NotScalarisableError, TooLargeError):
            continue
        for entry in entries:
            found = _find_moving_point(entry, name, bound, sizes)
            if found is not None:
                return found
    return None


def _find_moving_point(entry: Expr, name: str, bound: Dynamics, sizes: Sizes) -> Evidence | None:
    """Return a point at which an entry changes with the value of a function or of one of its derivatives."""
    jets: dict[Expr, Expr] = {atom: sympy.Dummy(real=True) for atom in _list_jets(entry, name)}
    back = {value: jet for jet, value in jets.items()}
    free = _substitute(entry, jets)
    for jet, value in jets.items():
        slope = _substitute(sympy.diff(free, value), back)
        try:
            found = None if is_zero(slope) else witness(slope, bound.declarations, sizes)
        except (NoNormalFormError, NoInstanceError):
            continue
        if found is not None:
            return (*found.text, (f"the slope of the entry in {jet}", format_value(found.value)))
    return None


def _list_jets(entry: Expr, name: str) -> list[Expr]:
    """Return a function and its derivatives as an entry contains them."""
    calls = [call for call in entry.atoms(AppliedUndef) if type(call).__name__ == name]
    slopes = [d for d in entry.atoms(sympy.Derivative) if type(d.args[0]).__name__ == name]
    return sorted([*calls, *slopes], key=str)


def _substitute(e: Expr, new: dict[Expr, Expr]) -> Expr:
    found = e.xreplace(new)
    return found if isinstance(found, Expr) else e


def _find_reuses(formula: Formula, new: Update) -> Iterator[Formula]:
    """Yield the smallest parts of an update in which the estimate is more than one factor of a term."""
    own = _count_estimates(formula, new)
    if own <= 1:
        return
    inner = [found for part in parts(formula) for found in _find_reuses(part, new)]
    yield from inner or [formula]


def _count_estimates(formula: Formula, new: Update) -> int:
    """Return how often a gradient estimate is a factor: 2 stands for more than once, and for any function of it."""
    match formula:
        case GradTilde():
            return 1
        case Add(terms):
            return max(_count_estimates(term, new) for term in terms)
        case Multiply() | MatMul() | Transpose() | Apply("sum" | "trace" | "outer" | "dot"):
            return min(2, sum(_count_estimates(part, new) for part in parts(formula)))
        case Next(block) if block in new:
            return 0 if _is_of_order_eps(new[block], new) else 1  # what that update itself reuses is said of it
        case FunctionAt():
            return 0
        case _:
            return 2 if any(_count_estimates(part, new) for part in parts(formula)) else 0


def _is_of_order_eps(formula: Formula, new: Update) -> bool:
    """Whether every term of an update that holds the estimate is of order eps at least."""
    holding = [orders(term) for term in terms_of(formula) if _count_estimates(term, new)]
    return all(own is not None and min(own) >= 1 for own in holding)
