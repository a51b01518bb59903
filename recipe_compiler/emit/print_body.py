"""Statements as lines of Python, in the layout of the project's formatter."""

from collections.abc import Iterable, Iterator

from recipe_compiler.emit.print_scalar import print_scalar, print_terms
from recipe_compiler.formula.extents import after, extent, written
from recipe_compiler.formula.shapes import Shape, Size
from recipe_compiler.program.loops import (
    Accept,
    Assign,
    Choose,
    Clip,
    Comment,
    Constant,
    Decide,
    Factor,
    For,
    ForBatch,
    ForBlocks,
    Increment,
    Inside,
    Invert,
    Invoke,
    Iterate,
    Pack,
    Plus,
    Progress,
    Propagate,
    Repeat,
    Scalar,
    Scale,
    Statement,
    Stream,
    Take,
    Uniform,
    Unpack,
    Variate,
    View,
    When,
    takes_of,
)
from recipe_compiler.program.traverse import refs

WIDTH = 120
STREAM_WORDS = "s0, s1, s2, s3"
"""The words of a stream while it is drawn from: names that every module has for itself."""
CHANGE, SIZE = "_change", "_size"
"""What an iteration changed, and how large it is; no name of a user's begins so."""


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
        case For() | ForBlocks() | ForBatch() | Repeat():
            yield from _loop(statement, indent)
        case When(flag, body, otherwise):
            yield f"{pad}if {flag}:"
            yield from print_body(body, indent + 4)
            if otherwise:
                yield f"{pad}else:"
                yield from print_body(otherwise, indent + 4)
        case Inside(target, position, count):
            yield f"{pad}{target} = np.float64({position} < np.uint64({count}))"
        case Take():
            yield f"{pad}{statement.target} = {_taken(statement)}"
        case Pack(array, position, values):
            yield from (f"{pad}{array}[{place}] = {one}" for place, one in _columns(position, values))
        case Unpack(array, position, targets):
            yield from (f"{pad}{one} = {array}[{place}]" for place, one in _columns(position, targets))
        case View(name, source, start, sizes):
            shape = f".reshape(({', '.join(map(str, sizes))}))" if len(sizes) > 1 else ""
            part = f"{_slice(start, sizes)}{shape}" if start is not None else f".reshape({source}.size)"
            yield f"{pad}{name} = {source}{part}"
        case Iterate():
            yield from _iteration(statement, indent)
        case Progress(start, value, following):
            names = ", ".join(print_scalar(ref) for ref in (start, value, following))
            yield f"{pad}{CHANGE}, {SIZE} = _progress({CHANGE}, {SIZE}, {names})"
        case Comment(words):
            yield from _comment(words, pad)
        case Variate() | Stream():
            yield from _random(statement, indent)
        case Uniform() | Accept() | Choose() | Decide():
            yield f"{pad}{_move(statement)}"
        case Invert() | Factor() | Propagate() | Scale() | Clip():
            yield from _print_factors(statement, indent)
        case Invoke(procedure, arguments, targets):
            yield from call(f"{pad}{', '.join(targets)}{' = ' if targets else ''}{procedure}", arguments, indent)


def _loop(statement: For | ForBlocks | ForBatch | Repeat, indent: int) -> Iterator[str]:
    """Yield the lines of what is done several times."""
    pad = " " * indent
    match statement:
        case For(index, count, _, beyond):
            counted = f"{count} - 1, -1, -1" if statement.backwards else _iterations(count, beyond)
            yield f"{pad}for {index} in range({counted}):"
        case ForBlocks(start):
            yield f"{pad}for {start} in range({_whole_blocks(statement)}):"
        case ForBatch(index, position, body, beyond):
            yield f"{pad}for {position} in range({_iterations('batch_size', beyond)}):"
            if any(index in ref.at for ref in refs(body)) or any(index in take.places for take in takes_of(body)):
                yield f"{pad}    {index} = batch[{position}]"
        case Repeat(count):
            yield f"{pad}for _ in range({count}):"
    yield from print_body(statement.body, indent + 4)


def _slice(start: Size, sizes: tuple[Size, ...]) -> str:
    """Return the places that a part of an array has in it."""
    end = after(start, extent(Shape(*sizes)))
    known = isinstance(start, int) and isinstance(end, int)
    return f"[{start}:{end}]" if known else f"[{written(start)} : {written(end)}]"


def _taken(take: Take) -> str:
    """Return what is taken: an element, or the place of one."""
    place = " + ".join(f"np.uint64({one})" if isinstance(one, int) else one for one in take.places if one != 0) or "0"
    place = place if take.count is None else f"min({place}, np.uint64({take.count} - 1))"
    element = place if take.source is None else f"{take.source}[{place}]"
    return f"np.uint64({element})" if take.signed else element


def _random(statement: Variate | Stream, indent: int) -> Iterator[str]:
    """Yield the lines that draw from a stream, or around them those that take its words and leave them."""
    pad = " " * indent
    match statement:
        case Variate(target, function, parameters):
            given = ", ".join((*map(print_scalar, parameters), STREAM_WORDS))
            yield f"{pad}{print_scalar(target)}, {STREAM_WORDS} = {function}({given})"
        case Stream(state, body):
            yield f"{pad}{STREAM_WORDS} = {_words_of(state)}"
            yield from print_body(body, indent)
            yield f"{pad}{_words_of(state)} = {STREAM_WORDS}"


