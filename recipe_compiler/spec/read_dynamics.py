"""Dynamics from YAML: state, H, D, Q and claims, elaborated at their places.

Block matrices are nested lists, a quoted nested list, or a `|` block with a row on each line.
"""

import re
from collections.abc import Mapping as Table
from collections.abc import Set
from dataclasses import replace
from pathlib import Path

from recipe_compiler.errors import Place
from recipe_compiler.formula.block_matrices import Matrix, place_shape
from recipe_compiler.formula.build import depends_on_state, nodes
from recipe_compiler.formula.declaration import Block, Declarations, Function, by_name
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula, FunctionAt
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.bind import Rewriting, rewritten
from recipe_compiler.spec.build_parts import Around, part_of
from recipe_compiler.spec.consistency import check_consistency
from recipe_compiler.spec.declarations import (
    block_declarations,
    check_unique,
    function_declarations,
    parameter_declarations,
    read_assumptions,
    with_defaults,
    with_domains,
)
from recipe_compiler.spec.discrete import refuse_discrete
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.files import read_bytes
from recipe_compiler.spec.formulas import Entry
from recipe_compiler.spec.model import Claims, Dynamics, Formulas, Image
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.places import source_of
from recipe_compiler.spec.schema import ClaimsEntry, DynamicsDocument, ImageEntry
from recipe_compiler.spec.units import read_units
from recipe_compiler.spec.validate import validate
from recipe_compiler.spec.yaml_nodes import Mapping, Scalar, Sequence
from recipe_compiler.spec.yaml_reader import read_yaml

_MATRIX = re.compile(r"\s*Matrix\((.*)\)\s*", re.DOTALL)
_FORMS = "quote an entry that holds a comma or bracket, or use a block: `|`, then a row on each line"
CLAIMED = ("drift", "diffusion", "marginal", "update")


def block_rows(at: Page, blocks: tuple[str, ...]) -> tuple[tuple[Scalar, ...], ...] | None:
    """Return the places of a block matrix, one row and column for each block; None where a fault was added."""
    match node := at.node:
        case Scalar():
            rows = _split(_inside_matrix(node) if len(blocks) > 1 else node)
        case Sequence(items=items) if items and all(isinstance(item, Sequence) for item in items):
            rows = [_scalars(at, item) for item in items if isinstance(item, Sequence)]
        case _:
            example = "[[0, 0], [0, C]]" if len(blocks) > 1 else "[[C]]"
            at.malformed(f"found no matrix, expected rows such as {example}", _FORMS)
            return None
    if any(len(row) != len(blocks) for row in rows) or len(rows) != len(blocks):
        lengths = ", ".join(str(len(row)) for row in rows[:20])
        expected = f"{len(blocks)} rows of {len(blocks)}: one for each of {', '.join(blocks)}"
        is_short = all(len(row) <= len(blocks) for row in rows) and len(rows) <= len(blocks)
        hint = "write 0 in every place without an entry" if is_short else _FORMS
        if [[item.text for item in row] for row in rows] in ([["0"]], [["O"]]):
            hint = f"write `{[[0] * len(blocks)] * len(blocks)}`"
        at.malformed(f"found rows of {lengths} entries, expected {expected}", hint)
        return None
    return tuple(tuple(row) for row in rows)


def _scalars(at: Page, row: Sequence) -> list[Scalar]:
    """Return the entries of a row; a list in place of an entry is a fault, and an empty entry stands for it."""
    for item in row.items:
        if not isinstance(item, Scalar):
            at.faults.malformed_at(
                item.place, at.label, "found a list in place of an entry, expected a formula", _FORMS
            )
    return [item if isinstance(item, Scalar) else Scalar("0", item.place) for item in row.items]


def _split(scalar: Scalar) -> list[list[Scalar]]:
    whole = scalar.part(0, len(scalar.text))
    inside = _inside(whole)
    if inside is not None and inside.text.startswith("["):
        rows = _at_commas(inside)
    elif "\n" in whole.text:
        rows = _lines(whole)
    else:
        rows = [whole]
    return [_at_commas(_inside(row) or row) for row in rows if row.text]


def _inside_matrix(scalar: Scalar) -> Scalar:
    """Return the rows of `Matrix([[0, -1], [1, 0]])`, as SymPy prints them; any other text as it is."""
    found = _MATRIX.fullmatch(scalar.text)
    return scalar if found is None else scalar.part(*found.span(1))


def _inside(scalar: Scalar) -> Scalar | None:
    """Return what stands between the brackets around the whole text, None if there are none."""
    text, depth = scalar.text, 0
    if not text.startswith("["):
        return None
    for at, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if depth == 0:
            return scalar.part(1, at) if at == len(text) - 1 else None
    return None


def _lines(scalar: Scalar) -> list[Scalar]:
    parts: list[Scalar] = []
    start = 0
    for line in scalar.text.split("\n"):
        row = line.rstrip().removesuffix(",")
        parts.append(scalar.part(start, start + len(row)))
        start += len(line) + 1
    return parts


