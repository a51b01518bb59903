"""What numba finds out of an operator on numbers, kept: it looks for it anew wherever the operator stands.

Every `a*b` of two doubles goes through all that `*` may mean, of dates and strings too, which is a sixth of what it
takes to compile a step. The answer depends on the operator and on the types, so code is compiled as it is without this.

So are the options that functions are compiled with: numba compares them for whatever it looks up, each time option by
option, which is a tenth of what it takes.
"""

import operator
from collections.abc import Callable
from functools import cache
from typing import Any

from numba.core import types
from numba.core.targetconfig import TargetConfig
from numba.core.types.functions import BaseFunction

OPERATORS = frozenset(
    (
        operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.neg,
        operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.lt, operator.le, operator.gt,
        operator.ge, operator.eq, operator.ne, operator.and_, operator.or_, operator.xor, operator.lshift,
        operator.rshift,
    )
)  # fmt: skip
NUMBERS = (types.Float, types.Integer, types.Boolean, types.IntegerLiteral)


def type_quickly(put: Callable[[Any, str, Any], object] = setattr) -> None:
    """Keep what operators on numbers are: from now on, as no more meanings are added to them.

    Args:
        put: sets an attribute of a class of numba; that of a `pytest.MonkeyPatch` takes it back too.
    """
    look = BaseFunction.get_call_type
    known: dict[tuple[object, ...], tuple[Any, Any]] = {}

    def get_call_type(self: Any, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
        if kws or self.typing_key not in OPERATORS or not all(isinstance(one, NUMBERS) for one in args):
            return look(self, context, args, kws)
        key = (self.typing_key, self.templates, context, tuple(args))
        if key not in known:
            signature = look(self, context, args, kws)
            known[key] = signature, self._impl_keys[signature.args]
        signature, self._impl_keys[signature.args] = known[key]
        return signature

    put(BaseFunction, "get_call_type", get_call_type)
    put(TargetConfig, "values", _values)
    put(TargetConfig, "__hash__", lambda self: _hash(type(self)))


def _values(self: Any) -> dict[str, Any]:
    """Return the value of every option: the one that was set, else its default."""
    return {**_defaults(type(self)), **self._values}


@cache
def _defaults(options: type[Any]) -> dict[str, Any]:
    return {name: option.default for name, option in options.options.items()}


@cache
def _hash(options: type[Any]) -> int:
    """Return the hash that numba computes of any options of a class: it is that of their names."""
    return hash(tuple(sorted(options.options)))
