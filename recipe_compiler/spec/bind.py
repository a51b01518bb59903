"""The dynamics of a build: parameters and functions that it binds are replaced by the formulas it gives."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar, cast

from recipe_compiler.errors import Fault, ModelError, Place, nearest
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.build import multiply
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Entries, Function, Parameter, by_name
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula, FunctionAt, Number, Role, Symbol
from recipe_compiler.formula.orders import terms_of
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.substitute import resizer, substitute
from recipe_compiler.formula.units import Unit
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Document, Dynamics, Formulas, Source, Target
from recipe_compiler.spec.page import Page

Part = TypeVar("Part")
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What becomes of the formulas and the shapes of a document."""

    formula: Callable[[Formula], Formula]
    shape: Callable[[Shape], Shape]
    parameter: Callable[[Parameter], Parameter] = lambda found: found
    """What becomes of a parameter in its new shape."""
    name: Callable[[str], str] = lambda found: found
    """What becomes of the names of blocks and parameters, and of those to which a claim or unit belongs."""


def unbound(dynamics: Dynamics, bound: tuple[str, ...], parameters: tuple[Parameter, ...]) -> Declarations:
    """Return the declarations of the dynamics without what is bound, with the build's own parameters."""
    declared = dynamics.declarations
    kept = tuple(parameter for parameter in declared.parameters if parameter.name not in bound)
    functions = tuple(function for function in declared.functions if function.value.declared not in bound)
    return Declarations(declared.blocks, (*kept, *parameters), functions, declared.data, declared.assume)


def read_bindings(page: Page, names: tuple[str, ...], dynamics: Dynamics, scope: Scope) -> Formulas:
    """Return the bound formulas, in the order of the build.

    Each has the shape of what it binds; one of a parameter depends on no block, one of a function on the function's
    blocks alone. Kinds are claims, which `verify` decides.
    """
    declared = dynamics.declarations
    known = tuple(
        item.name for item in (*declared.parameters, *declared.own_functions) if item.name != dynamics.potential
    )
    found: list[tuple[str, Formula]] = []
    for name in names:
        item, at = declared.find(name), page["bind", name]
        if name == dynamics.potential:
            at.fault(f"found `{name}`, the potential, which the target binds; expected no binding of it")
        elif not isinstance(item, (Parameter, Function)):
            expected = f"expected a parameter or function of the dynamics ({', '.join(known) or 'there are none'})"
            hint = (
                nearest(name, known) or f"a value of what a target declares: `parameters: {{{name}: {{value: ...}}}}`"
            )
            at.fault(f"found `{name}`, {expected}", hint)
        else:
            formula = at.formula(replace(scope, square=True), item.shape)
            if formula is not None:
                _check_dependence(page, item, formula)
                found.append((name, formula))
    return tuple(found)


def _check_dependence(page: Page, item: Parameter | Function, formula: Formula) -> None:
    uses = dependence(formula)
    at = page["bind", item.name]
    if isinstance(item, Parameter):
        used = (*uses.blocks, *uses.functions)
        if used:
            problem = f"found `{used[0]}` in the parameter `{item.name}`, expected a constant"
            hint = f"declare `{item.name}` under functions, of the blocks it depends on"
            at.fault(problem, hint)
        return
    for block in uses.blocks:
        if block not in item.of:
            at.fault(f"found `{block}`, expected a function of {', '.join(item.of)} alone, as declared")


def bind(build: Build) -> Dynamics:
    """Return the dynamics of a build: bound parameters and functions substituted, the build's own parameters declared.

    Of the target's parameters there are those that the formulas name, and one for each size that only they have.
    The potential stays an abstract function: generic proofs are about every potential. Domains, assumptions and claims
    are substituted too. Raises ModelError where a binding makes a formula too large.
    """
    dynamics = _scaled(replace(build.dynamics, declarations=_declared(build)), dict(build.scheme.scale))
    if not build.bind:
        return dynamics
    try:
        return replaced(dynamics, dict(build.bind))
    except ModelError as error:
        where = build.source.place("bind")
        raise ModelError([Fault(where, fault.entry, fault.problem, fault.hint) for fault in error.faults]) from None


