"""Named densities that an author wrote out: `-log(s) - ((y - m)/s)**2/2` is normal(y, m, s) but for a constant."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from recipe_compiler.formula.build import add, depends_on_state, multiply, nodes, parts
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.density_terms import at_most
from recipe_compiler.formula.expression import HOLDS, Add, Apply, Formula, Multiply, Number, Power, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import StatedDensity
from recipe_compiler.verify.builds.products import Law, Product, Summands, flatten_sums, split_number

Binding = Mapping[str, Formula]
"""Names of a pattern to the formulas that they match."""
ANY = "?"
"""What the names of a pattern begin with."""


def recognise_laws(product: Product) -> Product:
    """Return a product in which summands that are a named density of data, but for a constant, are that density.

    log(tau)/2 - tau*(y - x @ beta)**2/2 is normal(y, x @ beta, tau**(-1/2)).
    """
    for row, summands, scale in _list_patterns():
        while (found := next(_match_summands(summands, product.rest, {}), None)) is not None:
            binding, used = found
            law = _make_law(row, binding, scale)
            if law is None:
                break
            rest = tuple(one for k, one in enumerate(product.rest) if k not in used)
            product = replace(product, laws=(*product.laws, law), rest=rest)
    return _absorb_zero_truncation(_recognise_student_t(product))


def _absorb_zero_truncation(product: Product) -> Product:
    """Return a product without probabilities of y given y != 0: p(y)/(1 - p(0)) is at most 1."""
    for law in product.laws:
        row, args = DENSITIES[law.stated.name], law.stated.arguments
        conditions = ((one.op, one.right, holds) for one, holds in product.guards if one.left == args[0])
        others = any(isinstance(x, Number) and HOLDS[op](Fraction(0), x.value) != holds for op, x, holds in conditions)
        given = (Fraction(-1), at_most(row, f"log1p(-exp({row.at_zero}))", args)) if row.at_zero and others else None
        if given in product.rest:
            rest = tuple(one for one in product.rest if one != given)
            return replace(product, laws=tuple(one for one in product.laws if one is not law), rest=rest)
    return product


def _recognise_student_t(product: Product) -> Product:
    """Return a product in which -log(s) - a log(1 + b ((y - m)/s)**2) is Student's, nu = 2 a - 1, s times a number."""
    for k, (c, core) in enumerate(product.rest):
        for b, ratio in _match_log_of_square(core):
            for binding in _unify(_RATIO, ratio, {}) if c < -HALF and b > 0 else ():
                names = (f"{ANY}x", f"{ANY}nu", f"{ANY}mu", f"{ANY}sigma")
                scale = binding[names[3]]
                logs = [j for j, one in enumerate(product.rest) if one == (-1, Apply("log", (scale,), SCALAR))]
                law = _make_law(
                    DENSITIES["student_t"], {**binding, names[1]: Number(-2 * c - 1)}, Symbol(names[3], *_FREE)
                )
                if logs and law is not None:
                    rest = tuple(one for j, one in enumerate(product.rest) if j not in (k, logs[0]))
                    return _recognise_student_t(replace(product, laws=(*product.laws, law), rest=rest))
    return product


HALF = Fraction(1, 2)
_FREE = (SCALAR, Role.PARAMETER)
_RATIO = Multiply(
    Add((Symbol(f"{ANY}x", *_FREE), Multiply(Number(Fraction(-1)), Symbol(f"{ANY}mu", *_FREE), SCALAR)), SCALAR),
    Power(Symbol(f"{ANY}sigma", *_FREE), Number(Fraction(-1)), SCALAR),
    SCALAR,
)


def _match_log_of_square(core: Formula) -> Iterator[tuple[Fraction, Formula]]:
    """Yield b and z of log(1 + b z**2)."""
    match core:
        case Apply("log1p", (inner,)) | Apply("log", (Add((Number(1), inner) | (inner, Number(1))),)):
            b, square = split_number(inner)
            if isinstance(square, Power) and square.exponent == Number(Fraction(2)):
                yield b, square.base
        case _:
            return


