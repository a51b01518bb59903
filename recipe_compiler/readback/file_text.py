"""What a text carries word for word: support code of the package, and what of another text was read back."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from recipe_compiler.emit.module import LIBRARY, REFUTED
from recipe_compiler.emit.support.text import definitions
from recipe_compiler.readback.text import require
from recipe_compiler.verdict import AT_VALUES, Proved, Report

OPTIONS = {"error_model": "'numpy'", "fastmath": ("_FASTMATH", "_REDUCTION")}
"""What every jitted function that is printed is compiled with: neither order nor finiteness of numbers is given up."""
REDUCTION = "_REDUCTION = {'contract', 'nsz', 'arcp', 'reassoc'}"
IMPORTS = {name: name for name in LIBRARY} | {
    "np": "numpy", "njit": "numba.njit", "types": "numba.types", "typeof": "numba.typeof",
    "cgutils": "numba.core.cgutils", "intrinsic": "numba.extending.intrinsic",
    "binding": "llvmlite.binding", "ir": "llvmlite.ir",
    "ThreadPoolExecutor": "concurrent.futures.ThreadPoolExecutor", "wait": "concurrent.futures.wait",
}  # fmt: skip
"""What names that are imported mean."""
PRINTED = frozenset(("sample", "first_state", REFUTED))
"""What a file has and no text that runs: functions, which are executed (`run/read_file.py`), and `check_mark`'s."""


def check_words(text: str, read: str = "") -> None:
    """Check that support code is that of the package, and that all else is in a text that was read back.

    Nothing is defined twice, nothing but functions and constants stands on the top level, and what is imported is what
    support code imports. Without a text that was read back, functions may be any that are compiled as such are.

    Raises:
        CompilerError: something differs; names it.
    """
    own, known = defined(text), defined(read) if read else {}
    support = {name: one.text for one in definitions() for name in one.names}
    for name, node in own.items():
        if name in PRINTED and read:
            require(not getattr(node, "decorator_list", ()), f"compiles {name}, which is plain Python")
        elif name in support:
            require(_says(node) == _says(ast.parse(support[name]).body[0]), f"has another {name} than the package")
        elif read:
            require(name in known and _says(node) == _says(known[name]), f"has another {name} in its file")
        elif isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                require(_is_as_printed(decorator), f"compiles {name} as {ast.unparse(decorator)}")
        elif name[0] == "_":
            require(ast.unparse(node) == REDUCTION, f"has another {name} than the package")


def check_claims(text: str, report: Report, digest: str, *, advisory: bool, allow_undecided: bool) -> None:
    """Check that a file says proved of what is proved, under what is assumed, and names its documents.

    Args:
        text: the file.
        report: the verdicts about its build.
        digest: SHA-256 of the documents.
        advisory: whether the file also lists findings that the build does not require.
        allow_undecided: whether it was asked for though a required claim might be undecided.

    Raises:
        CompilerError: it says something else; which section does.
    """
    sections = described(text)
    listed = [one for one in report.findings if one.required or advisory]
    wanted: dict[str, set[str]] = {}
    for one in listed:
        if allow_undecided:
            wanted.setdefault("Claims", set()).add(_plain(one.says))
        elif isinstance(one.decision, Proved):
            name = "; ".join(sorted(one.decision.given))
            name = f"Proved, given that {name}" if name else "Proved"
            wanted.setdefault(_plain(name), set()).add(_plain(f"{one.says} ({one.decision.by})"))
    found = {name: set(lines) for name, lines in sections.items() if name.startswith(("Proved", "Claims"))}
    found = {"Claims" if name.startswith("Claims") else name: lines for name, lines in found.items()}
    require(found == wanted, "says proved, in the description of its file, of something else than what is")
    held = any(AT_VALUES in line for lines in found.values() for line in lines) and not allow_undecided
    require(not held or "Fixed" in sections, "does not say at which values its claims are proved")
    names_it = _plain(f"Spec digest (SHA-256): {digest}") in sections.get("Origin", ())
    fact = defined(text).get("SPEC_DIGEST")
    names_it &= isinstance(fact, ast.Assign) and ast.unparse(fact.value) == repr(digest)
    require(names_it, "names other documents than it was made of")


def check_mark(text: str, claims: Sequence[str]) -> None:
    """Check that a file lists the refuted claims of its build, as its description and its facts, and nothing as proved.

    Raises:
        CompilerError: it does not.
    """
    sections, fact = described(text), defined(text).get(REFUTED)
    (said,) = [lines for name, lines in sections.items() if name.startswith(REFUTED)] or [()]
    held = ast.literal_eval(fact.value) if isinstance(fact, ast.Assign) else ()
    right = {*said} == {*map(_plain, claims)} and held == tuple(claims)
    right &= not any(name.startswith(("Proved", "Claims")) for name in sections)
    require(right, "does not say which claims of its build are refuted")


def described(text: str) -> Mapping[str, tuple[str, ...]]:
    """Return the description at the top of a file: what stands in each section, without white space."""
    found: dict[str, list[str]] = {}
    name, lines = "", list[str]()
    for line in (ast.get_docstring(ast.parse(text), clean=False) or "").splitlines():
        if line and not line.startswith(" "):
            name += line
            if not name.endswith(":"):
                continue
            lines = found.setdefault(_plain(name.removesuffix(":")), [])
            name = ""
        elif line.startswith(" " * 8) and lines:
            lines[-1] += _plain(line)
        elif line.strip():
            lines.append(_plain(line))
    return {name: tuple(lines) for name, lines in found.items()}


def _plain(words: str) -> str:
    """Return words as a description has them, without the white space at which it may break."""
    return "".join(words.split()).encode("ascii", "backslashreplace").decode("ascii").replace('"', "'")


@lru_cache(maxsize=4)
def defined(text: str) -> Mapping[str, ast.stmt]:
    """Return what a text defines, by name.

    Raises:
        CompilerError: something is defined twice, or stands on its top level that defines nothing, or is imported.
    """
    found: dict[str, ast.stmt] = {}
    for node in ast.parse(text).body:
        for name in _names(node):
            require(name not in found, f"defines {name} twice")
            found[name] = node
    return found


def _names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=[ast.Name(id=name)]):
            yield name
        case ast.Assign(targets=[ast.Tuple(elts=targets)]):
            yield from map(ast.unparse, targets)
        case ast.Import() | ast.ImportFrom():
            right = all(IMPORTS.get(name) == origin for name, origin in _imported(node))
            require(right, f"has {ast.unparse(node)}, which nothing that is emitted needs")
        case ast.Expr(value=ast.Constant(value=str())):
            pass
        case _:
            require(False, f"has something that cannot be read back: {ast.unparse(node)[:80]}")


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield names that are imported, with where from."""
    module = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
    yield from ((one.asname or one.name, f"{module}{one.name}") for one in node.names)


def _says(node: ast.stmt) -> str:
    """Return what a definition says, but for whether Python may call what it compiles."""
    said = ast.dump(node)
    if isinstance(node, ast.FunctionDef):
        for decorator in node.decorator_list:
            for keyword in getattr(decorator, "keywords", ()):
                if keyword.arg == "no_cpython_wrapper":
                    said = said.replace(ast.dump(keyword), "").replace(", , ", ", ")
    return said


def _is_as_printed(decorator: ast.expr) -> bool:
    match decorator:
        case ast.Call(func=ast.Name(id="njit"), args=[], keywords=keywords):
            own = {str(keyword.arg): ast.unparse(keyword.value) for keyword in keywords}
            return "parallel" not in own and all(own.get(name, "") in said for name, said in OPTIONS.items())
        case _:
            return False
