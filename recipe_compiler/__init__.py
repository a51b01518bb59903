"""recipe_compiler: from D(z), Q(z), H(z) to proved, fast, standalone samplers.

`import recipe_compiler as rc` offers documents (`Dynamics`, `Target`, `Build`, `load`), names and functions of their
formulas (`vector`, `inv`, `grad`, ...), and the verbs `compile`, `sample` and `lint`; the rest are methods.
`docs/api.md` lists all of it.
"""

import sys
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import Any

from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.operators import OPERATORS
from recipe_compiler.version import __version__

_NAMES = {
    "errors": "CompilerError DataError ModelError RecipeError RunError SpecError VerificationError",
    "formula.declaring": "I data eps function matrix ones pi scalar vector",
    "formula.functions": ("next_ sum_ abs_ " + " ".join({*FUNCTIONS, *OPERATORS, *DENSITIES} - {"next", "sum", "abs"})),
    "front.build": "Build",
    "front.derivation": "Derivation",
    "front.dynamics": "Dynamics",
    "front.fit": "Fit",
    "front.lint": "Lint lint",
    "front.load": "load",
    "front.model": "DoubtWarning Model SampleWarning compile rerun sample",
    "front.pymc": "PyMCModel from_pymc",
    "front.scheme": "Scheme",
    "front.target": "Target",
    "verdict": "Report Verdict",
}
"""Where names live: each is imported when it is first used, so that `import recipe_compiler` itself stays light."""

_HOMES = {name: f"recipe_compiler.{home}" for home, names in _NAMES.items() for name in names.split()}

__all__ = ["__version__", *_HOMES]  # the stub beside this names each


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        folded = {known.casefold(): known for known in _HOMES}
        near = get_close_matches(name.casefold(), folded, n=1)
        hint = f": did you mean {folded[near[0]]}?" if near else ""
        # without the module: Python would say the same once more, in a traceback of its own and in no notebook
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}", name=name, obj=None)
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """This package: its verb `lint` stays what `recipe_compiler.lint` is when the room of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
