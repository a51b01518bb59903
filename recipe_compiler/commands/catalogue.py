"""`recipe list` and `recipe show`."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import say, show_rows
from recipe_compiler.errors import nearest, spec_error
from recipe_compiler.experiment.document import title_of
from recipe_compiler.formula.declaration import Datum, Function, Parameter
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.run.columns import columns_of
from recipe_compiler.spec.catalogue import FOLDERS, every_name, names, shipped, shipped_data
from recipe_compiler.spec.fields import shown
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Document, Dynamics, Target
from recipe_compiler.spec.words import letters, word_text

KINDS = (*FOLDERS, "data")


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """What ships under a name."""

    kind: str
    name: str
    title: str
    needs: str
    """What it has to be given before it is run."""


def list_catalogue(kind: str | None, *, as_json: bool) -> ExitCode:
    """Print all that ships, or what is of one kind, with what each needs."""
    entries = [entry for one in KINDS if kind in (None, one) for entry in _entries(one)]
    if as_json:
        say(json.dumps([asdict(entry) for entry in entries]))
    else:
        show_rows(("kind", "name", "title", "needs"), [(e.kind, e.name, e.title, e.needs) for e in entries])
    return ExitCode.PROVED


def show_document(name: str) -> ExitCode:
    """Print a shipped document, or table, as it is."""
    path = shipped(name) or shipped_data(name)
    if path is None:
        known = (*every_name(), *names("data"))
        problem = f"found `{shown(name)}`, expected the name of something that ships"
        hint = nearest(name, known) or "`recipe list` has them"
        raise spec_error("recipe show", "NAME", problem, hint)
    say(path.read_text(encoding="utf-8").rstrip("\n"))
    return ExitCode.PROVED


def _entries(kind: str) -> Iterator[CatalogueEntry]:
    for name in names(kind):
        if kind == "data":
            path = shipped_data(name)
            yield CatalogueEntry(kind, name, "", "" if path is None else f"has {_listed(columns_of(path))}")
        elif (path := shipped(name, (kind,))) is not None and kind == "experiment":
            yield CatalogueEntry(kind, name, title_of(path), "nothing")
        elif path is not None:
            document = load(path)
            yield CatalogueEntry(kind, name, _title(document), _needs(document))


def _title(document: Document) -> str:
    return json.loads(document.source.document).get("title", "")


def _needs(document: Document) -> str:
    """Return what a document leaves to be given, in words."""
    match document:
        case Dynamics():
            declared = document.declarations
            own = [f"a target ({document.potential})"] if document.potential else ["no target: its H is its own"]
            open_ones = [f for f in declared.own_functions if f.name != document.potential]
            return ", ".join([*own, *map(_declared, (*_open(declared.parameters), *open_ones))])
        case Target():
            declared = document.declarations
            return ", ".join([*map(_field, declared.data), *map(_declared, _open(declared.parameters))]) or "nothing"
        case Build():
            data = document.data
            return f"{document.dynamics.name}, {document.target.name}{'' if data is None else f', {data.file.stem}'}"
        case _:
            pieces = dict.fromkeys(letter.piece for letter in letters(document.split))
            return f"pieces {', '.join(pieces)}: {word_text(document.split)}"


def _open(parameters: Sequence[Parameter]) -> list[Parameter]:
    return [parameter for parameter in parameters if parameter.default is None]


def _declared(item: Parameter | Function) -> str:
    kinds = [kind.value for kind in item.kinds if kind is not Kind.REAL]
    of = f"({', '.join(item.of)})" if isinstance(item, Function) else ""
    return " ".join([f"{item.name}{of}{_shape(item.shape.sizes)}", *kinds])


def _field(datum: Datum) -> str:
    return f"data {datum.name}{_shape((datum.size, *datum.shape.sizes))}"


def _shape(sizes: Sequence[object]) -> str:
    return f" [{', '.join(map(str, sizes))}]" if sizes else ""


def _listed(columns: Sequence[str], most: int = 6) -> str:
    more = f" and {len(columns) - most} more" if len(columns) > most else ""
    return ", ".join(columns[:most]) + more
