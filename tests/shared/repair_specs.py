"""The documents of tests/repair and tests/mutants: read, renamed and reordered, and with entries replaced."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import answers
from ruamel.yaml import YAML

from recipe_compiler.ansatz.simplify import read, tensor_of
from recipe_compiler.ansatz.unknowns import entries
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus

TESTS = Path(__file__).parents[1]
FOLDERS = (TESTS / "repair", TESTS / "mutants", TESTS / "mutants" / "controls", TESTS.parent / "specs" / "dynamics")
NAMES = ("zeta", "S", "N", "q", "vel", "gamma", "beta", "Gam", "xx", "k_1", "E", "rho", "W9")
KEYS = ("name", "state", "parameters", "functions", "H", "D", "Q", "claims")

Document = dict[str, Any]


def document(name: str) -> Document:
    path = next(folder / f"{name}.yaml" for folder in FOLDERS if (folder / f"{name}.yaml").exists())
    return YAML(typ="safe", pure=True).load(path)


def loaded(found: Document) -> Dynamics:
    return answers.document(json.dumps(found, indent=1))  # JSON is YAML, and keeps the order


def amended(found: Document, formulas: Sequence[tuple[str, str]]) -> Document:
    """Put whole new formulas at their entries, as an author would."""
    blocks = list(found["state"])
    made: Document = {**found, "claims": {**found.get("claims", {})}}
    if "drift" in made["claims"]:
        made["claims"]["drift"] = dict(made["claims"]["drift"])
    for name, holder in (("D", made), ("Q", made), ("diffusion", made["claims"])):
        if name in holder:
            holder[name] = [list(row) for row in holder[name]]
    for entry, formula in formulas:
        at = re.fullmatch(r"(?:claims\.)?(D|Q|diffusion)\[(\w+),(\w+)\]", entry)
        if entry == "H":
            made["H"] = formula
        elif at is not None:
            name, row, col = at.groups()
            (made["claims"] if name == "diffusion" else made)[name][blocks.index(row)][blocks.index(col)] = formula
        else:
            made["claims"]["drift"][entry.removeprefix("claims.drift.")] = formula
    return made


def changed(name: str, seed: int) -> tuple[Document, Mapping[str, str]]:
    """Rename everything declared, permute the state; return the document and old names to new ones."""
    random, found = Random(seed), document(name)
    declared = [*found["state"], *found.get("parameters", {}), *found.get("functions", {})]
    names = dict(zip(declared, random.sample(NAMES, len(declared)), strict=True))
    made = json.loads(renamed(json.dumps({key: found[key] for key in KEYS if key in found}), names))
    made["claims"] = {
        key: made["claims"][key] for key in ("interpretation", "drift", "diffusion") if key in made["claims"]
    }
    blocks = [*made["state"]]
    order = random.sample(range(len(blocks)), len(blocks))
    made["state"] = {blocks[k]: made["state"][blocks[k]] for k in order}
    for holder, key in ((made, "D"), (made, "Q"), (made["claims"], "diffusion")):
        if key in holder:
            holder[key] = [[holder[key][a][b] for b in order] for a in order]
    return made, names


def renamed(formula: object, names: Mapping[str, str]) -> str:
    """Rename whole words of a formula or of an entry, but not `.T`."""
    return re.sub(r"(?<![.\w])[A-Za-z]\w*", lambda word: names.get(word.group(), word.group()), str(formula))


def renamed_entry(entry: str, names: Mapping[str, str]) -> str:
    head, dot, block = entry.rpartition(".")
    if entry.startswith("claims.drift."):
        return f"{head}{dot}{names[block]}"
    at = re.fullmatch(r"(.*)\[(\w+),(\w+)\]", entry)
    return entry if at is None else f"{at.group(1)}[{names[at.group(2)]},{names[at.group(3)]}]"


def same(dynamics: Dynamics, entry: str, one: str, other: str) -> bool:
    """Whether two formulas at an entry are equal for every size."""
    declarations = dynamics.declarations
    shape = entries(dynamics)[entry].shape
    c = calculus(declarations)
    tensors = [tensor_of(read(written, declarations, shape), declarations) for written in (one, other)]
    return c.is_zero(c.subtract(*tensors))


def same_formulas(dynamics: Dynamics, found: Sequence[tuple[str, str]], expected: Mapping[str, str]) -> bool:
    return dict(found).keys() == expected.keys() and all(
        same(dynamics, entry, formula, expected[entry]) for entry, formula in found
    )
