"""The density that the claimed equation leaves stationary instead of exp(-H), where a small family holds it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from recipe_compiler import limits
from recipe_compiler.ansatz.candidates import material, monomials
from recipe_compiler.ansatz.simplify import canonical_text, direction, gather_terms, simplest
from recipe_compiler.ansatz.sums import Value, constants, expand_sum
from recipe_compiler.ansatz.unknowns import Ansatz, Part, has_no_defects
from recipe_compiler.errors import DocumentError
from recipe_compiler.explain.changes import ENERGY, Change, prove_change
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import depends_on_state, nodes
from recipe_compiler.formula.declaration import Function
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.positions import equation_formulas
from recipe_compiler.verdict import Explanation, Topic, Verdict
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject, prepare_subject
from recipe_compiler.verify.integrability.normalisable import normalisable

LEAVES = "exp(-H) is a stationary density of the claimed equation, normalisable or not, for H = "


def samples_instead(subject: Subject) -> tuple[Explanation, ...]:
    """Return energies H' for which the claimed equation leaves exp(-H') stationary, proved by both engines.

    The residual of the claimed f and D vanishes for p = exp(-H'). Tried are H times a constant, one of its terms
    scaled, all of them scaled; the same with one term added (the logarithm of a field, of a determinant, of D; a scalar
    block, which shifts a quadratic energy), then with all; and on a line sums of powers and logarithms with f = -D H''
    + D'. Nothing is returned where exp(-H) itself is stationary, or no drift is claimed. Whether exp(-H') has a finite
    integral is a further question.

    Example: naive SGRLD without Gamma, f = -D grad U with a scalar D(theta), samples exp(-U)/D: H' = U + log D.
    """
    dynamics = subject.dynamics
    if subject.derivation is None or dynamics.claims.drift is None:
        return ()
    found: list[Explanation] = []
    seen: set[str] = set()
    try:
        if has_no_defects(dynamics, derived=False):
            return ()
        for n, change in enumerate(_propose_energies(dynamics)):
            if n == limits.TRIALS or len(found) == limits.SHOWN:
                break
            mark = canonical_text(change.formulas[0][1], dynamics.declarations)
            explanation = None if mark in seen else prove_change(dynamics, change, Topic.SAMPLES, derived=False)
            seen.add(mark)
            if explanation is not None:
                found.append(_note_infinite_integral(change.applied(dynamics), explanation))
    except (DocumentError, NotConvertedError):
        pass
    return tuple(found)


def _note_infinite_integral(changed: Dynamics, explanation: Explanation) -> Explanation:
    """Return the explanation, with a note if exp(-H') is proved to have no finite integral."""
    if normalisable(prepare_subject(changed)).verdict is not Verdict.REFUTED:
        return explanation
    tabled = changed.declarations.parameters or changed.declarations.functions
    where = " for some values of what is declared" if tabled else ""
    return replace(explanation, says=f"{explanation.says}; its integral is infinite{where}: nothing is sampled")


def _propose_energies(dynamics: Dynamics) -> Iterator[Change]:
    """Yield energies with few unknown factors first; on a line, if none is found, other sums."""
    own = tuple(term for term in expand_sum(dynamics.H, constants=False) if depends_on_state(term))
    more, found = added_terms(dynamics), False
    for added in ((), *((term,) for term in more), *((more,) if len(more) > 1 else ())):
        wide = _ansatz_of_terms(dynamics, own, added)
        for change in _solve_energies(wide, len(own)):
            found = True
            yield change
        if sum(map(len, wide.system.equations)) > limits.TERMS:
            break
    if not found:
        yield from _integrate_on_line(dynamics)


def _ansatz_of_terms(dynamics: Dynamics, own: Sequence[Formula], added: Sequence[Formula]) -> Ansatz:
    """Return H with unknown factors of its terms, of their sum, and of added terms."""
    whole = [Part(tuple(("H", term) for term in own), own=False)]
    terms = [Part((("H", term),)) for term in own]
    return Ansatz(dynamics, (*terms, *whole, *(Part((("H", term),), own=False) for term in added)), derived=False)


def _solve_energies(ansatz: Ansatz, own: int) -> Iterator[Change]:
    """Yield the energies at which the residual vanishes: few unknown factors first, one for all own terms, all."""
    names = ansatz.system.unknowns
    terms, whole, added = names[:own], names[own : own + 1], names[own + 1 :]
    chosen = [added] if added else []
    chosen += [(*whole, *added)] if own and (own > 1 or not added) else []
    chosen += [*((name,) for name in terms if not added), (*terms, *added)] if own > 1 else []
    at = ansatz.constants
    for unknowns in chosen:
        for values in ansatz.solutions(unknowns):
            common = values.get(own, at.number(0))
            each = {n: value + common for n, value in [(n, values.get(n, at.number(0))) for n in range(own)]}
            rest = {n: value for n, value in values.items() if n > own}
            if all(at.is_positive(value + at.number(1)) for value in each.values()):
                new = {n: value for n, value in {**each, **rest}.items() if value}
                temperature = at.text(at.number(1) / (common + at.number(1)))
                more = f", the stated one at temperature {temperature}" if common and not added else ""
                yield from _energy_change(ansatz, new, more)


def _energy_change(ansatz: Ansatz, values: dict[int, Value], more: str = "") -> Iterator[Change]:
    """Yield the change of H to the energy at some values of the unknowns."""
    for entry, formula in ansatz.written(values).items():
        new = gather_terms(formula, ansatz.dynamics.declarations)
        yield Change(ENERGY, 1, f"{LEAVES}{text(new)}{more}", ((entry, new),), ansatz.is_plain(values))


def _integrate_on_line(dynamics: Dynamics) -> Iterator[Change]:
    """Yield the H with f = -D H' + D' where z is one scalar and H is a sum of powers, fields and logarithms.

    (Ma, Chen, Fox 2015, Eq. 3, with Q = 0.) On a line no other density without a current is stationary. f = -x and D =
    1 + x**2 give H' = 3 x/(1 + x**2) and H = (3/2) log(1 + x**2).
    """
    blocks = dynamics.declarations.blocks
    if len(blocks) != 1 or blocks[0].shape.sizes or dynamics.declarations.sizes:
        return
    D = dynamics.claims.diffusion or dynamics.D
    alone = replace(dynamics, D=D, claims=replace(dynamics.claims, diffusion=None))
    occurring = [node for formula in equation_formulas(alone) for node in nodes(formula)]
    bases = [*_varying_places(dynamics), *(node for node in occurring if isinstance(node, ex.FunctionAt))]
    for node in occurring:
        match node:
            case ex.Power(base, ex.Number(value)) if value < 0:
                bases.append(base)
    listed = [*(one for base in bases for one in _logarithms(base)), *monomials(material(alone), 2, degree=6)]
    listed = {direction(term, dynamics.declarations): term for term in listed}
    terms = [term for mark, term in listed.items() if mark is not None and depends_on_state(term)][: limits.CANDIDATES]
    ansatz = Ansatz(alone, tuple(Part((("H", term),), own=False) for term in terms), derived=True)
    for values in ansatz.solutions(ansatz.system.sparsest()):
        yield from _energy_change(ansatz, dict(values))


def added_terms(dynamics: Dynamics) -> tuple[Formula, ...]:
    """Return the terms G_m that may be added to H.

    Logarithms of positive scalar fields, of determinants of D[a,a]: [n_a, n_a] and of fields, of positive blocks, and
    scalar blocks of the real line, which shift a quadratic energy.
    """
    declarations = dynamics.declarations
    found = [one for place in _varying_places(dynamics) for one in _logarithms(place)]
    fields = [function for function in declarations.functions if _is_declared_positive(function)]
    found += [one for field in fields for one in _logarithms(field.value)]
    for block in declarations.blocks:
        symbol = block.symbol
        if block.domain.name is DomainName.POSITIVE:
            log = ex.Apply("log", (symbol,), block.shape)
            found.append(ex.Apply("sum", (log,), SCALAR) if block.shape.sizes else log)
        if block.domain.name is DomainName.REAL and not block.shape.sizes:
            found.append(symbol)
    simple = [simplest(term, declarations) for term in found]
    distinct = {direction(term, declarations): term for term in reversed(simple)}
    return tuple(term for mark, term in reversed(distinct.items()) if mark is not None)[: limits.TRIALS]


def _varying_places(dynamics: Dynamics) -> list[Formula]:
    """Return the entries D[a,a], and square ones of Q, that depend on the state, without constant factors."""
    D, at = dynamics.claims.diffusion or dynamics.D or (), constants(dynamics.declarations)
    of_Q = (place for a, row in enumerate(dynamics.Q or ()) for place in row[a:])
    places = [at.split(place)[1] for place in (*(row[a] for a, row in enumerate(D)), *of_Q)]
    varying = [place for place in places if place is not None and depends_on_state(place)]
    return [place for place in varying if place.shape.rows == place.shape.cols]


def _logarithms(place: Formula) -> Iterator[Formula]:
    """Yield the logarithm of each factor of a scalar, or of s of a matrix s I; of another, that of its determinant."""
    of_one = [ex.Apply("trace", (x,), SCALAR) if x.shape.sizes == (1, 1) else x for x in _scalar_factors(place)]
    factors = [*dict.fromkeys(of_one)]
    if any(factor.shape.sizes for factor in factors):
        yield ex.Apply("logdet", (place,), SCALAR)
        return
    yield from (ex.Apply("log", (factor,), SCALAR) for factor in factors if depends_on_state(factor))


def _scalar_factors(formula: Formula) -> Iterator[Formula]:
    """Yield the factors of a product whose powers differ from it in no logarithm but by numbers; none for I."""
    match formula:
        case ex.Multiply(left, right) | ex.MatMul(left, right):
            yield from (*_scalar_factors(left), *_scalar_factors(right))
        case ex.Power(base, ex.Number()) | ex.Apply("sqrt", (base,)) if not formula.shape.sizes:
            yield from _scalar_factors(base)
        case ex.Identity():
            pass
        case _:
            yield formula


def _is_declared_positive(function: Function) -> bool:
    """Return whether a function is declared positive, or positive definite."""
    shape = function.shape
    square = shape.rows is not None and shape.rows == shape.cols
    return (Kind.PD in function.kinds and square) or (Kind.POSITIVE in function.kinds and not shape.sizes)