def _at_commas(scalar: Scalar) -> list[Scalar]:
    """Cut at the commas outside of parentheses and brackets."""
    parts: list[Scalar] = []
    start = depth = 0
    for at, character in enumerate(scalar.text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append(scalar.part(start, at))
            start = at + 1
    return [*parts, scalar.part(start, len(scalar.text))]


def read_dynamics(root: Mapping, file: str, *, is_image: bool = True) -> Dynamics:
    """Return the dynamics a document states, without the image that it claims where that is not asked for.

    Raises SpecError or ModelError with every fault.
    """
    faults = Faults()
    document = validate(root, DynamicsDocument, faults)
    page = Page(root, faults)
    declarations = _declarations(page, document)
    if not declarations.blocks:
        raise faults.error()
    declarations = with_defaults(page, with_domains(page, declarations))
    declarations = replace(declarations, assume=read_assumptions(page, declarations))
    check_consistency(page, declarations)
    refuse_discrete(page, declarations)
    scope = Scope(declarations, at_any_blocks=True)
    H = page["H"].formula(scope, SCALAR)
    places: list[tuple[str, Place]] = []
    D, Q = (read_matrix(page[name], scope, places) for name in ("D", "Q"))
    claims = _claims(page["claims"], document.claims, scope, places)
    units = read_units(page, document.units, declarations)
    stated = {name for name in ("D", "Q") if page[name].node is not None}
    check_given(page, stated | {name for name in CLAIMED if page["claims", name].node is not None})
    if faults.found or H is None:
        raise faults.error()
    source = source_of(root, file, tuple(places))
    titles = document.title, tuple(document.references)
    dynamics = _with_functions_at(Dynamics(document.name, declarations, H, D, Q, claims, *titles, source, units))
    stated = document.claims.image if is_image else None
    return dynamics if stated is None else _with_image(page["claims", "image"], dynamics, stated)


def _with_image(page: Page, dynamics: Dynamics, stated: ImageEntry) -> Dynamics:
    """Return dynamics with those that they are claimed to be the image of, and the map between both."""

    def load_part(path: Path) -> Dynamics:
        return read_dynamics(read_yaml(read_bytes(path), str(path)), str(path), is_image=False)

    of = part_of(page["of"], Dynamics, Around(Path(dynamics.source.file).parent, load_part), "of")
    if of is None or not _can_be_compared(page, dynamics, of):
        raise page.faults.error()
    both = join_declarations(of, dynamics), join_declarations(dynamics, of)
    entries = ((page["map"], stated.map, dynamics, both[0]), (page["inverse"], stated.inverse, of, both[1]))
    found = [_read_map(at, own, to, declared) for at, own, to, declared in entries]
    page.faults.finish()
    return replace(dynamics, claims=replace(dynamics.claims, image=Image(of, *found)))


def join_declarations(of: Dynamics, other: Dynamics) -> Declarations:
    """Return the declarations of dynamics with the parameters and the assumptions of others beside."""
    own, theirs = of.declarations, other.declarations
    of_constants = (c for c in theirs.assume if not (depends_on_state(c.left) or depends_on_state(c.right)))
    assumed = dict.fromkeys((*own.assume, *of_constants))
    parameters = by_name((*theirs.parameters, *own.parameters))
    return replace(own, parameters=tuple(parameters.values()), assume=tuple(assumed))


def _can_be_compared(page: Page, dynamics: Dynamics, of: Dynamics) -> bool:
    """Whether two equations are stated without functions, in parameters that are the same where names are."""
    before = len(page.faults.found)
    if dynamics.claims.drift is None:
        page.fault("found no `claims.drift`, which is what is compared; expected one")
    for one, at in ((of, page["of"]), (dynamics, page)):
        if one.declarations.functions:
            name = one.declarations.functions[0].name
            at.fault(f"found the function `{name}` of {one.name}, expected formulas of its blocks and parameters")
    if of.D is None or of.Q is None:
        page["of"].fault(f"found no `{'Q' if of.Q is None else 'D'}` in {of.name}, expected D and Q")
    for name in sorted({*_names(dynamics)} & {*_names(of)}):
        own, other = (_names(one)[name] for one in (dynamics, of))
        if own != other:
            problem = f"found `{name}` of {of.name}, which {dynamics.name} declares otherwise, expected the same"
            page["of"].fault(problem, "a name in both documents means the same object: rename one of the two")
    return len(page.faults.found) == before


def _names(dynamics: Dynamics) -> dict[str, object]:
    """Return the names of a document to what they mean beside another: blocks, which each has, are alike."""
    declared = dynamics.declarations
    found = dict[str, object](dict.fromkeys(declared.sizes, "size") | dict.fromkeys(by_name(declared.blocks), "block"))
    return found | {item.name: (item.shape, item.kinds) for item in declared.parameters}


def _read_map(page: Page, stated: Table[str, str], to: Dynamics, declared: Declarations) -> Formulas:
    """Return each block of some dynamics as a formula of what is declared."""
    for name in (block.name for block in to.declarations.blocks if block.name not in stated):
        page.fault(f"found no formula of `{name}`, expected every block of {to.name}")
    for block in to.declarations.blocks:
        for size in (size for size in block.shape.sizes if isinstance(size, str) and size not in declared.sizes):
            hint = "a map that has an inverse keeps the number of coordinates"
            page[block.name].fault(f"found `{block.name}` of size {size}, expected a size in both documents", hint)
    return _by_block(page, dict(stated), Scope(declared), to.declarations.blocks) or ()


def _with_functions_at(dynamics: Dynamics) -> Dynamics:
    """Return dynamics that declare each function at the other blocks where a formula has it, too."""
    declared, found = dynamics.declarations, dict[Function, None]()

    def note(formula: Formula) -> Formula:
        at_others = [node for node in nodes(formula) if isinstance(node, FunctionAt) and node.home]
        found.update(
            (function.named(x), None)
            for x in at_others
            for function in declared.functions
            if function.name == x.declared
        )
        return formula

    rewritten(dynamics, Rewriting(note, lambda shape: shape))
    return replace(dynamics, declarations=replace(declared, functions=(*declared.functions, *found)))


def _declarations(page: Page, document: DynamicsDocument) -> Declarations:
    blocks = block_declarations(page, document.state)
    for block in blocks:
        if block.shape.cols is not None:
            hint = "declare it as a column, for example `shape: p` with p = K d"

            page["state", block.name, "shape"].fault(f"found a {block.shape}, expected a scalar or a column", hint)
    parameters = parameter_declarations(page, document.parameters)
    functions = function_declarations(page, document.functions, tuple(document.state))
    declarations = Declarations(blocks, parameters, functions)
    check_unique(page, declarations)
    return declarations


def read_matrix(at: Page, scope: Scope, places: list[tuple[str, Place]]) -> Matrix | None:
    """Return a block matrix, None if it is left out or faulty; the places of its entries are added to `places`."""
    blocks, at_place = scope.declarations.blocks, replace(scope, square=True)
    if at.node is None:
        return None
    rows = block_rows(at, tuple(block.name for block in blocks))
    matrix: list[tuple[Formula | None, ...]] = []
    for row, texts in zip(blocks, rows or (), strict=rows is not None):
        line: list[Formula | None] = []
        for col, text in zip(blocks, texts, strict=True):
            entry = Entry(f"{at.label}[{row.name},{col.name}]", text)
            places.append((entry.name, text.place))
            shape = place_shape(row, col)
            line.append(at.faults.catch(lambda entry=entry, shape=shape: entry.formula(at_place, shape)))
        matrix.append(tuple(line))
    known = tuple(tuple(entry for entry in line if entry is not None) for line in matrix)
    return known if known and known == tuple(matrix) else None


def _claims(page: Page, stated: ClaimsEntry, scope: Scope, places: list[tuple[str, Place]]) -> Claims:
    declared = scope.declarations
    noise = tuple(Block(name, entry.shape) for name, entry in stated.noise.items())
    for draw in noise:
        if draw.name in declared.names:
            page["noise", draw.name].fault("found a name that is already declared")
        for size in draw.shape.sizes:
            if isinstance(size, str) and size not in declared.sizes:
                page["noise", draw.name, "shape"].fault(f"found the size `{size}`, expected one of the state's")
    drift = _by_block(page["drift"], stated.drift, scope)
    if stated.drift is not None:
        for block in declared.blocks:
            if block.name not in stated.drift:
                hint = "write the drift 0 for a block at rest"
                page["drift"].fault(f"found no drift of `{block.name}`, expected every block", hint)
    return Claims(
        drift=drift,
        diffusion=read_matrix(page["diffusion"], scope, places),
        stratonovich=stated.interpretation == "stratonovich",
        marginal=_by_block(page["marginal"], stated.marginal, scope, energy=True),
        lyapunov=None if stated.lyapunov is None else page["lyapunov"].formula(scope, SCALAR),
        update=_by_block(page["update"], stated.update, replace(scope, update=True, noise=noise)),
        noise=noise,
    )


def _by_block(
    page: Page,
    stated: dict[str, str] | None,
    scope: Scope,
    of: tuple[Block, ...] | None = None,
    *,
    energy: bool = False,
) -> Formulas | None:
    """Return block to formula, in the order of z: of the block's shape, or a scalar energy."""
    if stated is None:
        return None
    blocks = by_name(of or scope.declarations.blocks)
    for name in stated:
        page[name].knows(name, blocks, "a block of the state")
    found: list[tuple[str, Formula]] = []
    for name, block in blocks.items():
        shape = SCALAR if energy else block.shape
        formula = page[name].formula(scope, shape)
        if formula is not None:
            found.append((name, formula))
    return tuple(found)


def check_given(page: Page, given: Set[str]) -> None:
    """Add a fault where D or Q is left out and cannot be found from what else is given: D, Q, or claims by name."""
    if not given & {"D", "diffusion", "update"}:
        hint = "write D, or claims.drift and claims.diffusion (zeros for a system without noise)"
        page["D"].fault("found no `D`, expected D or a claimed diffusion", hint)
    if not given & {"drift", "update"}:
        for missing in ("D", "Q"):
            if missing not in given:
                page[missing].fault(f"found no `{missing}` and no claims.drift to find it from", f"write {missing}")
