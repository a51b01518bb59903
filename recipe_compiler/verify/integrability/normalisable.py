"""Is the integral of exp(-H) over the declared domain finite: is there a law that the dynamics could keep?"""

from collections.abc import Sequence
from dataclasses import replace

from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.polynomial_integrability.leading_form import leading
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.marginal import Integrated, integrate
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import nodes, replaced
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Apply, Explicit, Formula, FunctionAt, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.show import text as text_of
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.core.premises import list_assumptions, list_facts, require_smooth_off_kinks
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject, once
from recipe_compiler.verify.growth.integral import Finiteness, decide_finite, list_abstract_energies
from recipe_compiler.verify.integrability.infinite import refute_integral
from recipe_compiler.verify.integrability.marginal_law import Integrals, StatedLaw, list_restricted_blocks

METHOD = "growth at the ends of the domain; second engine"


@once
def normalisable(subject: Subject) -> Answer:
    """Decide that int exp(-H) dz over the declared domain is finite, for every size and all values of the parameters.

    Without it there is no law to keep; Theorem 1 of Ma, Chen, Fox (2015) takes it for granted. Tried in turn: growth
    (`decide_finite`), first as written and then with Gaussian blocks integrated out; a refutation by exact parameters;
    leading forms of polynomials at fixed sizes; the pieces of a `where`; the entries of a block, each as a block. Both
    engines must read the same H and the same precisions. An abstract potential U is assumed to have int exp(-U) <
    oo; the assumption is listed, and a build decides it. What stays undecided beside an abstract potential is not
    required of the dynamics.

    Example: H = U(theta) + r.T inv(M) r/2 with a positive definite M is proved given that exp(-U) has a finite
    integral. H = log(1 + x**2)/2 on the line is refuted: K = 1 at infinity, and K > 1 is needed.
    """
    declarations = subject.declarations
    c = calculus(declarations)
    inside = {node.name for node in nodes(subject.dynamics.H) if isinstance(node, FunctionAt)}
    abstract = tuple(function for function in list_abstract_energies(declarations) if function.name in inside)
    covered = {block for function in abstract for block in function.of}
    H = convert(subject.dynamics.H, declarations)
    found, integrated = decide_finite(c, declarations, H, declarations.blocks, abstract), Integrated(H, (), ())
    tried = list(found.reasons)
    if found.reasons:
        others = [block for block in declarations.blocks if block.name not in covered]
        integrated = integrate(c, H, others)
        gone = {step.block.name for step in integrated.steps}
        left = tuple(block for block in declarations.blocks if block.name not in gone)
        after = decide_finite(c, declarations, integrated.energy, left, abstract) if gone else found
        over = f"after the integral over {', '.join(step.block.name for step in integrated.steps)}: "
        tried += [over + reason for reason in after.reasons] if gone else []
        found = after
    where = subject.place("H")
    if not found.reasons:
        answer = _prove_integral(subject, found, integrated, H)
        return replace(answer, where=where)
    free = not list_restricted_blocks(declarations) and not subject.contradiction
    refuted = refute_integral(subject, found.needed) if free else None
    if refuted is not None:
        decision, sizes = refuted
        return Answer(decision, tuple(sizes.items()) or "all", where=where)
    by_form = None if abstract else _prove_by_leading_form(subject)
    if by_form is not None:
        return Answer(by_form, checked_at=((),), where=where)
    for decided in (_prove_by_pieces, _decide_by_entries):
        by_parts = decided(subject)
        if by_parts is not None:
            return replace(by_parts, where=where)
    given = tuple(sorted(list_facts([subject.dynamics.H], declarations)))
    open_ = Undecided(tuple(dict.fromkeys(tried)), given=given)
    return Answer(open_, where=where, waived=bool(abstract))


def _prove_integral(subject: Subject, found: Finiteness, integrated: Integrated, H: Tensor) -> Answer:
    """Return the proof, once the second engine agrees on the energy and on what was integrated out."""
    where = subject.place("H")
    zero = Tensor((), ())
    law = StatedLaw(subject, (), subject.dynamics.H, integrated, zero)
    scalars = Integrals(law)
    identities = [Identity("H in index notation minus H entry by entry", where, zero, _make_difference(subject, H))]
    identities += [
        Identity(f"the precision of {step.block.name}", where, zero, scalars.precision(step))
        for step in integrated.steps
    ]
    declarations = subject.declarations
    needed = require_smooth_off_kinks(
        [subject.dynamics.H], declarations
    )  # an integral needs no derivative: a kink does no harm
    question = Question(
        tuple(identities),
        declarations,
        subject.sizes,
        needed,
        subject.contradiction,
        reads=(subject.dynamics.H,),
        at_every_point=True,
    )
    answer = decide(question)
    if not is_proved(answer):
        return answer
    given = {*answer.decision.given, *({found.assumed} if found.assumed else ()), *list_assumptions(declarations)}
    steps = tuple((f"integral over {s.block.name}", f"Gaussian, P = {text(s.precision)}") for s in integrated.steps)
    proof = Proved(METHOD, tuple(sorted(given)), (*steps, *found.data))
    return Answer(proof, answer.for_d, answer.checked_at, where)


