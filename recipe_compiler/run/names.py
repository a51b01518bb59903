"""The user's names behind the names of an emitted module."""

from collections.abc import Collection

from recipe_compiler.errors import CompilerError


def users_name(emitted: str, declared: Collection[str]) -> str:
    """Return the declared name that an emitted module calls `emitted`.

    A name that a module cannot use as it is gets underscores at its end, never so that it becomes another declared one.
    """
    name = emitted
    while name not in declared and name.endswith("_"):
        name = name[:-1]
    if name not in declared:
        raise CompilerError(f"the emitted module takes `{emitted}`, which the build does not declare")
    return name
