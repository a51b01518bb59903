"""The document that dynamics stated in Python amount to: canonical JSON, and the place of every entry."""

from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Domain, Function, Parameter
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Claims, Dynamics, Source
from recipe_compiler.spec.places import canonical_json

Blocks = tuple[tuple[Formula, ...], ...]
ByBlock = tuple[tuple[str, Formula], ...]


def source_of(dynamics: Dynamics, where: Place) -> Source:
    """Return the source of dynamics stated at one place of a Python file; formulas are written as text."""
    declared = dynamics.declarations
    document: dict[str, object] = {
        "name": dynamics.name,
        "title": dynamics.title,
        "references": list(dynamics.references),
        "state": [[block.name, {"shape": _shape(block), "domain": _domain(block.domain)}] for block in declared.blocks],
        "parameters": [[item.name, _entry(item)] for item in declared.parameters],
        "functions": [[f.name, {**_entry(f), "of": list(f.of), "role": f.role}] for f in declared.functions],
        "assume": [text(condition) for condition in declared.assume],
        "H": text(dynamics.H),
        "D": _texts(dynamics.D),
        "Q": _texts(dynamics.Q),
        "claims": _claims(dynamics.claims),
        **({"units": dict(dynamics.units)} if dynamics.units else {}),
    }
    return Source(where.file, canonical_json(document), tuple((entry, where) for entry in _entries(dynamics)))


def _shape(item: Block | Parameter | Function) -> list[str]:
    return [str(size) for size in item.shape.sizes]


def _entry(item: Parameter | Function) -> dict[str, object]:
    return {"shape": _shape(item), "is": [kind.value for kind in item.kinds]}


def _domain(domain: Domain) -> list[str]:
    return [domain.name.value, *(text(bound) for bound in domain.bounds)]


def _texts(matrix: Blocks | None) -> list[list[str]] | None:
    return None if matrix is None else [[text(entry) for entry in row] for row in matrix]


def _by_name(stated: ByBlock | None) -> dict[str, str] | None:
    return None if stated is None else {block: text(formula) for block, formula in stated}


def _claims(claims: Claims) -> dict[str, object]:
    return {
        "drift": _by_name(claims.drift),
        "diffusion": _texts(claims.diffusion),
        "interpretation": "stratonovich" if claims.stratonovich else "ito",
        "marginal": _by_name(claims.marginal),
        **({} if claims.lyapunov is None else {"lyapunov": text(claims.lyapunov)}),
        "update": _by_name(claims.update),
    }


def _entries(dynamics: Dynamics) -> list[str]:
    names = [block.name for block in dynamics.declarations.blocks]
    pairs = [f"[{a},{b}]" for a in names for b in names]
    sections = ("claims.drift", "claims.marginal", "claims.update")
    declared = (*dynamics.declarations.parameters, *dynamics.declarations.functions)
    return [
        *("H", "D", "Q", "claims.lyapunov"),
        *(f"{matrix}{pair}" for matrix in ("D", "Q", "claims.diffusion") for pair in pairs),
        *(f"{section}.{name}" for section in sections for name in names),
        *(f"state.{name}" for name in names),
        *(f"{'functions' if isinstance(i, Function) else 'parameters'}.{i.name}" for i in declared),
        *(f"assume[{number}]" for number in range(len(dynamics.declarations.assume))),
    ]
