"""Statements as lines of Python, in the layout of the project's formatter."""

from collections.abc import Iterable, Iterator

from recipe_compiler.emit.print_scalar import print_scalar, print_terms
from recipe_compiler.formula.extents import after, extent, written
from recipe_compiler.formula.shapes import Shape, Size
from recipe_compiler.program.loops import (
    CHANGE,
    SIZE,
    STREAM_WORDS,
    Argument,
    Assign,
    Comment,
    For,
    ForBlocks,
    Increment,
    Invoke,
    Iterate,
    Plus,
    Ref,
    Repeat,
    Scalar,
    Statement,
    Stream,
    Target,
    View,
    When,
)
from recipe_compiler.program.traverse import every, refs

WIDTH = 120


def print_body(body: Iterable[Statement], indent: int) -> Iterator[str]:
    """Yield the lines of a body, indented."""
    for statement in body:
        yield from _print(statement, indent)


def _print(statement: Statement, indent: int) -> Iterator[str]:
    pad = " " * indent
    match statement:
        case Assign(target, value):
            yield from assignment(f"{pad}{print_scalar(target)} = ", value, indent)
        case Increment(target, value):
            yield from assignment(f"{pad}{print_scalar(target)} += ", value, indent)
        case Invoke():
            yield from _call(statement, indent)
        case For() | ForBlocks() | Repeat():
            yield from _loop(statement, indent)
        case When(flag, body, otherwise):
            yield f"{pad}if {print_scalar(flag)}:"
            yield from print_body(body, indent + 4)
            if otherwise:
                yield f"{pad}else:"
                yield from print_body(otherwise, indent + 4)
        case View(name, source, start, sizes):
            shape = f".reshape(({', '.join(map(str, sizes))}))" if len(sizes) > 1 else ""
            part = f"{_slice(start, sizes)}{shape}" if start is not None else f".reshape({source}.size)"
            yield f"{pad}{name} = {source}{part}"
        case Iterate():
            yield from _iteration(statement, indent)
        case Comment(words):
            yield from _comment(words, pad)
        case Stream(state, body):
            held, words = (", ".join(f"{state}[{k}]" for k in range(4)), _listed(STREAM_WORDS))
            yield f"{pad}{words} = {held}"
            yield from print_body(body, indent)
            yield f"{pad}{held} = {words}"


def _loop(statement: For | ForBlocks | Repeat, indent: int) -> Iterator[str]:
    """Yield the lines of what is done several times."""
    pad = " " * indent
    match statement:
        case For(index, count, body, beyond, backwards, position):
            counted = f"{count} - {count} % {beyond}, {count}" if beyond else str(count)
            counted = f"{count} - 1, -1, -1" if backwards else counted
            yield f"{pad}for {position or index} in range({counted}):"
            if position and any(index in ref.at for ref in refs(body)):
                yield f"{pad}    {index} = batch[{position}]"
        case ForBlocks(start):
            yield f"{pad}for {start} in range({_whole_blocks(statement)}):"
        case Repeat(count):
            yield f"{pad}for _ in range({count}):"
    yield from print_body(statement.body, indent + 4)


def _call(statement: Invoke, indent: int) -> Iterator[str]:
    """Yield a call, with what takes its values: lists of lists have lines of their own."""
    pad, given, taken = " " * indent, tuple(map(_argument, statement.arguments)), statement.targets
    if any(isinstance(item, tuple) and isinstance(item[0], tuple) for item in taken):
        yield from (f"{pad}(", *(f"{pad}    {_unpacked(item)}," for item in taken))
        yield from call(f"{pad}) = {statement.procedure}", given, indent)
    else:
        head = f"{_listed(taken)} = " if taken else ""
        yield from call(f"{pad}{head}{statement.procedure}", given, indent)


def _argument(item: Argument) -> str:
    match item:
        case str():
            return item
        case tuple():
            return f"[{', '.join(map(_argument, item))}]"
        case _:
            return print_scalar(item)


def _listed(targets: tuple[Target, ...]) -> str:
    return ", ".join(map(_unpacked, targets))


def _unpacked(target: Target) -> str:
    """Return what a value, or one of a list, is taken by."""
    if isinstance(target, Ref):
        return print_scalar(target)
    return f"({_listed(target)}{',' if len(target) == 1 else ''})"


def _slice(start: Size, sizes: tuple[Size, ...]) -> str:
    """Return the places that a part of an array has in it."""
    end = after(start, extent(Shape(*sizes)))
    known = isinstance(start, int) and isinstance(end, int)
    return f"[{start}:{end}]" if known else f"[{written(start)} : {written(end)}]"


