"""What is read back of a build: every shape of its texts at small sizes, and the text that is shipped."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import Module
from recipe_compiler.readback.child_process import Reading
from recipe_compiler.readback.file import check_diagnostics
from recipe_compiler.readback.names import Sizes
from recipe_compiler.readback.readback import (
    energy_readings,
    equation_readings,
    readings,
    shipped_readings,
    with_heads,
)


def of_every_size(
    modules: Sequence[Module], derivation: Derivation, names: Mapping[str, str], small: Sequence[Sizes]
) -> Iterator[Reading]:
    """Yield what is read of a text with its sizes at its head: every shape of its loops; the last one is shipped.

    Args:
        modules: one for each shape.
        derivation: of the bound dynamics.
        names: what the user's names were changed to.
        small: the sizes to put at the head.
    """
    for sizes in small:
        texts = [with_heads(module, sizes) for module in modules]
        for text in texts:
            yield from readings(text, derivation, names)
        yield from _of_any_shape(texts, derivation, names)
    yield from shipped_readings(with_heads(modules[-1], small[-1]), {})


def of_its_sizes(
    small: Sequence[tuple[Sequence[Module], Sizes]], shipped: Module, derivation: Derivation, names: Mapping[str, str],
    sizes: Sizes,
) -> Iterator[Reading]:  # fmt: skip
    """Yield what is read of a build whose text has the shape that its sizes allow.

    Args:
        small: at each of the small sizes, the shapes of its loops, and the sizes that the target fixes.
        shipped: the text at the build's own sizes.
        derivation: of the bound dynamics.
        names: what the user's names were changed to.
        sizes: those of the build.
    """
    for modules, pinned in small:
        for module in modules:
            yield from readings(module, derivation, names, pinned)
        yield from _of_any_shape(modules, derivation, names, pinned)
    yield from shipped_readings(shipped, sizes)


def _of_any_shape(
    modules: Sequence[Module], derivation: Derivation, names: Mapping[str, str], pinned: Sizes | None = None
) -> Iterator[Reading]:
    """Yield what is read once of texts whose loops alone differ in shape: the equation, and what tells of draws."""
    first, *others = modules
    yield from equation_readings(first, derivation, names, pinned)
    yield from energy_readings(first, derivation, names, pinned)
    for other in others:
        yield Reading("the statistics of draws, in another shape", partial(check_diagnostics, other, first))
