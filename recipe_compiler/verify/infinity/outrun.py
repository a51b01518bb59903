"""A polynomial drift that outruns its noise on a line: f ~ a x**p with p > 1 against D of degree q <= p.

The scale density exp(-int f/D) then falls faster than every power, and (s(end) - s) dm ~ dx/f is integrable: the end is
reached in finite time (Feller 1952). Without noise the time there is the integral of dx/f itself.
"""

from collections.abc import Iterator

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics.system import state
from recipe_compiler.algebra.positivity.prove import scalar
from recipe_compiler.algebra.positivity.region import Region, region_at
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.core.premises import restricts_state
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.infinity.line import UNBOUNDED


def outruns(of: Equation) -> Answer | None:
    """Return that a coordinate, a diffusion on a line by itself, is carried to infinity; None where none is seen to."""
    if of.subject.contradiction or restricts_state(of.subject.dynamics.declarations):
        return None
    for sizes in of.subject.sizes:
        try:
            region = region_at(of.subject.dynamics.declarations, sizes)
            for x, ways, f, D in _lines(of, sizes):
                found = _end(x, ways, f, D, region)
                if found is not None:
                    return Answer(found, tuple(sizes.items()) or "all")
        except (NotScalarisableError, TooLargeError):
            continue
    return None


def _lines(of: Equation, sizes: Sizes) -> Iterator[tuple[Symbol, tuple[int, ...], Expr, Expr]]:
    """Yield coordinates whose drift and noise are polynomials in themselves alone, with the ways to infinity."""
    declarations = of.subject.dynamics.declarations
    z, f, D = state(declarations, sizes), of.drift(sizes), of.diffusion(sizes)
    owners = [block for block in declarations.blocks for _ in coordinates(block, sizes)]
    for k, (block, x) in enumerate(zip(owners, z, strict=True)):
        if block.domain.name not in UNBOUNDED:
            continue
        others = [y for y in z if y != x]
        own = [sympy.expand(e) for e in (f[k], D[k][k])]
        if all(not e.has(*others) and e.is_polynomial(x) for e in own):
            yield x, (1, -1) if block.domain.name is DomainName.REAL else (1,), own[0], own[1]


def _end(x: Symbol, ways: tuple[int, ...], f: Expr, D: Expr, region: Region) -> Refuted | None:
    """Return at which end a solution arrives in finite time."""
    drift, noise = sympy.Poly(f, x), sympy.Poly(D, x)
    p = int(drift.degree()) if f != 0 else 0
    if p < 2 or (D != 0 and (int(noise.degree()) > p or scalar(D, ">", region) is None)):
        return None
    for way in ways:
        if scalar(drift.LC() * way ** (p + 1), ">", region) is not None:
            end = f"{x} -> {'oo' if way > 0 else '-oo'}"
            return Refuted(
                "Feller's test: the drift outruns the noise",
                (("end", end), (f"drift of {x}", str(f)), (f"D of {x}", str(D))),
                "solutions get there in finite time",
            )
    return None
