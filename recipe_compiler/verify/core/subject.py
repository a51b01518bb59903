"""The dynamics a check is about, with what every claim needs of it, found once."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.system import System, system
from recipe_compiler.algebra.scalars.entries import Setting
from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.errors import Place
from recipe_compiler.formula.block_matrices import zeros
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.trace.stated_step import stated_step
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.core.assumed_relations import with_equalities
from recipe_compiler.verify.core.generalise_size import decide_every_size_first, find_largest_size, generalise_dynamics
from recipe_compiler.verify.core.premises import find_contradiction
from recipe_compiler.verify.core.sizes import Sizes, list_checked_sizes

T = TypeVar("T")
Find = TypeVar("Find", bound=Callable[..., Any])


def once(find: Callable[["Subject"], T]) -> Callable[["Subject"], T]:
    """Return a function of a subject that computes its result once, however many claims need it.

    Results are kept per subject object, not per document: another subject of the same document starts again. A call
    that raised is repeated.
    """
    return lru_cache(maxsize=limits.SUBJECTS)(find)


def once_at_sizes(find: Find) -> Find:
    """Return a function whose last argument is sizes, and which computes its result once, as `once` does."""

    @lru_cache(maxsize=limits.SUBJECTS)
    def kept(*arguments: Any) -> Any:
        return find(*arguments[:-1], dict(arguments[-1]))

    @wraps(find)
    def found(*arguments: Any) -> Any:
        return kept(*arguments[:-1], tuple(arguments[-1].items()))

    return cast("Find", found)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """A dynamics document with what all of its claims need: derivation, sizes to look at, an admissible point."""

    dynamics: Dynamics
    """With the equalities that it assumes of its parameters put in."""
    derivation: Derivation | None
    """With the claimed diffusion where D is not given, and Q = 0 where Q is not given; None without any D."""
    sizes: tuple[Sizes, ...]
    contradiction: str
    """Why no exact point satisfying the declarations is known; empty if one is."""
    any_size: "Subject | None" = None
    """The same for every size, where a large one is fixed, or those of a build."""
    stated: Dynamics | None = None
    """As written."""
    equalities: frozenset[str] = frozenset()
    """The assumptions that were put in."""

    @property
    def declarations(self) -> Declarations:
        """What the document declares."""
        return self.dynamics.declarations

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the blocks, in order."""
        return tuple(block.name for block in self.declarations.blocks)

    def place(self, *entries: str) -> Place:
        """Return the place of the first of these entries that the document states."""
        known = dict(self.dynamics.source.places)
        return next((known[entry] for entry in entries if entry in known), Place(self.dynamics.source.file))

    @once_at_sizes
    def system(self, sizes: Sizes) -> System:
        """Return H, D, Q as SymPy scalars at fixed sizes, D and Q as n x n, by the second engine."""
        found = self.whole
        return system(found.declarations, found.H, found.D or (), found.Q or (), sizes)

    def setting(self, sizes: Sizes) -> Setting:
        """Return what the second engine needs to read formulas of this document."""
        return Setting(self.dynamics.declarations, sizes)

    @property
    def whole(self) -> Dynamics:
        """The dynamics with D and Q filled in as for the derivation."""
        return self.dynamics if self.derivation is None else self.derivation.dynamics

    @property
    def widest(self) -> "Subject":
        """The same for every size, where sizes are fixed."""
        return self.any_size or self

    @property
    def formulas(self) -> tuple[Formula, ...]:
        """H, and the places of D and Q as in `whole`: what drifts and noise are made of."""
        return (self.whole.H, *self.whole.matrix_entries)


def decide_claim(claim: Callable[[Subject], Answer], subject: Subject) -> Answer:
    """Return the answer of a claim; where a large size, or that of a build, is fixed, every size is tried first.

    At the sizes of a build a claim is decided only where it is refuted at others: what is open for every size stays
    open.
    """
    wide = subject.any_size
    if wide is None:
        return claim(subject)
    if wide.dynamics is not subject.dynamics:
        return decide_every_size_first(
            lambda: claim(subject), lambda: claim(wide), find_largest_size(subject.declarations)
        )
    found = decide_claim(claim, wide)
    largest = max((n for sizes in subject.sizes for n in sizes.values()), default=0)
    return (
        decide_every_size_first(lambda: claim(subject), lambda: found, largest)
        if isinstance(found.decision, Refuted)
        else found
    )


def fix_build_sizes(subject: Subject, known: Sizes) -> Subject:
    """Return a subject at the sizes that a build gives its dynamics."""
    return replace(subject, sizes=list_checked_sizes(subject.dynamics, known), any_size=subject) if known else subject


def prepare_subject(stated: Dynamics) -> Subject:
    """Return what the claims about a dynamics need: its derivation, its sizes, and whether a point is admissible.

    Raises:
        ModelError: a formula that has no meaning in index notation, or an update whose blocks need each other's new
            value.
    """
    dynamics, equalities = with_equalities(stated)
    if dynamics.claims.update is not None:
        stated_step(dynamics)
    D = dynamics.D or dynamics.claims.diffusion
    Q = dynamics.Q or zeros(dynamics.declarations.blocks)
    derivation = None if D is None else derive(replace(dynamics, D=D, Q=Q))
    wider = generalise_dynamics(dynamics)
    wide = None if wider is None else prepare_subject(wider)
    against = find_contradiction(dynamics) if wide is None else wide.contradiction
    return Subject(dynamics, derivation, list_checked_sizes(dynamics), against, wide, stated, equalities)
