"""What a step's code reaches: names, statements, and files of its folder, as far as they have been looked at.

It is filled as the code is read: by `loading.py`, of what runs when a file is loaded, and by `reading.py`, of what a
statement names.
"""

import ast
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from recipe_compiler.errors import Place
from recipe_compiler.lint import allowed
from recipe_compiler.lint.file_names import File
from recipe_compiler.lint.source import LARGEST

Beside = tuple[File | None, str, tuple[str, ...]]
"""A file that was found, None where it cannot be read, the module's name, and what is asked of it."""


class Reached:
    """What a step reaches, and what of it is not allowed."""

    def __init__(self, file: File, replaced: frozenset[str], given: Mapping[str, frozenset[str]]) -> None:
        self.main, self.replaced, self.given = file, replaced, given
        self.files: dict[Path, File | None] = {}
        self.found: dict[tuple[Place, str], None] = {}
        self.read: dict[tuple[Path, str], int] = {}
        self.seen: set[int] = set()
        self.left: list[tuple[File, ast.stmt]] = []
        self.fields: set[str] = set()
        self.modules: dict[tuple[Path, str], Beside | None] = {}
        self.within: set[tuple[Path, str]] = set()
        """Names of files that are looked for, of which others may be looked for in turn."""
        self.made: dict[int, tuple[File, ast.Call, str, bool, bool]] = {}
        """Calls that make a generator, or seed one; whether they may be made more than once, and are given a seed."""
        self.asked: list[tuple[File, int, str]] = []
        """What is asked for what only stops the step."""
        self.swallows: list[str] = []
        """Methods of classes whose errors Python may take for an end, or an answer."""
        self.either: list[tuple[File, str, int]] = []
        """Names that are others where a module is missing."""
        self.shared: set[str] = set()
        """Modules whose own generator is drawn from."""
        self._add(file)

    def _add(self, file: File) -> None:
        """Take in a file with those that it imports: what they do when they are loaded is looked at."""
        self.files[file.path] = file
        self.fields |= file.fields
        for module in (*(dotted for every in file.aliases.values() for dotted in every), *file.stars):
            self.beside(file, module)

    def tell(self, file: File, line: int, what: str) -> None:
        """Note what is not allowed."""
        self.found[Place(file.shown, line), what] = None

    def reach(self, file: File, name: str, line: int = 0, *, at_load: bool = False) -> None:
        """Look at what makes a name of a file; what it is when the file is loaded nothing replaces."""
        if file is self.main and name in self.replaced and not at_load:
            return
        self.read.setdefault((file.path, name), line)
        for statement in file.makers[name]:
            self.look_at(file, statement)

    @contextmanager
    def once(self, file: File, name: str) -> Generator[bool]:
        """Say whether a name of a file is not being looked for already: files may import each other."""
        key = (file.path, name)
        is_first = key not in self.within
        self.within.add(key)
        yield is_first
        if is_first:
            self.within.discard(key)

    def look_at(self, file: File, statement: ast.stmt) -> None:
        """Look at a statement that runs when the file is loaded."""
        if id(statement) not in self.seen:
            self.seen.add(id(statement))
            self.left.append((file, statement))

    def beside(self, file: File, dotted: str) -> Beside | None:
        """Return the file in the folder that a module is, None where it cannot be read, its name, and what is asked.

        None of a module that is none of the folder's.
        """
        key = (file.path, dotted)
        if key not in self.modules:
            self.modules[key] = self._beside(file, dotted)
        return self.modules[key]

    def _beside(self, file: File, dotted: str) -> Beside | None:
        level = len(dotted) - len(dotted.lstrip("."))
        above = file.path.parents
        folder = above[min(level, len(above)) - 1] if level else self.main.path.parent
        parts = dotted[level:].split(".")
        for count in range(len(parts), 0, -1):
            name = ".".join(parts[:count])
            path = folder.joinpath(*parts[:count])
            for one in (path.with_suffix(".py"), path / "__init__.py"):
                if one.is_file():
                    for k in range(1, count):
                        above_it = folder.joinpath(*parts[:k]) / "__init__.py"
                        if above_it.is_file():
                            self._file(above_it)
                    return self._file(one), name, tuple(parts[count:])
        return (None, dotted, ()) if _is_other(folder, parts[0]) else None

    def _file(self, path: Path) -> File | None:
        path = path.resolve()
        if path not in self.files:
            self.files[path] = None
            try:
                text = path.read_text(encoding="utf-8") if path.stat().st_size <= LARGEST else ""
                tree = ast.parse(text)
            except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
                return None
            if text:
                self._add(File(path, self._shown(path), tree))
        return self.files[path]

    def _shown(self, path: Path) -> str:
        try:
            return str(Path(self.main.shown).parent / path.relative_to(self.main.path.parent))
        except ValueError:
            return str(path)


def _is_other(folder: Path, name: str) -> bool:
    """Whether a module of a folder is no text of Python, or a folder of those."""
    built = any(any(folder.glob(f"{name}{end}")) for end in (".so", ".*.so", ".pyd", ".*.pyd", ".pyc"))
    return bool(name) and (built or (name not in allowed.NEEDED and (folder / name).is_dir()))
