"""Do formulas mean anything on a circle? What is stated of a block on a circle must come back to itself around it."""

from collections.abc import Iterable

from recipe_compiler.errors import Place
from recipe_compiler.formula.build import parts
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Add, Apply, Formula, FunctionAt, Multiply, Number, Role, Symbol
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics, Target
from recipe_compiler.verdict import Decision, Finding, Proved, Undecided
from recipe_compiler.verify.case import Case

PERIODIC = ("periodic", "what is stated of a circle is periodic around it")

TURNING = frozenset({"sin", "cos", "tan"})


def on_circles(declarations: Declarations) -> tuple[Block, ...]:
    """Return the blocks that live on circles."""
    return tuple(block for block in declarations.blocks if block.domain.name is DomainName.CIRCLE)


def periodic(case: Case) -> Finding:
    """Decide that H, D, Q and what is claimed of them are periodic in every block on a circle."""
    dynamics = case.dynamics
    return _finding(_stated(dynamics), dynamics.declarations, case.place("H"))


def target_periodic(target: Target) -> Finding:
    """Decide that the log posterior is periodic in every block on a circle."""
    stated = [f for f in (target.potential, target.log_prior, target.log_likelihood) if f is not None]
    return _finding(stated, target.declarations, target.source.place("potential"))


def _stated(dynamics: Dynamics) -> list[Formula]:
    matrices = (dynamics.D, dynamics.Q, dynamics.claims.diffusion)
    found = [dynamics.H, *(place for matrix in matrices for row in matrix or () for place in row)]
    return found + [formula for _, formula in dynamics.claims.drift or ()]


def _finding(formulas: Iterable[Formula], declarations: Declarations, where: Place | None) -> Finding:
    formulas = tuple(formulas)
    open_: list[str] = []
    given: set[str] = set()
    for block in on_circles(declarations):
        if block.domain.bounds and [text(edge) for edge in block.domain.bounds] != ["0", "2*pi"]:
            open_.append(f"{block.name}: only circles of circumference 2*pi are looked at")
        for formula in formulas:
            guilty = _outside(formula, block.name, given)
            if guilty is not None:
                open_.append(
                    f"not shown: {text(formula)} is periodic in {block.name}, which stands outside sin and cos"
                )
    reasons = tuple(sorted(given))
    decision: Decision = Undecided(tuple(open_), given=reasons) if open_ else Proved("structure", reasons)
    return Finding(*PERIODIC, True, decision, where=where)


def _outside(formula: Formula, name: str, given: set[str]) -> Formula | None:
    """Return an occurrence of a block that is not shown to be periodic, noting what is assumed of functions."""
    match formula:
        case Symbol(same, _, Role.BLOCK) if same == name:
            return formula
        case FunctionAt(function, of, _):
            if name in of:
                given.add(f"{function} is periodic in {name}")
            return None
        case Apply(fn, (arg,), _) if fn in TURNING and _whole_turns(arg, name):
            return None
        case Apply("grad" | "div" | "hessian", (arg, Symbol()), _):
            return _outside(arg, name, given)
        case _:
            return next((found for part in parts(formula) if (found := _outside(part, name, given))), None)


def _whole_turns(arg: Formula, name: str) -> bool:
    """Whether an angle is a whole multiple of the block and something free of it."""
    return all(_whole(term, name) for term in (arg.terms if isinstance(arg, Add) else (arg,)))


def _whole(term: Formula, name: str) -> bool:
    match term:
        case Symbol(same, _, Role.BLOCK) if same == name:
            return True
        case Multiply(Number(number), other, _) | Multiply(other, Number(number), _):
            return _free(other, name) or (number.denominator == 1 and _whole(other, name))
        case _:
            return _free(term, name)


def _free(formula: Formula, name: str) -> bool:
    match formula:
        case Symbol(same, _, Role.BLOCK):
            return same != name
        case FunctionAt(_, of, _):
            return name not in of
        case _:
            return all(_free(part, name) for part in parts(formula))
