"""Names of formulas made in Python, and what they declare: `vector("theta", "d")` is a name with its shape."""

from collections.abc import Sequence

from recipe_compiler.errors import shown
from recipe_compiler.formula import tree
from recipe_compiler.formula.python_declaration import (
    PYTHON,
    REAL,
    Declared,
    checked_name,
    checked_size,
    merged,
    refusal,
)
from recipe_compiler.formula.shapes import OF_DATA, OF_PARAMETERS, SCALAR, Kind, Shape, Size
from recipe_compiler.formula.symbolic import Expression, expression, tree_of
from recipe_compiler.formula.syntax import parse

I = Expression(tree.Constant("I"))  # noqa: E741 - the identity has this name in every formula
ones = Expression(tree.Constant("ones"))
pi = Expression(tree.Constant("pi"))
eps = Expression(tree.Name("eps"))

Kinds = str | Sequence[str]
ROLES = ("", "potential")


def scalar(
    name: str, *, is_: Kinds = "real", domain: str = "real", default: object = None, transform: str = "",
    constraint: str = "",
) -> Expression:  # fmt: skip
    """Declare a number.

    Parameters
    ----------
    name : str
        An ASCII identifier.
    is_ : str or sequence of str
        What is known of a parameter: `positive`, `nonnegative`, `nonzero`.
    domain : str
        Where a block of the state lives: `positive`, `interval(0, 1)`, `circle`, ...
    default : number, optional
        What a parameter is where nobody gives it a value.
    transform : {"log", "logit"}, optional
        The unbounded variable that a block of a target is sampled in.
    constraint : str, optional
        The set that a block of a target lies in, and is sampled in by unconstrained variables: `lower(2)`, of columns
        `simplex`, `ordered`, of matrices `cholesky_factor_corr`, ...

    Returns
    -------
    Expression
        The name, from which formulas are made.

    Raises
    ------
    SpecError
        A name, kind or domain that the language does not have.

    Examples
    --------
    >>> A = scalar("A", is_="positive")
    >>> (A + 1) ** 2
    (A + 1)**2
    """
    return _named(_declared(name, SCALAR, is_, domain, default, transform, constraint))


def vector(
    name: str, size: Size, *, is_: Kinds = "real", domain: str = "real", default: object = None, transform: str = "",
    constraint: str = "",
) -> Expression:  # fmt: skip
    """Declare a column of a symbolic (`"d"`) or fixed size; the rest is as of `scalar`.

    Examples
    --------
    >>> theta = vector("theta", "d")
    >>> theta.T @ theta / 2
    theta.T @ theta / 2
    """
    return _named(_declared(name, Shape(checked_size(size)), is_, domain, default, transform, constraint))


def matrix(
    name: str, rows: Size, cols: Size, *, is_: Kinds = "real", domain: str = "real", default: object = None,
    transform: str = "", constraint: str = "",
) -> Expression:  # fmt: skip
    """Declare a matrix of symbolic or fixed sizes; the rest is as of `scalar`.

    `is_` may also be `symmetric`, `skew`, `positive semidefinite`, `positive definite`, `diagonal`.

    Examples
    --------
    >>> M = matrix("M", "d", "d", is_="positive definite")
    """
    shape = Shape(checked_size(rows), checked_size(cols))
    return _named(_declared(name, shape, is_, domain, default, transform, constraint))


def data(
    name: str, *sizes: Size, values: Sequence[int] = (), is_: Kinds = "real", index_of: Size | None = None
) -> Expression:
    """Declare a field of the data of a target.

    Parameters
    ----------
    name : str
        An ASCII identifier. In `log_likelihood` it stands for ONE datum: a number, a row or a matrix.
    *sizes : str or int
        How many data there are, then the shape of one: `"N"` for numbers, `"N", "d"` for rows of length d.
    values : sequence of int, optional
        The only values allowed, such as `[0, 1]`.
    is_ : str or sequence of str, optional
        What every number is: `"positive"`, `"nonnegative"`, `"nonzero"`, `"integer"`.
    index_of : str or int, optional
        The length of an axis along which each datum is a position, counted from 0: `eta[g]` is an entry, `F[g]` a row.

    Returns
    -------
    Expression
        The name, from which formulas are made.

    Raises
    ------
    SpecError
        No size, or more than two.

    Examples
    --------
    >>> x, y = data("x", "N", "d"), data("y", "N", values=[0, 1])
    >>> theta = vector("theta", "d")
    >>> y * (x @ theta)
    y*(x @ theta)
    >>> g, eta = data("g", "N", index_of="J"), vector("eta", "J")
    >>> y - eta[g]
    y - eta[g]
    """
    if not 1 <= len(sizes) <= 2:
        raise refusal(f"found {len(sizes)} sizes of {name}, expected the number of data, then the length of one")
    along = None if index_of is None else checked_size(index_of)
    shape = Shape(*(checked_size(size) for size in sizes))
    return _named(Declared(name, shape, _kinds(is_, OF_DATA), values=tuple(values), index_of=along))


