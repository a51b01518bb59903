"""Walking through statements and expressions: their parts, what they read and write, replacing references."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from recipe_compiler.program.loops import (
    Accept,
    Assign,
    Call,
    Choose,
    Clip,
    Constant,
    Decide,
    For,
    ForBatch,
    ForBlocks,
    Increment,
    Invoke,
    Iterate,
    Kronecker,
    Plus,
    Progress,
    Raise,
    Ref,
    Repeat,
    Scalar,
    Scale,
    Statement,
    Stream,
    Times,
    Uniform,
    Variate,
    When,
    parts_of,
    refs_of,
)

ANYWHERE = ("",)
"""The place of what a call reads or writes of its arguments: no one knows where."""


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
        case Constant() | Ref() | Kronecker():
            return value


def refs(body: Iterable[Statement]) -> Iterator[Ref]:
    """Yield every scalar and element that statements read or write one by one."""
    for statement in body:
        match statement:
            case Assign(target, value) | Increment(target, value):
                yield target
                yield from refs_of(value)
            case Scale(target, _, two_D, B_hat):
                yield from (target, *refs_of(two_D), *refs_of(B_hat))
            case Uniform(_, _, _, normals):
                yield from normals
            case Accept(_, probability, _, normals):
                yield from (probability, *normals)
            case Choose(target, _, taken, refused):
                yield from (target, *refs_of(taken), *refs_of(refused))
            case Variate(target, _, parameters):
                yield from (target, *(ref for value in parameters for ref in refs_of(value)))
            case Decide(_, _, read):
                yield from read
            case When(_, inner, otherwise):
                yield from refs((*inner, *otherwise))
            case For() | Repeat() | ForBatch() | ForBlocks() | Stream():
                yield from refs(statement.body)
            case Iterate(_, _, inner, advance, unsolved):
                yield from (*refs((*inner, *advance)), unsolved)
            case Progress(start, value, following):
                yield from (start, value, following)
            case Clip(target):
                yield target
            case Invoke(_, arguments, names):
                yield from (Ref(name, ANYWHERE) for name in (*arguments, *names))
            case _:
                pass


def compared(body: Iterable[Statement]) -> Iterator[str | int]:
    """Yield the positions that are compared with others in what is assigned."""
    for statement in body:
        match statement:
            case Assign(_, value) | Increment(_, value):
                yield from kroneckers(value)
            case For() | Repeat() | ForBatch() | ForBlocks() | Stream():
                yield from compared(statement.body)
            case When(_, inner, otherwise):
                yield from compared((*inner, *otherwise))
            case _:
                pass


def kroneckers(value: Scalar) -> Iterator[str | int]:
    """Yield the positions that are compared in an expression."""
    if isinstance(value, Kronecker):
        yield from (value.left, value.right)
    for part in parts_of(value):
        yield from kroneckers(part)


def targets(body: Iterable[Statement]) -> Iterator[Ref]:
    """Yield every scalar and element that statements write one by one."""
    for statement in body:
        match statement:
            case Assign(target) | Increment(target) | Choose(target) | Scale(target) | Clip(target) | Variate(target):
                yield target
            case Accept(_, probability):
                yield probability
            case For() | Repeat() | ForBatch() | ForBlocks() | Stream():
                yield from targets(statement.body)
            case When(_, inner, otherwise):
                yield from targets((*inner, *otherwise))
            case Iterate(_, _, inner, advance, unsolved):
                yield from (*targets((*inner, *advance)), unsolved)
            case Invoke(_, arguments, names):
                yield from (Ref(name, ANYWHERE) for name in (*arguments, *names))
            case _:
                pass


def with_refs(statement: Statement, rule: Callable[[Ref], Ref]) -> Statement:
    """Return a statement with `rule` applied to every scalar and element it reads or writes."""
    match statement:
        case Assign(target, value) | Increment(target, value):
            return type(statement)(rule(target), value_with_refs(value, rule))
        case Uniform(_, _, _, (a, b)):
            return replace(statement, normals=(rule(a), rule(b)))
        case Accept(_, probability, _, (a, b)):
            return replace(statement, probability=rule(probability), normals=(rule(a), rule(b)))
        case Choose(target, flag, taken, refused):
            return Choose(rule(target), flag, value_with_refs(taken, rule), value_with_refs(refused, rule))
        case Variate(target, function, parameters):
            return Variate(rule(target), function, tuple(value_with_refs(value, rule) for value in parameters))
        case For() | Repeat() | ForBatch() | ForBlocks() | Stream():
            return replace(statement, body=tuple(with_refs(inner, rule) for inner in statement.body))
        case Decide(_, _, read):
            return replace(statement, read=tuple(map(rule, read)))
        case When(_, body, otherwise):
            body, otherwise = (tuple(with_refs(inner, rule) for inner in part) for part in (body, otherwise))
            return replace(statement, body=body, otherwise=otherwise)
        case Scale(target, _, two_D, B_hat):
            values = value_with_refs(two_D, rule), value_with_refs(B_hat, rule)
            return replace(statement, target=rule(target), two_D=values[0], B_hat=values[1])
        case Iterate(_, _, body, advance, unsolved):
            body, advance = (tuple(with_refs(inner, rule) for inner in part) for part in (body, advance))
            return replace(statement, body=body, advance=advance, unsolved=rule(unsolved))
        case Progress(start, value, following):
            return Progress(rule(start), rule(value), rule(following))
        case Clip(target, counter):
            return Clip(rule(target), counter)
        case _:
            return statement


def value_with_refs(value: Scalar, rule: Callable[[Ref], Scalar]) -> Scalar:
    """Return an expression with `rule` applied to every scalar and element it reads."""
    if isinstance(value, Ref):
        return rule(value)
    return with_parts(value, tuple(value_with_refs(part, rule) for part in parts_of(value)))
