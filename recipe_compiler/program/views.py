"""Pass: parts of an array become positions in it: `W[1, 0]` of `W = theta[2:8].reshape((3, 2))` is `theta[4]`."""

from collections.abc import Iterable, Mapping

from recipe_compiler.errors import CompilerError
from recipe_compiler.program.loops import Ref, Statement, View
from recipe_compiler.program.traverse import with_refs


def without_views(body: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return a body without views; every position in one of them is a number already (`unroll`)."""
    statements = tuple(body)
    views = {statement.name: statement for statement in statements if isinstance(statement, View)}
    left = (statement for statement in statements if not isinstance(statement, View))
    return tuple(with_refs(statement, lambda ref: _place(ref, views)) for statement in left)


def _place(ref: Ref, views: Mapping[str, View]) -> Ref:
    view = views.get(ref.name)
    if view is None:
        return ref
    place = 0
    for size, at in zip(view.sizes or (1,), ref.at, strict=True):
        if not isinstance(at, int) or at >= size:
            raise CompilerError(f"{ref.name} is a part of {view.source} and has no position {ref.at}")
        place = place * size + at
    return Ref(view.source, (view.start + place,))
