"""Targets from YAML: a potential, or a log prior and the log likelihood of one datum."""

from dataclasses import replace
from pathlib import Path

from recipe_compiler.formula.declaration import Datum, Declarations
from recipe_compiler.formula.density_terms import type_density
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.spec.code import read_code
from recipe_compiler.spec.consistency import check_consistency
from recipe_compiler.spec.constraint import Constrained, read_constraints
from recipe_compiler.spec.declarations import (
    NORMALISABLE,
    assumes_integral,
    block_declarations,
    check_unique,
    parameter_declarations,
    read_assumptions,
    with_defaults,
    with_domains,
)
from recipe_compiler.spec.discrete import check_discrete, check_rows, discrete_blocks, of_one_datum, with_counts
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import families_of, read_laws
from recipe_compiler.spec.let import read_derived, with_let
from recipe_compiler.spec.model import Stated, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.places import placed, source_of
from recipe_compiler.spec.recursion import check_recursion, demand_read, read_recursion, state_blocks, with_states
from recipe_compiler.spec.schema_target import DatumEntry, TargetDocument
from recipe_compiler.spec.solve import read_solve
from recipe_compiler.spec.target_densities import demand_increasing, demand_sets, read_stated, with_data_of
from recipe_compiler.spec.transform import unbounded
from recipe_compiler.spec.validate import validate
from recipe_compiler.spec.yaml_nodes import Mapping


def read_target(root: Mapping, file: str) -> Target:
    """Return the target a document states. Raises SpecError or ModelError with every fault."""
    faults = Faults()
    document = validate(root, TargetDocument, faults)
    page = Page(root, faults)
    blocks = block_declarations(page, document.state)
    data = _data(page, document.data)
    declarations = Declarations(blocks, parameter_declarations(page, document.parameters), (), data)
    check_unique(page, declarations)
    declarations = with_defaults(page, with_domains(page, declarations))
    sets = read_constraints(page, document.state, declarations)
    declared = tuple(sets[block.name].block if block.name in sets else block for block in declarations.blocks)
    declarations = replace(declarations, blocks=declared)
    declarations = replace(declarations, assume=read_assumptions(page, declarations, NORMALISABLE))
    check_consistency(page, declarations)
    check_discrete(page, declarations)
    declarations = with_counts(page, declarations)
    _check_parts(page, document)
    named, example = document.gradient, "my_gradient.py:grad_U"
    code = None if named is None else read_code(page["gradient"], named, Path(file).parent, example)
    if code is not None and any(block.constraint is not None for block in declared):
        hint = "code is a gradient by the sampled variables: declare real blocks, and add the Jacobian in the code"
        page["gradient"].fault("found a gradient that is code, expected formulas: a block is constrained", hint)
    for block in discrete_blocks(declarations) if code is not None else ():
        problem = f"found a gradient that is code beside {block.name}, which is discrete; expected formulas"
        page["gradient"].fault(problem, "only blocks with a proved law are drawn")
    transforms = {name: (one.via, one.bound) for name, one in sets.items() if one.via}
    check_recursion(page, document, declarations)
    states = state_blocks(page, document, declarations)
    of_row = of_one_datum(with_states(declarations, states))
    page = with_let(page, tuple(document.let), of_row)
    potential = _energy(page, declarations, "potential")
    log_prior = _energy(page, declarations, "log_prior")
    log_likelihood = _energy(page, of_row, "log_likelihood", with_data=True)
    check_rows(page, declarations, (("potential", potential), ("log_prior", log_prior)))
    recursion = read_recursion(page, document.recursion, states, declarations)
    declarations, solved, stages = read_solve(page, document.solve, states, declarations)
    recursion = (*recursion, *solved)
    demand_read(page, recursion, log_likelihood)
    stated = read_stated(page, of_row, tuple(document.recursion)) if not faults.found else Stated()
    demand_sets(page, declarations, stated)
    demand_increasing(page, declarations, stated)
    declarations = with_data_of(page, declarations, stated)
    laws = read_laws(page, tuple(document.laws), declarations)
    derived = read_derived(page, document.derived, declarations)
    _refuse_laws(page, document, sets)
    if faults.found:
        raise faults.error()
    titles = document.title, tuple(document.references)
    source = source_of(root, file)
    formulas = potential, log_prior, log_likelihood
    target = Target(document.name, declarations, *formulas, code, *titles, source, laws, stated=stated, derived=derived)
    target = replace(target, assumes_integral=assumes_integral(page), recursion=recursion, stages=stages)
    with placed(source, "state"):
        return unbounded(target, transforms)


