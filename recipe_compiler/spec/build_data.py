"""The data section of a build: which columns of which file make which field of the target."""

from pathlib import Path

from recipe_compiler.formula.declaration import Datum
from recipe_compiler.spec.declarations import Page
from recipe_compiler.spec.faults import nearest
from recipe_compiler.spec.fields import found
from recipe_compiler.spec.model import DataFile, Target
from recipe_compiler.spec.schema import BuildDocument
from recipe_compiler.spec.yaml_nodes import Node, Scalar, Sequence, plain

_OWN_KEYS = frozenset({"file", "standardise", "intercept"})


def read_data(page: Page, document: BuildDocument, target: Target, folder: Path) -> DataFile | None:
    """Return file and columns; None where the target has no data, or a fault was added."""
    fields = {datum.name: datum for datum in target.declarations.data}
    if document.data is None:
        if fields:
            hint = f"write `data: {{file: ..., {next(iter(fields))}: [columns]}}`"
            page.fault((), "data", f"found no `data`, expected columns for {', '.join(fields)}", hint)
        return None
    if not fields:
        page.fault(("data",), "data", "found `data` for a target without data, expected none", "remove it")
        return None
    stated = document.data.model_extra or {}
    for name in stated:
        if name not in fields:
            known = (*fields, *sorted(_OWN_KEYS))
            problem = f"found `{name}`, expected a field of the target ({', '.join(fields)})"
            page.fault(("data", name), f"data.{name}", problem, nearest(name, known))
    for name in document.data.standardise:
        if name not in fields:
            problem = f"found `{name}`, expected a field of the target ({', '.join(fields)})"
            page.fault(("data", "standardise"), "data.standardise", problem, nearest(name, tuple(fields)))
    columns = [(name, _columns(page, datum, document)) for name, datum in fields.items()]
    return DataFile(
        folder / document.data.file, tuple(columns), tuple(document.data.standardise), document.data.intercept
    )


def _columns(page: Page, datum: Datum, document: BuildDocument) -> tuple[str, ...]:
    """Return the columns that make a field, empty where a fault was added."""
    path, label = ("data", datum.name), f"data.{datum.name}"
    node = page.node(*path)
    if node is None:
        page.fault(("data",), label, f"found no columns for `{datum.name}`, expected some", "name them as in the file")
        return ()
    columns = _names(node)
    if not columns:
        page.fault(path, label, f"found {found(plain(node))}, expected the name of a column, or a list of names")
        return ()
    twice = [name for name in columns if columns.count(name) > 1]
    if twice:
        page.fault(path, label, f"found the column `{twice[0]}` twice, expected each once")
    width = datum.shape.cols
    wanted = document.sizes.get(width, width) if isinstance(width, str) else width
    extra = 1 if width is not None and document.data is not None and document.data.intercept else 0
    count = len(columns) + extra
    if width is None and len(columns) != 1:
        page.fault(path, label, f"found {len(columns)} columns, expected one: a datum of `{datum.name}` is a number")
    elif isinstance(wanted, int) and count != wanted:
        ones = " and the intercept" if extra else ""
        page.fault(path, label, f"found {len(columns)} columns{ones}, expected {wanted}: {width}")
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
