"""Does what small steps tend to leave the space: through infinity, or through the faces of the domain?

A residual that vanishes says of exp(-H) what happens inside. Where the limit is the equation of D and Q, what is shown
of that for every size settles the rest. Where it is another one, its D and its current J = f - div D + D grad H are
looked at at the fixed sizes: what is algebraic, or grows no faster, is integrable against an exp(-H) with H at least a
power of |z| (`verify.infinity.at_infinity`).
"""

from collections.abc import Iterator
from dataclasses import replace

import sympy
from sympy import Basic, Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.scalars.sign_cells import Cell
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.equation import is_of_recipe
from recipe_compiler.lint.formulas import format_expression
from recipe_compiler.lint.read import TracedProblem
from recipe_compiler.splitting.reflection import list_momenta
from recipe_compiler.tensor.convert import convert
from recipe_compiler.trace.moments import Coefficients
from recipe_compiler.verdict import Answer, Decision, Proved, Undecided
from recipe_compiler.verify.equation.equation import equation
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.infinity.at_infinity import (
    NON_EXPLOSIVE,
    OPEN,
    exclude_flux_through_infinity,
    list_blocks_of_abstract_energies,
)
from recipe_compiler.verify.infinity.lyapunov import has_power_growth
from recipe_compiler.verify.uniqueness.boundary import REFLECTED, boundary, has_boundary

NOT_KEPT = "not shown: the step keeps the state inside its domain"
OF_BUILD = "solutions of the build's equation stay finite, which a check of the build decides"
TAME = (sympy.Add, sympy.Mul, sympy.sin, sympy.cos, sympy.tanh, sympy.atan, sympy.log, sympy.Abs, sympy.sign, Cell)
"""Nodes that grow no faster than a power of their parts."""


def exclude_flux(problem: TracedProblem, part: Coefficients[Expr], proof: Proved) -> Decision:
    """Return the decision about a limit whose residual is proved to vanish.

    Args:
        problem: what the step is judged by.
        part: f = lim E[dz]/eps (n), and 2 D = lim Cov[dz]/eps (n x n).
        proof: that of the residual.
    """
    subject = problem.subject
    if not is_of_recipe(problem, part):
        if has_boundary(subject.dynamics):
            return Undecided((f"{NOT_KEPT}: its limit is not the equation of D and Q",))
        entries = tuple(_list_open(problem, part))
        open_ = tuple(says for says, is_assumed in entries if not is_assumed)
        given = tuple(sorted({*proof.given, *((NON_EXPLOSIVE,) if entries else ())}))
        return Undecided((OPEN, *open_), given=proof.given) if open_ else replace(proof, given=given)
    found: Decision = replace(proof, given=tuple(sorted({*proof.given, OF_BUILD})))
    if not problem.ask.said:
        found = exclude_flux_through_infinity(subject, Answer(proof), equation(subject)).decision
    if not isinstance(found, Proved) or not has_boundary(subject.dynamics):
        return found
    at_faces = boundary(subject, _list_reflected(problem)).decision
    if not isinstance(at_faces, Proved):
        tried = at_faces.tried if isinstance(at_faces, Undecided) else (at_faces.by,)
        return Undecided((NOT_KEPT, *tried), given=found.given)
    rules = [said for said in at_faces.given if said.startswith(REFLECTED)]
    if rules:
        return Undecided((f"{NOT_KEPT}: it keeps exp(-H) if {'; '.join(rules)}",), given=found.given)
    return replace(found, given=tuple(sorted({*found.given, *at_faces.given})))


def _list_reflected(problem: TracedProblem) -> list[str]:
    """Return the blocks of which every coordinate is returned as a modulus; none that Q couples to a momentum."""
    of, at = problem.subject.derivation, problem.trace.operations
    blocks = zip(problem.setting.declarations.blocks, problem.trace.outputs, strict=True)
    moduli = [b for b, places in blocks if all(at[k].op == "call" and at[k].name == "abs" for k in places)]
    return [b.name for b in moduli if of is not None and not list_momenta(of, b)]


def _list_open(problem: TracedProblem, part: Coefficients[Expr]) -> Iterator[tuple[str, bool]]:
    """Yield the entries of D and of the current that are not shown to be integrable at infinity.

    With each, whether that is an assumption about the abstract functions in H of the coordinates that it grows with.
    """
    z, H, declarations = problem.z, problem.H, problem.setting.declarations
    D = tuple(tuple(entry / 2 for entry in row) for row in part.covariance)
    terms, energy = Terms.of(declarations), convert(problem.subject.dynamics.H, declarations)
    far = frozenset(x for block in terms.unbounded for x in coordinates(block, problem.sizes))
    names = list_blocks_of_abstract_energies(terms, energy)
    beside = [term for term in energy.terms if not terms.blocks(term.factors) & names]
    rest = [block for block in terms.unbounded if block.name not in names]
    confined = isinstance(terms.find_confinements(rest, beside), dict)
    held = terms.unbounded if confined else [block for block in terms.unbounded if block.name in names]
    assumed = {x for block in held for x in coordinates(block, problem.sizes)}
    grows = has_power_growth(terms, energy)
    slopes = second.gradient(H, z)
    for x, f, row in zip(z, part.mean, D, strict=True):
        J = f - sympy.Add(*(sympy.diff(d, y) - d * slope for d, y, slope in zip(row, z, slopes, strict=True)))
        noise = [(f"the diffusion of {x}, {y}", d) for y, d in zip(z, row, strict=True)]
        for says, e in ((f"the current of {x}", J), *noise):
            tame = _is_tame(e, far)
            if e.free_symbols & far and not (grows and tame) and not is_zero(e):
                why = f"{says}, {format_expression(e)}, is not shown to be integrable against exp(-H) at infinity"
                yield why, tame and e.free_symbols & far <= assumed


def _is_tame(e: Basic, far: frozenset[Symbol]) -> bool:
    """Whether an expression grows no faster than a power of what may go to infinity; any abstract function may."""
    if not e.free_symbols & far or isinstance(e, Symbol | AppliedUndef | sympy.Derivative):
        return True
    if isinstance(e, sympy.Pow):
        base, power = e.args
        algebraic = power.is_Rational and (power.is_positive or not base.has(sympy.Function, sympy.Derivative))
        return bool(algebraic) and _is_tame(base, far)
    return isinstance(e, TAME) and all(_is_tame(arg, far) for arg in e.args)
