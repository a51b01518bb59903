"""One step at one exact rational point: for sizes at which symbols would be too many."""

from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.verify.read_names import Names, rational_of
from recipe_compiler.verify.read_step import covariance, read_changes, stated_changes
from recipe_compiler.verify.reader import Reader


@dataclass(slots=True)
class PointFactors:
    """Factors L of the noise as arbitrary numbers: what matters is that the step adds L n, and of which covariance."""

    covariances: list[sp.Matrix] = field(default_factory=list)
    factors: list[np.ndarray] = field(default_factory=list)

    def factor(self, stated: sp.Matrix) -> np.ndarray:
        """Return the factor of a covariance the kernel asks for."""
        number, size = len(self.factors), stated.rows
        entries = [[rational_of(f"L{number}[{i},{j}]") for j in range(size)] for i in range(size)]
        self.covariances.append(stated)
        self.factors.append(np.array(entries, object))
        return self.factors[-1]


def changes_at_point(module: Module, names: Names) -> tuple[list[Scalar], list[Scalar]]:
    """Return z+ - z at a point, as the emitted text computes it and as its Program states it, from the same normals.

    Raises:
        CompilerError: the covariance of a factor is not that of the Program.
    """
    known = PointFactors()
    reader = Reader(module.text, opaque={"gradient": names.gradient()}, invert=names.invert, factor=known.factor)
    normals: list[list[Scalar]] = []
    for noise in module.program.noises:
        size = covariance(noise, names).rows
        heads = "_".join(block.name for block in noise.blocks)
        normals.append([rational_of(f"noise_{heads}[{k}]") for k in range(size)])
    read = read_changes(module, names, reader, [n for group in normals for n in group])
    factors = list(zip(known.covariances, known.factors, strict=True))
    draws: list[list[Scalar]] = []
    for noise, group in zip(module.program.noises, normals, strict=True):
        stated = covariance(noise, names)
        if factors and factors[0][0].shape == stated.shape and not stated.is_diagonal():
            own, L = factors.pop(0)
            if own != stated:
                raise CompilerError("the emitted factor of the noise is not that of its Program at a point")
            draws.append(list(L @ np.array(group, object)))
        else:
            draws.append([sp.sqrt(stated[k, k]) * n for k, n in enumerate(group)])
    return read, stated_changes(names, draws)
