"""Numbers of a traced step: exact ones, which are floats to everybody else, and symbols."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar, NoReturn

import numpy as np

from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.lint import nodes
from recipe_compiler.lint.nodes import DEPENDS, Node, UntraceableError


class ExactOperators:
    """The operators of Python, exact."""

    node: Node
    of_ufunc: ClassVar[Callable[..., Any]]
    """What NumPy's elementwise functions give of it: `arrays.apply_ufunc`, which imports this module."""

    def __add__(self, other: object) -> Any:
        return _join(nodes.add, self, other)

    def __radd__(self, other: object) -> Any:
        return _join(nodes.add, other, self)

    def __sub__(self, other: object) -> Any:
        return _join(_subtract, self, other)

    def __rsub__(self, other: object) -> Any:
        return _join(_subtract, other, self)

    def __mul__(self, other: object) -> Any:
        return _join(nodes.multiply, self, other)

    def __rmul__(self, other: object) -> Any:
        return _join(nodes.multiply, other, self)

    def __truediv__(self, other: object) -> Any:
        return _join(_divide, self, other)

    def __rtruediv__(self, other: object) -> Any:
        return _join(_divide, other, self)

    def __pow__(self, other: object, modulo: None = None) -> Any:
        return _join(nodes.power, self, other)

    def __rpow__(self, other: object, modulo: None = None) -> Any:
        return _join(nodes.power, other, self)

    def __neg__(self) -> Any:
        return make_number(_negate(self.node))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return make_number(nodes.call("abs", self.node))

    def conjugate(self) -> Any:
        """Return the number itself: all are real."""
        return self

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the shape of a number."""
        return ()

    @property
    def ndim(self) -> int:
        """Return the number of axes."""
        return 0

    @property
    def size(self) -> int:
        """Return the number of entries."""
        return 1

    @property
    def T(self) -> Any:
        """Return the transpose."""
        return self

    def item(self) -> Any:
        """Return the number itself."""
        return self

    def copy(self) -> Any:
        """Return the number itself: it never changes."""
        return self

    def sum(self, axis: None = None) -> Any:
        """Return the sum of one number."""
        return self

    mean = sum

    def astype(self, dtype: object, copy: bool = True) -> Any:
        """Return the number itself as a real number."""
        return self

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: object, **kwargs: object) -> Any:
        return self.of_ufunc(ufunc, method, inputs, kwargs)


# operators of `float` return floats, those of `ExactOperators` nodes: the first base wins, which is what is wanted
class Exact(ExactOperators, float):
    """An exact number: a float for whoever compares it, counts with it or prints it."""

    def __new__(cls, node: Node) -> "Exact":
        """Return a number by its node."""
        made = super().__new__(cls, node.value if node.value is not None else float("nan"))
        made.node = node
        return made

    def __hash__(self) -> int:
        return float.__hash__(self)


class Symbolic(ExactOperators):
    """A number that is not known."""

    def __init__(self, node: Node, positive: bool = False) -> None:
        self.node = node
        self.positive = positive

    def _is_above_zero(self, other: object) -> bool:
        """Whether a number is known to be positive, and another not to be."""
        return self.positive and not isinstance(other, Symbolic) and isinstance(other, (int, float)) and other <= 0

    def _is_above(self, other: object) -> bool:
        """Return that a positive number is above one that is not; else what is decided by chance."""
        return self._is_above_zero(other) or self._compare(other, lambda own, its: nodes.is_less(its, own))

    def _is_below(self, other: object) -> bool:
        return not self._is_above_zero(other) and self._compare(other, nodes.is_less)

    def _compare(self, other: object, decide: Callable[[Node, Node], bool]) -> bool:
        node = None if isinstance(other, np.ndarray) and other.size != 1 else find_node(other)
        if node is None:
            raise UntraceableError(f"a comparison of {DEPENDS}: branches on it cannot be traced")
        return decide(self.node, node)

    def _is_other(self, other: object) -> bool:
        if self._is_above_zero(other):
            return True
        raise UntraceableError(f"a comparison of {DEPENDS}: branches on it cannot be traced")

    def _is_same(self, other: object) -> bool:
        return not self._is_other(other)

    # `object` promises an answer about every other object; there is none about a number that is not known
    __gt__ = __ge__ = _is_above
    __lt__ = __le__ = _is_below
    __ne__ = _is_other
    __eq__ = _is_same

    @property
    def __class__(self) -> type:
        """What `isinstance`, patterns and dispatch by type see: an entry of an array of real numbers."""
        return np.float64

    def _refuse_conversion(self, *_: object) -> NoReturn:
        raise UntraceableError(f"{DEPENDS} made a plain number or a truth value")

    def _refuse_text(self, *_: object) -> NoReturn:
        raise UntraceableError(f"{DEPENDS} made a text or a key: what depends on it cannot be traced")

    __hash__ = __str__ = __format__ = _refuse_text

    __bool__ = __float__ = __int__ = __index__ = __complex__ = __round__ = __trunc__ = __floor__ = __ceil__ = (
        _refuse_conversion
    )

    def _refuse_remainder(self, other: object) -> NoReturn:
        raise UntraceableError(f"a remainder or a whole quotient of {DEPENDS}")

    __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = __divmod__ = _refuse_remainder

    __repr__ = _refuse_text


class SymbolicFunction(Symbolic):
    """A scalar that depends on the state: its value there, and a function of the state."""

    def __init__(self, node: Node, at: Callable[..., Any]) -> None:
        super().__init__(node)
        self.at = at

    def __call__(self, *arguments: object) -> Any:
        """Return the value elsewhere."""
        return self.at(*arguments)


def make_number(node: Node) -> Any:
    """Return the number that a node is."""
    return Symbolic(node) if node.value is None else Exact(node)


def find_node(x: object) -> Node | None:
    """Return what a number is, None of anything else.

    Raises:
        UntraceableError: a complex number.
    """
    match x:
        case ExactOperators():
            return x.node
        case int() | np.integer() | np.bool_():
            return nodes.number(Fraction(int(x)))
        case float() | np.floating():
            return nodes.read_float(float(x))
        case Fraction():
            return nodes.number(x)
        case np.ndarray() if x.ndim == 0:
            return find_node(x.item())
        case complex():
            raise UntraceableError("a complex number")
        case _:
            return None


def apply(function: str, x: object) -> Any:
    """Return an elementwise function of a number.

    Raises:
        TypeError: x is no number.
    """
    node = find_node(x)
    if node is None:
        raise TypeError(f"{function} of {type(x).__name__}")
    half = nodes.number(Fraction(1, 2))
    return make_number(nodes.power(node, half) if function == "sqrt" else nodes.call(function, node))


def divide(a: Any, b: Any) -> Any:
    """Return a / b, exact where both are whole numbers."""
    if type(a) is int and type(b) is int and b:
        return make_number(nodes.number(Fraction(a, b)))
    return a / b


def find_least(*values: Any, **named: Any) -> Any:
    """Return min(a, b) where one of them is followed, else what Python's `min` gives."""
    return _join_extreme(min, nodes.least, values, named)