def _words_of(state: str) -> str:
    """Return the words of a stream as the elements of its array."""
    return ", ".join(f"{state}[{k}]" for k in range(4))


def _move(statement: Uniform | Accept | Choose | Decide) -> str:
    """Return the line that decides something of a move, or chooses by what was decided."""
    match statement:
        case Uniform(target, least, most, normals):
            return f"{target} = _uniform_integer({least}, {most}, {', '.join(map(print_scalar, normals))})"
        case Accept(flag, probability, log_ratio, normals):
            given = ", ".join((log_ratio, *map(print_scalar, normals)))
            return f"{flag}, {print_scalar(probability)} = _accepted({given})"
        case Decide(flag, function, read, numbers):
            return f"{flag} = {function}({', '.join((*map(print_scalar, read), *map(str, numbers)))})"
        case Choose(target, flag, taken, refused):
            return f"{print_scalar(target)} = {print_scalar(taken)} if {flag} else {print_scalar(refused)}"


def _print_factors(statement: Invert | Factor | Propagate | Scale | Clip, indent: int) -> Iterator[str]:
    """Yield the lines that invert, factor or propagate, and those that clip a variance."""
    pad = " " * indent
    match statement:
        case Invert(target, source):
            yield f"{pad}{target} = np.linalg.inv({source})"
        case Factor():
            yield f"{pad}{_factorisation(statement)}"
        case Propagate():
            yield from _propagation(statement, pad)
        case Scale(target, block, two_D, B_hat, of_flow, time):
            arguments = (*map(print_scalar, (two_D, B_hat, time)), f'"{block}"')
            yield from call(f"{pad}{print_scalar(target)} = {_of(of_flow)}_scale", arguments, indent)
        case Clip(target, counter):
            name = print_scalar(target)
            yield f"{pad}if {name} < 0.0:"
            yield f"{pad}    {name} = 0.0"
            yield f"{pad}    {counter}[0] += 1"


def _of(of_flow: bool) -> str:  # of a flag of `Factor` and `Scale`
    """Return what the support functions of a noise are called by that refuses too long a step in its own words."""
    return "_flow" if of_flow else "_noise"


def _iterations(count: Size, beyond: int) -> str:
    return f"{count} - {count} % {beyond}, {count}" if beyond else str(count)


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


def _columns(position: str, names: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield where the columns of a row lie in a flat array, each with its name: indices without a sign."""
    start = position if len(names) == 1 else f"np.uint64({len(names)}) * {position}"
    yield from ((f"{start} + np.uint64({k})" if k else start, name) for k, name in enumerate(names))


def _grid(names: tuple[tuple[str, ...], ...]) -> str:
    return "[" + ", ".join(f"[{', '.join(row)}]" for row in names) + "]"


def _factorisation(statement: Factor) -> str:
    """Return the call that factors the covariance of some blocks together."""
    names = ", ".join(statement.targets)
    names = f"({names},)" if len(statement.targets) == 1 else names
    labels = ", ".join(f'"{block}"' for block in statement.blocks)
    excess = "None" if statement.B_hat is None else _grid(statement.B_hat)
    arguments = ", ".join((_grid(statement.two_D), excess, print_scalar(statement.time), f"[{labels}]"))
    return f"{names} = {_of(statement.of_flow)}_factor({arguments})"


def _propagation(statement: Propagate, pad: str) -> Iterator[str]:
    """Yield the call that computes the matrices of a flow, and what they are unpacked into."""
    yield f"{pad}("
    yield from (f"{pad}    {_unpacked(names)}," for names in statement.targets)
    share = print_scalar(Constant(statement.share))
    yield f"{pad}) = _propagator({_grid(statement.F)}, {_grid(statement.two_D)}, {share}, eps)"


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


def _unpacked(names: tuple[tuple[str, ...], ...]) -> str:
    """Return the targets that a matrix of arrays is unpacked into."""
    rows = (f"({', '.join(row)}{',' if len(row) == 1 else ''})" for row in names)
    return f"({', '.join(rows)}{',' if len(names) == 1 else ''})"


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


def call(head: str, arguments: tuple[str, ...], indent: int, tail: str = "") -> Iterator[str]:
    """Yield a call or a signature, its arguments on lines of their own where they are too long for one."""
    line = f"{head}({', '.join(arguments)}){tail}"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{head}("
    lines = tuple(filled(arguments, indent + 4))
    yield from lines
    yield f"{' ' * indent}){tail}{FILLED if len(lines) > 1 else ''}"


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
    found: set[Size] = set()
    for statement in body:
        match statement:
            case For(_, count, inner) | ForBlocks(_, count, _, inner):
                found |= {count, *sizes_in(inner)}
            case Iterate(_, _, inner, advance):
                found |= sizes_in((*inner, *advance))
            case ForBatch(_, _, inner):
                found |= {"batch_size", *sizes_in(inner)}
            case Stream(_, inner) | Repeat(_, inner):
                found |= sizes_in(inner)
            case When(_, inner, otherwise):
                found |= sizes_in((*inner, *otherwise))
            case _:
                pass
    return frozenset(name for size in found if isinstance(size, str) for name in size.split("+"))
