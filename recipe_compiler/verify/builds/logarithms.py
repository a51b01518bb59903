"""Logarithms of data as residuals of an unknown scale: power counting with additive numbers in their place.

`normal(log(y), m, sigma)`, and `lognormal(y, m, sigma)` less log(y), are light forms (log(y_n) - m_n)/sigma. What is
asked of log(y_n), which is no exact number, is that forms vanish together nowhere: [A c] has one rank more than A. Any
rational linear map psi of rational combinations of 1 and logarithms shows that: if u A = 0 and u psi(c) != 0 then
u c != 0 (`residuals.psi`). So the numbers psi(y_n) are read, where nothing else is asked of them: sigma is a block, of
which m is free, and nothing infinite is concluded.
"""

from collections.abc import Iterator
from dataclasses import replace

from recipe_compiler.formula.build import add
from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import log_density
from recipe_compiler.formula.expression import Apply, Formula, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity, Target
from recipe_compiler.verify.builds.cases import Sample
from recipe_compiler.verify.builds.residuals import psi
from recipe_compiler.verify.core.premises import depends_on_state


def with_logarithms(target: Target, sample: Sample) -> tuple[Target, Sample] | None:
    """Return a target in which normal laws of log(y) are laws of a field of additive numbers psi(y); None without such.

    Only that forms vanish together nowhere is concluded from psi, a rational linear map of 1 and the logarithms of
    primes.

    Raises:
        NotReadError: a field has numbers that are not positive.
    """
    terms = [one for one in target.stated.densities if one.entry == "log_likelihood" and one.is_term]
    fields = dict.fromkeys(name for one in terms for name in _of_logarithm(one, target))
    if not fields:
        return None
    columns = {name: f"log {name}" for name in fields}
    laws = [_law(one, columns if list(_of_logarithm(one, target)) else {}, target) for one in terms]
    others = [formula for entry, formula in target.stated.others if entry == "log_likelihood"]
    known, data = sample.known, target.declarations.data
    declared = replace(
        target.declarations,
        data=(*data, *(Datum(new, data[0].size) for new in columns.values())),
    )
    read = {
        new: ((tuple(psi(x) for x in sample.numbers(Symbol(name, SCALAR, Role.DATUM))),),)
        for name, new in columns.items()
    }
    own = replace(known, declarations=declared, data={**known.data, **read})
    made = replace(target, declarations=declared, log_likelihood=add([*laws, *others], SCALAR))
    return made, Sample(own, sample.rows)


def _of_logarithm(one: StatedDensity, target: Target) -> Iterator[str]:
    """Yield the field whose logarithm has a normal law of an unknown scale, the location moving otherwise."""
    match one.name, one.arguments:
        case ("lognormal", (Symbol(y, _, Role.DATUM), m, Symbol(sigma, _, Role.BLOCK))):
            pass
        case ("normal", (Apply("log", (Symbol(y, _, Role.DATUM),)), m, Symbol(sigma, _, Role.BLOCK))):
            pass
        case _:
            return
    positive = any(b.name == sigma and b.domain.name is DomainName.POSITIVE for b in target.declarations.blocks)
    scalars = all(argument.shape == SCALAR for argument in one.arguments)
    if positive and scalars and depends_on_state(m) and sigma not in dependence(m).blocks:
        yield y


def _law(one: StatedDensity, columns: dict[str, str], target: Target) -> Formula:
    row, (y, *others) = DENSITIES[one.name], one.arguments
    for name in dependence(y).data if columns else ():
        y, row = Symbol(columns[name], SCALAR, Role.DATUM), DENSITIES["normal"]
    return log_density(row, (y, *others), target.declarations)