def _scaled(dynamics: Dynamics, scale: Mapping[str, Fraction]) -> Dynamics:
    """Return dynamics in which block b moves in the time s_b eps: its rows of D, Q and of what is claimed times s_b."""

    def times(s: Fraction, formula: Formula) -> Formula:
        return formula if s == 1 else multiply(Number(s), formula, formula.shape)

    def rows(matrix: Matrix | None) -> Matrix | None:
        named = zip(dynamics.declarations.blocks, matrix or (), strict=matrix is not None)
        return matrix and tuple(tuple(times(scale.get(b.name, ONE), entry) for entry in row) for b, row in named)

    claims, eps = dynamics.claims, Symbol("eps", SCALAR, Role.STEP)
    drift = claims.drift and tuple((b, times(scale.get(b, ONE), f)) for b, f in claims.drift)
    update = claims.update and tuple(
        (b, substitute(f, {"eps": times(scale.get(b, ONE), eps)})) for b, f in claims.update
    )
    claims = replace(claims, drift=drift, diffusion=rows(claims.diffusion), update=update)
    return replace(dynamics, D=rows(dynamics.D), Q=rows(dynamics.Q), claims=claims) if scale else dynamics


def _declared(build: Build) -> Declarations:
    """Return what bound dynamics declare: also the first parameter of the target with a size that is else unknown."""
    bound, uses = tuple(name for name, _ in build.bind), [dependence(formula) for _, formula in build.bind]
    named = {name for one in uses for name in one.names}

    def declared() -> Declarations:
        theirs = (parameter for parameter in build.target.declarations.parameters if parameter.name in named)
        return unbound(build.dynamics, bound, tuple(by_name((*build.parameters, *theirs)).values()))

    told = declared().sizes
    for size in (size for one in uses for size in one.sizes if size not in told):
        named.update([p.name for p in build.target.declarations.parameters if size in p.shape.sizes][:1])
    return declared()


def dynamics_of(document: Document, where: str, entry: str) -> Dynamics:
    """Return the dynamics that a document is about, those of a build with everything bound.

    Raises:
        ModelError: it is about none: a target, a scheme.
    """
    if isinstance(document, Build):
        return bind(document)
    if isinstance(document, Dynamics):
        return document
    found = "a target" if isinstance(document, Target) else "a scheme"
    raise ModelError([Fault(Place(where), entry, f"found {found}, expected dynamics or a build")])


def replaced(dynamics: Dynamics, replacements: Mapping[str, Formula]) -> Dynamics:
    """Return dynamics with names replaced in every formula, and sizes in every shape.

    Raises:
        ModelError: a formula grows too large.
    """
    return replace(put_in(dynamics, replacing(replacements)), units=())  # what is put in has no unit of its own


def put_in(dynamics: Dynamics, by: Rewriting) -> Dynamics:
    """Return dynamics with everything rewritten, and what their summands were called by before."""
    return replace(rewritten(replace(dynamics, called=()), by), called=_called(dynamics, by.formula))


def _called(dynamics: Dynamics, bound: Callable[[Formula], Formula]) -> tuple[tuple[Formula, tuple[str, ...]], ...]:
    """Return what the bound summands of H are called by: functions that are no longer in them."""
    before, found = dict(dynamics.called), dict[Formula, tuple[str, ...]]()
    for summand in terms_of(dynamics.H):
        names = (*before.get(summand, ()), *dependence(summand).functions)
        for part in terms_of(bound(summand)) if names else ():
            found[part] = tuple(dict.fromkeys((*found.get(part, ()), *names)))
    return tuple(found.items())


def replacing(replacements: Mapping[str, Formula]) -> Rewriting:
    """Return what replaces names in formulas, and sizes in shapes."""
    return Rewriting(lambda formula: substitute(formula, replacements), resizer(replacements))


def rewritten(part: Part, by: Rewriting) -> Part:
    """Return a document, or any part of one, with every formula and shape in it rewritten."""
    return cast("Part", _rewritten(part, by))


def _rewritten(part: Any, by: Rewriting) -> Any:
    match part:
        case Source() | Entries() | Unit():
            return part
        case Shape():
            return by.shape(part)
        case (str(name), stated) if not isinstance(stated, str):
            return by.name(name), _rewritten(stated, by)
        case tuple():
            return tuple(_rewritten(item, by) for item in part)
        case Function():
            value = by.formula(part.value)
            return part.named(value) if isinstance(value, FunctionAt) else replace(part, shape=by.shape(part.shape))
        case Datum(size=size, shape=shape):
            return replace(part, shape=by.shape(shape), size=by.shape(Shape(size)).rows or size)
        case _ if isinstance(part, Formula):
            return by.formula(part)
        case _ if is_dataclass(part) and not isinstance(part, type):
            made = replace(part, **{own.name: _rewritten(getattr(part, own.name), by) for own in fields(part)})
            made = replace(made, name=by.name(part.name)) if isinstance(part, Block | Parameter) else made
            return by.parameter(made) if isinstance(made, Parameter) else made
        case _:
            return part
