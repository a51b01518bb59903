"""Deciding that quantities vanish: by the index calculus for every size, and by the second engine at small ones.

Only both together prove. The second engine alone refutes, by an exact admissible point. Where they disagree the
verdict is undecided, and says so: one of them is wrong.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import ceil

from sympy import Expr

from recipe_compiler import limits
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import Witness, witness
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import Value
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.sign_cells import off_kinks
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.algebra.zero.everywhere import is_zero_everywhere
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.errors import ModelError, Place
from recipe_compiler.facts.multiplied_out import apart
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import SizeNumber, Tensor
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.core.sizes import Sizes, format_sizes, list_further_sizes

Scalars = Callable[[Sizes], Sequence[Expr]]


@dataclass(frozen=True, slots=True)
class Identity:
    """A quantity T that should vanish: T = 0 in every entry.

    `says` names it in a verdict and `where` is its place in the document. `everywhere` is T in index notation, valid
    for every size, with the free indices that T has; `entries` gives its scalar entries at fixed sizes, by the second
    engine.
    """

    says: str
    where: Place
    everywhere: Tensor
    entries: Scalars
    residual: str = ""
    """The residual that a refutation shows, for an identity of a rule instead of the index calculus."""


@dataclass(frozen=True, slots=True)
class Question:
    """Identities of one document, and everything that an answer about them may rest on."""

    identities: tuple[Identity, ...]
    declarations: Declarations
    sizes: tuple[Sizes, ...]
    premises: Obligations
    contradiction: str
    remark: str = ""
    """Said after the method of a proof."""
    reads: tuple[Formula, ...] = ()
    """What they were made of: a point at which that has no value refutes nothing."""
    at_every_point: bool = False
    """Whether they are about values at every point; else about functions off the kinks of what they are made of."""


@dataclass(frozen=True, slots=True)
class _SecondEngineResult:
    """The sizes at which all entries vanish, the first witness, and the reasons that sizes are open."""

    vanished_at: tuple[Sizes, ...]
    failed: tuple[Identity, Sizes, Witness] | None
    open: tuple[str, ...]

    def extend(self, other: "_SecondEngineResult") -> "_SecondEngineResult":
        """Return this result followed by that at further sizes."""
        return _SecondEngineResult((*self.vanished_at, *other.vanished_at), other.failed, (*self.open, *other.open))


def decide(question: Question) -> Answer:
    """Decide that all identities T = 0 hold, T of any shape, entry by entry, for every size the document allows.

    Proved: T reduces to zero in index notation, its entries reduce to zero at the small sizes looked at (1, 2, 3 each),
    the premises hold and the declarations have an admissible point. Where the document fixes all sizes, the second
    engine suffices. Refuted: at an exact admissible point, at one of these sizes, an entry is certainly not zero.
    Undecided: anything else; where the index calculus says zero and a point says not, one engine is wrong, and the
    verdict says so.

    Example: (d - 1) theta_i is zero at d = 1. It does not reduce to zero in index notation, and theta = (1, 0), d = 2
    refutes it; the verdict adds that it holds at d = 1 only.
    """
    left = [identity for identity in question.identities if not identity.everywhere.is_zero]
    seen = _evaluate_at_sizes(question, question.sizes)
    if left and not seen.open and seen.failed is None:
        seen = seen.extend(_evaluate_at_sizes(question, list_further_sizes(question.sizes, _find_powers(left))))
    checked = tuple(tuple(sizes.items()) for sizes in seen.vanished_at)
    if seen.failed is not None:
        identity, sizes, found = seen.failed
        decision = _refute(identity, found, seen, question, left)
        return Answer(decision, tuple(sizes.items()) or "all", checked, identity.where)
    where = left[0].where if left else None
    fixed = not question.declarations.sizes
    tried = list(seen.open)
    if left and not (fixed and not seen.open):
        tried.append(f"index calculus: {left[0].says} does not reduce to zero")
        if checked:
            tried.append(
                f"second engine: zero at {'; '.join(format_sizes(dict(at)) for at in checked) or 'the fixed sizes'}"
            )
    tried += [f"not shown: {what}" for what in question.premises.open]
    if question.contradiction:
        tried.append(question.contradiction)
    given = tuple(sorted(question.premises.given))
    if tried:
        other_sizes_alone = bool(left) and not (seen.open or question.premises.open or question.contradiction)
        holds_at = checked if other_sizes_alone else ()
        residual = text(left[0].everywhere) if left else ""
        return Answer(Undecided(tuple(tried), residual, given, holds_at=holds_at), "all", checked, where)
    method = "normal form at the document's sizes" if left else "index calculus for every size; second engine"
    return Answer(Proved(method + question.remark, given), "all", checked)


def _refute(
    identity: Identity, found: Witness, seen: _SecondEngineResult, question: Question, left: list[Identity]
) -> Decision:
    """Return a refutation; undecided if the index calculus says that the identity holds."""
    at = (*found.text, (identity.says, format_value(found.value)))
    if identity not in left and not identity.residual:
        point = ", ".join(f"{name} = {value}" for name, value in at)
        return Undecided(
            (f"the engines disagree on {identity.says}: zero for the index calculus, but {point}; please report this",)
        )
    holds = "; ".join(format_sizes(sizes) for sizes in seen.vanished_at if sizes)
    by = "exact witness" + (f" (of the sizes checked, it holds at {holds} only)" if holds else "")
    return Refuted(by, at, identity.residual or text(identity.everywhere), tuple(sorted(question.premises.given)))


def _find_powers(left: list[Identity]) -> dict[str, int]:
    """Return the largest power of every size in the coefficients of what does not reduce to zero."""
    found: dict[str, int] = {}
    for term in (term for identity in left for term in identity.everywhere.terms):
        for atom, exponent in term.factors:
            if isinstance(atom, SizeNumber) and exponent > 0:
                found[atom.name] = max(found.get(atom.name, 0), ceil(exponent))
    return found


def _evaluate_at_sizes(question: Question, where: Iterable[Sizes]) -> _SecondEngineResult:
    """Evaluate the entries by the second engine at every size, up to the first witness against one."""
    vanished: list[Sizes] = []
    notes: list[str] = []
    for sizes in where:
        at = f" at {format_sizes(sizes)}" if sizes else ""
        open_: Identity | None = None
        try:
            for identity, entry in islice(_list_nonzero_entries(question, sizes), limits.TRIALS):
                found = witness(entry, question.declarations, sizes, question.reads)
                if found is not None:
                    return _SecondEngineResult(tuple(vanished), (identity, sizes, found), tuple(notes))
                open_ = open_ or identity
        except (NoNormalFormError, NotScalarisableError, TooLargeError, NoInstanceError) as reason:
            notes.append(f"second engine{at}: {reason}")
            continue
        if open_ is None:
            vanished.append(sizes)
        else:
            notes.append(f"second engine{at}: {open_.says} did not reduce to zero, no witness found")
    return _SecondEngineResult(tuple(vanished), None, tuple(notes))


def _list_nonzero_entries(question: Question, sizes: Sizes) -> Iterator[tuple[Identity, Expr]]:
    """Yield every identity with every entry that is not shown to be zero, as it may be evaluated."""
    for identity in question.identities:
        for entry in identity.entries(sizes):
            if not question.at_every_point and not is_zero(entry):
                yield identity, off_kinks(entry)
            if question.at_every_point and not is_zero_everywhere(entry, apart(question.declarations, sizes)):
                yield identity, entry


def format_value(value: Value) -> str:
    """Return an exact value as text; one that is only enclosed by its ball, marked `(enclosed)`."""
    return str(value) if not hasattr(value, "mid") else f"{value} (enclosed)"


def list_faults(error: ModelError) -> tuple[str, ...]:
    """Return, for a verdict, why the index calculus has no residual, such as the derivative of something that jumps."""
    return tuple(f"index calculus: {fault.problem}" for fault in error.faults)