def _refuse_laws(page: Page, document: TargetDocument, sets: dict[str, Constrained]) -> None:
    """Add a fault for each law of a block whose set is that of no family of laws."""
    for name in document.laws:
        if name in sets and (sets[name].bound is not None or not families_of(sets[name].block)):
            problem = f"found a law of {name}, whose constraint no law under `laws` supports"
            page["laws", name].fault(problem, "leave it out; it is moved by a word")


def _data(page: Page, entries: dict[str, DatumEntry]) -> tuple[Datum, ...]:
    """Return the fields of the data: the first size counts the data, the rest is the shape of one datum (a row)."""
    fields: list[Datum] = []
    for name, entry in entries.items():
        count = entry.shape.rows
        if count is None:
            page["data", name, "shape"].fault("found a scalar, expected the number of data first: N")
            continue
        if fields and count != fields[0].size:
            problem = f"found {count} data, expected {fields[0].size} as in `{fields[0].name}`"
            page["data", name, "shape"].fault(problem, "all fields belong to the same data")
        if entry.index_of is None:
            fields.append(Datum(name, count, Shape(None, entry.shape.cols), tuple(entry.in_ or ()), entry.is_))
            continue
        if entry.shape.cols is not None or entry.in_ is not None or entry.is_ != (Kind.REAL,):
            problem = "found an index field with a length, `in` or `is` of its own, expected one position a datum"
            hint = f"write {name}: {{shape: {count}, index_of: {entry.index_of}}}"
            page["data", name].fault(problem, hint)
        fields.append(Datum(name, count, Shape(None, entry.index_of), (0, 1), is_index=True))
    return tuple(fields)


def _energy(page: Page, declarations: Declarations, name: str, *, with_data: bool = False) -> Formula | None:
    """Return a scalar formula; only the log likelihood may use data."""
    formula = page[name].formula(Scope(declarations, densities=type_density), SCALAR)
    used = () if formula is None else dependence(formula).data
    if used and not with_data:
        page[name].fault(f"found the data `{used[0]}` in {name}, expected it in log_likelihood alone")
    return formula


def _check_parts(page: Page, document: TargetDocument) -> None:
    """Add a fault where the parts that state the density do not fit together."""
    likelihood, data = document.log_likelihood is not None, bool(document.data)
    alone = "gradient" if document.gradient is not None else "potential"
    others = (
        ("potential", "recursion", "solve", "log_prior", "log_likelihood")
        if alone == "gradient"
        else ("recursion", "solve", "log_prior", "log_likelihood", "data")
    )
    if document.gradient is not None or document.potential is not None:
        for name in others:
            if page[name].node is not None:
                hint = f"state the {alone} alone, or log_prior and log_likelihood"
                page[name].fault(f"found `{name}` beside `{alone}`, expected one or the other", hint)
    elif not likelihood and (data or document.log_prior is None):
        hint = "write log_likelihood (of one datum) and data, log_prior without data, or potential"
        found = "data and no log_likelihood" if data else "neither a potential, nor a log_prior or log_likelihood"
        page["potential"].fault(f"found {found}, expected one", hint)
    if likelihood and not data and document.gradient is None:
        hint = "declare data, or write a potential"
        page["log_likelihood"].fault("found no `data`, expected the fields of one datum", hint)
