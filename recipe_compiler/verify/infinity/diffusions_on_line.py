"""Coordinates that are diffusions on a line by themselves: a law there has no current; Feller's test decides the rest.

Let z_k have f_k and D_kk that depend on z_k alone, and H = h(z_k) + what is free of z_k. If exp(-H) is the law of z at
all times, the mean of phi(z_k) stays for every phi that is constant near both ends, so that the integral of L phi,
which is that of phi' J_k exp(-h) with J_k = f_k - D_kk' + D_kk h', vanishes: J_k = 0. Fokker and Planck's equation asks
for J_k exp(-h) = c only; with c != 0 probability comes in from one end and goes out at the other, where the integral of
(s(end) - s) dm = int exp(-h)/c is finite: solutions get there in finite time (Feller 1952). Where J_k = 0 the scale
density is exp(h)/D_kk, and an end is reached in finite time if that is integrable there as exp(-h) is.

A polynomial drift f ~ a x**p with p > 1 outruns noise D of degree q <= p: the scale density exp(-int f/D) then falls
faster than every power, and (s(end) - s) dm ~ dx/f is integrable: the end is reached in finite time (Feller 1952).
Without noise the time there is the integral of dx/f itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics.system import state
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import Witness, witness
from recipe_compiler.algebra.positivity.prove import scalar
from recipe_compiler.algebra.positivity.region import Region, region_at
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.evaluate import is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.sign_cells import Cell, off_kinks
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.derive.marginal import blocks_in
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.terms import Applied, Atom, Coordinate, Tensor
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.core.identities import shown
from recipe_compiler.verify.core.premises import restricts_state
from recipe_compiler.verify.core.scalars import leaf_of, written_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.growth.integral import at_ends

HALF_LINES = frozenset({DomainName.POSITIVE, DomainName.NONNEGATIVE})
UNBOUNDED = HALF_LINES | {DomainName.REAL}


def outruns(of: Equation) -> Answer | None:
    """Return that a coordinate, a diffusion on a line by itself, is carried to infinity; None where none is seen to be.

    dx = f dt + sqrt(2 D) dW with polynomials f and D of x alone, where f ~ a x**p with p > 1 points outwards and D has
    degree at most p: then (s(oo) - s) dm ~ dx/f is integrable, and the end is reached in finite time (Feller 1952). x'
    = x**2 gets there, and so does dx = x**2 dt + sqrt(2) dW. Refuted at the first size where that holds for all
    parameters.
    """
    if of.subject.contradiction or restricts_state(of.subject.dynamics.declarations):
        return None
    for sizes in of.subject.sizes:
        try:
            region = region_at(of.subject.dynamics.declarations, sizes)
            for x, ways, f, D in _undriven(of, sizes):
                found = _end(x, ways, f, D, region)
                if found is not None:
                    return Answer(found, tuple(sizes.items()) or "all")
        except (NotScalarisableError, TooLargeError):
            continue
    return None


def _undriven(of: Equation, sizes: Sizes) -> Iterator[tuple[Symbol, tuple[int, ...], Expr, Expr]]:
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


@dataclass(frozen=True, slots=True)
class Through:
    """A current along a line: the coordinate, the sizes, and an exact point where the current is not zero."""

    name: str
    sizes: Sizes
    found: Witness
    explodes: bool
    """Whether it ends at infinity, which solutions then reach in finite time."""

    @property
    def refuted(self) -> Refuted:
        """The refutation: a stationary law has no such current."""
        by = (
            f"a nonzero current: {self.name} is a diffusion on a line, where a stationary distribution has zero current"
        )
        return Refuted(by, self.witness, self.residual)

    @property
    def runs_off(self) -> Refuted:
        """The refutation that solutions reach infinity in finite time."""
        by = f"a current carries {self.name} to infinity in finite time"
        return Refuted(by, self.witness, self.residual)

    @property
    def witness(self) -> tuple[tuple[str, str], ...]:
        """The point, and the current there."""
        return (*self.found.text, (f"current of {self.name}", shown(self.found.value)))

    @property
    def residual(self) -> str:
        """What does not vanish."""
        return f"the current f - D' + D H' of {self.name} is a multiple of exp(H)"


def through(of: Equation) -> Through | None:
    """Return a current along a line that is not zero at an exact point; None where none is found.

    For a coordinate x whose f, D and h (its part of H) depend on x alone, a stationary law has J = f - D' + D h' = 0,
    while R = 0 gives only J exp(-h) = c. f = -x + exp(x**2/2) with D = 1 and h = x**2/2 has J = exp(x**2/2), hence c =
    1: what comes in from -oo leaves at oo. Not on a circle, where such a current is no fault.
    """
    subject = of.subject
    if subject.contradiction or restricts_state(subject.dynamics.declarations):
        return None
    for sizes in subject.sizes:
        try:
            for block, x, current, noise in _lines(of, sizes):
                found = witness(current, subject.dynamics.declarations, sizes)
                if found is not None:
                    away = block.domain.name is DomainName.REAL or is_certainly(found.value, 1)
                    explodes = block.domain.name in UNBOUNDED and away and _is_plain(of, noise, sizes)
                    return Through(str(x), sizes, found, explodes)
        except (NoNormalFormError, NotScalarisableError, TooLargeError, NoInstanceError):
            continue
    return None


def _lines(of: Equation, sizes: Sizes) -> Iterator[tuple[Block, Expr, Expr, Expr]]:
    """Yield coordinates that are diffusions on a line by themselves with a current J exp(-h) = c, not shown 0."""
    declarations = of.subject.dynamics.declarations
    z, f, D = state(declarations, sizes), of.drift(sizes), of.diffusion(sizes)
    H = written_out(of.derivation.H, sizes, leaf_of(declarations, sizes))[0]
    owners = [block for block in declarations.blocks for _ in coordinates(block, sizes)]
    for k, (block, x) in enumerate(zip(owners, z, strict=True)):
        joined = block.domain.name is DomainName.SIMPLEX and owners.count(block) > 1
        if block.domain.name is DomainName.CIRCLE or joined:
            continue
        parts = [off_kinks(e) for e in (f[k], D[k][k], H)]
        if any(e.has(Cell, sympy.Abs, sympy.sign, sympy.Piecewise) for e in parts):
            continue
        force, along = slope(parts[2], x), parts[1]
        others = [y for y in z if y != x]
        if not all(is_zero(slope(e, y)) for e in (parts[0], along, force) for y in others if e.has(*others)):
            continue
        current = parts[0] - slope(along, x) + along * force
        if not is_zero(current) and is_zero(slope(current, x) - current * force):
            yield block, x, current, along


def _is_plain(of: Equation, noise: Expr, sizes: Sizes) -> bool:
    """Whether a coordinate has noise everywhere or nowhere."""
    if is_zero(noise):
        return True
    return scalar(noise, ">", region_at(of.subject.dynamics.declarations, sizes)) is not None


def reaches_infinity(of: Equation) -> Refuted | None:
    """Return that a scalar block without a current reaches infinity, by Feller's test; None if that is not shown.

    The scale density is exp(h)/D. Where it is integrable at an infinite end, as exp(-h) is, solutions get there in
    finite time (Feller 1952): h = x**2/2 with D = exp(x**2/2) (1 + x**2) has exp(h)/D = 1/(1 + x**2). The caller has to
    know that exp(-H) is integrable.
    """
    declarations = of.subject.dynamics.declarations
    c = calculus(declarations)
    if of.subject.contradiction or restricts_state(declarations):
        return None
    for k, (block, current) in enumerate(zip(declarations.blocks, of.current, strict=True)):
        noise = of.derivation.D[k][k]
        own = frozenset({block.name})
        about = [term for term in of.derivation.H.terms if block.name in blocks_in(c, Tensor((), (term,)))]
        alone = all(blocks_in(c, Tensor((), (term,))) == own for term in about) and blocks_in(c, noise) <= own
        free = all(m == k or entry.is_zero for m, entry in enumerate(of.derivation.D[k]))
        abstract = any(name == block.name for _, name in c.rules.depends)
        if block.shape.sizes or block.domain.name not in UNBOUNDED or not (alone and free) or abstract:
            continue
        if not c.is_zero(current) or not is_positive(c.rules, noise):
            continue
        scale = c.subtract(_log(c, noise), c.collect(about, ()))
        ends = at_ends(c, declarations, block, Coordinate(block.name), scale)
        for end in ends.conditions:
            if end.holds and end.end.endswith("oo"):
                integrable = ("exp(H)/D and exp(-H)", f"integrable as {end.end}")
                return Refuted("Feller's test", (("end", end.end), integrable), "solutions get there in finite time")
    return None


def _log(c: Calculus, noise: Tensor) -> Tensor:
    """Return log D, with log(exp(a) D') = a + log(D') of exponentials that all terms share."""
    powers = [dict(term.factors) for term in noise.terms]
    shared = set[Atom].intersection(*(set(own) for own in powers))
    found = c.zero()
    for atom in shared:
        if isinstance(atom, Applied) and atom.fn == "exp":
            least = min(own[atom] for own in powers)
            noise = c.multiply(noise, c.atom(atom, -least))
            found = c.add(found, c.scale(atom.args[0], least))
    return c.add(found, c.applied("log", noise))
