"""The names in the text of a module: what is never read back, the chain itself, is checked so."""

import builtins
from collections.abc import Iterator
from functools import lru_cache
from symtable import SymbolTable, symtable

from recipe_compiler.errors import CompilerError


@lru_cache(maxsize=4)
def check_names(text: str) -> None:
    """Check that every name read is an argument, a local, a name of the module or a builtin.

    Raises:
        CompilerError: one is not; names it and the function.
    """
    module = symtable(text, "module", "exec")
    bound = (name.get_name() for name in module.get_symbols() if name.is_assigned() or name.is_imported())
    known = {*dir(builtins), *bound}
    for scope in _scopes(module):
        for name in scope.get_symbols():
            if name.is_global() and name.get_name() not in known:
                problem = f"the emitted function {scope.get_name()} reads {name.get_name()}, which nothing defines"
                raise CompilerError(problem)


def _scopes(scope: SymbolTable) -> Iterator[SymbolTable]:
    yield scope
    for inner in scope.get_children():
        yield from _scopes(inner)


def require(right: bool, what: str) -> None:
    """Require that something holds of the text that is read.

    Raises:
        CompilerError: it does not.
    """
    if not right:
        raise CompilerError(f"the emitted text was read back and {what}")
