"""From a scalar of a document to a typed formula, its faults at the line and column of the file."""

from dataclasses import dataclass, replace

from recipe_compiler.errors import DocumentError, Fault, ModelError, Place, SpecError
from recipe_compiler.formula.elaborate import Scope, elaborate, elaborate_condition
from recipe_compiler.formula.expression import Compare, Formula
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.tree import Tree, language_names
from recipe_compiler.spec.yaml_nodes import Scalar


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a document that holds a formula."""

    name: str
    scalar: Scalar

    def tree(self) -> Tree:
        """Return the syntax tree. Raises SpecError."""
        if self.scalar.formula is not None:
            return self.scalar.formula
        comment = self.scalar.comment
        if len(comment) > 1 and comment[1] not in " #!":
            problem = f"found `{comment[:40]}` after the formula, which YAML takes for a comment and drops"
            raise SpecError(
                [Fault(self.scalar.place, self.name, problem, "quote the formula, or write `# ` and the comment")]
            )
        try:
            return parse(self.scalar.text.replace("\n", " "), self.name, _START)
        except DocumentError as error:
            raise SpecError([self.relocated(fault) for fault in error.faults]) from None

    def formula(self, scope: Scope, expected: Shape | None) -> Formula:
        """Return the typed formula, of the shape expected. Raises SpecError or ModelError."""
        return self.elaborated(self.tree(), scope, expected)

    def elaborated(self, tree: Tree, scope: Scope, expected: Shape | None) -> Formula:
        """Return the typed formula of a part of the entry."""
        self._refuse_shadowed(tree, scope)
        try:
            return elaborate(tree, scope, expected, self.name, _START)
        except DocumentError as error:
            raise ModelError([self.relocated(fault) for fault in error.faults]) from None

    def condition(self, scope: Scope) -> Compare:
        """Return a comparison: `a*c - b**2 >= 0`. Raises SpecError or ModelError."""
        tree = self.tree()
        self._refuse_shadowed(tree, scope)
        try:
            return elaborate_condition(tree, scope, self.name, _START)
        except DocumentError as error:
            raise ModelError([self.relocated(fault) for fault in error.faults]) from None

    def _refuse_shadowed(self, tree: Tree, scope: Scope) -> None:
        """Raise ModelError where an object of Python means the language's `I` or `exp`, and its text another name."""
        taken = (*scope.declarations.sizes, *(draw.name for draw in scope.noise))
        for name in language_names(tree) if self.scalar.formula is not None else ():
            if scope.declarations.find(name) is not None or name in taken:
                problem = f"found the language's `{name}` beside a declared `{name}`, expected different names"
                raise ModelError([Fault(self.scalar.place, self.name, problem, f"rename what is declared: `{name}_`")])

    def relocated(self, fault: Fault) -> Fault:
        """Return a fault of the bare text at its place in the file."""
        where = self.scalar.locate(fault.where.column - 1) if fault.where.column else self.scalar.place
        hint = fault.hint
        if self.scalar.comment:
            cut = "YAML drops what follows ` #`: quote the formula if it belongs to it"
            hint = f"{hint}; {cut}" if hint else cut
        return replace(fault, where=where, hint=hint)


_START = Place("", 1, 1)
"""The formula is read as one line on its own, so that columns count its characters."""