def find_greatest(*values: Any, **named: Any) -> Any:
    """Return max(a, b) where one of them is followed, else what Python's `max` gives."""
    return _join_extreme(max, lambda a, b: _negate(nodes.least(_negate(a), _negate(b))), values, named)


def _join_extreme(
    plain: Callable[..., Any], join: Callable[[Node, Node], Node], values: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """Return the traced minimum or maximum of two numbers; Python's own for any other arguments."""
    both = [find_node(x) for x in values if not isinstance(x, np.ndarray)]
    if len(values) != len(both) or len(both) != 2 or not any(isinstance(x, Symbolic) for x in values) or named:
        return plain(*values, **named)
    a, b = both
    return plain(*values) if a is None or b is None else make_number(join(a, b))


def raise_exactly(a: Any, b: Any) -> Any:
    """Return a**b, exact where both are whole numbers."""
    if type(a) is int and type(b) is int and a and b < 0:
        return make_number(nodes.power(nodes.number(Fraction(a)), nodes.number(Fraction(b))))
    return a**b


def convert_to_float(x: Any = 0.0) -> Any:
    """Return float(x), symbols as they are."""
    if isinstance(x, np.ndarray) and x.size == 1:
        x = x.item()
    return x if isinstance(x, ExactOperators) else float(x)


def _negate(x: Node) -> Node:
    return nodes.multiply(nodes.number(Fraction(-1)), x)


def _subtract(a: Node, b: Node) -> Node:
    return nodes.add(a, _negate(b))


def _divide(a: Node, b: Node) -> Node:
    return nodes.multiply(a, nodes.power(b, nodes.number(Fraction(-1))))


def _join(join: Callable[[Node, Node], Node], a: object, b: object) -> Any:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return NotImplemented
    left, right = find_node(a), find_node(b)
    return NotImplemented if left is None or right is None else make_number(join(left, right))


METHODS = {row.ufunc: row.name for row in FUNCTIONS.values() if row.ufunc}
"""What NumPy's functions look for in the entries of arrays of objects, and what it is called here."""


def _make_method(function: str) -> Callable[[Any], Any]:
    def inner(self: Any) -> Any:
        return apply(function, self)

    return inner


for _name, _function in METHODS.items():
    setattr(ExactOperators, _name, _make_method(_function))
