"""What the calculus must know of the names in its terms: symmetries, signs, which blocks a function depends on."""

from dataclasses import dataclass

from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import DomainName, Kind
from recipe_compiler.tensor.terms import Tensor

_DEFINITE = {Kind.PSD, Kind.PD}
_MATRIX_SYMMETRIC = {Kind.SYMMETRIC, Kind.DIAGONAL} | _DEFINITE


@dataclass(frozen=True, slots=True)
class Rules:
    """Declared facts, as sets of names. A name in none of them has no known property."""

    symmetric: frozenset[str] = frozenset()
    """Matrices with S_ij = S_ji."""
    skew: frozenset[str] = frozenset()
    """Matrices with K_ij = -K_ji."""
    diagonal: frozenset[str] = frozenset()
    """Matrices with A_ij = delta_ij A_ii."""
    definite: frozenset[str] = frozenset()
    """Positive definite matrices: their determinant is positive."""
    positive_diagonal: frozenset[str] = frozenset()
    """Diagonal matrices with positive entries, which are as definite."""
    semidefinite: frozenset[str] = frozenset()
    """Matrices that are declared positive semidefinite, or diagonal with nonnegative entries."""
    positive: frozenset[str] = frozenset()
    """Scalars and vectors with entries > 0."""
    nonnegative: frozenset[str] = frozenset()
    """Scalars and vectors with entries >= 0; holds those of `positive` too."""
    depends: frozenset[tuple[str, str]] = frozenset()
    """Pairs (function, block it is a function of)."""
    assumed: tuple[tuple[Tensor, bool], ...] = ()
    """Scalars without indices that are assumed to be nonnegative, positive where True, in proofs that rest on signs."""
    stated: bool = False
    """Whether factors stay as the author wrote them: no sum is multiplied out, no function of a product split.

    Equal expressions then need not have one form, but what is computed rounds as the stated formula does.
    """


def rules_of(declarations: Declarations) -> Rules:
    """Return the facts that `declarations` state about matrices, signs and dependence.

    Signs come from kinds (positive, nonnegative), from domains of blocks (a simplex is positive, one_hot and counts
    nonnegative, an interval with a lower end >= 0 nonnegative) and from the listed values of a data field.
    """
    tabled = (*declarations.parameters, *declarations.functions)
    positive = {item.name for item in tabled if item.shape.cols is None and Kind.POSITIVE in item.kinds}
    nonnegative = {item.name for item in tabled if item.shape.cols is None and Kind.NONNEGATIVE in item.kinds}
    positive |= {block.name for block in declarations.blocks if _block_sign(block) == "positive"}
    nonnegative |= {block.name for block in declarations.blocks if _block_sign(block) == "nonnegative"}
    positive |= {datum.name for datum in declarations.data if Kind.POSITIVE in datum.kinds}
    nonnegative |= {datum.name for datum in declarations.data if Kind.NONNEGATIVE in datum.kinds}
    nonnegative |= {datum.name for datum in declarations.data if datum.values and min(datum.values) >= 0}
    return Rules(
        symmetric=_names_of_kind(tabled, _MATRIX_SYMMETRIC),
        skew=_names_of_kind(tabled, {Kind.SKEW}),
        diagonal=_names_of_kind(tabled, {Kind.DIAGONAL}),
        definite=_names_of_kind(tabled, {Kind.PD}),
        positive_diagonal=_names_of_kind(tabled, {Kind.DIAGONAL}) & _names_of_kind(tabled, {Kind.POSITIVE}),
        semidefinite=_names_of_kind(tabled, {Kind.PSD})
        | (_names_of_kind(tabled, {Kind.DIAGONAL}) & _names_of_kind(tabled, {Kind.NONNEGATIVE})),
        positive=frozenset(positive),
        nonnegative=frozenset(positive | nonnegative),
        depends=frozenset((function.name, block) for function in declarations.functions for block in function.of),
    )


def is_declared_matrix(item: Block | Parameter | Function | Datum) -> bool:
    """Whether a declaration has two axes, rows and columns."""
    return item.shape.rows is not None and item.shape.cols is not None


def _names_of_kind(items: tuple[Parameter | Function, ...], kinds: set[Kind]) -> frozenset[str]:
    """Return the names of matrices declared to be of one of some kinds."""
    return frozenset(item.name for item in items if is_declared_matrix(item) and kinds & set(item.kinds))


def _block_sign(block: Block) -> str:
    """Return the sign that the domain of a block implies: positive, nonnegative or empty."""
    match block.domain.name, block.domain.bounds:
        case ((DomainName.POSITIVE | DomainName.SIMPLEX), _):
            return "positive"
        case ((DomainName.NONNEGATIVE | DomainName.ONE_HOT | DomainName.COUNTS), _):
            return "nonnegative"
        case DomainName.INTERVAL, (Number(low), _) if low >= 0:
            return "nonnegative"
        case _:
            return ""
