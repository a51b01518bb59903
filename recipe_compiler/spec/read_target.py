"""Targets from YAML: a potential, or a log prior and the log likelihood of one datum."""

from dataclasses import replace

from recipe_compiler.formula.declaration import Datum, Declarations
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.spec.declarations import (
    Page,
    block_declarations,
    check_unique,
    parameter_declarations,
    read_assumptions,
    with_defaults,
    with_domains,
)
from recipe_compiler.spec.dependence import dependence
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.places import source_of
from recipe_compiler.spec.schema import DatumEntry, TargetDocument
from recipe_compiler.spec.validate import check_names, validate
from recipe_compiler.spec.yaml_nodes import Mapping


def read_target(root: Mapping, file: str, faults: Faults) -> Target | None:
    """Return the target a document states; every fault is added to `faults`, and None returned if there is one."""
    before = len(faults.found)
    check_names(root, ("state", "data", "parameters"), faults)
    document = validate(root, TargetDocument, faults)
    if document is None:
        return None
    page = Page(root, faults)
    blocks = block_declarations(page, document.state)
    data = _data(page, document.data)
    declarations = Declarations(blocks, parameter_declarations(page, document.parameters), (), data)
    check_unique(page, declarations)
    declarations = with_defaults(page, with_domains(page, declarations))
    declarations = replace(declarations, assume=read_assumptions(page, declarations))
    _check_parts(page, document)
    _check_unsupported(page, document)
    potential = _energy(page, declarations, "potential")
    log_prior = _energy(page, declarations, "log_prior")
    log_likelihood = _energy(page, declarations, "log_likelihood", with_data=True)
    if len(faults.found) > before:
        return None
    titles = document.title, tuple(document.references)
    source = source_of(root, file)
    return Target(document.name, declarations, potential, log_prior, log_likelihood, *titles, source)


def _data(page: Page, entries: dict[str, DatumEntry]) -> tuple[Datum, ...]:
    """Return the fields of the data: the first size counts the data, the rest is the shape of one datum (a row)."""
    fields: list[Datum] = []
    for name, entry in entries.items():
        count = entry.shape.rows
        if count is None:
            page.fault(("data", name), f"data.{name}.shape", "found a scalar, expected the number of data first: N")
            continue
        if fields and count != fields[0].size:
            problem = f"found {count} data, expected {fields[0].size} as in `{fields[0].name}`"
            page.fault(("data", name, "shape"), f"data.{name}.shape", problem, "all fields belong to the same data")
        fields.append(Datum(name, count, Shape(None, entry.shape.cols), tuple(entry.in_ or ())))
    return tuple(fields)


def _energy(page: Page, declarations: Declarations, name: str, *, with_data: bool = False) -> Formula | None:
    """Return a scalar formula; only the log likelihood may use data."""
    formula = page.formula(name, Scope(declarations), SCALAR, name)
    used = () if formula is None else dependence(formula).data
    if used and not with_data:
        page.fault((name,), name, f"found the data `{used[0]}` in {name}, expected it in log_likelihood alone")
    return formula


def _check_parts(page: Page, document: TargetDocument) -> None:
    """Add a fault where the parts that state the density do not fit together."""
    likelihood, data = document.log_likelihood is not None, bool(document.data)
    if document.potential is not None:
        for name in ("log_prior", "log_likelihood", "data"):
            if page.node(name) is not None:
                hint = "state the potential alone, or log_prior and log_likelihood"
                page.fault((name,), name, f"found `{name}` beside `potential`, expected one or the other", hint)
    elif document.gradient is None and not likelihood:
        hint = "write log_likelihood (of one datum) and data, or potential"
        page.fault((), "potential", "found neither a potential nor a log_likelihood, expected one", hint)
    if likelihood and not data:
        hint = "declare data, or write a potential"
        page.fault(("log_likelihood",), "log_likelihood", "found no `data`, expected the fields of one datum", hint)


def _check_unsupported(page: Page, document: TargetDocument) -> None:
    """Refuse by name what no formula of this language states yet in an emitted module."""
    if document.gradient is not None:
        problem = (
            "found a gradient given as a function of a Python module; formulas alone are differentiated and proved"
        )
        page.fault(("gradient",), "gradient", problem, "state the target as log_prior and log_likelihood, or potential")
    for name, block in document.state.items():
        if block.transform is not None:
            path = ("state", name, "transform")
            problem = (
                f"found the transform `{block.transform}`; blocks are sampled in the variable they are declared in"
            )
            hint = "use dynamics whose block has the same domain, or write the target in the unbounded variable, its"
            page.fault(path, ".".join(path), problem, f"{hint} Jacobian included")
