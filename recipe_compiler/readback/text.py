"""The text of a module, parsed, and the names in it: what is never read back, the chain itself, is checked so."""

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from recipe_compiler.errors import CompilerError

BETWEEN = "\n\n\n"
"""What stands between the functions of a text."""
TEXTS, PIECES = 4, 2**8
"""Texts and pieces of them that are kept: those of one build have most of their functions in common."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Statements of a module, parsed by themselves. The trees are shared: nobody may change them.

    A piece is only itself: its statements are told apart by what they are, not by what they say.
    """

    text: str
    body: tuple[ast.stmt, ...]

    @property
    def lines(self) -> list[str]:
        """The lines that its statements count."""
        return self.text.splitlines()


@lru_cache(maxsize=TEXTS)
def pieces_of(text: str) -> tuple[Piece, ...]:
    """Return the statements of a text in pieces: each is whole, so that together they are the text.

    A function that several texts share is parsed once. Where what stands between two is within a string, a piece is no
    Python, and the text is one piece.
    """
    try:
        return tuple(_parsed(piece) for piece in text.split(BETWEEN))
    except SyntaxError:
        return (_parsed(text),)


@lru_cache(maxsize=PIECES)
def _parsed(piece: str) -> Piece:
    return Piece(piece, tuple(ast.parse(piece).body))


def written_numbers(piece: Piece) -> Iterator[tuple[ast.Constant, Fraction]]:
    """Yield the numbers of a piece that are no integers, as they are written, not as a double holds them."""
    lines = piece.text.encode().split(b"\n")  # a parser counts columns in bytes
    for node in (node for statement in piece.body for node in ast.walk(statement)):
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            yield node, Fraction(lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode())


@lru_cache(maxsize=TEXTS)
def check_names(text: str) -> None:
    """Check that every name read in a function is an argument, a local, a name of the module or a builtin.

    Raises:
        CompilerError: one is not; names it and the function.
    """
    known = set(dir(builtins)) | {name for piece in pieces_of(text) for node in piece.body for name in _bound(node)}
    for piece in pieces_of(text):
        for function, read in _read(piece):
            for name in read:
                if name not in known:
                    raise CompilerError(f"the emitted function {function} reads {name}, which nothing defines")


@lru_cache(maxsize=PIECES)
def _read(piece: Piece) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the functions of a piece, each with the names that it reads and does not define."""
    found: list[tuple[str, tuple[str, ...]]] = []
    for function in (node for node in piece.body if isinstance(node, ast.FunctionDef)):
        own, read = set[str](), dict[str, None]()
        for node in ast.walk(function):
            match node:
                case ast.FunctionDef(name=name) | ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                    own.add(name)
                case ast.Name(id=name):
                    read[name] = None
                case _:
                    pass
        found.append((function.name, tuple(name for name in read if name not in own)))
    return tuple(found)


def _bound(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement of a module binds."""
    match node:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name for alias in names)
        case ast.Assign(targets=targets):
            yield from (part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name))
        case _:
            return
