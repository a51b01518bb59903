"""Are these dynamics those of another document in other variables, u = g(theta)?"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

from sympy import Expr

from recipe_compiler.algebra.scalars.entries import rows
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.recipe import generator, slots
from recipe_compiler.errors import ModelError, Place
from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.expression import Compare, Filled, Formula, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import Dynamics, Formulas
from recipe_compiler.spec.read_dynamics import join_declarations
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.conjunction import conjoin_each
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide, list_faults
from recipe_compiler.verify.core.premises import require_comparisons, require_smooth, require_values
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.stratonovich import NotConvertedError, convert_to_ito
from recipe_compiler.verify.core.subject import Subject, prepare_subject
from recipe_compiler.verify.equation.equation import apply_generator, equation


def claims_image(dynamics: Dynamics) -> bool:
    """Whether dynamics are claimed to be others in other variables."""
    return dynamics.claims.image is not None


def image(subject: Subject) -> Answer:
    """Decide that u = g(theta) takes the equation of another document to the claimed one, and its domain onto this.

    By Ito's formula f_u(g) = L g and D_u(g) = Dg D Dg.T, with L phi = f . grad phi + tr(D hess phi) of theta, f: [n],
    D: [n, n] (Oksendal 2003, Theorem 4.2.1); both are compared as functions of theta. With h(g(theta)) = theta, g(h(u))
    = u, and both inside the other's domain, g is one-to-one. The image of exp(-H) is then stationary here; where it is
    exp(-H_u), H_u(g) = H + log abs det Dg up to a constant.

    d theta = (a - theta) dt + sqrt(2 theta) dW has under u = 2 sqrt(theta) the drift (a - 1/2)/sqrt(theta) -
    sqrt(theta) = (2 a - 1)/u - u/2, and D = 1. The drift 2 a/u - u/2, without second derivatives, is refuted.
    """
    where = subject.place("claims.image")
    try:
        found = conjoin_each(list(_decide_both_ways(subject, where)))
    except NotConvertedError as reason:
        found = undecided(str(reason))
    except ModelError as error:
        found = undecided(*list_faults(error))
    return replace(found, where=found.where or where)


def _decide_both_ways(subject: Subject, where: Place) -> Iterator[tuple[str, Answer]]:
    own, stated = subject.dynamics, subject.dynamics.claims.image
    if stated is None:
        return
    of = prepare_subject(replace(stated.of, declarations=join_declarations(stated.of, own)))
    back = replace(subject, dynamics=replace(own, declarations=join_declarations(own, of.dynamics)))
    g, h = dict(stated.map), dict(stated.inverse)
    needed = require_smooth((*g.values(), *of.formulas), of.dynamics.declarations) | Obligations(of.equalities)
    identities = (*_apply_ito(subject, of, g), *_compose(of, g, stated.inverse, ("h(g({}))", where)))
    yield "Ito's formula", _decide(of, identities, needed | _require_inside(own, g, of))
    needed = require_values(h.values(), back.dynamics.declarations) | _require_inside(of.dynamics, h, back)
    yield "the inverse", _decide(back, tuple(_compose(back, h, stated.map, ("g(h({}))", where))), needed)


def _decide(of: Subject, identities: tuple[Identity, ...], needed: Obligations) -> Answer:
    return decide(Question(identities, of.dynamics.declarations, of.sizes, needed, of.contradiction))


def _apply_ito(subject: Subject, of: Subject, g: Mapping[str, Formula]) -> Iterator[Identity]:
    """Yield f_u(g) - L g, and D_u(g) - Dg D Dg.T by 2 Dg D Dg.T = L (g g.T) - (L g) g.T - g (L g).T, block by block."""
    own, here, derivation = subject.dynamics, equation(of), of.derivation
    D, blocks = own.claims.diffusion or own.D, own.declarations.blocks
    if D is None or derivation is None or here is None:
        raise NotConvertedError("no D is stated")
    c = derivation.calculus

    def L(x: Expr, sizes: Sizes) -> Expr:
        return apply_generator(here, x, sizes)

    for block, f in zip(blocks, convert_to_ito(own, D), strict=True):
        x = _tensor(of, g[block.name], slots(block, "k"))

        def drift(sizes: Sizes, name: str = block.name) -> list[Expr]:
            return [L(u, sizes) for u in _scalars(of, g[name], sizes)]

        entry = f"claims.drift.{block.name}"
        at = f"{entry} - L {block.name}", subject.place(entry, "claims.drift")
        yield _compare(of, at, substitute(f, g), slots(block, "k"), generator(derivation, x), drift)
    for (row, line), (n, col) in product(zip(blocks, D, strict=True), enumerate(blocks)):
        x, y = _tensor(of, g[row.name], slots(row, "k")), _tensor(of, g[col.name], slots(col, "l"))
        twice = c.subtract(generator(derivation, c.distribute(x, y)), c.distribute(x, generator(derivation, y)))
        twice = c.subtract(twice, c.distribute(generator(derivation, x), y))

        def spread(sizes: Sizes, first: str = row.name, second: str = col.name) -> list[Expr]:
            pairs = product(_scalars(of, g[first], sizes), _scalars(of, g[second], sizes))
            return [(L(u * v, sizes) - u * L(v, sizes) - v * L(u, sizes)) / 2 for u, v in pairs]

        entry = f"D[{row.name},{col.name}]"
        at = f"{entry} - L ({row.name}, {col.name})", subject.place(entry, "D")
        places = (*slots(row, "k"), *slots(col, "l"))
        yield _compare(of, at, substitute(line[n], g), places, c.scale(twice, Fraction(1, 2)), spread)


def _compose(of: Subject, inner: Mapping[str, Formula], outer: Formulas, at: tuple[str, Place]) -> Iterator[Identity]:
    """Yield outer(inner(z)) - z, block by block."""
    for block, (name, formula) in zip(of.dynamics.declarations.blocks, outer, strict=True):
        z, places = Symbol(name, block.shape, Role.BLOCK), slots(block, "k")
        says = f"{at[0].format(name)} - {name}", at[1]
        yield _compare(of, says, substitute(formula, inner), places, _tensor(of, z, places), partial(_scalars, of, z))


def _compare(
    of: Subject, at: tuple[str, Place], stated: Formula, slots: tuple[Index, ...], left: Tensor, scalars: Scalars
) -> Identity:
    """Return the identity that a formula is what a tensor, and scalars of the second engine, say."""
    c = calculus(of.dynamics.declarations)

    def entries(sizes: Sizes) -> list[Expr]:
        return [x - y for x, y in zip(_scalars(of, stated, sizes), scalars(sizes), strict=True)]

    return Identity(*at, c.settled(c.subtract(_tensor(of, stated, slots), left)), entries)


def _tensor(of: Subject, formula: Formula, slots: tuple[Index, ...]) -> Tensor:
    return convert(formula, of.dynamics.declarations, *slots)


def _scalars(of: Subject, formula: Formula, sizes: Sizes) -> list[Expr]:
    return [x for row in rows(formula, of.setting(sizes)) for x in row]


def _require_inside(to: Dynamics, by: Mapping[str, Formula], of: Subject) -> Obligations:
    """Return the obligations that formulas have values inside the domain of some dynamics."""
    declarations = of.dynamics.declarations
    assumed = tuple(c for c in to.declarations.assume if depends_on_state(c.left) or depends_on_state(c.right))
    compared = [replace(c, left=substitute(c.left, by), right=substitute(c.right, by)) for c in assumed]
    left: list[str] = []
    for block in to.declarations.blocks:
        x, ends = by[block.name], tuple(substitute(end, by) for end in block.domain.bounds)
        match block.domain.name:
            case DomainName.REAL:
                pass
            case DomainName.POSITIVE | DomainName.NONNEGATIVE:
                compared.append(Compare(">", x, Filled(0, x.shape), x.shape))
            case DomainName.INTERVAL if x.shape == SCALAR:
                compared += [Compare(">", x, ends[0], SCALAR), Compare("<", x, ends[1], SCALAR)]
            case other:
                left.append(f"{block.name} is inside its domain, {other}")
    return require_comparisons(compared, declarations) | Obligations(open=tuple(left))
