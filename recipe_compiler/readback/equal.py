"""The one comparison of reading back: what was read is what is stated, or the text is not written."""

from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.readback.names import Names, Sizes
from recipe_compiler.readback.point import seems_zero, vanishes
from recipe_compiler.tensor.scalars import Scalar


def equal(read: Scalar, stated: Scalar, what: str, here: Names) -> None:
    """Check that two expressions are the same function, or at a point the same number.

    Args:
        read: from the emitted text.
        stated: by its Program, or derived.
        what: they are.
        here: the names in them.

    Raises:
        CompilerError: they differ.
        ReadBackError: they are not shown to be the same, and not to differ.
    """
    difference = read - stated
    if difference == 0 or (vanishes(difference) if here.at_point else is_zero(difference)):
        return
    if not here.at_point and seems_zero(difference):
        raise ReadBackError(f"{what} was not shown to be that of its Program{at_sizes(here.sizes)}")
    raise CompilerError(f"the emitted text was read back and differs from its Program in {what}{at_sizes(here.sizes)}")


def at_sizes(sizes: Sizes) -> str:
    """Return the sizes for the end of a message."""
    return f" ({', '.join(f'{name} = {number}' for name, number in sizes.items())})" if sizes else ""
