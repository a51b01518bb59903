"""What the files of a step do when they are loaded, and what others may do to what they hold.

A file may change what is not its own when it is loaded, NumPy or the module that a name is of, and put its functions
elsewhere; code that the step does not call may change names that it reads. All of that is told, or read as its own.
"""

import ast
from collections.abc import Iterator

from recipe_compiler.lint import allowed
from recipe_compiler.lint.file_names import (
    Definition,
    File,
    aliases_in,
    dotted_name,
    is_made_by,
    is_main,
    is_text,
    names_bound,
    names_made,
    root_of,
    top,
)
from recipe_compiler.lint.reached import Reached
from recipe_compiler.lint.reading import read_part


def look_at_loading(reached: Reached, file: File) -> None:
    """Tell what a file changes that is not its own when it is loaded, and reach what runs then and may change it."""
    for statement in file.tree.body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
        for part in _run_at_once(statement):
            _look_at_what_is_set(reached, file, part)
            if not is_main(statement):
                _look_at_what_runs(reached, file, part)
        if isinstance(statement, ast.Try) and _is_instead(statement):
            _note_instead(reached, file, statement)
        elif not (is_main(statement) or _is_plain(file, statement) or _is_loose(file, statement)):
            reached.look_at(file, statement)


def _is_plain(file: File, statement: ast.stmt) -> bool:
    """Whether a statement makes names of the file and does nothing else."""
    match statement:
        case ast.ClassDef(body=body):
            return all(_is_plain(file, part) for part in body) and not _is_decorated(file, statement)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return not _is_decorated(file, statement)
        case ast.Pass():
            return True
        case ast.Assign(targets=targets, value=value):
            names = [one for target in targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])]
            return all(isinstance(one, ast.Name) for one in names) and not _is_method_called(file, value)
        case ast.AnnAssign(target=ast.Name(), value=value):
            return value is None or not _is_method_called(file, value)
        case _:
            return is_text(statement)


def _is_decorated(file: File, node: Definition) -> bool:
    """Whether a decorator is the file's own, or an object of it: it may put the function elsewhere."""
    roots = (part.func if isinstance(part, ast.Call) else part for part in node.decorator_list)
    return any(root_of(part) in file.makers for part in roots)


def _is_method_called(file: File, node: ast.expr) -> bool:
    """Whether a method is called that may change an object of the file."""
    return any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and (part.func.attr in allowed.CHANGES or part.func.attr in file.fields)
        for part in ast.walk(node)
    )


def _is_loose(file: File, statement: ast.stmt) -> bool:
    """Whether a statement sets what no step that is judged depends on."""
    match statement:
        case ast.Expr(value=ast.Call(func=func)):
            name, rest = dotted_name(func)
            dotted = file.aliases.get(name, (name,))[0]
            return name not in file.makers and ".".join((dotted, *rest)) in allowed.LOOSE
        case ast.Assign(targets=[ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="environ"))]):
            return file.aliases.get(name) == ("os",)
        case ast.Assign(targets=[ast.Attribute(value=ast.Attribute(attr="flags"), attr="writeable")]):
            return isinstance(statement.value, ast.Constant)
        case _:
            return False


def _is_instead(node: ast.Try) -> bool:
    """Whether a statement imports what may be missing, and makes names in its place."""
    made = (part for handler in node.handlers for part in handler.body)
    makes = (ast.Import, ast.ImportFrom, ast.Pass, ast.Assign, ast.FunctionDef)
    own = all(isinstance(part, (ast.Import, ast.ImportFrom)) for part in node.body)
    return own and all(isinstance(part, makes) for part in made) and not node.orelse and not node.finalbody


def _note_instead(reached: Reached, file: File, node: ast.Try) -> None:
    """Note the names that are others where a module is missing; for numba functions stand as they are in Python."""
    modules = {dotted for part in node.body for _, dotted in aliases_in(ast.Module([part], []))}
    imported = {name for part in node.body for name, _ in aliases_in(ast.Module([part], []))}
    of_numba = {top(module) for module in modules} == {"numba"}
    for handler in node.handlers:
        for part in handler.body:
            names = set(names_made(part)) | {name for name, _ in aliases_in(ast.Module([part], []))}
            for name in names:
                if not (of_numba and name in imported):
                    reached.either.append((file, name, part.lineno))


