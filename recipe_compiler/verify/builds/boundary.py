"""Does probability flow through the faces of the domain of a build? With the target's potential in the place of U.

Of dynamics alone U is any function, and what exp(-U) does at a face stays open; a target that states U decides it. A
proof that rests on chains being reflected is one of a build only if its step reflects them.
"""

from collections.abc import Collection
from dataclasses import replace
from fractions import Fraction
from functools import partial

from recipe_compiler.formula.build import add, multiply, negate, transpose
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.expression import Formula, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.known_potential import state_potential
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Answer, Undecided
from recipe_compiler.verify.builds.in_build import decided_by_kinds
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.uniqueness.boundary import REFLECTED, boundary

SIGNS = (Kind.REAL, Kind.NONNEGATIVE, Kind.POSITIVE)
"""The kinds that a mean has where all numbers have them."""


def boundary_in(build: Build, bound: Dynamics) -> Answer:
    """Decide the flux through every face of a build's domain: for every U if possible, else for the target's U.

    At distance y from a face p = exp(-H) ~ y**e and the face's row of D + Q ~ y**s need s + e > 0, as in
    `uniqueness.boundary`. A proof that rests on reflection holds of a build whose step reflects, and of no other.
    """
    of_any = _decide_flux(build, bound)
    stated = bind_potential(average_data(build), bound)
    if not isinstance(of_any.decision, Undecided) or stated is None:
        return of_any
    return replace(_decide_flux(stated, bind(stated)), where=of_any.where)


def average_data(build: Build) -> Build:
    """Return a build without data where its log likelihood l is affine in them, with U = -log_prior - N l(their mean).

    For every size and all data x, y: l((x + y)/2) = (l(x) + l(y))/2. Any other build is returned as it is.
    """
    target, declared, row = build.target, build.target.declarations, build.target.log_likelihood
    sizes = {field.size for field in declared.data}
    if (
        row is None
        or target.recursion
        or sizes & {*dependence(row).sizes}
        or any(field.is_index for field in declared.data)
    ):
        return build
    rows = [not f.shape.rows and f.shape.cols for f in declared.data]
    means, others = (
        tuple(
            Parameter(f.name + end, Shape(cols) if cols else f.shape, tuple(k for k in f.known if k in SIGNS))
            for f, cols in zip(declared.data, rows, strict=True)
        )
        for end in ("", "_other")
    )
    x, y = ([_as_datum(p, is_row=bool(cols)) for p, cols in zip(own, rows, strict=True)] for own in (means, others))
    half = [multiply(Number(Fraction(1, 2)), add([a, b], a.shape), a.shape) for a, b in zip(x, y, strict=True)]
    at = [substitute(row, dict(zip((p.name for p in means), own, strict=True))) for own in (half, x, y)]
    known = replace(declared, parameters=(*declared.parameters, *means, *others), data=())
    off = add([multiply(Number(Fraction(2)), at[0], SCALAR), negate(at[1]), negate(at[2])], SCALAR)
    if not calculus(known).settled(convert(off, known)).is_zero:
        return build
    N = Parameter(str(declared.data[0].size), SCALAR, (Kind.POSITIVE,))
    every = multiply(_as_datum(N), at[1], SCALAR)
    U = negate(add([*([] if target.log_prior is None else [target.log_prior]), every], SCALAR))
    known = replace(declared, parameters=(*declared.parameters, *means, N), data=())
    return replace(build, target=replace(target, declarations=known, potential=U, log_prior=None, log_likelihood=None))


def _as_datum(mean: Parameter, *, is_row: bool = False) -> Formula:
    symbol = Symbol(mean.name, mean.shape, Role.PARAMETER)
    return transpose(symbol) if is_row else symbol


def _decide_with_step(reflected: Collection[str], subject: Subject) -> Answer:
    found = boundary(subject, reflected)
    rules = [fact for fact in found.decision.given if fact.startswith(REFLECTED)]
    if not is_proved(found) or not rules:
        return found
    given = tuple(fact for fact in found.decision.given if fact not in rules)
    reason = f"exp(-H) is preserved if {'; '.join(rules)}, which this step does not do"
    return replace(found, decision=Undecided((reason,), given=given))


def _decide_flux(build: Build, bound: Dynamics) -> Answer:
    return decided_by_kinds(partial(_decide_with_step, build.scheme.reflect), build, bound)


def bind_potential(build: Build, bound: Dynamics) -> Build | None:
    """Return the build with U bound to the target's potential; None where U is made of data, or by no formula."""
    potential = state_potential(build, bound)
    if potential is None or bound.potential is None:
        return None
    parameters = (*build.parameters, *build.target.declarations.parameters)
    return replace(build, bind=(*build.bind, (bound.potential, potential)), parameters=parameters)
