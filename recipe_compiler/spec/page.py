"""A document being read: its places, with what stands there and where faults go."""

from collections.abc import Callable, Iterable
from collections.abc import Mapping as Table
from dataclasses import dataclass, field, replace
from typing import TypeVar

from recipe_compiler.errors import Place, nearest
from recipe_compiler.formula import tree
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.fields import found, shown
from recipe_compiler.spec.formulas import Entry
from recipe_compiler.spec.yaml_nodes import Mapping, Node, Scalar, descend, plain

Read = TypeVar("Read")
Path = tuple[str | int, ...]
"""Keys and positions of a list, from the root of a document on."""


def entry_name(path: Path) -> str:
    """Return the entry as a user would name it: `state.theta.shape`, `assume[0]`."""
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)}" for step in path)
    return name.removeprefix(".") or "document"


@dataclass(frozen=True, slots=True)
class Page:
    """A place in a document being read, `page["state", "theta"]`; what stands there, and where its faults go."""

    root: Mapping
    faults: Faults
    let: Table[str, tree.Tree] = field(default_factory=dict[str, tree.Tree])
    """Names that stand for formulas in every formula that is read."""
    path: Path = ()

    def __getitem__(self, steps: str | int | Path) -> "Page":
        """Return the place under keys and positions of a list."""
        return replace(self, path=(*self.path, *(steps if isinstance(steps, tuple) else (steps,))))

    @property
    def label(self) -> str:
        """The entry as a user would name it."""
        return entry_name(self.path)

    @property
    def where(self) -> Place:
        """Where it stands; of what the document does not have, where the innermost part that it has does."""
        return descend(self.root, self.path)[0]

    @property
    def node(self) -> Node | None:
        """What stands there; None if nothing does."""
        return descend(self.root, self.path)[1]

    @property
    def found(self) -> str:
        """What stands there, as a fault names it."""
        node = self.node
        return found(None if node is None else plain(node))

    @property
    def items(self) -> tuple["Page", ...]:
        """The places in a list; none in anything else."""
        return tuple(self[place] for place in range(len(getattr(self.node, "items", ()))))

    @property
    def text(self) -> str:
        """The text of the scalar there; empty where there is none."""
        return self.node.text if isinstance(self.node, Scalar) else ""

    @property
    def entry(self) -> Entry | None:
        """The formula there; None if no scalar stands there."""
        node = self.node
        return Entry(self.label, node, self.let) if isinstance(node, Scalar) else None

    def read(self, means: Callable[[Entry], Read]) -> Read | None:
        """Return what the formula there means; None if there is none, or if a fault was added."""
        entry = self.entry
        return None if entry is None else self.faults.catch(lambda: means(entry))

    def formula(self, scope: Scope, expected: Shape | None) -> Formula | None:
        """Return the typed formula there; None if there is none, or if a fault was added."""
        return self.read(lambda entry: entry.formula(scope, expected))

    def knows(self, name: str, known: Iterable[str], what: str) -> bool:
        """Whether a name is one of those known; a fault is added where it is none."""
        names = tuple(known)
        if name not in names:
            self.fault(f"found `{name}`, expected {what} ({', '.join(names)})", nearest(name, names))
        return name in names

    def fault(self, problem: str, hint: str = "") -> None:
        """Add a fault of the meaning: an unknown name, a shape, a missing value."""
        self.faults.meaningless_at(self.where, self.label, problem, hint)

    def meaningless(self, problem: str, hint: str = "") -> None:
        """Add a fault of the meaning, where the value begins."""
        self.faults.meaningless_at((self.node or self.root).place, self.label, problem, hint)

    def malformed(self, problem: str, hint: str = "") -> None:
        """Add a fault of the language, where the value begins: behind its key."""
        self.faults.malformed_at((self.node or self.root).place, self.label, problem, hint)
