"""Columns that a build makes of those of its file: `data: {columns: {logx: log(x), z: standardise(x)}}`.

A formula is of ONE row; its names are columns of the file, or made ones. A comparison is 1 where it holds, else 0.
`mean`, `sd`, `centre` and `standardise` are of all rows: a call of them is a column of its own, with the call as its
name, so that what is made of it is again a formula of one row.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula import tree
from recipe_compiler.formula.build import parts
from recipe_compiler.formula.declaration import Datum, Declarations
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.tree import Tree, written
from recipe_compiler.spec.formulas import Entry, dependence
from recipe_compiler.spec.let import in_order, names_in
from recipe_compiler.spec.model import MadeColumn
from recipe_compiler.spec.page import Page

WHOLE = ("mean", "sd", "centre", "standardise")
"""What is of all rows of a column."""
_OF_NUMBERS = frozenset({*FUNCTIONS, *ex.ELEMENTWISE_PAIRS, "where"})


def read_made(page: Page, names: tuple[str, ...]) -> tuple[MadeColumn, ...]:
    """Return the columns that are made, each after those it uses; a fault is added for each that means nothing."""
    entries = {name: entry for name in names if (entry := page["data", "columns", name].entry) is not None}
    trees = {name: parsed for name, entry in entries.items() if (parsed := page.faults.catch(entry.tree)) is not None}
    maker = _Maker()
    for name in in_order(page["data", "columns"], trees, "give what is made a name that no column has yet"):
        page.faults.catch(lambda name=name: maker.make(name, trees[name], entries[name]))
    return tuple(maker.made.values())


def needed(made: Iterable[MadeColumn], names: Iterable[str]) -> tuple[MadeColumn, ...]:
    """Return the columns, of those that are made, that the columns `names` are or are made of."""
    wanted, found = set(names), list[MadeColumn]()
    for column in reversed(tuple(made)):
        if column.name in wanted:
            wanted.update(column.uses)
            found.append(column)
    return tuple(reversed(found))


@dataclass(slots=True)
class _Maker:
    """The columns that are made so far."""

    made: dict[str, MadeColumn] = field(default_factory=dict[str, MadeColumn])

    def make(self, name: str, formula: Tree, entry: Entry) -> None:
        """Add a column, and before it those that are of all rows. Raises ModelError."""
        self._add(name, self._with_wholes(formula, entry), entry)

    def _with_wholes(self, part: Tree, entry: Entry) -> Tree:
        """Return a formula of one row: the names of columns in the place of what is of all rows."""
        inner = [self._with_wholes(arg, entry) for arg in tree.parts(part)]
        part = tree.with_parts(part, inner)
        if not isinstance(part, tree.Call) or part.name not in WHOLE:
            return part
        name = written(part)
        if len(part.args) != 1:
            problem = f"found {len(part.args)} arguments of {part.name}(), expected one: {part.name}(x)"
            raise entry.refused(problem)
        if name not in self.made:
            self._add(name, part.args[0], entry, part.name)
        return tree.Name(name, part.at)

    def _add(self, name: str, formula: Tree, entry: Entry, whole: str = "") -> None:
        columns = names_in(formula) - ({"pi"} - self.made.keys())
        scope = Scope(Declarations(data=tuple(Datum(column, 1) for column in sorted(columns))))
        typed = entry.elaborated(formula, scope, None if isinstance(formula, tree.Comparison) else SCALAR)
        for found in _others(typed):
            problem = f"found {found}, expected functions of one row's numbers, or {', '.join(WHOLE)} of a column"
            raise entry.refused(problem)
        self.made[name] = MadeColumn(name, typed, dependence(typed).data, whole)


def _others(formula: Formula) -> Iterator[str]:
    """Yield what in a formula is of vectors or matrices."""
    match formula:
        case ex.Number() | ex.Pi() | ex.Symbol() | ex.Add() | ex.Multiply() | ex.Power() | ex.Compare():
            pass
        case ex.Apply(fn) if fn in _OF_NUMBERS:
            pass
        case ex.Apply(fn):
            yield f"{fn}()"
        case _:
            yield "a vector or a matrix"
    for part in parts(formula):
        yield from _others(part)