def function(
    name: str,
    *,
    of: object,
    shape: Size | tuple[()] | tuple[Size] | tuple[Size, Size] = (),
    is_: Kinds = "real",
    role: str = "",
) -> Expression:
    """Declare a function of one block or of several, known by its shape and kind alone until it is bound.

    The object itself stands for the function at its blocks; `U(theta)` says the same.

    Parameters
    ----------
    name : str
        An ASCII identifier.
    of : Expression or sequence of Expression
        The blocks that it is a function of.
    shape : size or tuple of sizes
        A scalar unless one is given.
    is_ : str or sequence of str
        What is known of its values, as of `matrix`.
    role : {"", "potential"}
        `potential` is the function that a target binds.

    Returns
    -------
    Expression
        The function at its blocks.

    Raises
    ------
    SpecError
        Something of `of` is no name, or a name or kind that the language does not have.

    Examples
    --------
    >>> theta = vector("theta", "d")
    >>> U = function("U", of=theta, role="potential")
    >>> U(theta) / 2
    U(theta)/2
    """
    blocks = [expression(block) for block in (of if isinstance(of, tuple | list) else (of,))]
    names = tuple(block.tree.name for block in blocks if isinstance(block.tree, tree.Name))
    if len(names) < len(blocks):
        other = next(block for block in blocks if not isinstance(block.tree, tree.Name))
        hint = f'write function("{name}", of=theta) with theta = vector("theta", "d")'
        raise refusal(
            f"found {shown(other)} among the blocks of {name}, expected names of blocks", hint, entry="functions"
        )
    sizes = shape if isinstance(shape, tuple) else (shape,)
    if len(sizes) > 2:
        raise refusal(f"found {len(sizes)} sizes of {name}, expected none, one or two", entry="functions")
    if role not in ROLES:
        raise refusal(f"found the role {shown(role)} of {name}, expected {ROLES[1]!r} or none", entry="functions")
    declared = Declared(name, Shape(*(checked_size(size) for size in sizes)), _kinds(is_), of=names, role=role)
    used = merged((declared,), *(block.names for block in blocks))
    return Expression(tree.Name(checked_name(name)), used)


def _declared(
    name: str, shape: Shape, is_: Kinds, domain: str, default: object, transform: str, constraint: str
) -> Declared:
    given = None if default is None else tree_of(default, f"parameters.{name}.default")
    kinds, where = _kinds(is_), _domain(domain)
    return Declared(name, shape, kinds, where, default=given, transform=transform, constraint=constraint)


def _named(declared: Declared) -> Expression:
    return Expression(tree.Name(checked_name(declared.name)), (declared,))


def _kinds(is_: Kinds, allowed: Sequence[Kind] = OF_PARAMETERS) -> tuple[Kind, ...]:
    words: tuple[object, ...] = tuple(is_) if isinstance(is_, list | tuple) else (is_,)
    known = {kind.value: kind for kind in allowed}
    found = tuple(known[word] for word in words if isinstance(word, str) and word in known)
    if len(found) < len(words):
        other = next(word for word in words if not isinstance(word, str) or word not in known)
        raise refusal(f"found the kind {shown(other)}, expected one of {', '.join(known)}", entry="is_")
    return found


def _domain(domain: str) -> tree.Tree:
    if type(domain) is not str:
        hint = 'write "positive", "interval(0, 1)" or "circle"'
        raise refusal(f"found the domain {shown(domain)}, expected a text", hint, entry="domain")
    return REAL if domain == "real" else parse(domain, "domain", PYTHON)
