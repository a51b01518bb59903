"""From a scalar of a document to a typed formula, its faults at the line and column of the file.

`dependence` lists what a formula depends on.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from recipe_compiler.errors import DocumentError, Fault, ModelError, Place, SpecError
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.bounds import check_bounds
from recipe_compiler.formula.densities import Density
from recipe_compiler.formula.density_terms import elaborate_density
from recipe_compiler.formula.elaborate import Scope, elaborate, elaborate_condition
from recipe_compiler.formula.expression import Compare, Formula, Role
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.tree import Call, Tree, language_names, parts, place_at, put
from recipe_compiler.spec.yaml_nodes import Scalar

_START = Place("", 1, 1)
"""The formula is read as one line on its own, so that columns count its characters."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """The names in a formula, by what they are, each once, in the order they occur."""

    blocks: tuple[str, ...]
    """Blocks, those of its functions and derivatives included."""
    functions: tuple[str, ...]
    parameters: tuple[str, ...]
    data: tuple[str, ...]
    sizes: tuple[str, ...]
    """Those that stand as numbers."""
    draws: bool
    """Whether `N(0, cov)` or declared noise occurs."""
    step: bool
    """Whether the step size eps occurs."""

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that is neither a number nor a size."""
        return (*self.blocks, *self.functions, *self.parameters, *self.data)


def _calls(tree: Tree) -> Iterator[Call]:
    left = [tree]
    while left:
        part = left.pop()
        left += parts(part)
        if isinstance(part, Call):
            yield part


def dependence(formula: Formula) -> Dependence:
    """Return what a formula depends on."""
    symbols: dict[Role, dict[str, None]] = {role: {} for role in Role}
    functions: dict[str, None] = {}
    draws = False
    stack = [formula]
    while stack:
        node = stack.pop()
        match node:
            case ex.Symbol(name=name, role=role):
                symbols[role][name] = None
            case ex.FunctionAt(name=name, of=of):
                functions[name] = None
                symbols[Role.BLOCK].update(dict.fromkeys(of))
            case ex.Next(block=block):
                symbols[Role.BLOCK][block] = None
            case ex.GradTilde(function=function, block=block):
                functions[function] = None
                symbols[Role.BLOCK][block] = None
            case ex.Normal():
                draws = True
            case _:
                pass
        stack += reversed(parts(node))
    symbols[Role.DATUM] |= symbols[Role.INDEX]
    roles = (Role.BLOCK, Role.PARAMETER, Role.DATUM, Role.SIZE)
    blocks, parameters, data, sizes = (tuple(symbols[role]) for role in roles)
    noise, step = bool(symbols[Role.NOISE]), bool(symbols[Role.STEP])
    return Dependence(blocks, tuple(functions), parameters, data, sizes, draws or noise, step)


def is_of_data(condition: Compare) -> bool:
    """Whether a condition can be decided on the data: no block is in it, and a data field is."""
    uses = [dependence(side) for side in (condition.left, condition.right)]
    return any(use.data for use in uses) and not any(use.blocks or use.functions for use in uses)


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a document that holds a formula."""

    name: str
    scalar: Scalar
    let: Mapping[str, Tree] = field(default_factory=dict[str, Tree])
    """Names that stand for formulas (`spec/let.py`)."""

    def tree(self) -> Tree:
        """Return the syntax tree, formulas in the place of names that stand for them; or raise DocumentError."""
        written = self._written()
        if not self.let:
            return written
        self._refuse_calls(written)
        found = put(written, self.let)
        with self.placed(SpecError):
            check_bounds(found, self.name, _START)
        return found

    def _written(self) -> Tree:
        if self.scalar.formula is not None:
            return self.scalar.formula
        comment = self.scalar.comment
        if len(comment) > 1 and comment[1] not in " #!":
            problem = f"found `{comment[:40]}` after the formula, which YAML takes for a comment and drops"
            raise SpecError(self.refused(problem, "quote the formula, or write `# ` and the comment").faults)
        with self.placed(SpecError):
            return parse(self.scalar.text.replace("\n", " "), self.name, _START)

    def formula(self, scope: Scope, expected: Shape | None) -> Formula:
        """Return the typed formula, of the shape expected. Raises SpecError or ModelError."""
        return self.elaborated(self.tree(), scope, expected)

    def elaborated(self, tree: Tree, scope: Scope, expected: Shape | None) -> Formula:
        """Return the typed formula of a part of the entry."""
        self._refuse_shadowed(tree, scope)
        with self.placed(ModelError):
            return elaborate(tree, scope, expected, self.name, _START)

    def in_first(self, part: Tree, scope: Scope, shapes: Sequence[Shape]) -> Formula:
        """Return the typed formula in the first shape that it has. Raises ModelError, of the first."""
        first, *others = shapes
        try:
            return self.elaborated(part, scope, first)
        except DocumentError:
            for shape in others:
                try:
                    return self.elaborated(part, scope, shape)
                except DocumentError:
                    continue
            raise

    def density(self, part: Call, scope: Scope) -> tuple[Density, tuple[Formula, ...]]:
        """Return the row and the typed arguments of a named density in the entry. Raises ModelError."""
        with self.placed(ModelError):
            return elaborate_density(part, scope, self.name, _START)

    def condition(self, scope: Scope) -> Compare:
        """Return a comparison: `a*c - b**2 >= 0`. Raises SpecError or ModelError."""
        return self.comparison(self.tree(), scope)

    def comparison(self, tree: Tree, scope: Scope) -> Compare:
        """Return a comparison that is a part of the entry. Raises ModelError."""
        self._refuse_shadowed(tree, scope)
        with self.placed(ModelError):
            return elaborate_condition(tree, scope, self.name, _START)

    def _refuse_shadowed(self, tree: Tree, scope: Scope) -> None:
        """Raise ModelError where an object of Python means the language's `I` or `exp`, and its text another name."""
        taken = scope.declarations.names.union(draw.name for draw in scope.noise)
        for name in language_names(tree) if self.scalar.formula is not None else ():
            if name in taken:
                problem = f"found the language's `{name}` beside a declared `{name}`, expected different names"
                raise self.refused(problem, f"rename what is declared: `{name}_`")

    def _refuse_calls(self, tree: Tree) -> None:
        """Raise ModelError where a name that stands for a formula is called: it is no function, nor a density."""
        called = [part for part in _calls(tree) if part.name in self.let and not part.language]
        if called:
            name, where = called[0].name, place_at(_START, called[0].at)
            problem = f"found a call of `{name}`, which stands for a formula under `let`, expected a function"
            fault = Fault(where, self.name, problem, f"rename it under `let`, or write {name}*(...) for a product")
            raise ModelError([self.relocated(fault)])

    def refused(self, problem: str, hint: str = "") -> ModelError:
        """Return the fault of an entry that means nothing, to be raised."""
        return ModelError([Fault(self.scalar.place, self.name, problem, hint)])

    @contextmanager
    def placed(self, kind: type[DocumentError]) -> Generator[None]:
        """Give faults that are raised meanwhile their places in the file."""
        try:
            yield
        except DocumentError as error:
            raise kind(map(self.relocated, error.faults)) from None

    def relocated(self, fault: Fault) -> Fault:
        """Return a fault of the bare text at its place in the file."""
        where = self.scalar.locate(fault.where.column - 1) if fault.where.column else self.scalar.place
        return replace(fault, where=where)