def _whole_blocks(loop: ForBlocks) -> str:
    """Return what the starts of whole blocks are counted by."""
    count, block = loop.count, loop.block
    if loop.along is not None:
        end = f"{loop.along}.shape[{loop.axis}]"
    elif isinstance(count, int):
        end = str(count - count % block)
    elif loop.whole > 1:
        end = f"{count} + {loop.whole - 1} - ({count} + {loop.whole - 1}) % {loop.whole}"
    else:
        end = str(count) if block == 1 else f"{count} - {count} % {block}"
    if block == 1 and loop.first == 0:
        return f"np.uint64({end})"
    return f"np.uint64({loop.first}), np.uint64({end})" + (f", np.uint64({block})" if block > 1 else "")


def _iteration(loop: Iterate, indent: int) -> Iterator[str]:
    """Yield the loop that solves an equation: it ends where the sides agree, else there is no number."""
    pad = " " * indent
    yield f"{pad}for _ in range({loop.most}):"
    yield f"{pad}    {CHANGE} = 0.0"
    yield f"{pad}    {SIZE} = 0.0"
    yield from print_body(loop.body, indent + 4)
    yield f"{pad}    if {CHANGE} <= {float(loop.tolerance)!r} * {SIZE}:"
    yield f"{pad}        break"
    yield from print_body(loop.advance, indent + 4)
    yield f"{pad}else:"
    yield f"{pad}    {print_scalar(loop.unsolved)} = np.nan"


def _comment(words: str, pad: str) -> Iterator[str]:
    line = f"{pad}#"
    for word in words.split():
        if len(line) + len(word) + 1 > WIDTH:
            yield line
            line = f"{pad}#   {word}"
        else:
            line += f" {word}"
    yield line


def assignment(head: str, value: Scalar, indent: int) -> Iterator[str]:
    """Yield an assignment, a sum that is too long for a line with one term a line; as a formatter lays it out.

    Of two terms the second is opened where it ends with a parenthesis and what stands before it fits.
    """
    text, pad = print_scalar(value), " " * (indent + 4)
    if len(head) + len(text) <= WIDTH or not isinstance(value, Plus):
        yield head + text
        return
    start = _last_opened(text) if len(value.terms) == 2 else 0
    if start and len(head) + start <= WIDTH and len(pad) + len(text) - start - 1 <= WIDTH:
        yield from (head + text[:start], pad + text[start:-1], " " * indent + ")")
        return
    yield f"{head}("
    if len(pad) + len(text) <= WIDTH:
        yield pad + text
    else:
        for place, (negative, part) in enumerate(print_terms(value)):
            sign = ("-" if negative else "") if place == 0 else ("- " if negative else "+ ")
            yield f"{pad}{sign}{part}"
    yield " " * indent + ")"


def _last_opened(text: str) -> int:
    """Return where in a text that ends with a parenthesis what is in it begins; 0 where it ends with none."""
    depth = 0
    for place in range(len(text) - 1, -1, -1):
        depth += (text[place] == ")") - (text[place] == "(")
        if depth == 0:
            return place + 1 if text.endswith(")") else 0
    return 0


def call(head: str, items: tuple[str, ...], indent: int, tail: str = "", brackets: str = "()") -> Iterator[str]:
    """Yield a call, a signature or a list, its items on lines of their own where they are too long for one."""
    opens, closes = brackets
    line = f"{head}{opens}{', '.join(items)}{closes}{tail}"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{head}{opens}"
    lines = tuple(filled(items, indent + 4))
    yield from lines
    yield f"{' ' * indent}{closes}{tail}{FILLED if len(lines) > 1 or head.endswith(' ') else ''}"


def assigned(targets: tuple[str, ...], procedure: str, arguments: tuple[str, ...], indent: int) -> Iterator[str]:
    """Yield the call of a function that returns several values; targets too long for one line have lines of theirs."""
    pad, head = " " * indent, f"{', '.join(targets)} = {procedure}"
    if len(pad) + len(head) < WIDTH:
        yield from call(f"{pad}{head}", arguments, indent)
        return
    yield from (f"{pad}(", *filled(targets, indent + 4), f"{pad}) = {procedure}(")
    yield from filled(arguments, indent + 4)
    yield f"{pad}){FILLED}"


FILLED = "  # fmt: skip"
"""What the last of lines ends with that hold many items each: a formatter would give each item its own."""


def filled(items: Iterable[str], indent: int) -> Iterator[str]:
    """Yield items on as few lines as hold them; a comma ends each but a single one."""
    lines, pad = [""], " " * indent
    for item in items:
        longer = f"{lines[-1]}, {item}" if lines[-1] else f"{pad}{item}"
        if len(longer) < WIDTH or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(f"{pad}{item}")
    yield from lines if len(lines) == 1 else (f"{line}," for line in lines)


def sizes_in(body: Iterable[Statement]) -> frozenset[str]:
    """Return the loop counts of a body that are names, and those inside joined ones (`d+k`)."""
    loops = (statement for statement in every(body) if isinstance(statement, For | ForBlocks))
    return frozenset(name for loop in loops if isinstance(loop.count, str) for name in loop.count.split("+"))
