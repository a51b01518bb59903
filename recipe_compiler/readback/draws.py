"""Draws of blocks of the target by their laws, as they are emitted, held against what their Program says.

Each draw must take the last words of its stream, and leave the next. The functions that turn standard normals into a
normal vector are read by themselves, at rational numbers.
"""

import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.program.program import SLICES, Draw
from recipe_compiler.readback.calls import Calls
from recipe_compiler.readback.gradient import batches
from recipe_compiler.readback.interpreter import Reader, arguments_of
from recipe_compiler.readback.laws import DrawMean, solver_of
from recipe_compiler.readback.names import BATCH, Names, rational_of
from recipe_compiler.readback.noise import covariance_of, without_noise
from recipe_compiler.readback.oracle import Oracle, same, same_trace
from recipe_compiler.readback.point import equal, vanishes
from recipe_compiler.readback.text import require

MOST_PLACES = 3
"""Places of a row, from the first on, with which a draw of a discrete block is read."""


def check_draws(module: Module, here: Names) -> None:
    """Check that every draw is from the law that its Program states, and changes only the block of that law.

    Parameters are compared as functions of the state before, the data and constants; the entries made of the variate
    with those of the block; all other entries have to stay. N(inv(P) u, inv(P)) and N(m, S) are checked where they are
    made of standard normals, at rational numbers of sizes 1, 2, 3.

    Raises:
        CompilerError: a draw differs; names what does.
    """
    cycle, here = module.program.cycle, here.for_gradients
    for move, procedure in zip(cycle.draws if cycle else (), module.kernel.draws, strict=True):
        if move.datum is not None:
            _check_batches(module, here, procedure, move)
            continue
        mean = DrawMean(move, here)
        discrete = move.law in ("Categorical", SLICES)  # each place is drawn in each row, of many the first of them
        places = min(length(move.drawn.shape.sizes[-1], here.sizes), MOST_PLACES) if discrete else 1
        for first in range(places):
            _check_draw(module, procedure, mean, first)
    for name in sorted({name for move in (cycle.draws if cycle else ()) if (name := solver_of(move))}):
        for size in (1, 2, 3):
            _check_solver(module, name, size)


def _check_batches(module: Module, here: Names, procedure: Procedure, move: Draw) -> None:
    """Check a draw batch by batch, its first parameter to be that of all data on average; at a point one batch."""
    every = [tuple(range(BATCH, 0, -1))]
    if not here.at_point:
        every = batches(module.program, length(move.count or 0, here.sizes), BATCH)
    means = [DrawMean(move, here, batch) for batch in every]
    read = [[given["parameters"][0] for calls in _check_draw(module, procedure, mean).trace.values() for given in calls]
            for mean in means]  # fmt: skip
    for k, shapes in enumerate(zip(*read, strict=True) if not here.at_point else ()):
        whole = means[0].shape(k, tuple(range(length(move.count or 0, here.sizes))), sp.Integer(1))
        says = f"the mean over all {len(every)} batches of parameter 1 of the law of {move.name}"
        equal(sp.Add(*shapes) / len(every), whole, says, here)


def _check_draw(module: Module, procedure: Procedure, mean: DrawMean, first: int = 0) -> Oracle:
    """Check one draw, with the requests that it makes of its stream; return these."""
    move, here = mean.move, mean.here
    stated, read = (Oracle(here=here, drawn=move.name, first=first) for _ in range(2))
    calls = Calls(module, here, read)
    calls.given |= calls.execute(module.kernel.sums) if module.kernel.sums else {}
    calls.given["batch"] = np.array(mean.batch, object)
    normals = [n for array in procedure.inputs if array in module.kernel.noises for n in calls.given[array.name]]
    found = calls.execute(procedure)
    new, reported = mean.make(stated, normals)
    same_trace(stated, read, {}, here)
    own, *beside = (list(found[array.name]) for array in procedure.outputs)
    for k, (entry, other) in enumerate(zip(new, own, strict=True)):
        same([entry], [other], f"entry {k} of {move.block.name} once {move.name} is drawn", here)
    same(reported, [entry for entries in beside for entry in entries], f"what the draw of {move.name} reports", here)
    require(list(found[STREAM.name]) == calls.words, f"does not leave the last words of its stream after {move.name}")
    return read


def _check_solver(module: Module, name: str, size: int) -> None:
    """Check that a function writes N(inv(P) u, inv(P)), or N(mean, cov), at rational numbers.

    Raises:
        CompilerError: it does not.
    """
    vector = np.array([rational_of(f"{name} u[{k}]") for k in range(size)], object)
    rows = [[rational_of(f"{name} {i},{j}") + 2 * (i == j) for j in range(size)] for i in range(size)]
    factor = sp.Matrix(rows)
    matrix = factor * factor.T
    normals = [sp.Symbol(f"n[{k}]", real=True) for k in range(size)]
    out = np.full(size, None, object)
    reader = Reader(module.text)
    lower = np.array([[matrix[i, j] if j <= i else None for j in range(size)] for i in range(size)], object)
    arguments = (vector.copy(), lower, np.array(normals, object), out)
    names = arguments_of(reader.functions[name])
    reader.call(name, dict(zip(names, arguments, strict=True)))
    entries = [sp.expand(entry) for entry in out]
    mean = sp.Matrix(without_noise(entries, normals))
    covariance = sp.Matrix(sp.SparseMatrix(size, size, covariance_of(entries, normals, [])))
    of_mean, of_covariance = (matrix * mean, matrix * covariance) if "precision" in name else (mean, covariance)
    stated = sp.eye(size) if "precision" in name else matrix
    off = [*(of_mean - sp.Matrix(vector)), *(of_covariance - stated)]
    if not all(map(vanishes, off)):
        raise CompilerError(f"the emitted {name} was read back and does not draw from the given distribution")
