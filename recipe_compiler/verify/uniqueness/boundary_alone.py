"""Is each coordinate of a bounded block a diffusion by itself? D is then diagonal, and H a sum over coordinates."""

from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.verify.core.domain_faces import Face
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.core.subject import Subject


def is_alone(subject: Subject, face: Face) -> bool:
    """Whether each coordinate of a block is a diffusion by itself: a diagonal D, H a sum over coordinates."""
    if not is_diagonal(own(subject, face)):
        return False
    terms = subject.whole.H.terms if isinstance(subject.whole.H, Add) else (subject.whole.H,)
    return all(_is_separate(term, face) for term in terms)


def _is_separate(term: Formula, face: Face) -> bool:
    """Whether a term of H is free of a block, or a sum over its coordinates alone."""
    inside = [n for n in nodes(term) if isinstance(n, Symbol) and n.role is Role.BLOCK]
    if any(isinstance(n, FunctionAt) and face.block.name in n.of for n in nodes(term)):
        return False
    if not any(n.name == face.block.name for n in inside):
        return True
    if any(n.name != face.block.name for n in inside):
        return False
    match term:
        case Multiply(left, right) if not depends_on_state(left):
            return _is_separate(right, face)
        case Multiply(left, right) if not depends_on_state(right):
            return _is_separate(left, face)
        case MatMul(Transpose(Symbol() as left), Symbol() as right):
            return left == right
        case Apply("sum" | "norm2", (arg,)):
            return not any(isinstance(n, Apply) and n.fn in {"sum", "norm2", "dot"} for n in nodes(arg))
        case _:
            return not face.block.shape.sizes


def own(subject: Subject, face: Face) -> Formula:
    """Return the entry of D of the block of a face."""
    D = subject.whole.D or ()
    return D[face.number][face.number]


def is_diagonal(formula: Formula) -> bool:
    """Whether a formula is a diagonal matrix as written, or a scalar."""
    match formula:
        case Identity() | Apply("diag", _):
            return True
        case Multiply(left, right) if not left.shape.sizes or not right.shape.sizes:
            return is_diagonal(right if not left.shape.sizes else left)
        case _:
            return not formula.shape.sizes
