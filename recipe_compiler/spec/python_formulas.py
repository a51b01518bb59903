"""Formulas, block matrices and claims given as Python objects, elaborated against declarations."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.declared import Declared
from recipe_compiler.formula.elaborate import Scope, elaborate, elaborate_condition
from recipe_compiler.formula.expression import Compare, Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.symbolic import block_rows, declared_in, tree_of
from recipe_compiler.spec.declarations import Page
from recipe_compiler.spec.faults import nearest
from recipe_compiler.spec.model import Claims
from recipe_compiler.spec.read_dynamics import place_shape

T = TypeVar("T")
Blocks = tuple[tuple[Formula, ...], ...]
ByBlock = tuple[tuple[str, Formula], ...]
CLAIMS = ("drift", "diffusion", "interpretation", "marginal", "lyapunov", "update", "noise")


def rows_of(obj: object) -> tuple[tuple[object, ...], ...]:
    """Return the places of a block matrix; anything but rows and SymPy matrices is the one place of one block.

    Raises SpecError for rows that are none.
    """
    if obj is None:
        return ()
    is_matrix = isinstance(obj, list | tuple) or type(obj).__name__ in ("BlockMatrix", "BlockDiagMatrix")
    return block_rows(obj) if is_matrix or hasattr(obj, "tolist") else ((obj,),)


def claimed_objects(claims: Mapping[str, object]) -> tuple[object, ...]:
    """Return the formulas in claims, for the names they use. Raises SpecError."""
    found: list[object] = [entry for row in rows_of(claims.get("diffusion")) for entry in row]
    for name in ("drift", "marginal", "update"):
        stated = claims.get(name)
        found += [formula for _, formula in items(stated)] if isinstance(stated, Mapping) else []
    found += [claims["lyapunov"]] if "lyapunov" in claims else []
    return tuple(found)


def items(stated: Mapping[object, object]) -> list[tuple[str, object]]:
    """Return block names and formulas; blocks may be given by name or as the objects that declare them."""
    return [(key if isinstance(key, str) else _name(key), formula) for key, formula in stated.items()]


def _listed(obj: object) -> list[object]:
    return [*obj] if isinstance(obj, list | tuple) else [obj]


def _name(key: object) -> str:
    names = declared_in(key)
    return names[0].name if names else str(key)


@dataclass(frozen=True, slots=True)
class Stated:
    """What Python objects state, against the declarations they are read with."""

    page: Page
    declarations: Declarations

    def _read(self, attempt: Callable[[], T]) -> T | None:
        return self.page.faults.catch(attempt)

    def formula(self, entry: str, obj: object, shape: Shape, scope: Scope | None = None) -> Formula | None:
        """Return a formula of a shape; None where a fault was added."""
        where, scope = self.page.root.place, scope or Scope(self.declarations)
        return self._read(lambda: elaborate(tree_of(obj, entry, where), scope, shape, entry, where))

    def conditions(self, assume: Sequence[object]) -> tuple[Compare, ...]:
        """Return assumptions."""
        where, scope = self.page.root.place, Scope(self.declarations)
        entries = [(f"assume[{number}]", obj) for number, obj in enumerate(assume)]
        read = [
            self._read(lambda e=e, o=o: elaborate_condition(tree_of(o, e, where), scope, e, where)) for e, o in entries
        ]
        return tuple(condition for condition in read if condition is not None)

    def matrix(self, name: str, obj: object) -> Blocks | None:
        """Return a block matrix; None if it is left out or faulty."""
        if obj is None:
            return None
        rows, blocks = self._read(lambda: rows_of(obj)), self.declarations.blocks
        if rows is None:
            return None
        if len(rows) != len(blocks) or any(len(row) != len(blocks) for row in rows):
            lengths = ", ".join(str(len(row)) for row in rows)
            expected = f"{len(blocks)} rows of {len(blocks)}: one for each of {', '.join(b.name for b in blocks)}"
            self.page.fault((), name, f"found rows of {lengths or 'no'} entries, expected {expected}")
            return None
        matrix = [
            [
                self.formula(f"{name}[{a.name},{b.name}]", entry, place_shape(a, b))
                for b, entry in zip(blocks, row, strict=True)
            ]
            for a, row in zip(blocks, rows, strict=True)
        ]
        known = tuple(tuple(entry for entry in row if entry is not None) for row in matrix)
        return known if all(len(row) == len(blocks) for row in known) else None

    def claims(self, given: Mapping[str, object]) -> Claims:
        """Return the claims, every fault added."""
        for key in given:
            if key not in CLAIMS:
                problem = f"found `{key}`, expected one of {', '.join(CLAIMS)}"
                self.page.faults.malformed_at(self.page.root.place, f"claims.{key}", problem, nearest(key, CLAIMS))
        interpretation = given.get("interpretation", "ito")
        if interpretation not in ("ito", "stratonovich"):
            self.page.fault((), "claims.interpretation", f"found {interpretation!r}, expected 'ito' or 'stratonovich'")
        scope = Scope(self.declarations)
        lyapunov = given.get("lyapunov")
        return Claims(
            drift=self._by_block("drift", given, scope),
            diffusion=self.matrix("claims.diffusion", given.get("diffusion")),
            stratonovich=interpretation == "stratonovich",
            marginal=self._by_block("marginal", given, scope),
            lyapunov=None if lyapunov is None else self.formula("claims.lyapunov", lyapunov, SCALAR, scope),
            update=self._by_block("update", given, Scope(self.declarations, True, self._noise(given))),
        )

    def _noise(self, given: Mapping[str, object]) -> tuple[Block, ...]:
        draws: list[Declared] = []
        for obj in _listed(given.get("noise", ())):
            draws += self._read(lambda obj=obj: declared_in(obj)) or ()
        return tuple(Block(draw.name, draw.shape) for draw in draws)

    def _by_block(self, section: str, given: Mapping[str, object], scope: Scope) -> ByBlock | None:
        """Return block to formula in the order of z; every block has a drift."""
        stated, label = given.get(section), f"claims.{section}"
        if stated is None:
            return None
        if not isinstance(stated, Mapping):
            self.page.fault((), label, f"found a {type(stated).__name__}, expected a mapping from blocks to formulas")
            return None
        formulas = dict(self._read(lambda: items(stated)) or ())
        names = tuple(block.name for block in self.declarations.blocks)
        for name in formulas:
            if name not in names:
                problem = f"found `{name}`, expected a block of the state ({', '.join(names)})"
                self.page.fault((), f"{label}.{name}", problem, nearest(name, names))
        found: list[tuple[str, Formula]] = []
        for block in self.declarations.blocks:
            if block.name not in formulas:
                if section == "drift":
                    self.page.fault((), label, f"found no drift of `{block.name}`, expected every block")
                continue
            shape = SCALAR if section == "marginal" else block.shape
            formula = self.formula(f"{label}.{block.name}", formulas[block.name], shape, scope)
            found += [] if formula is None else [(block.name, formula)]
        return tuple(found)
