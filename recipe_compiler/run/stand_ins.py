"""Stand-ins for all that a build leaves to its user, of the kinds declared, no two alike: to read a file with."""

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.declaration import Datum, Parameter
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import Kind, Sizes
from recipe_compiler.program.atoms import smallest_sizes
from recipe_compiler.program.program import Program
from recipe_compiler.run.data import Data
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.sizes import declared_parameters, given_arrays, resolve_sizes
from recipe_compiler.spec.model import Build, Field, Value

MOST_ROWS = 4096
ACROSS = frozenset((Kind.SYMMETRIC, Kind.PSD, Kind.PD, Kind.DIAGONAL))
Values = tuple[tuple[str, Value], ...]


def with_stand_ins(build: Build, program: Program) -> tuple[Build, Data]:
    """Return a build with numbers for all sizes and parameters, and data of its target: a few rows more than a batch.

    Args:
        build: keeps the sizes and values that it states.
        program: its step, which may name positions that there must be.
    """
    target, least, sizes = build.target.declarations, smallest_sizes(program), dict(build.sizes)
    known: Values = tuple((name, value) for name, value in build.values if value.numbers is not None)
    arrays = given_arrays(replace(build, values=known))
    for one in declared_parameters(build):
        shape = arrays[one.name].shape if one.name in arrays else ()
        sizes |= {size: n for size, n in zip(one.shape.sizes, shape, strict=False) if isinstance(size, str)}
    rows = min(build.run.batch_size or 2, MOST_ROWS) + 3
    sizes |= {size: rows for size in (d.size for d in target.data) if isinstance(size, str) and size not in sizes}
    for k, size in enumerate(target.sizes):
        sizes.setdefault(size, max(3 + k, least.get(size, 1)))
    data = Data(tuple(Field(d.name, _numbers_of(d, sizes, k), ()) for k, d in enumerate(target.data)))
    sizes |= resolve_sizes(replace(build, sizes=tuple(sizes.items()), values=known), data)
    for size in (*build.dynamics.declarations.sizes, *(s for p in declared_parameters(build) for s in p.shape.sizes)):
        sizes |= {} if size in sizes or isinstance(size, int) else {size: max(3 + len(sizes) % 3, least.get(size, 1))}
    stated = {*dict(known), *(name for name, _ in build.bind)}
    left = (p for p in declared_parameters(build) if p.name not in stated and p.default is None)
    values = tuple((p.name, _value_of(p, sizes, k)) for k, p in enumerate(left))
    return replace(build, sizes=tuple(sizes.items()), values=(*known, *values)), data


def with_others(build: Build, names: Collection[str]) -> Build:
    """Return a build with other values, of the same kinds, of those of some parameters that are numbers."""
    constant = {p.name: p.default.value for p in declared_parameters(build) if isinstance(p.default, Number)}
    scalars = tuple((name, Value(((x,),))) for name, x in constant.items() if name not in dict(build.values))
    found = [(name, _other(value, k) if name in names else value) for k, (name, value) in
             enumerate((*build.values, *((n, v) for n, v in scalars if n in names)))]  # fmt: skip
    return replace(build, values=tuple(found))


def _other(value: Value, turn: int) -> Value:
    factor, single = Fraction(33 + turn, 32), [*map(len, value.numbers or ())] == [1]
    return Value(tuple(tuple(x * factor if x or not single else Fraction(1, 64 + turn) for x in row)
                       for row in value.numbers or ()))  # fmt: skip


def _numbers_of(datum: Datum, sizes: Sizes, turn: int) -> NDArray[np.floating] | NDArray[np.int64]:
    """Return a field of the data."""
    shape = tuple(extent(size, sizes) for size in datum.axes)
    places = np.arange(int(np.prod(shape))).reshape(shape)
    if datum.is_index:
        return places % extent(datum.shape.cols or 1, sizes)
    if datum.values:
        return np.resize(np.array(datum.values, float), shape)
    whole = Kind.INTEGER in datum.kinds
    turned = places if Kind.INCREASING in datum.kinds else (37 * places) % 101
    return np.ascontiguousarray((turned + 1.0 + turn) if whole else (turned + 1.0) / 64.0 + turn / 8.0)


def _value_of(one: Parameter, sizes: Sizes, turn: int) -> Value:
    """Return a value of a parameter that has none."""
    rows, cols = (*(extent(size, sizes) for size in one.shape.sizes), 1, 1)[:2]
    if Kind.SKEW in one.kinds:
        return Value(((Fraction(0),) * cols,) * rows)
    across = len(one.shape.sizes) == 2 and not ACROSS.isdisjoint(one.kinds)
    number = [[9 + 2 * turn + i + 3 * j + 8 * (i == j and cols > 1) for j in range(cols)] for i in range(rows)]
    found = ([Fraction(x if i == j or not across else 0, 8) for j, x in enumerate(row)] for i, row in enumerate(number))
    return Value(tuple(map(tuple, found)))
