"""Pass: parts of an array become positions in it: `W[1, 0]` of `W = theta[2:8].reshape((3, 2))` is `theta[4]`."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.extents import valued
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Body, Ref, Statement, View
from recipe_compiler.program.traverse import counts_in, with_refs
from recipe_compiler.program.unroll import ITERATIONS, written_out


def flat(procedure: Procedure) -> Procedure:
    """Return a procedure with views replaced by positions in their arrays; the same one if its loops are too long.

    W[1, 0] of W = theta[2:8].reshape((3, 2)) is theta[4]. Loops over the rows of the data stay; those within a row are
    written out, and of others those over parts and short ones.
    """
    body = procedure.body
    short = all(count <= ITERATIONS for count in counts_in(body) if isinstance(count, int))
    if any(isinstance(one, View) and not _is_literal(one) for one in body):
        return procedure
    if not short or not any(isinstance(statement, View) for statement in body):
        return procedure
    views = (one.name for one in body if isinstance(one, View))
    return replace(procedure, body=without_views(written_out(body, views)))


def without_views(body: Iterable[Statement]) -> Body:
    """Return a body without views; every position in one of them is a number already (`unroll`)."""
    statements = tuple(body)
    views = {statement.name: statement for statement in statements if isinstance(statement, View)}
    left = (statement for statement in statements if not isinstance(statement, View))
    return tuple(with_refs(statement, lambda ref: _place(ref, views)) for statement in left)


def _place(ref: Ref, views: Mapping[str, View]) -> Ref:
    view = views.get(ref.name)
    if view is None or view.start is None:
        return ref
    place = 0
    for size, at in zip(view.sizes or (1,), ref.at, strict=True):
        if not isinstance(at, int) or not isinstance(size, int) or at >= size:
            raise CompilerError(f"{ref.name} is a part of {view.source} and has no position {ref.at}")
        place = place * size + at
    return Ref(view.source, (valued(view.start, {}) + place,))


def _is_literal(view: View) -> bool:
    return all(isinstance(size, int) for size in (view.start or 0, *view.sizes))
