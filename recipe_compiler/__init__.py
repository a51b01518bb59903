"""recipe_compiler: from D(z), Q(z), H(z) to proved, fast, standalone samplers.

For specifications in Python: `Dynamics` states them, `vector`, `matrix`, `scalar` and `function` declare names, `I`,
`ones` and `pi` are constants. `load` reads a document from a file. `__version__` is that of the package.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from recipe_compiler.version import __version__

if TYPE_CHECKING:
    from recipe_compiler.formula.symbolic import I, function, matrix, ones, pi, scalar, vector
    from recipe_compiler.spec.load import load
    from recipe_compiler.spec.python import Dynamics

__all__ = ["Dynamics", "I", "__version__", "function", "load", "matrix", "ones", "pi", "scalar", "vector"]

_HOMES = {
    "Dynamics": "recipe_compiler.spec.python",
    "load": "recipe_compiler.spec.load",
    **dict.fromkeys(("I", "function", "matrix", "ones", "pi", "scalar", "vector"), "recipe_compiler.formula.symbolic"),
}
"""Where a name lives: it is imported when it is first used, so that `import recipe_compiler` itself stays light."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
