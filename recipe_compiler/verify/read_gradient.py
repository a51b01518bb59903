"""The emitted gradient at small sizes: batch by batch against its Program, and averaged over all batches."""

from collections.abc import Iterable, Sequence
from itertools import combinations, product

import numpy as np
import sympy as sp

from recipe_compiler.algebra.symbols import positions
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.program import Gradient, Program
from recipe_compiler.tensor.scalars import Scalar, Sums, scalarise
from recipe_compiler.tensor.terms import Atom, Component, Index, Tensor
from recipe_compiler.verify.read_names import Names
from recipe_compiler.verify.read_step import held, joined_shape, prepared, written
from recipe_compiler.verify.reader import Reader

BATCH = 2
"""Rows of the minibatches that are read; the data then have one row more."""


def batches(program: Program, count: int, size: int) -> list[tuple[int, ...]]:
    """Return all minibatches of a small data set, each as likely as any other."""
    rows = range(count)
    if program.contiguous:
        return [tuple((first + k) % count for k in range(size)) for first in rows]
    return list(product(rows, repeat=size)) if program.replacement else list(combinations(rows, size))


def read_gradient(module: Module, names: Names, batch: tuple[int, ...]) -> list[Scalar]:
    """Return grad U (or its estimate from `batch`) as the emitted function computes it."""
    sizes = names.sizes
    procedure = module.kernel.gradient
    if procedure is None:
        raise CompilerError("the module has no gradient to read")
    reader = Reader(module.text, invert=names.invert)
    values = prepared(module, names, reader)
    for block in module.program.blocks:
        values[block.name] = np.array(names.block(block), object)
    for datum in module.program.data:
        values[datum.name] = names.data(datum)
    values["batch"] = np.array(batch, object)
    values = held(module, values)
    for array in (*(() if procedure.returns else procedure.outputs), *procedure.work):
        values[array.name] = np.full(joined_shape(array.sizes, sizes), None, object)
    return written(procedure, values, reader.call(procedure.name, values))


def stated_gradient(
    gradient: Gradient, names: Names, rows: Iterable[int], scale: Scalar, entries: Sequence[int] | None = None
) -> list[Scalar]:
    """Return prior + scale * sum over rows of the gradient of one datum, as the Program states it.

    All entries of it, or those asked for.
    """
    rows = tuple(rows)
    places = [(part, at) for part in gradient.parts for at in positions(part.block.shape, names.sizes)]
    found: list[Scalar] = []
    sums: Sums = {}
    for part, at in places if entries is None else [places[k] for k in entries]:
        total = _value(part.prior, names, at, 0, sums)
        if part.datum is not None:
            total += scale * sp.Add(*(_value(part.datum, names, at, row, sums) for row in rows))
        found.append(total)
    return found


def _value(tensor: Tensor, names: Names, at: tuple[int, ...], row: int, sums: Sums) -> Scalar:
    places: dict[Index, int] = {}
    for index in tensor.free:
        places[index] = row if index.label == "n" else at["ij".index(index.label)]

    def leaf(atom: Atom) -> Scalar | None:
        match atom:
            case Component(name, (int(n), *rest), ()) if name in names.data_names:
                return names.datum(name, n, tuple(k for k in rest if isinstance(k, int)))
            case _:
                return names.atom(atom)

    return scalarise(tensor, names.sizes, places, leaf, apart=names.at_point, sums=sums)
