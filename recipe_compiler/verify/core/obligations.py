"""Obligations that every claim shares: the formulas it reads have a value at every admissible point, and one exists.

A formula that has no value somewhere says nothing there, true or false: nothing is proved of it. This is required of
every claim in one place, beside what each requires itself (smoothness, null sets, finite integrals).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import replace

from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.formula.declaration import Declarations, Domain
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.positions import NONE_KNOWN, size_conditions
from recipe_compiler.verdict import Answer, Undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.premises import require_values
from recipe_compiler.verify.core.subject import Subject

Rows = tuple[tuple[Formula, ...], ...]


def _list_entries(matrix: Rows | None) -> Iterator[Formula]:
    return (place for row in matrix or () for place in row)


ENTRIES: Mapping[str, Callable[[Dynamics], Iterator[Formula]]] = {
    "H": lambda dynamics: iter((dynamics.H,)),
    "D": lambda dynamics: _list_entries(dynamics.D or dynamics.claims.diffusion),
    "Q": lambda dynamics: _list_entries(dynamics.Q),
    "diffusion": lambda dynamics: _list_entries(dynamics.claims.diffusion),
    "drift": lambda dynamics: (formula for _, formula in dynamics.claims.drift or ()),
    "marginal": lambda dynamics: (formula for _, formula in dynamics.claims.marginal or ()),
    "lyapunov": lambda dynamics: iter(() if dynamics.claims.lyapunov is None else (dynamics.claims.lyapunov,)),
    "image": lambda dynamics: iter(()),
    "update": lambda dynamics: (formula for _, formula in dynamics.claims.update or ()),
    "units": lambda _: iter(()),
}
"""Entries of a document to their formulas."""


def list_formulas(dynamics: Dynamics, entries: Iterable[str]) -> Iterator[Formula]:
    """Yield the formulas in some entries of a document (`H`, `D`, `drift`, ...), matrices entry by entry."""
    return (formula for entry in entries for formula in ENTRIES[entry](dynamics))


def state_needed_sizes(found: Answer, formulas: Iterable[Formula], known: Set[str] = NONE_KNOWN) -> Answer:
    """Return an answer that states the sizes its positions need: `theta[1]` exists for d >= 2 only.

    Args:
        found: the answer of a claim.
        formulas: what it is about.
        known: sizes that the document gives a number.
    """
    own = set() if isinstance(found.for_d, str) else {name for name, _ in found.for_d}
    return found.given_also(size_conditions(formulas, known | own))


def require_defined(
    found: Answer, reads: tuple[str, ...], dynamics: Dynamics, subject: Subject | None = None
) -> Answer:
    """Return a claim's answer, undecided where the obligations that every proof shares are not met.

    These are: everything the claim reads, and the ends of domains, have a value at every admissible point; and an
    admissible point is known. An answer that is no proof is returned unchanged. For D = sqrt(a) with a real a, `d_psd`
    would hold wherever D has a value; it is undecided until a >= 0 is declared.

    Args:
        found: the claim's own answer.
        reads: the entries of the document that it is about.
        dynamics: the document as written.
        subject: what the claim was decided of: a proof also rests on the equalities that were substituted.
    """
    if not is_proved(found):
        return found
    needed = _require_domain_ends(dynamics.declarations)
    needed |= require_values(list_formulas(dynamics, reads), dynamics.declarations)
    left = [f"not shown: {what}" for what in needed.open]
    left += [subject.contradiction] if subject is not None and subject.contradiction else []
    if left:
        given = tuple(sorted({*found.decision.given, *needed.given}))
        return replace(found, decision=Undecided(tuple(left), given=given), for_d="all", checked_at=())
    return found.given_also(() if subject is None else subject.equalities)


def _require_domain_ends(declarations: Declarations) -> Obligations:
    """Return the obligations of the ends of domains, which every claim shares."""
    blocks = tuple(replace(block, domain=Domain()) for block in declarations.blocks)
    bounds = (bound for block in declarations.blocks for bound in block.domain.bounds)
    return require_values(bounds, replace(declarations, blocks=blocks))
