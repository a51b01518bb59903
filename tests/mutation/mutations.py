"""Small faults that can be put into a source file: one expression replaced by another that still parses.

Annotations and texts that are put together for messages are left alone.
"""

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar

LEFT_ALONE = ast.JoinedStr | ast.Raise | ast.Assert
Node = TypeVar("Node", bound=ast.AST)

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True)
class Mutation:
    """One fault: the `nth` of those of its kind in a function that turn `before` into `after`."""

    file: str
    function: str
    kind: str
    before: str
    after: str
    nth: int


@dataclass(frozen=True)
class _Site:
    mutation: Mutation
    begin: tuple[int, int]
    end: tuple[int, int]


def mutations_of(file: str, source: str) -> list[Mutation]:
    """Return every fault that can be put into a source file, in the order of its text."""
    return [site.mutation for site in _sites(file, source)]


def mutated(mutation: Mutation, source: str) -> str | None:
    """Return the source with the fault in it; None where the function no longer has that expression."""
    site = next((site for site in _sites(mutation.file, source) if site.mutation == mutation), None)
    if site is None:
        return None
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    begin, end = (starts[line - 1] + column for line, column in (site.begin, site.end))
    text = source.encode()
    changed = (text[:begin] + f"({mutation.after})".encode() + text[end:]).decode()
    ast.parse(changed)
    return changed


def _sites(file: str, source: str) -> Iterator[_Site]:
    seen: dict[Mutation, int] = {}
    for function, node in _nodes(ast.parse(source), ""):
        for kind, expression, other in _changes(node):
            first = Mutation(file, function, kind, ast.unparse(expression), ast.unparse(other), 0)
            nth = seen[first] = seen.get(first, -1) + 1
            begin = expression.lineno, expression.col_offset
            end = expression.end_lineno or 0, expression.end_col_offset or 0
            yield _Site(replace(first, nth=nth), begin, end)


def _nodes(node: ast.AST, function: str) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, LEFT_ALONE):
        return
    yield function, node
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        function = f"{function}.{node.name}".lstrip(".")
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name not in {"annotation", "returns", "pattern"}:
                yield from _nodes(child, function)


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Yield the kind of each fault of a node, the expression that goes and the one that comes."""
    match node:
        case ast.BinOp(left=left, op=op):
            if type(op) in OPERATORS:
                yield "operator", node, _with(node, op=OPERATORS[type(op)]())
            if isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.BitOr):
                yield "term", node, left
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand) if not isinstance(operand, ast.Constant):
            yield "operator" if isinstance(node.op, ast.USub) else "condition", node, operand
        case ast.Constant(value=bool(value)):
            yield "constant", node, ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield "constant", node, ast.Constant(value + 1)
        case ast.Compare(ops=[op]):
            yield "comparison", node, _with(node, ops=[COMPARISONS[type(op)]()])
        case ast.BoolOp(values=[*first, _]):
            yield "condition", node, _with(node, values=first) if len(first) > 1 else first[0]
        case ast.IfExp(body=body):
            yield "condition", node, body
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            for place, part in enumerate(node.generators):
                if part.ifs:
                    others = [*node.generators]
                    others[place] = _with(part, ifs=[])
                    yield "condition", node, _with(node, generators=others)
        case ast.If(test=test, body=[*_, ast.Return() | ast.Continue()], orelse=[]):
            yield "condition", test, ast.Constant(False)
        case (
            ast.Tuple(elts=[_, *_, _] as elements, ctx=ast.Load())
            | ast.List(elts=[_, *_, _] as elements, ctx=ast.Load())
        ):
            if not any(isinstance(element, ast.Slice) for element in elements):
                yield "term", node, _with(node, elts=elements[:-1])
        case ast.Call(args=[first, second, *rest]) if not any(isinstance(arg, ast.Starred) for arg in node.args):
            yield "argument", node, _with(node, args=[second, first, *rest])


def _with(node: Node, **fields: object) -> Node:
    changed = copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed
