"""The data section of a build: which columns of which file make which field of the target."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from recipe_compiler.errors import nearest
from recipe_compiler.formula.declaration import Datum, by_name
from recipe_compiler.formula.shapes import Size
from recipe_compiler.spec.build_parts import Around
from recipe_compiler.spec.catalogue import shipped_data
from recipe_compiler.spec.fields import found
from recipe_compiler.spec.made_columns import needed, read_made
from recipe_compiler.spec.model import DataFile, HeldOut, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema_build import BuildDocument, DataEntry
from recipe_compiler.spec.validate import fields_of
from recipe_compiler.spec.yaml_nodes import Node, Scalar, Sequence, plain

_OWN_KEYS = frozenset(fields_of(DataEntry)) - {"others"}
_OF_A_TABLE = ("names", "columns", "standardise", "indicator", "from_one", "intercept")
"""Keys that say how columns become fields."""


def read_data(page: Page, document: BuildDocument, target: Target, folder: Path) -> DataFile | None:
    """Return file and columns; None where the target has no data, or a fault was added."""
    fields = by_name(target.declarations.data)
    if document.data is None:
        if fields:
            hint = f"write `data: {{file: ..., {next(iter(fields))}: [columns]}}`"
            page["data"].fault(f"found no `data`, expected columns for {', '.join(fields)}", hint)
        return None
    if not fields:
        page["data"].fault("found `data` for a target without data, expected none", "remove it")
        return None
    for name in (*(document.data.others), *document.data.arrays):
        if name not in fields:
            known = (*fields, *sorted(_OWN_KEYS))
            problem = f"found `{name}`, expected a field of the target ({', '.join(fields)})"
            page["data", name].fault(problem, nearest(name, known))
    for key in ("standardise", "indicator", "from_one"):
        for name in getattr(document.data, key):
            if not page["data", key].knows(name, fields, "a field of the target"):
                continue
            if fields[name].is_index != (key == "from_one"):
                what = "an index field: its column counts positions" if fields[name].is_index else "no index field"
                page["data", key].fault(f"found `{name}`, which is {what}")
            elif key == "indicator" and fields[name].shape.cols is None:
                problem = f"found the indicator `{name}`, a number for each datum; expected a vector"
                page["data", key].fault(problem, f"declare it in the target: {name}: {{shape: [N, K]}}")
            elif key == "indicator" and not isinstance(_width(fields[name], document), int):
                problem = f"found no number for the length {fields[name].shape.cols} of the indicator `{name}`"
                page["data", key].fault(f"{problem}, expected it under sizes")
    vectors = [name for name, datum in fields.items() if datum.axes[1:] and name not in document.data.indicator]
    if document.data.intercept and len(vectors) != 1:
        problem = f"found `intercept`, and {len(vectors)} fields of vectors, expected one"
        page["data", "intercept"].fault(problem)
    stored = {key: getattr(document.data, key) for key in ("dtype", "shuffle", "shuffled")}
    if document.data.arrays:
        return _arrays(page, document.data, tuple(fields), folder, stored)
    if document.data.file is None:
        page["data", "file"].fault("found no `file`, expected one", "or `arrays`, a .npy file for each field")
        return None
    columns = [(name, _columns(page, datum, document)) for name, datum in fields.items()]
    made = read_made(page, tuple(document.data.columns))
    widths = ((name, _width(fields[name], document)) for name in document.data.indicator if name in fields)
    return DataFile(
        shipped_data(document.data.file) or folder / document.data.file,
        tuple(columns),
        tuple(document.data.standardise),
        document.data.intercept,
        tuple((name, width) for name, width in widths if isinstance(width, int)),
        tuple(document.data.from_one),
        tuple(document.data.names),
        made=needed(made, [name for _, taken in columns for name in taken]),
        **stored,
    )


def read_test(
    page: Page, document: BuildDocument, target: Target, data: DataFile | None, around: Around
) -> HeldOut | None:
    """Return the rows that are held out; None where none are, or a fault was added.

    Args:
        page: the document.
        document: the same, read.
        target: whose data they are.
        data: where the others come from.
        around: what the document is read beside.
    """
    entry, at = document.test, page["test"]
    if entry is None:
        return None
    stated = [key for key in ("share", "file", "arrays") if getattr(entry, key)]
    if not target.declarations.data:
        at.fault("found `test` for a target without data, expected none", "remove it")
    elif len(stated) != 1:
        at.fault(f"found {' and '.join(stated) or 'nothing'}, expected one of `share`, `file` and `arrays`")
    elif entry.share is not None:
        return HeldOut(entry.share, entry.seed)
    elif around.in_memory:
        at.fault(f"found `{stated[0]}` beside data in memory, expected `share`, or the fields themselves")
    elif data is not None and bool(data.arrays) != bool(entry.arrays):
        at.fault(f"found `{stated[0]}`, expected `{'arrays' if data.arrays else 'file'}` as of `data`")
    elif data is not None and {*entry.arrays} != {*dict(data.arrays)}:
        at["arrays"].fault(f"found arrays of {', '.join(entry.arrays)}, expected those of `data`")
    elif data is not None:
        arrays = tuple((name, around.folder / entry.arrays[name]) for name, _ in data.arrays)
        file = arrays[0][1] if arrays else shipped_data(str(entry.file)) or around.folder / str(entry.file)
        return HeldOut(file=replace(data, file=file, arrays=arrays))
    return None


def _arrays(
    page: Page, entry: DataEntry, fields: tuple[str, ...], folder: Path, stored: dict[str, Any]
) -> DataFile | None:
    """Return fields that are files of their own; None where a fault was added."""
    for key in ("file", "shuffle", *_OF_A_TABLE, *(entry.others)):
        if page["data", key].node is not None:
            problem = f"found `{key}` beside `arrays`, expected none: an array is used as stored"
            page["data", key].fault(problem, "make it when the array is written")
    missing = [name for name in fields if name not in entry.arrays]
    for name in missing:
        page["data", "arrays"].fault(f"found no array for `{name}`, expected one", "name a .npy file")
    if missing:
        return None
    arrays = tuple((name, folder / entry.arrays[name]) for name in fields)
    return DataFile(arrays[0][1], tuple((name, ()) for name in fields), arrays=arrays, **stored)


def _width(datum: Datum, document: BuildDocument) -> Size | None:
    """Return the length of one datum of a field, a number where the build fixes it; None of a number."""
    width = datum.shape.cols
    return document.sizes.get(width, width) if isinstance(width, str) else width


def _columns(page: Page, datum: Datum, document: BuildDocument) -> tuple[str, ...]:
    """Return the columns that make a field, empty where a fault was added."""
    at = page["data", datum.name]
    node = at.node
    if node is None:
        at.fault(f"found no columns for `{datum.name}`, expected some", "name them as in the file")
        return ()
    columns = _names(node)
    if not columns:
        at.fault(f"found {found(plain(node))}, expected the name of a column, or a list of names")
        return ()
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        at.fault(f"found the column `{twice[0]}` twice, expected each once")
    width, wanted = (None, None) if datum.is_index else (datum.shape.cols, _width(datum, document))
    if document.data is not None and datum.name in document.data.indicator:
        if len(columns) > 1:
            at.fault(f"found {len(columns)} columns for the indicator `{datum.name}`, expected one")
        return columns
    extra = 1 if width is not None and document.data is not None and document.data.intercept else 0
    count = len(columns) + extra
    if width is None and len(columns) != 1:
        at.fault(f"found {len(columns)} columns, expected one: a datum of `{datum.name}` is a number")
    elif isinstance(wanted, int) and count != wanted:
        ones = " and the intercept" if extra else ""
        at.fault(f"found {len(columns)} columns{ones}, expected {wanted}: {width}")
    return columns


def _names(node: Node) -> tuple[str, ...]:
    match node:
        case Scalar(text=text) if text:
            return (text,)
        case Sequence(items=items):
            names = tuple(item.text for item in items if isinstance(item, Scalar) and item.text)
            return names if len(names) == len(items) else ()
        case _:
            return ()
