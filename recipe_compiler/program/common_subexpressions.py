"""Pass: common subexpressions of a straight line are computed once.

Expressions are put into nested form first (`horner`), where powers are products, so that what they share has one form.
An expression is shared only between places between which none of its operands is written.

Worked example: a = exp(x) * y; b = exp(x) + 1 becomes t = exp(x); a = t * y; b = t + 1. With x = x + 1 between the two
lines nothing is shared.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby

from recipe_compiler.program.combine import free_name
from recipe_compiler.program.horner import depth, nested_form
from recipe_compiler.program.loops import (
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
    Raise,
    Ref,
    Scalar,
    Statement,
    Times,
    Unsigned,
)
from recipe_compiler.program.traverse import flat_items, names_in, parts_of, refs, targets, values, with_parts

CALL = 4
"""Operations that a call of another procedure is taken to wait for."""


def share(body: Iterable[Statement], taken: Iterable[str]) -> Body:
    """Return a body whose straight lines compute nothing twice; new scalars get names outside `taken`."""
    body = tuple(body)
    return tuple(_shared(body, set(taken) | names_in(body)))


def _shared(body: Body, taken: set[str]) -> Iterator[Statement]:
    """Yield a body with its straight lines shared, each by itself: what a loop may not run is not moved out."""
    for is_loop, run in groupby(body, key=lambda one: isinstance(one, For | ForBlocks | Iterate)):
        if not is_loop:
            yield from _Line(taken, tuple(run)).statements()
            continue
        for loop in run:
            if isinstance(loop, For | ForBlocks | Iterate):
                yield replace(loop, body=tuple(_shared(loop.body, taken)))


@dataclass(slots=True)
class _Line:
    """A straight line of statements, its expressions rewritten to powers that are products."""

    taken: set[str]
    body: Body
    versions: Counter[str] = field(default_factory=Counter)
    """How often a name was written so far: expressions agree only while nothing in them was written in between."""
    uses: Counter[object] = field(default_factory=Counter)
    named: dict[object, str] = field(default_factory=dict)

    def statements(self) -> Iterator[Statement]:
        """Yield the statements, each after those that compute what it shares with later ones."""
        body = tuple(_nested(self.body))
        for statement in body:
            for value in values(statement):
                self._count(value)
            self._written(statement)
        self.versions.clear()
        for statement in body:
            before: list[Statement] = []
            match statement:
                case Assign(target, value) | Increment(target, value):
                    done = type(statement)(target, self._use(value, before, top=True))
                case _:
                    done = statement
            yield from before
            yield done
            self._written(statement)

    def _written(self, statement: Statement) -> None:
        self.versions.update(_made(statement))

    def _key(self, value: Scalar) -> object:
        return value, tuple((name, self.versions[name]) for name in sorted(_reads(value)))

    def _count(self, value: Scalar) -> None:
        key = self._key(value)
        self.uses[key] += 1
        if self.uses[key] == 1 or not _costs(value):
            for part in parts_of(value):
                self._count(part)

    def _use(self, value: Scalar, before: list[Statement], *, top: bool = False) -> Scalar:
        """Return the expression with what is used more than once by its name."""
        key = self._key(value)
        if key in self.named:
            return Ref(self.named[key])
        if top or self.uses[key] == 1 or not _costs(value):
            return with_parts(value, tuple(self._use(part, before) for part in parts_of(value)))
        done = with_parts(value, tuple(self._use(part, before) for part in parts_of(value)))
        name = free_name(_called(value), self.taken)
        before.append(Assign(Ref(name), done))
        self.named[key] = name
        return Ref(name)


def _nested(body: Iterable[Statement]) -> Iterator[Statement]:
    """Yield the statements with their expressions in nested form."""
    depths: dict[str, int] = {}
    for statement in body:
        match statement:
            case Assign(target, value) | Increment(target, value):
                nested = nested_form(value, depths)
                depths[target.name] = max(depth(nested, depths), depths.get(target.name, 0))
                yield type(statement)(target, nested)
            case Invoke():
                before = max((depths.get(ref.name, 0) for ref in refs((statement,))), default=0)
                depths |= dict.fromkeys(_made(statement), before + CALL)
                yield statement
            case _:
                yield statement


def _made(statement: Statement) -> set[str]:
    """Return the names that a statement writes; a call that returns something leaves its arguments as they are."""
    match statement:
        case Invoke(_, _, made) if made:
            return {ref.name for ref in flat_items(made) if isinstance(ref, Ref)}
        case _:
            return {ref.name for ref in targets((statement,))}


def _costs(value: Scalar) -> bool:
    """Whether an expression is worth a name: not a number, a name, or one with a sign; a feature of a row is."""
    match value:
        case Ref(_, at):
            return {type(place) for place in at} == {int, str}
        case Constant() | Unsigned() | Literal() | Kronecker() | Raise(Constant(), _):
            return False
        case Times((Constant(number), Ref())):
            return abs(number) != 1
        case _:
            return True


def _reads(value: Scalar) -> frozenset[str]:
    if isinstance(value, Ref):
        return frozenset((value.name,))
    return frozenset(name for part in parts_of(value) for name in _reads(part))


def _called(value: Scalar) -> str:
    match value:
        case Times((Ref(name) as left, Ref() as right)) if left == right and not left.at:
            return f"{name}_squared"
        case Ref(name, at):
            return "_".join((name, *(str(place) for place in at if isinstance(place, int))))
        case Call("sqrt"):
            return "root"
        case Raise():
            return "reciprocal"
        case Call(fn):
            return f"{fn.partition(' ')[0]}_part"
        case _:
            return "part"
