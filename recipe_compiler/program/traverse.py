"""Walking through statements and expressions: their parts, what they read and write, rewriting them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.loops import (
    Argument,
    Assign,
    Body,
    Call,
    Constant,
    For,
    ForBlocks,
    Increment,
    Invoke,
    Iterate,
    Kronecker,
    Literal,
    Plus,
    Raise,
    Ref,
    Repeat,
    Scalar,
    Statement,
    Stream,
    Target,
    Times,
    Unsigned,
    View,
    When,
)

ANYWHERE = ("",)
"""The place of what a call reads or writes of its arguments: no one knows where."""


def parts_of(value: Scalar) -> tuple[Scalar, ...]:
    """Return the direct operands of an expression."""
    match value:
        case Plus(parts) | Times(parts) | Call(_, parts):
            return parts
        case Raise(base, _):
            return (base,)
        case Constant() | Ref() | Unsigned() | Literal() | Kronecker():
            return ()


def with_parts(value: Scalar, parts: tuple[Scalar, ...]) -> Scalar:
    """Return an expression with other operands, as many as it has."""
    match value:
        case Plus():
            return Plus(parts)
        case Times():
            return Times(parts)
        case Call(fn, _):
            return Call(fn, parts)
        case Raise(_, exponent):
            return Raise(parts[0], exponent)
        case _:
            return value


def leaves(value: Scalar) -> Iterator[Scalar]:
    """Yield the parts of an expression that have none."""
    parts = parts_of(value)
    yield from (leaf for part in parts for leaf in leaves(part)) if parts else (value,)


def refs_of(value: Scalar) -> Iterator[Ref]:
    """Yield every scalar and element that an expression reads."""
    yield from (leaf for leaf in leaves(value) if isinstance(leaf, Ref))


def value_with_refs(value: Scalar, rule: Callable[[Ref], Scalar]) -> Scalar:
    """Return an expression with `rule` applied to every scalar and element it reads."""
    if isinstance(value, Ref):
        return rule(value)
    return with_parts(value, tuple(value_with_refs(part, rule) for part in parts_of(value)))


def with_bodies(statement: Statement, rule: Callable[[Body], Iterable[Statement]]) -> Statement:
    """Return a statement with `rule` applied to every body in it."""
    match statement:
        case When(flag, body, otherwise):
            return When(flag, tuple(rule(body)), tuple(rule(otherwise)))
        case Iterate(_, _, body, advance):
            return replace(statement, body=tuple(rule(body)), advance=tuple(rule(advance)))
        case For() | Repeat() | ForBlocks() | Stream():
            return replace(statement, body=tuple(rule(statement.body)))
        case _:
            return statement


def every(body: Iterable[Statement]) -> Iterator[Statement]:
    """Yield statements, each before those within it."""
    for statement in body:
        yield statement
        match statement:
            case When(_, inner, more) | Iterate(_, _, inner, more):
                yield from every((*inner, *more))
            case For() | Repeat() | ForBlocks() | Stream():
                yield from every(statement.body)
            case _:
                pass


def counts_in(body: Iterable[Statement]) -> tuple[Size, ...]:
    """Return what the loops over indices in a body count to."""
    return tuple(statement.count for statement in every(body) if isinstance(statement, For))


def flat_items(items: Iterable[Argument | Target]) -> Iterator[str | Scalar]:
    """Yield arguments or targets of a call, those of lists one by one."""
    for item in items:
        yield from flat_items(item) if isinstance(item, tuple) else (item,)


def _whole(call: Invoke) -> Iterator[Ref]:
    return (Ref(item, ANYWHERE) for item in flat_items(call.arguments) if isinstance(item, str))


def _written(statement: Statement) -> Iterator[Ref]:
    match statement:
        case Assign(target) | Increment(target) | Iterate(unsolved=target):
            yield target
        case Invoke(_, _, found):
            yield from (item for item in flat_items(found) if isinstance(item, Ref))
            yield from _whole(statement)
        case _:
            pass


def values(statement: Statement) -> Iterator[Scalar]:
    """Yield the expressions that a statement itself reads."""
    match statement:
        case Assign(_, value) | Increment(_, value) | When(value):
            yield value
        case Invoke(_, arguments):
            yield from (item for item in flat_items(arguments) if not isinstance(item, str))
        case _:
            pass


def targets(body: Iterable[Statement]) -> Iterator[Ref]:
    """Yield every scalar and element that statements write one by one."""
    return (ref for statement in every(body) for ref in _written(statement))


def refs(body: Iterable[Statement]) -> Iterator[Ref]:
    """Yield every scalar and element that statements read or write one by one."""
    for statement in every(body):
        yield from _written(statement)
        yield from (ref for value in values(statement) for ref in refs_of(value))


def names_in(body: Iterable[Statement]) -> frozenset[str]:
    """Return every name that statements read, write or pass on; loop counts are sizes and not among them."""
    body = tuple(body)
    return frozenset((*(ref.name for ref in refs(body)), *(name for one in every(body) for name in _held(one))))


def _held(statement: Statement) -> tuple[str, ...]:
    match statement:
        case View(name, source):
            return name, source
        case Stream(name) | Repeat(str(name)):
            return (name,)
        case For(position=name) if name:
            return ("batch",)
        case _:
            return ()


def compared(body: Iterable[Statement]) -> Iterator[str | int]:
    """Yield the positions that are compared with others in what statements read."""
    for leaf in (leaf for statement in every(body) for value in values(statement) for leaf in leaves(value)):
        if isinstance(leaf, Kronecker):
            yield from (leaf.left, leaf.right)


def rewritten(statement: Statement, value: Callable[[Scalar], Scalar], target: Callable[[Ref], Ref]) -> Statement:
    """Return a statement with rules applied to every expression that it reads, and to every scalar that it writes."""

    def argument(item: Argument) -> Argument:
        match item:
            case str():
                return item
            case tuple():
                return tuple(map(argument, item))
            case _:
                return value(item)

    def taken(item: Target) -> Target:
        return tuple(map(taken, item)) if isinstance(item, tuple) else target(item)

    match statement:
        case Assign(own, read) | Increment(own, read):
            return type(statement)(target(own), value(read))
        case Invoke(procedure, arguments, own):
            return Invoke(procedure, tuple(map(argument, arguments)), tuple(map(taken, own)))
        case When(flag):
            statement = replace(statement, flag=value(flag))
        case Iterate(unsolved=own):
            statement = replace(statement, unsolved=target(own))
        case _:
            pass
    return with_bodies(statement, lambda body: (rewritten(inner, value, target) for inner in body))


def with_refs(statement: Statement, rule: Callable[[Ref], Ref]) -> Statement:
    """Return a statement with `rule` applied to every scalar and element it reads or writes."""
    return rewritten(statement, lambda value: value_with_refs(value, rule), rule)
