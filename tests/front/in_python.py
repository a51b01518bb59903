"""Shipped documents stated in Python, as a user would: their formulas are run as Python, and are objects."""

import ast
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

import recipe_compiler as rc

LANGUAGE = {name.removesuffix("_"): getattr(rc, name) for name in rc.__all__}


class Exact(ast.NodeTransformer):
    """Keeps 1/3 exact."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Div):
            return ast.Call(ast.Name("_over", ast.Load()), [node.left, node.right], [])
        return node


class Names(dict[str, object]):
    """What nothing else declares is a size, or left to be read as a text."""

    def __missing__(self, name: str) -> object:
        return rc.scalar(name)


def over(a: Any, b: Any) -> Any:
    return Fraction(a, b) if isinstance(a, int) and isinstance(b, int) else a / b


def run(text: object, names: Mapping[str, object]) -> object:
    """Return what a formula is as Python; numbers and texts that are none stay what they are."""
    if not isinstance(text, str):
        return text
    tree = ast.fix_missing_locations(Exact().visit(ast.parse(f"({text})", mode="eval")))
    return eval(compile(tree, text, "eval"), Names({**LANGUAGE, "_over": over, **names}))


def declared(name: str, stated: Mapping[str, Any], kind: str = "") -> Any:
    """Return the object of a declaration."""
    words = {"is_" if key == "is" else key: value for key, value in stated.items() if key not in ("shape", "value")}
    sizes = stated.get("shape", "scalar")
    sizes = [] if sizes == "scalar" else sizes if isinstance(sizes, list) else [sizes]
    if kind == "functions":
        return rc.function(name, shape=tuple(sizes), **words)
    if kind == "data":
        return rc.data(name, *sizes, **{"values" if key == "in" else key: word for key, word in words.items()})
    return (rc.scalar, rc.vector, rc.matrix)[len(sizes)](name, *sizes, **words)


def stated(path: Path) -> Any:
    """Return a document of YAML as the object of Python that states it."""
    entries = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    del entries["format"]
    return _build(path, entries) if "dynamics" in entries else _formulas(entries)


def _formulas(entries: dict[str, Any]) -> Any:
    """Return dynamics or a target."""
    blocks = {name: declared(name, one) for name, one in entries.pop("state").items()}
    names = dict(blocks)
    for kind in ("parameters", "data", "functions"):
        for name, one in entries.pop(kind, {}).items():
            of = one.get("of", [])
            of = tuple(names[block] for block in (of if isinstance(of, list) else [of]))
            names[name] = declared(name, {**one, "of": of} if of else one, kind)
            if kind != "functions":
                entries.setdefault(kind, []).append(names[name])

    def formulas(value: Any) -> Any:
        if isinstance(value, list):
            return [formulas(one) for one in value]
        if isinstance(value, dict):
            return {blocks.get(key, key): formulas(one) for key, one in value.items()}
        return run(value, names)

    for key in ("H", "D", "Q", "potential", "log_prior", "log_likelihood", "derived"):
        if key in entries:
            entries[key] = formulas(entries[key])
    for key in ("drift", "marginal", "update", "diffusion", "lyapunov"):
        if key in entries.get("claims", {}):
            entries["claims"][key] = formulas(entries["claims"][key])
    if "laws" in entries:
        entries["laws"] = {blocks[key]: law for key, law in entries["laws"].items()}
    return (rc.Dynamics if "H" in entries else rc.Target)(state=[*blocks.values()], **entries)


def _build(path: Path, entries: dict[str, Any]) -> rc.Build:
    for key in ("dynamics", "target"):
        entries[key] = stated(path.parent / entries[key])
    own = {name: one for name, one in entries.get("parameters", {}).items() if one.keys() - {"value"}}
    names = {name: declared(name, one) for name, one in own.items()}
    values = {names.get(name, name): one["value"] for name, one in entries.pop("parameters", {}).items()}
    blocks = {
        b.name: declared(b.name, {"shape": list(b.shape.sizes)})
        for b in entries["dynamics"].document.declarations.blocks
    }
    settings = entries.pop("run")
    bind = {key: run(text, {**blocks, **names}) for key, text in entries.pop("bind", {}).items()}
    scheme = entries.pop("scheme")
    if scheme.keys() <= {"name", "order"}:
        scheme, entries["order"] = scheme["name"], scheme.get("order", ())
    entries |= {"gradient_noise": entries["gradient_noise"]["V"]} if "gradient_noise" in entries else {}
    return rc.Build(**entries, bind=bind, parameters=values, scheme=scheme, **settings)