def _run_at_once(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement with its parts, without the bodies of functions inside it."""
    yield node
    if isinstance(node, ast.Lambda):
        return
    is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    parts = [*node.decorator_list, node.args] if is_function else ast.iter_child_nodes(node)
    for child in parts:
        yield from _run_at_once(child)


def _look_at_what_runs(reached: Reached, file: File, node: ast.AST) -> None:
    match node:
        case ast.Call(func=func, args=args, keywords=keywords):
            for part in (func, *args, *(keyword.value for keyword in keywords)):
                if isinstance(part, ast.Name) and any(isinstance(s, Definition) for s in file.makers.get(part.id, ())):
                    reached.reach(file, part.id, part.lineno)
                elif isinstance(part, ast.Lambda):
                    read_part(reached, file, part)
                elif isinstance(part, ast.Name) and _is_needed(reached, file, part.id, ()):
                    reached.tell(
                        file, part.lineno, f"`{file.aliases[part.id][0]}`, which is passed on when the file loads"
                    )
        case ast.Name(id=name, ctx=ast.Load()) if name in allowed.ELSEWHERE and name not in file.makers:
            reached.tell(file, node.lineno, f"`{name}`, which is called when it is loaded")
        case ast.FunctionDef(args=arguments, returns=returns) | ast.AsyncFunctionDef(args=arguments, returns=returns):
            own = (part.annotation for part in ast.walk(arguments) if isinstance(part, ast.arg))
            for annotation in (*own, returns):
                if annotation is not None and is_made_by(file, annotation):
                    read_part(reached, file, annotation)
        case _:
            pass


def _look_at_what_is_set(reached: Reached, file: File, node: ast.AST) -> None:
    match node:
        case (
            ast.Subscript(value=ast.Attribute(attr="__dict__" | "modules" as name), ctx=ast.Store() | ast.Del())
            | ast.Attribute(value=ast.Attribute(attr="__dict__" | "modules" as name))
        ):
            reached.tell(file, node.lineno, f"`{name}`, which may be changed when it is loaded")
        case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
            name, rest = dotted_name(node if isinstance(node, ast.Attribute) else node.value)
            if name in file.aliases and _is_needed(reached, file, name, rest):
                dotted = ".".join((file.aliases[name][0], *rest))
                reached.tell(file, node.lineno, f"`{dotted}`, which is set when it is loaded")
        case _:
            pass


def _is_needed(reached: Reached, file: File, name: str, rest: tuple[str, ...]) -> bool:
    """Whether a name is a module that steps are written with, or one of the folder."""
    return any(
        (top(dotted) in allowed.NEEDED and dotted not in allowed.NAMES)
        or reached.beside(file, ".".join((dotted, *rest)))
        for dotted in file.aliases.get(name, ())
    )


def tell_switches(reached: Reached, file: File) -> None:
    """Tell names of a file that the step reads, and that code changes which it does not call."""
    for statement in file.tree.body:
        if id(statement) in reached.seen or not (isinstance(statement, Definition) or is_main(statement)):
            continue
        where = f"`{statement.name}`" if isinstance(statement, Definition) else "it as the program"
        lines: dict[str, int] = {}
        for name, line in _changed_names(statement, frozenset()):
            lines.setdefault(name, line)
        for name, line in lines.items():
            at = reached.read.get((file.path, name))
            if at is not None:
                reached.tell(file, at or line, f"`{name}`, which {where} changes (line {line})")


def _changed_names(node: ast.AST, local: frozenset[str]) -> Iterator[tuple[str, int]]:
    """Yield the names of a file's top level that code changes, or what they hold, with the line."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        arguments = frozenset(arg.arg for arg in ast.walk(node.args) if isinstance(arg, ast.arg))
        outside = {name for part in ast.walk(node) if isinstance(part, ast.Global) for name in part.names}
        local = (local | arguments | names_bound(node.body)) - outside
        yield from ((name, node.lineno) for name in outside)
    for target in _targets(node):
        name = root_of(target)
        if name and name not in local:
            yield name, target.lineno
    if local and isinstance(node, ast.Assign) and isinstance(node.value, ast.Name) and node.value.id not in local:
        yield node.value.id, node.lineno
    for child in ast.iter_child_nodes(node):
        yield from _changed_names(child, local)


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return [target]
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr in allowed.CHANGES:
            return [value]
        case _:
            return []
