"""Dynamics from Python objects: the same frozen value that a YAML document gives."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import replace

from recipe_compiler.errors import DocumentError, Fault, ModelError, Place
from recipe_compiler.formula.declared import PYTHON
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec import model
from recipe_compiler.spec.consistency import check_consistency
from recipe_compiler.spec.declarations import Page
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.names import name_problem
from recipe_compiler.spec.python_document import source_of
from recipe_compiler.spec.python_formulas import Stated, claimed_objects, rows_of
from recipe_compiler.spec.python_names import block_name, declarations_of, declared_names
from recipe_compiler.spec.read_dynamics import check_given
from recipe_compiler.spec.units import check_units
from recipe_compiler.spec.yaml_nodes import Mapping as Nodes


def Dynamics(
    *,
    name: str,
    state: Sequence[object],
    H: object,
    D: object = None,
    Q: object = None,
    parameters: Sequence[object] = (),
    potential: str = "",
    assume: Sequence[object] = (),
    claims: Mapping[str, object] | None = None,
    title: str = "",
    references: Sequence[str] = (),
    units: Mapping[str, str] | None = None,
) -> model.Dynamics:
    """State dynamics in Python: dz = f dt + sqrt(2D) dW with f = -(D+Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3).

    Formulas are objects made of `vector`, `matrix`, `scalar`, `function` and `I`, SymPy objects, numbers, or texts of
    the formula language. Names are declared by the objects that carry them.

    Args:
        name: The name of the dynamics, a Python identifier in ASCII.
        state: The blocks of z, in order.
        H: The energy, a scalar.
        D: Rows of the block matrix D; place (i, j) has shape size(i) x size(j).
        Q: Rows of the block matrix Q.
        parameters: Objects whose names texts use and no other object declares.
        potential: The function a target binds, where it does not say so itself (SymPy's functions).
        assume: Comparisons that parameters and state satisfy.
        claims: `drift`, `marginal`, `update` (block to formula), `diffusion` (rows), `interpretation`, `noise`,
            `lyapunov` (a formula).
        title: What the sampler is called.
        references: Keys of references.
        units: Names of blocks, parameters and functions to their units: `length/time**2`, `1`.

    Raises:
        SpecError: An object, a name or a text is not of the language; all faults are gathered.
        ModelError: The formulas do not fit together.
    """
    page = _page(name)
    given = dict(claims or {})
    parts = page.faults.catch(lambda: (*_entries(D), *_entries(Q), *claimed_objects(given))) or ()
    blocks = tuple(block for obj in state if (block := block_name(page, obj)) is not None)
    used = declared_names(page, (*state, *parameters, H, *parts, *assume))
    declarations = None if len(blocks) < len(state) else declarations_of(page, blocks, used, potential)
    if declarations is None:
        raise _faults(page)
    declarations = replace(declarations, assume=Stated(page, declarations).conditions(assume))
    check_consistency(page, declarations)
    measured = {str(key): str(unit) for key, unit in (units or {}).items()}
    check_units(page, measured, declarations)
    stated = Stated(page, declarations)
    energy, matrices = stated.formula("H", H, SCALAR), (stated.matrix("D", D), stated.matrix("Q", Q))
    read = stated.claims(given)
    check_given(page, {key for key, obj in {"D": D, "Q": Q, **given}.items() if obj is not None})
    if energy is None or page.faults.found:
        raise _faults(page)
    about = (title, tuple(references))
    made = model.Dynamics(name, declarations, energy, *matrices, read, *about, units=tuple(measured.items()))
    return replace(made, source=source_of(made, page.root.place))


def _page(name: str) -> Page:
    """Return the page that faults go to, that of the name first."""
    page = Page(Nodes((), _caller()), Faults())
    problem = name_problem(name)
    if problem is not None:
        page.faults.malformed_at(page.root.place, "name", *problem)
    return page


def _entries(obj: object) -> tuple[object, ...]:
    return tuple(entry for row in rows_of(obj) for entry in row)


def _faults(page: Page) -> Exception:
    """Return the error with all faults found, those without a place at the line that states the dynamics."""
    where = page.root.place
    page.faults.found = [replace(f, where=where) if f.where == PYTHON else f for f in page.faults.found]
    try:
        page.faults.finish()
    except DocumentError as error:
        return error
    return ModelError([Fault(where, "state", "found no usable state, expected blocks")])


def _caller() -> Place:
    """Return the line of the user's code that states the dynamics."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return Place("python") if frame is None else Place(frame.f_code.co_filename, frame.f_lineno)
