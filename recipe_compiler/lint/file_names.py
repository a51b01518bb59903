"""A file of a step, by the names on its top level, and what is read off Python's syntax about names."""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Scoped = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class File:
    """A file, by the names on its top level."""

    def __init__(self, path: Path, shown: str, tree: ast.Module) -> None:
        self.path, self.shown, self.tree = path, shown, tree
        self.aliases: dict[str, tuple[str, ...]] = {}
        """What each name is that is imported anywhere in the file: in a function it may be another than outside."""
        for name, dotted in aliases_in(tree):
            self.aliases[name] = (*self.aliases.get(name, ()), dotted)
        self.stars = tuple(_stars(tree))
        self.makers: dict[str, list[ast.stmt]] = {}
        for statement in tree.body:
            for name in names_made(statement):
                self.makers.setdefault(name, []).append(statement)
        self.fields = frozenset(_fields(tree))


def aliases_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the names under which modules, and what is in them, are imported anywhere in a file."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((one.asname or top(one.name), one.name if one.asname else top(one.name)) for one in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                where = "." * level + (f"{module}." if module else "")
                yield from ((one.asname or one.name, f"{where}{one.name}") for one in names if one.name != "*")
            case _:
                pass


def top(module: str) -> str:
    """Return the module that a dotted name is in, `numpy` of `numpy.linalg`."""
    return module.partition(".")[0]


def _stars(tree: ast.Module) -> Iterator[str]:
    """Yield the modules all of whose names are imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
            yield "." * node.level + (node.module or "")


def names_made(statement: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement on the top level makes, or changes."""
    if isinstance(statement, Definition):
        yield statement.name
    elif not isinstance(statement, (ast.Import, ast.ImportFrom)):
        stored = (ast.Store, ast.Del)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, stored):
                yield node.id
            elif isinstance(node, Definition):
                yield node.name


def _fields(tree: ast.Module) -> Iterator[str]:
    """Yield the attributes that classes of a file give their instances."""
    for node in ast.walk(tree):
        match node:
            case ast.ClassDef(body=body):
                for statement in body:
                    yield from (name for name in names_made(statement) if not name.startswith("__"))
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()) if not name.startswith("__"):
                yield name
            case ast.Call(func=ast.Name(id="namedtuple") | ast.Attribute(attr="namedtuple"), args=args):
                texts = (n.value for arg in args for n in ast.walk(arg) if isinstance(n, ast.Constant))
                yield from (word for text in texts if isinstance(text, str) for word in text.replace(",", " ").split())
            case _:
                pass


def is_main(statement: ast.stmt) -> bool:
    """Whether a statement is what a file does when it is the program."""
    match statement:
        case ast.If(test=ast.Compare(ast.Name("__name__"), [ast.Eq()], [ast.Constant("__main__")]), orelse=[]):
            return True
        case _:
            return False


def is_text(node: ast.stmt) -> bool:
    """Whether a statement is a constant alone, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def dotted_name(node: ast.expr) -> tuple[str, tuple[str, ...]]:
    """Return `np` and what is asked of it, of an attribute of a name; no name of one of anything else."""
    rest: list[str] = []
    while isinstance(node, ast.Attribute):
        rest.append(node.attr)
        node = node.value
    return (node.id, tuple(reversed(rest))) if isinstance(node, ast.Name) else ("", ())


def names_bound(parts: Iterable[ast.AST]) -> frozenset[str]:
    """Return the names that code binds where it stands, those left out that belong to what is around."""
    found: set[str] = set()
    outside: set[str] = set()
    waiting = list(parts)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                outside |= {*names}
            case _:
                pass
        if isinstance(node, Definition):
            found.add(node.name)
        elif isinstance(node, Comprehension):
            found |= {one.target.id for one in ast.walk(node) if isinstance(one, ast.NamedExpr)}
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return frozenset(found - outside)


def root_of(node: ast.expr) -> str:
    """Return the name that a target is in, or is an attribute of."""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_made_by(file: File, node: ast.expr) -> bool:
    """Whether what is said of a type asks an object of the file."""
    asked = [part.value for part in ast.walk(node) if isinstance(part, ast.Subscript)]
    joined = (one for part in ast.walk(node) if isinstance(part, ast.BinOp) for one in (part.left, part.right))
    return any(
        isinstance(maker, Definition) or any(isinstance(part, ast.Call) for part in ast.walk(maker))
        for part in (*asked, *joined)
        for maker in file.makers.get(root_of(part), ())
        if not (isinstance(maker, ast.ClassDef) and part not in asked)
    )
