"""Is the integral over a block finite where its energy is a sum over coordinates, or over those of a simplex?"""

from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import everywhere, indices, moved
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.terms import Applied, Component, Coordinate, Index, Slot, Tensor, Term
from recipe_compiler.verify.integrability.ends import ONE, Condition, Finite, at_ends


def one_by_one(c: Calculus, block: Block, own: list[Term], left: list[Term]) -> Finite | None:
    """Decide a block whose energy is a sum over its coordinates; None if it is not one."""
    if block.domain.name is DomainName.SIMPLEX:
        return _dirichlet(c, block, own)
    if block.domain.name is DomainName.CIRCLE:
        return None
    generic: list[Term] = []
    opened = tuple(Index(size, "x") for size in block.shape.sizes)
    complete = True
    for term in own:
        at = _common_slots(c, block, term)
        if at is None:
            if term in left:
                return None
            complete = False
            continue
        moves: dict[Index, Slot] = dict(zip(at, opened, strict=True))
        generic.append(Term(term.coefficient, tuple((moved(atom, moves), e) for atom, e in term.factors)))
    if not generic and not complete:
        return None
    h = c.collect(generic, opened)
    found = at_ends(c, block, Coordinate(block.name, opened), h)
    open_ = [x for x in found.conditions if not x.holds]
    reasons = [
        *found.reasons,
        *(x.unmet if complete else f"{x.end}: not confined coordinate by coordinate" for x in open_),
    ]
    data = tuple((x.end, f"{text(x.factor)} > 0") for x in found.conditions)
    needed = tuple(open_) if found.exact and complete else ()
    return Finite(tuple(reasons), data, "", needed)


def _common_slots(c: Calculus, block: Block, term: Term) -> tuple[Index, ...] | None:
    """Return the indices of the one coordinate of a block that a term is about, summed over; None if there is none.

    None, too, where a function of the block occurs: it is no constant beside the coordinate, however it is declared.
    """
    if any(
        isinstance(a, Component) and (a.name, block.name) in c.rules.depends for a in everywhere(Tensor((), (term,)))
    ):
        return None
    places = {a.at for a in everywhere(Tensor((), (term,))) if isinstance(a, Coordinate) and a.block == block.name}
    if len(places) != 1:
        return None
    at = tuple(slot for slot in places.pop() if isinstance(slot, Index))
    own = indices(term.factors)
    return at if len(at) == len(block.shape.sizes) == len(set(at)) and set(at) <= own else None


def _dirichlet(c: Calculus, block: Block, own: list[Term]) -> Finite | None:
    """Decide sums of logarithms on the simplex: `prod x_i**-k_i (1 - sum x)**-k` is integrable where all k < 1."""
    (size,) = block.shape.sizes or (None,)
    if size is None:
        return None
    x, i = Index(size, "x"), Index(size, "i")
    slack = c.subtract(c.constant(1), c.total(c.coordinate(block.name, i), i))
    inner, outer = c.zero(x), c.zero()
    for term in own:
        logs = [f for f in term.factors if isinstance(f[0], Applied) and f[0].fn == "log" and f[1] == 1]
        rest = Term(term.coefficient, tuple(f for f in term.factors if f not in logs))
        if len(logs) != 1 or blocks_in(c, Tensor((), (rest,))):
            return None
        atom = logs[0][0]
        arg = atom.args[0] if isinstance(atom, Applied) else slack
        at = _common_slots(c, block, term)
        if arg.terms == slack.terms:
            outer = c.add(outer, c.collect([rest], ()))
        elif at is not None and arg.terms == (Term(ONE, ((Coordinate(block.name, at), ONE),)),):
            moves: dict[Index, Slot] = {at[0]: x}
            inner = c.add(
                inner, c.collect([Term(rest.coefficient, tuple((moved(a, moves), e) for a, e in rest.factors))], (x,))
            )
        else:
            return None
    conditions = [("0", c.subtract(c.constant(1), inner)), ("1 in sum", c.subtract(c.constant(1), outer))]
    found = [Condition(f"{block.name} -> {end}", k, is_positive(c.rules, k), boundary=True) for end, k in conditions]
    open_ = tuple(x for x in found if not x.holds)
    reasons = tuple(x.unmet for x in open_)
    return Finite(reasons, tuple((x.end, f"{text(x.factor)} > 0") for x in found), "", open_)