@cache
def _list_patterns() -> tuple[tuple[Density, Summands, Formula], ...]:
    """Return the log densities of a location and a scale as patterns without constants, and their scales."""
    found: list[tuple[Density, Summands, Formula]] = []
    for row in DENSITIES.values():
        if not row.location or not row.of_entry or row.of_logarithm or row.tail:
            continue
        names = [Symbol(f"{ANY}{name}", SCALAR, Role.PARAMETER) for name in row.arguments]
        for text, scale in ((row.value, row.scale), *row.written):
            summands = flatten_sums(((Fraction(1), at_most(row, text, names)),))
            moving = tuple((c, core) for c, core in summands if _has_pattern_name(core))
            found.append((row, moving, at_most(row, scale, names)))
    return tuple(found)


def _has_pattern_name(formula: Formula) -> bool:
    return any(isinstance(node, Symbol) and node.name.startswith(ANY) for node in nodes(formula))


def _match_summands(
    pattern: Summands, rest: Summands, binding: Binding, used: frozenset[int] = frozenset()
) -> Iterator[tuple[Binding, frozenset[int]]]:
    """Yield bindings for which all summands of a pattern are among others, and the places of these."""
    if not pattern:
        yield binding, used
        return
    (c, core), *others = pattern
    for k, (number, term) in enumerate(rest):
        if k not in used and number == c:
            for more in _unify(core, term, binding):
                yield from _match_summands(tuple(others), rest, more, used | {k})


def _unify(pattern: Formula, formula: Formula, binding: Binding) -> Iterator[Binding]:
    """Yield the bindings under which a pattern equals a formula; `x - mu` matches any sum."""
    match pattern:
        case Symbol(name) if name.startswith(ANY):
            if binding.get(name, formula) == formula and formula.shape == SCALAR:
                yield {**binding, name: formula}
        case Add((Symbol(x), Multiply(Number(minus), Symbol(mu)))) if minus == -1 and x.startswith(ANY):
            yield from _unify(Symbol(f"{x} - {mu}", SCALAR, Role.PARAMETER), formula, binding)
        case _ if pattern == formula:
            yield binding
        case Multiply(left, right) if isinstance(formula, Multiply):
            for both in ((formula.left, formula.right), (formula.right, formula.left)):
                yield from _unify_all((left, right), both, binding)
        case _ if type(pattern) is type(formula) and getattr(pattern, "fn", "") == getattr(formula, "fn", ""):
            yield from _unify_all(parts(pattern), parts(formula), binding)
        case _:
            return


def _unify_all(patterns: Sequence[Formula], formulas: Sequence[Formula], binding: Binding) -> Iterator[Binding]:
    if len(patterns) == len(formulas) == 1:
        yield from _unify(patterns[0], formulas[0], binding)
    elif len(patterns) == len(formulas) > 1:
        for one in _unify(patterns[0], formulas[0], binding):
            yield from _unify_all(patterns[1:], formulas[1:], one)


def _make_law(row: Density, binding: Binding, scale: Formula) -> Law | None:
    """Return the density of a residual, its terms free of the state as the outcome; None without such terms."""
    x, mu = f"{ANY}{row.arguments[0]}", f"{ANY}{row.location}"
    residual = list(flatten_sums(((Fraction(1), binding[f"{x} - {mu}"]),)))
    known = [_scale_term(c, core) for c, core in residual if not depends_on_state(core)]
    moving = [_scale_term(-c, core) for c, core in residual if depends_on_state(core)]
    if not known:
        return None
    put = {**binding, x: add(known, SCALAR), mu: add(moving or [Number(Fraction(0))], SCALAR)}
    named = {name: put[f"{ANY}{name}"] for name in row.arguments}
    named[row.scale] = substitute(scale, put)
    return Law(StatedDensity(row.name, tuple(named[name] for name in row.arguments), "log_likelihood", is_term=True))


def _scale_term(c: Fraction, core: Formula) -> Formula:
    return core if c == 1 else multiply(Number(c), core, SCALAR)
