"""Where coefficients without a proper prior occur: in the prior and in the likelihood at the rows of the data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq

from recipe_compiler.formula.build import depends_on_state, multiply
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.densities import DENSITIES, Density
from recipe_compiler.formula.density_terms import log_density
from recipe_compiler.formula.expression import (
    Apply,
    Formula,
    Number,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import HALF_LINE, SCALAR, DomainName
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.verdict import Evidence
from recipe_compiler.verify.builds.at_data import explain_bound
from recipe_compiler.verify.builds.bounded_terms import Limits
from recipe_compiler.verify.builds.priors import Group, Parts, prior_products, prove_group, split_prior
from recipe_compiler.verify.builds.products import Law, flatten_sums, split_number
from recipe_compiler.verify.builds.row_laws import likelihood_products
from recipe_compiler.verify.from_data.columns import Atom, Rows
from recipe_compiler.verify.integrability.bounded import bounded_above

ONE, ZERO = fmpq(1), fmpq(0)
NOT_GROWING = "a direction along which a convex energy does not grow"


@dataclass(frozen=True, slots=True)
class Shown:
    """Proof that the integral is finite: facts of the data in words, each with how it was decided."""

    facts: Evidence


@dataclass(frozen=True, slots=True)
class Infinite:
    """The integral is infinite, at the data."""

    by: str
    witness: Evidence


@dataclass(slots=True)
class FlatModel:
    """Where flat coefficients occur: in locations of rows of the data with one scale, and in other summands."""

    target: Target
    rows: Rows
    parts: Parts
    coefficients: tuple[Block, ...]
    scale: Block | None
    power: Fraction
    """k of a term k log sigma in the log prior of the scale."""
    is_exact: bool
    """Whether every term that depends on a flat coefficient was read."""
    spread: tuple[Block, ...] = ()
    """Flat scales of laws of coefficients, and flat means of these: integrated out first."""
    located: list[tuple[StatedDensity, Rows]] = field(default_factory=list[tuple[StatedDensity, Rows]])
    summands: list[tuple[Fraction, Formula, Rows]] = field(default_factory=list[tuple[Fraction, Formula, Rows]])

    @property
    def flat_blocks(self) -> tuple[Block, ...]:
        """The blocks without a proper prior."""
        return (*self.coefficients, *self.spread, *([self.scale] if self.scale else ()))

    @property
    def flat(self) -> frozenset[str]:
        """The names of the blocks without a proper prior."""
        return frozenset(block.name for block in self.flat_blocks)

    @property
    def atoms(self) -> list[Atom]:
        """The flat coordinates."""
        return [
            (block.name, i, j)
            for block in self.coefficients
            for i in range(self.rows.length(block.shape.rows))
            for j in range(self.rows.length(block.shape.cols))
        ]

    def text_of(self, direction: Sequence[fmpq]) -> str:
        """Return the nonzero coordinates of a direction as text."""
        return ", ".join(
            f"{_name_coordinate(atom, self)} = {x}" for atom, x in zip(self.atoms, direction, strict=True) if x
        )

    def has_flat_block(self, formula: Formula) -> bool:
        """Whether a formula depends on a flat block."""
        return not self.flat.isdisjoint(dependence(formula).blocks)


def read_model(target: Target, rows: Rows) -> FlatModel | None:
    """Return the model of flat coefficients and at most one flat scale; None without any, or where more is flat."""
    prior = prior_products(target, target.stated.densities)
    parts = split_prior(prior[0], target.declarations) if len(prior) == 1 else None
    if parts is None or parts.absorbed:
        return None
    groups = [group for group in parts.groups if prove_group(group, target.declarations) is None]
    blocks = [block for own, _ in groups for block in own]
    effects, spread = _find_effects(parts, groups, target, rows)
    blocks = [*effects, *(block for block in blocks if block not in spread)]
    scales = [block for block in blocks if block.domain.name in HALF_LINE and block.shape == SCALAR]
    lines = [block for block in blocks if block.domain.name is DomainName.REAL]
    if not blocks or len(scales) > 1 or len(scales) + len(lines) < len(blocks):
        return None
    if any(block.constraint is not None for block in (*blocks, *spread)):
        return None
    scale = scales[0] if scales else None
    found = FlatModel(target, rows, parts, tuple(lines), scale, Fraction(0), is_exact=not effects, spread=spread)
    for own, terms in groups:
        if own[0] in spread:
            continue
        for c, term in terms:
            match term:
                case Apply("log", (Symbol(name),)) if scales and name == scales[0].name:
                    found.power += c
                case _:
                    found.summands.append((c, term, rows.take_one_row()))
    for law in parts.others:
        if any(map(found.has_flat_block, law.stated.arguments)):
            found.summands += [(c, term, rows.take_one_row()) for c, term in list_summands(law, target)]
    found.summands += [(c, term, rows.take_one_row()) for c, term in parts.rest if found.has_flat_block(term)]
    own = {block.name for block in effects}
    inside = [argument for (name, _), law in parts.laws.items() if name not in own for argument in law.arguments]
    return None if any(map(found.has_flat_block, inside)) else found


def _find_effects(
    parts: Parts, groups: Sequence[Group], target: Target, rows: Rows
) -> tuple[tuple[Block, ...], tuple[Block, ...]]:
    """Return the effects whose laws have a flat scale, taken as flat coefficients, and these scales and flat means.

    Of J effects b with mean m, v = b - m and h(u) <= C e^-c|u|,

        int tau**k prod_j h(v_j/tau)/tau dtau <= C |v|**-(J - k - 1),    0 < k + 1 < J,

    is bounded far out, and near v = 0 integrable, whatever m is. So the integral is at most a sum over the sets of
    effects, of that of the largest likelihood over a set and all others flat: finite where that of all flat ones is, if
    it falls as e^-c|b|. A flat m takes one of the J. Eight schools with flat mu and tau have k = 0, J = 8.
    """
    flat = {block.name: (block, terms) for own, terms in groups for block in own}
    declared = {block.name: block for block in target.declarations.blocks}
    effects, spread, located = list[Block](), list[Block](), set[str]()
    for (name, at), law in parts.laws.items():
        row = DENSITIES[law.name]
        if at is not None or not row.location or not row.of_entry or row.tail or row.of_logarithm:
            continue
        scale, mean = get_scale(law), law.arguments[row.arguments.index(row.location)]
        block, terms = next((flat[one] for one in dependence(scale).blocks if one in flat), (None, []))
        q = read_scale_exponent(scale, block) if block and block.domain.name in HALF_LINE else None
        if block is None or q is None:
            continue
        own = [one for one, rest in flat.values() if mean == Symbol(one.name, SCALAR, Role.BLOCK) and not rest]
        log = Apply("log", (Symbol(block.name, SCALAR, Role.BLOCK),), SCALAR)
        shape = declared[name].shape
        count = rows.length(shape.rows) * rows.length(shape.cols) - len(own)
        if all(term == log for _, term in terms) and 0 < (sum(c for c, _ in terms) + 1) / q < count:
            effects.append(declared[name])
            spread += [block, *own]
            located |= set() if own else {*dependence(mean).blocks}
    names = [one.name for one in spread]
    is_once = len({*names}) == len(names) and located.isdisjoint(names)
    return (tuple(effects), tuple(spread)) if is_once else ((), ())


def add_likelihood(model: FlatModel) -> bool:
    """Add the likelihood to a model; return whether all of it was read."""
    target = model.target
    limits = Limits(target.declarations)
    for product in likelihood_products(target, target.stated.densities):
        rows = model.rows.select_rows(product.guards)
        if rows.count == 0:
            continue
        if product.is_mixed:
            return False
        for law in product.laws:
            row = DENSITIES[law.stated.name]
            if not any(map(model.has_flat_block, law.stated.arguments)):
                if limits.bound_law(law) is None and not explain_bound(product, law, model.rows):
                    return False
            elif not rows.is_whole and (row.tail or not (row.location or limits.bound_law(law) == frozenset())):
                return False  # other rows may have a density without a bound
            elif row.location and not row.matrices and not _is_convex(row, law.stated):
                if not _has_flat_location(model, row, law.stated):
                    return False
                model.located.append((law.stated, rows))
            else:
                model.summands += [(c, term, rows) for c, term in list_summands(law, target)]
        for c, term in product.rest:
            if model.has_flat_block(term) and rows.is_whole:
                model.summands.append((c, term, rows))
            elif not bounded_above(multiply(Number(c), term, term.shape), target.declarations):
                return False
    return True


def _has_flat_location(model: FlatModel, row: Density, law: StatedDensity) -> bool:
    """Whether a density depends on flat coefficients only through its location, or as its scale."""
    for name, argument in zip(row.arguments, law.arguments, strict=True):
        if name == row.scale:
            _recognise_log_scale(model, argument)
            if model.has_flat_block(argument) and (
                model.scale is None or read_scale_exponent(argument, model.scale) is None
            ):
                return False
        elif name != row.location and model.has_flat_block(argument):
            return False
    return True


def _recognise_log_scale(model: FlatModel, scale: Formula) -> None:
    """Record a flat s as a log scale, not a coefficient, where the scale is exp(s) or exp(s/2)."""
    match scale:
        case Apply("exp", (arg,)) if model.scale is None:
            _, core = split_number(arg)
            own = [b for b in model.coefficients if core == Symbol(b.name, SCALAR, Role.BLOCK)]
            if own:
                model.scale, model.coefficients = own[0], tuple(b for b in model.coefficients if b not in own)
        case _:
            pass


def _is_convex(row: Density, law: StatedDensity) -> bool:
    """Whether the logarithm of a density of known scale is concave in its location."""
    return not row.tail and not depends_on_state(law.arguments[row.arguments.index(row.scale)])


def list_summands(law: Law, target: Target) -> Iterator[tuple[Fraction, Formula]]:
    """Yield the summands of the logarithm of a named density."""
    value = log_density(DENSITIES[law.stated.name], law.stated.arguments, target.declarations)
    yield from flatten_sums(((Fraction(1), value),))


def drop_bounded_summands(model: FlatModel) -> bool:
    """Drop summands outside locations if each is bounded above; return whether all were."""
    model.is_exact = False
    declared = model.target.declarations
    return all(bounded_above(multiply(Number(c), term, term.shape), declared) for c, term, _ in model.summands)


def join_names(blocks: Sequence[Block]) -> str:
    """Return blocks as text."""
    return ", ".join(block.name for block in blocks)


def _name_coordinate(atom: Atom, model: FlatModel) -> str:
    """Return the name of a coordinate in formulas; that of its block if it has one entry."""
    block = next(one for one in model.coefficients if one.name == atom[0])
    match len(block.shape.sizes), block.shape.rows:
        case 0, _:
            return atom[0]
        case 1, rows:
            return f"{atom[0]}[{atom[1] if rows is not None else atom[2]}]"
        case _:
            return f"{atom[0]}[{atom[1]}, {atom[2]}]"


def get_scale(law: StatedDensity) -> Formula:
    """Return the scale of a density of a location and a scale."""
    row = DENSITIES[law.name]
    return law.arguments[row.arguments.index(row.scale)]


def read_scale_exponent(scale: Formula, block: Block) -> Fraction | None:
    """Return q of a scale v**q, or exp(q v) of a real v; None where it is neither."""
    v = Symbol(block.name, SCALAR, Role.BLOCK)
    match scale:
        case Apply("exp", (arg,)) if block.domain.name is DomainName.REAL:
            q, core = split_number(arg)
            return q if core == v and q != 0 else None
        case _ if block.domain.name is DomainName.REAL:
            return None
        case Apply("sqrt", (arg,)) if arg == v:
            return Fraction(1, 2)
        case Power(arg, Number(q)) if arg == v and q != 0:
            return q
        case _:
            return Fraction(1) if scale == v else None
