"""Does an involution S of (z, w), accepted or refused, preserve exp(-H)? By the ratio that is derived, if it is one.

w is drawn from q(w|z), and (z', w') = S(z, w) taken with probability min(1, a),

    a = exp(H(z) - H(z')) q(w'|z')/q(w|z) |det DS(z, w)|,

else z stays; w is forgotten. With S o S = id, smooth on a domain that it maps into itself, exp(-H(z)) q(w|z) is kept in
detailed balance, whatever H is (Green 1995; Tierney 1998): what flows from (z, w) to S(z, w) is min(pi, |det DS| pi o
S), the same in both directions. So exp(-H) is kept, at every step size. What its author claims of log a beside H(z) -
H(z') is compared with what is derived; emitted is the latter.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

from sympy import Expr, Symbol, exp

from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import is_defined_at, points, witness
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError, determinant
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.conditional import is_symmetric
from recipe_compiler.derive.involution import JacobianError, Mapped, mapped
from recipe_compiler.derive.law_energies import minus, needs
from recipe_compiler.derive.recipe import row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Compare, Formula, Number
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import resizer
from recipe_compiler.spec.model import Auxiliary, Involution, Scheme, Target
from recipe_compiler.spec.moves import move_text
from recipe_compiler.spec.positions import size_conditions, smallest_sizes
from recipe_compiler.spec.read_involution import visible
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import Stages, decided_at_values, numbers_of
from recipe_compiler.verify.core.build_values import formula_at, target_at_values
from recipe_compiler.verify.core.identities import Identity, Question, decide, faults_of, shown
from recipe_compiler.verify.core.premises import holds, restricts_state, smoothness
from recipe_compiler.verify.core.scalars import leaf_of, written_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import KEPT, Subject
from recipe_compiler.verify.moves.conjunction import laws_kept, unless_refuted
from recipe_compiler.verify.moves.law_witness import departs
from recipe_compiler.verify.moves.metropolis import MINIBATCH, NO_U
from recipe_compiler.verify.steps.split import NOTHING, Split


def involution(split: Split, stages: Stages) -> Answer:
    """Decide that the involutions S of a cycle, accepted by the derived ratio, preserve exp(-H) at every step size.

    Refuted by an exact point with S(S(z, w)) != (z, w), or that S maps out of its domain. (Green 1995; Tierney 1998.)
    """
    moves = [move for move in split.scheme.cycle if isinstance(move, Involution)]
    return laws_kept([(f"the involution of {', '.join(m.moved)}", involution_keeps(split, m, stages)) for m in moves])


@lru_cache(maxsize=KEPT)
def involution_keeps(split: Split, move: Involution, stages: Stages) -> Answer:
    """Decide that one involution preserves exp(-H): (z', w') = S(z, w), w ~ q(w|z), taken with probability min(1, a).

    a = exp(H(z) - H(z')) q(w'|z')/q(w|z) |det DS(z, w)|, DS: [m, m] over all that S moves (Green 1995; Tierney 1998).
    Obligations: S o S = id, block by block; S is smooth and maps its domain into itself; q is a law; the second engine
    finds the same |det DS|; what the author claims of log a is what is derived (emitted is the derived one). Undecided
    with minibatches, and where an assumption restricts the state.

    Example: z' = z + w, w' = -w with w ~ N(0, s**2) is a random walk: S(S(z, w)) = (z + w - w, w), |det DS| = 1, q(-w)
    = q(w), so a = exp(H(z) - H(z')). With w' = w it is refuted, as S(S(z, w)) = (z + 2 w, w).
    """
    build = stages.build
    if build.variant != "full":
        return Answer(Undecided((MINIBATCH,)))
    if build.target.gradient is not None:
        return Answer(Undecided((NO_U,)))
    if restricts_state(split.subject.dynamics.declarations):
        reason = "an assumption restricts the state, and it is not shown that the involution maps it into itself"
        return Answer(Undecided((reason,)))
    valued, target = stages.valued, target_at_values(build)
    if split.subject is valued:
        return _of(valued, _at_values(move, stages), split.scheme, target or build.target)
    general = _of(split.subject, move, split.scheme, build.target)
    if isinstance(general.decision, Proved):
        return general
    subject, stated = (stages.declared, move) if valued is None else (valued, _at_values(move, stages))
    own = numbers_of(build, stages.bound, subject.dynamics)
    return decided_at_values(general, lambda: _of(subject, stated, split.scheme, target or build.target), own)


@lru_cache(maxsize=KEPT)
def moved_by(split: Split, move: Involution, stages: Stages) -> Mapping[str, bool | None]:
    """Return of every block that an involution maps whether it moves it, at the values of a build where it has them.

    True where each of its entries is another at some exact point of every size looked at; False where S leaves the
    block as it is, for every size; None where neither is shown. An involution may be the identity.
    """
    subject, target = stages.valued, target_at_values(stages.build)
    stated = move if subject is None else _at_values(move, stages)
    subject = subject or stages.declared
    try:
        S = mapped(
            stated, visible(subject.dynamics.declarations, (target or stages.build.target).declarations.parameters)
        )
        return {block.name: _moves(subject, S, block) for block in S.blocks}
    except (ModelError, NotScalarisableError, TooLargeError, NoInstanceError):
        return {}


def _moves(subject: Subject, S: Mapped, block: Block) -> bool | None:
    c = S.calculus
    if c.settled(c.subtract(S.image(block), c.coordinate(block.name, *row_slots(block)))).is_zero:
        return False
    for sizes in _sizes(subject, S):
        image = _image(S, sizes)
        changes = (image[x] - x for x in coordinates(block, sizes))
        if not all(witness(change, S.declarations, sizes, S.stated.formulas) for change in changes):
            return None
    return True


def _sizes(subject: Subject, S: Mapped) -> tuple[Sizes, ...]:
    """Return the sizes looked at, none so small that a position that is named does not exist."""
    least = smallest_sizes(Declarations(), S.stated.formulas)
    found = ({name: max(n, least.get(name, 1)) for name, n in at.items()} for at in subject.sizes)
    return tuple(dict(at) for at in dict.fromkeys(tuple(at.items()) for at in found))


def _at_values(move: Involution, stages: Stages) -> Involution:
    """Return an involution at the values and sizes of its build, as far as formulas can hold them."""
    shape = resizer({name: Number(Fraction(n)) for name, n in stages.sizes.items()})

    def at(formula: Formula) -> Formula:
        return formula_at(formula, stages.build)

    return replace(
        move,
        maps=tuple((name, at(formula)) for name, formula in move.maps),
        draws=tuple(Auxiliary(replace(w.block, shape=shape(w.block.shape)), w.law.of(at)) for w in move.draws),
        log_ratio=None if move.log_ratio is None else at(move.log_ratio),
    )


def _of(subject: Subject, move: Involution, scheme: Scheme, target: Target) -> Answer:
    """Decide that a move is an involution with the ratio that is derived of it, of names as a subject has them."""
    try:
        S = mapped(move, visible(subject.dynamics.declarations, target.declarations.parameters))
        return _decided(subject, S, scheme)
    except ModelError as error:
        return Answer(Undecided(faults_of(error)))


def _decided(subject: Subject, S: Mapped, scheme: Scheme) -> Answer:
    away = _away(subject, S)
    if away is not None:
        return away
    twice = list(_twice(subject, S))
    premises = _premises(S)
    ratio = tuple[Identity, ...]()
    try:
        ratio = tuple(_ratio(subject, S))
    except JacobianError as why:
        premises |= Obligations(open=(f"the Jacobian of the involution: {why}",))
    found = decide(
        Question(
            (*twice, *ratio),
            S.declarations,
            _sizes(subject, S),
            premises,
            subject.contradiction,
            reads=S.stated.formulas,
        )
    )
    if not isinstance(found.decision, Proved):
        return found
    beside = S.log_ratio()
    log_a = "H(z) - H(z')" + ("" if beside.is_zero else f" + {tensor_text(beside)}")
    says = f"{move_text(scheme, S.stated)}: S o S = id, log a = {log_a}"
    proof = Answer(Proved(says, found.decision.given), found.for_d, found.checked_at)
    return unless_refuted(proof, involution_departs(subject, S))


def involution_departs(subject: Subject, S: Mapped) -> Answer | None:
    """Return the refutation by log a(S(z, w)) != -log a(z, w) beside H, or S(S(z, w)) != (z, w); None where none is."""
    sizes = {**dict.fromkeys(S.declarations.sizes, 2), **_sizes(subject, S)[-1]}

    def off(at: Point, _: Point) -> Iterator[Expr]:
        image, beside = _image(S, sizes), _written(S, S.log_ratio(), sizes)
        values = {x: evaluate(e, at.leaf) for x, e in image.items()}
        there = {x: rational(y) for x, y in values.items() if isinstance(y, Fraction)} if _are_exact(values) else image
        yield beside + beside.xreplace(there)
        yield from (e.xreplace(there) - x for x, e in image.items())

    by = "exact witness: the ratio of the reverse move is not the inverse of that of the move"
    return departs(by, off, S.declarations, sizes, S.stated.formulas)


def _are_exact(values: Mapping[Symbol, Value]) -> bool:
    return all(isinstance(value, Fraction) for value in values.values())


def _twice(subject: Subject, S: Mapped) -> Iterator[Identity]:
    """Yield S(S(z, w)) - (z, w) = 0, block by block."""
    for block in S.blocks:

        def entries(sizes: Sizes, block: Block = block) -> Sequence[Expr]:
            image = _image(S, sizes)
            return [image[x].xreplace(image) - x for x in coordinates(block, sizes)]

        yield Identity(f"S(S({block.name})) - {block.name}", subject.place("H"), S.twice(block), entries)


def _ratio(subject: Subject, S: Mapped) -> Iterator[Identity]:
    """Yield that the second engine finds the same |det DS|, and what is claimed of log a is what is derived.

    Raises:
        JacobianError: the determinant is not found by structure.
    """
    jacobian, where = S.log_jacobian(), subject.place("H")

    def squares(sizes: Sizes) -> Sequence[Expr]:
        image = _image(S, sizes)
        moved = [x for block in S.blocks for x in coordinates(block, sizes)]
        found = determinant(tuple(tuple(slope(image[x], y) for y in moved) for x in moved))
        return [exp(2 * _written(S, jacobian, sizes)) - found**2]

    yield Identity("|det DS|**2 as derived minus that of the second engine", where, NOTHING, squares)
    claimed = S.stated.log_ratio
    if claimed is None:
        return

    def beside(sizes: Sizes) -> Sequence[Expr]:
        setting, image = Setting(S.declarations, sizes), _image(S, sizes)
        ((stated,),) = rows(claimed, setting)
        left = stated - _written(S, jacobian, sizes)
        if not S.stated.draws:
            return [left]
        ((energy,),) = rows(S.energy, setting)
        return [left - energy + energy.xreplace(image)]

    c = S.calculus
    off = c.settled(c.subtract(convert(claimed, S.declarations), S.log_ratio()))
    yield Identity("the claimed log_ratio minus (log q(w'|z')/q(w|z) + log |det DS|)", where, off, beside)


def _written(S: Mapped, tensor: Tensor, sizes: Sizes) -> Expr:
    (value,) = written_out(tensor, sizes, leaf_of(S.declarations, sizes))
    return value


def _image(S: Mapped, sizes: Sizes) -> dict[Symbol, Expr]:
    """Return what every coordinate that S moves becomes, by the second engine."""
    setting = Setting(S.declarations, sizes)
    image: dict[Symbol, Expr] = {}
    for block in S.blocks:
        entries = [x for row in rows(S.maps[block.name], setting) for x in row]
        image |= dict(zip(coordinates(block, sizes), entries, strict=True))
    return image


def _premises(S: Mapped) -> Obligations:
    """Return what must hold besides the identities: smooth maps, valid parameters of laws, domains that are kept."""
    declared, laws = S.declarations, [drawn.law for drawn in S.stated.draws]
    of_laws = [
        *(argument for law in laws for argument in law.arguments),
        *(need for law in laws for need in needs(law)),
    ]
    left = [f"{text(law.arguments[1])} is symmetric" for law in laws if not is_symmetric(law.arguments[1], declared)]
    edges = [edge for block in S.blocks for edge in _edges(S, block)]
    kept = holds([edge for edge in edges if isinstance(edge, Compare)], declared)
    left += [edge for edge in edges if isinstance(edge, str)]
    of_sizes = Obligations(frozenset(size_conditions(S.stated.formulas)), tuple(left))
    return smoothness([*S.maps.values(), *of_laws], declared) | kept | of_sizes


def _edges(S: Mapped, block: Block) -> Iterator[Compare | str]:
    """Yield what has to hold for a block to stay in its domain; text where that is not known how to be shown."""
    image, bounds = S.maps[block.name], block.domain.bounds
    match block.domain.name:
        case DomainName.REAL:
            return
        case DomainName.POSITIVE:
            yield Compare(">", image, zero(block.shape), block.shape)
        case DomainName.INTERVAL if block.shape == SCALAR:
            yield Compare(">", image, bounds[0], SCALAR)
            yield Compare(">", bounds[1], image, SCALAR)
        case other:
            yield f"the involution maps {block.name}, whose domain is {other}, into it"


def _away(subject: Subject, S: Mapped) -> Answer | None:
    """Return the refutation by a point that is mapped out of its domain; None where none was found."""
    for block in S.blocks:
        for edge in _edges(S, block):
            found = _crossed(subject, S, block, edge) if isinstance(edge, Compare) else None
            if found is not None:
                return found
    return None


def _crossed(subject: Subject, S: Mapped, block: Block, edge: Compare) -> Answer | None:
    inside: Formula = minus(edge.left, edge.right)
    for sizes in _sizes(subject, S):
        setting = Setting(S.declarations, sizes)
        try:
            entries = [x for row in rows(inside, setting) for x in row]
            for at in points(S.declarations, sizes):
                if not is_defined_at(S.stated.formulas, setting, at.leaf):
                    continue
                value = _negative(entries, at.leaf)
                if value is not None:
                    says = f"exact witness: the involution maps {block.name} out of its domain"
                    off = (f"{text(edge.left)} - {text(edge.right)}", shown(value))
                    return Answer(Refuted(says, (*at.text, off)), tuple(sizes.items()) or "all")
        except (NotScalarisableError, TooLargeError, NoInstanceError):
            continue
    return None


def _negative(entries: Sequence[Expr], leaf: Callable[[Expr], Value]) -> Value | None:
    """Return the first value among some that is certainly below zero; None where none is."""
    for entry in entries:
        try:
            value = evaluate(entry, leaf)
        except NoValueError:
            continue
        if is_certainly(value, -1):
            return value
    return None
