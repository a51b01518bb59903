"""Does an involution S of (z, w), accepted or refused, preserve exp(-H)? By the ratio that is derived, if it is one.

w is drawn from q(w|z), and (z', w') = S(z, w) taken with probability min(1, a),

    a = exp(H(z) - H(z')) q(w'|z')/q(w|z) |det DS(z, w)|,

else z stays; w is forgotten. With S o S = id, smooth on a domain that it maps into itself, exp(-H(z)) q(w|z) is kept in
detailed balance, whatever H is (Green 1995; Tierney 1998): what flows from (z, w) to S(z, w) is min(pi, |det DS| pi o
S), the same in both directions. So exp(-H) is kept, at every step size. What its author claims of log a beside H(z) -
H(z') is compared with what is derived; emitted is the latter.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from sympy import Expr, Symbol, exp

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics import acceptance
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.evaluate import evaluate
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.involution import JacobianError, Mapped, mapped
from recipe_compiler.derive.law_energies import minus, needs
from recipe_compiler.derive.recipe import row_coordinate
from recipe_compiler.errors import ModelError
from recipe_compiler.facts.patterns import is_symmetric
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Compare, Formula, Number
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import resizer
from recipe_compiler.spec.bind import Rewriting, rewritten
from recipe_compiler.spec.model import Involution, Scheme
from recipe_compiler.spec.moves import move_text
from recipe_compiler.spec.positions import size_conditions, smallest_sizes
from recipe_compiler.spec.read_moves import visible
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Proved, undecided
from recipe_compiler.verify.builds.in_build import Stages, decided_at_values
from recipe_compiler.verify.core.build_values import bind_target_values, put_values_in
from recipe_compiler.verify.core.conjunction import is_proved, reject_if_refuted
from recipe_compiler.verify.core.identities import Identity, Question, decide, list_faults
from recipe_compiler.verify.core.premises import has_state_assumptions, require_comparisons, require_smooth
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.witness import refute_at_point
from recipe_compiler.verify.steps.split import NOTHING, ZERO

MINIBATCH = "the acceptance probability needs all data: `variant: full`"
NO_U = "the acceptance probability needs U, and the target has no formula for it"


def involution(cycle: Cycle, move: Involution) -> Answer:
    """Decide that one involution preserves exp(-H): (z', w') = S(z, w), w ~ q(w|z), taken with probability min(1, a).

    a = exp(H(z) - H(z')) q(w'|z')/q(w|z) |det DS(z, w)|, DS: [m, m] over all that S moves (Green 1995; Tierney 1998).
    Obligations: S o S = id, block by block; S is smooth and maps its domain into itself; q is a law; the second engine
    finds the same |det DS|; what the author claims of log a is what is derived (emitted is the derived one). Undecided
    with minibatches, and where an assumption restricts the state. Refuted by an exact point with S(S(z, w)) != (z, w),
    or that S maps out of its domain.

    Example: z' = z + w, w' = -w with w ~ N(0, s**2) is a random walk: S(S(z, w)) = (z + w - w, w), |det DS| = 1, q(-w)
    = q(w), so a = exp(H(z) - H(z')). With w' = w it is refuted, as S(S(z, w)) = (z + 2 w, w).
    """
    stages, subject = cycle.stages, cycle.split.subject
    if stages.build.variant != "full":
        return undecided(MINIBATCH)
    if stages.build.target.gradient is not None and not stages.build.target.is_open:
        return undecided(NO_U)
    if has_state_assumptions(subject.declarations):
        reason = "an assumption restricts the state, and it is not shown that the involution maps it into itself"
        return undecided(reason)
    scheme, own, stated = cycle.split.scheme, *_substitute_build_values(move, stages)
    if subject is stages.valued:
        return _decide_involution(subject, stated, stages, scheme)
    general = _decide_involution(subject, move, stages, scheme)
    if is_proved(general):
        return general
    return decided_at_values(general, lambda: _decide_involution(own, stated, stages, scheme), stages.numbers)


@lru_cache(maxsize=limits.SUBJECTS)
def moved_by_involution(cycle: Cycle, move: Involution) -> Mapping[str, bool | None]:
    """Return whether the map changes each mapped block (None: unknown), at a build's values if any.

    True where each of its entries is another at some exact point of every size looked at; False where S leaves the
    block as it is, for every size; None where neither is shown. An involution may be the identity.
    """
    subject, stated = _substitute_build_values(move, cycle.stages)
    try:
        S = _map_in_index_notation(subject, stated, cycle.stages)
        return {block.name: _is_moved(subject, S, block) for block in S.blocks}
    except (ModelError, NotScalarisableError, TooLargeError, NoInstanceError):
        return {}


def _is_moved(subject: Subject, S: Mapped, block: Block) -> bool | None:
    """Return whether S changes a block at some point: False by index notation, True by a witness, None unknown."""
    c = S.calculus
    if c.settled(c.subtract(S.image(block), c.atom(row_coordinate(block)))).is_zero:
        return False
    for sizes in _sizes_with_named_positions(subject, S):
        image = _map_coordinates(S, sizes)
        changes = (image[x] - x for x in coordinates(block, sizes))
        if not all(witness(change, S.declarations, sizes, S.stated.formulas) for change in changes):
            return None
    return True


def _sizes_with_named_positions(subject: Subject, S: Mapped) -> tuple[Sizes, ...]:
    """Return the sizes to check, each large enough for every position that a formula names."""
    least = smallest_sizes(Declarations(), S.stated.formulas)
    found = ({name: max(n, least.get(name, 1)) for name, n in at.items()} for at in subject.sizes)
    return tuple(dict(at) for at in dict.fromkeys(tuple(at.items()) for at in found))


def _substitute_build_values(move: Involution, stages: Stages) -> tuple[Subject, Involution]:
    """Return the subject and the involution at a build's values and sizes, where formulas can hold them."""
    if stages.valued is None:
        return stages.declared, move
    shape = resizer({name: Number(Fraction(n)) for name, n in stages.sizes.items()})
    return stages.valued, rewritten(move, Rewriting(lambda formula: put_values_in(formula, stages.build), shape))


def _map_in_index_notation(subject: Subject, move: Involution, stages: Stages) -> Mapped:
    """Return the involution with the declarations of the subject and of the target's parameters."""
    target = (subject is stages.valued and bind_target_values(stages.build)) or stages.build.target
    return mapped(move, visible(subject.declarations, target.declarations.parameters))


def _decide_involution(subject: Subject, move: Involution, stages: Stages, scheme: Scheme) -> Answer:
    """Decide that S is an involution with the derived ratio, after checking that it stays in the domain."""
    try:
        S = _map_in_index_notation(subject, move, stages)
        away, premises, ratio = _refute_by_domain(subject, S), _collect_premises(S), list[Identity]()
        if away is not None:
            return away
        try:
            ratio = list(_acceptance_identities(subject, S))
        except JacobianError as why:
            premises |= Obligations(open=(f"the Jacobian of the involution: {why}",))
        identities, reads = (*_involution_identities(subject, S), *ratio), S.stated.formulas
        sizes = _sizes_with_named_positions(subject, S)
        found = decide(Question(identities, S.declarations, sizes, premises, subject.contradiction, reads=reads))
        if not is_proved(found):
            return found
        beside = S.log_ratio()
        log_a = "H(z) - H(z')" + ("" if beside.is_zero else f" + {tensor_text(beside)}")
        says = f"{move_text(scheme, S.stated)}: S o S = id, log a = {log_a}"
        proof = Answer(Proved(says, found.decision.given), found.for_d, found.checked_at)
        return reject_if_refuted(proof, refute_involution(subject, S))
    except ModelError as error:
        return undecided(*list_faults(error))


def refute_involution(subject: Subject, S: Mapped) -> Answer | None:
    """Return the refutation by log a(S(z, w)) != -log a(z, w), or by S(S(z, w)) != (z, w); None where none is found."""
    sizes = {**dict.fromkeys(S.declarations.sizes, 2), **_sizes_with_named_positions(subject, S)[-1]}

    def off(at: Point, _: Point) -> Iterator[Expr]:
        image, beside = _map_coordinates(S, sizes), _evaluate(S, S.log_ratio(), sizes)
        values = {x: evaluate(e, at.leaf) for x, e in image.items()}
        exact = {x: rational(y) for x, y in values.items() if isinstance(y, Fraction)}
        there = exact if exact.keys() == image.keys() else image
        yield beside + beside.xreplace(there)
        yield from (e.xreplace(there) - x for x, e in image.items())

    by = "exact witness: the ratio of the reverse move is not the inverse of that of the move"
    return refute_at_point(by, off, S.declarations, sizes, S.stated.formulas)


def _involution_identities(subject: Subject, S: Mapped) -> Iterator[Identity]:
    """Yield S(S(z, w)) - (z, w) = 0, block by block."""
    for block in S.blocks:

        def entries(sizes: Sizes, block: Block = block) -> Sequence[Expr]:
            return acceptance.returned(_map_coordinates(S, sizes), coordinates(block, sizes))

        yield Identity(f"S(S({block.name})) - {block.name}", subject.place("H"), S.twice(block), entries)


def _acceptance_identities(subject: Subject, S: Mapped) -> Iterator[Identity]:
    """Yield that both engines find the same |det DS|, and that the claimed log a is the derived one.

    Raises:
        JacobianError: the determinant is not found by structure.
    """
    jacobian, where = S.log_jacobian(), subject.place("H")

    def squares(sizes: Sizes) -> Sequence[Expr]:
        return [exp(2 * _evaluate(S, jacobian, sizes)) - acceptance.jacobian(_map_coordinates(S, sizes)) ** 2]

    yield Identity("|det DS|**2 as derived minus that of the second engine", where, NOTHING, squares)
    claimed = S.stated.log_ratio
    if claimed is None:
        return

    def beside(sizes: Sizes) -> Sequence[Expr]:
        setting = Setting(S.declarations, sizes)
        ((stated,),) = rows(claimed, setting)
        energy = rows(S.energy, setting)[0][0] if S.stated.draws else ZERO
        return [
            stated - _evaluate(S, jacobian, sizes) - acceptance.log_density_change(energy, _map_coordinates(S, sizes))
        ]

    c = S.calculus
    off = c.settled(c.subtract(convert(claimed, S.declarations), S.log_ratio()))
    yield Identity("the claimed log_ratio minus (log q(w'|z')/q(w|z) + log |det DS|)", where, off, beside)


def _evaluate(S: Mapped, tensor: Tensor, sizes: Sizes) -> Expr:
    """Return a scalar tensor as an expression of the second engine, at fixed sizes."""
    (value,) = write_out(tensor, sizes, make_leaf(S.declarations, sizes))
    return value


def _map_coordinates(S: Mapped, sizes: Sizes) -> dict[Symbol, Expr]:
    """Return the value that S gives each coordinate it moves, by the second engine."""
    setting = Setting(S.declarations, sizes)
    image: dict[Symbol, Expr] = {}
    for block in S.blocks:
        entries = [x for row in rows(S.maps[block.name], setting) for x in row]
        image |= dict(zip(coordinates(block, sizes), entries, strict=True))
    return image


def _collect_premises(S: Mapped) -> Obligations:
    """Return the conditions besides the identities: smooth maps, valid parameters of laws, domains kept."""
    declared, draws = S.declarations, S.stated.draws
    formulas = [*S.maps.values(), *(x for w in draws for x in (*w.law.arguments, *needs(w.law, w.block)))]
    covariances = [w.law.arguments[1] for w in draws]
    left = [f"{text(cov)} is symmetric" for cov in covariances if not is_symmetric(cov, declared)]
    edges = [edge for block in S.blocks for edge in _domain_conditions(S, block)]
    kept = require_comparisons([edge for edge in edges if isinstance(edge, Compare)], declared)
    left += [edge for edge in edges if isinstance(edge, str)]
    return (
        require_smooth(formulas, declared)
        | kept
        | Obligations(frozenset(size_conditions(S.stated.formulas)), tuple(left))
    )


def _domain_conditions(S: Mapped, block: Block) -> Iterator[Compare | str]:
    """Yield the conditions under which a block stays in its domain; text where the program cannot show one."""
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


def _refute_by_domain(subject: Subject, S: Mapped) -> Answer | None:
    """Return the refutation by a point that S maps out of its domain; None where none was found."""
    for block in S.blocks:
        by = f"exact witness: the involution maps {block.name} out of its domain"
        for edge in (one for one in _domain_conditions(S, block) if isinstance(one, Compare)):
            inside, says = minus(edge.left, edge.right), f"{text(edge.left)} - {text(edge.right)}"
            for sizes in _sizes_with_named_positions(subject, S):

                def off(_: Point, __: Point, inside: Formula = inside, sizes: Sizes = sizes) -> list[Expr]:
                    return [x for row in rows(inside, Setting(S.declarations, sizes)) for x in row]

                reads = S.stated.formulas
                found = refute_at_point(by, off, S.declarations, sizes, reads, says=says, sign=-1, tried=limits.POINTS)
                if found is not None:
                    return found
    return None