def _make_difference(subject: Subject, H: Tensor) -> Scalars:
    def entries(sizes: Sizes) -> Sequence[Expr]:
        leaf = make_leaf(subject.declarations, sizes)
        return [write_out(H, sizes, leaf)[0] - rows(subject.dynamics.H, subject.setting(sizes))[0][0]]

    return entries


def _prove_by_pieces(subject: Subject) -> Answer | None:
    """Return a proof for an energy with a choice of pieces, if each piece alone has a finite integral; else None.

    At every point one of the pieces is chosen, so exp(-H) is at most the sum of exp(-H) with either everywhere. The
    choice is one for the whole formula: a scalar `where`, minimum or maximum.
    """
    dynamics = subject.dynamics
    choice = next((node for node in nodes(dynamics.H) if isinstance(node, Apply) and _is_choice(node)), None)
    if choice is None:
        return None
    found: list[Answer] = []
    for piece in choice.args[-2:]:
        narrowed = replace(dynamics, H=replaced(dynamics.H, {choice: piece}.get))
        answer = normalisable(replace(subject, dynamics=narrowed, derivation=None, any_size=None, stated=None))
        if not is_proved(answer):
            return None
        found.append(answer)
    decisions = [answer.decision for answer in found]
    needed = require_smooth_off_kinks([dynamics.H], dynamics.declarations)  # the choice itself has to have a value
    if needed.open:
        return None
    given = {fact for decision in decisions for fact in decision.given} | needed.given
    data = [
        (f"{text_of(piece)} everywhere: {name}", value)
        for piece, decision in zip(choice.args[-2:], decisions, strict=True)
        if isinstance(decision, Proved)
        for name, value in decision.data
    ]
    by = f"exp(-H) is at most the sum of its pieces, of {text_of(choice)}; {METHOD}"
    checked = tuple(at for at in found[0].checked_at if at in found[1].checked_at)
    return Answer(Proved(by, tuple(sorted(given)), tuple(data)), found[0].for_d, checked)


def _is_choice(node: Apply) -> bool:
    """Whether a node is one of two scalars, wherever it is."""
    return node.fn in ("where", "minimum", "maximum") and node.shape == SCALAR


def _decide_by_entries(subject: Subject) -> Answer | None:
    """Return the answer with every entry as its own block, for blocks of few entries; None where it is open."""
    dynamics, declarations = subject.dynamics, subject.declarations
    apart = {b.name: b for b in declarations.blocks if b.shape != SCALAR and b.domain.name is not DomainName.SIMPLEX}
    known = all(not isinstance(n, str) for block in apart.values() for n in block.shape.sizes)
    plain = known and all(end.shape == SCALAR for block in apart.values() for end in block.domain.bounds)
    if not apart or not plain or declarations.functions or list_restricted_blocks(declarations):
        return None
    entries = {name: list(map(str, coordinates(block, {}))) for name, block in apart.items()}
    if sum(map(len, entries.values())) > limits.COORDINATES:
        return None
    blocks = tuple(
        replace(block, name=name, shape=SCALAR) if block.name in apart else block
        for block in declarations.blocks
        for name in entries.get(block.name, [block.name])
    )
    columns = {name: _write_as_entries(block, entries[name]) for name, block in apart.items()}
    try:
        H = substitute(dynamics.H, columns)
    except ModelError:  # too large, or a derivative by a block
        return None
    narrowed = replace(dynamics, H=H, declarations=replace(declarations, blocks=blocks))
    found = normalisable(replace(subject, dynamics=narrowed, derivation=None, any_size=None, stated=None))
    return None if isinstance(found.decision, Undecided) else found


def _write_as_entries(block: Block, entries: Sequence[str]) -> Formula:
    """Return a block as a column, or a matrix, of blocks of one number."""
    symbols = [Symbol(name, SCALAR, Role.BLOCK) for name in entries]
    cols = block.shape.cols if isinstance(block.shape.cols, int) else 1
    return Explicit(tuple(tuple(symbols[k : k + cols]) for k in range(0, len(symbols), cols)), block.shape)


def _prove_by_leading_form(subject: Subject) -> Proved | None:
    """Return a proof for a polynomial energy where the document fixes all sizes."""
    declarations = subject.declarations
    real = all(block.domain.name is DomainName.REAL for block in declarations.blocks)
    if declarations.sizes or declarations.functions or not real or subject.contradiction:
        return None
    try:
        H = rows(subject.dynamics.H, subject.setting({}))[0][0]
    except (NotScalarisableError, TooLargeError):
        return None
    if require_smooth_off_kinks([subject.dynamics.H], declarations).open:
        return None
    found = leading(H, [x for block in declarations.blocks for x in coordinates(block, {})])
    if found is None:
        return None
    given = tuple(sorted(list_facts([subject.dynamics.H], declarations)))
    return Proved("completed squares and leading form", given, found)
