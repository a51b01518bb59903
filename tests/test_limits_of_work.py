"""Limits of work are named in one module: nowhere else does a whole number say how much is tried."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from recipe_compiler import limits

PACKAGE = Path(limits.__file__).parent
ROOMS = (
    "algebra",
    "ansatz",
    "audit",
    "derive",
    "explain",
    "facts",
    "kernel",
    "lint",
    "report",
    "tensor",
    "trace",
    "verify",
)
OWN = {"kernel/limits.py"}
"""The limits of the standalone checker, which reads nothing of the package."""
MATHEMATICS = {
    "algebra/points/sample_fields.py": {"ALL_APART", "PLAIN", "SIMPLEST"},
    "algebra/points/witness.py": {"PER_STYLE"},
    "algebra/positivity/falsify.py": {"SEED"},
    "algebra/positivity/scalar_reader.py": {"PLACES"},
    "algebra/positivity/squares.py": {"SIMPLE"},
    "algebra/scalars/rational_matrices.py": {"BITS"},
    "algebra/zero/zeros_on_line.py": {"DIGITS"},
    "ansatz/solve.py": {"MIXED", "PRIME", "SEED"},
    "derive/show.py": {"_MARGIN"},
    "kernel/equations.py": {"maxsize=2"},
    "kernel/field.py": {"DIGITS"},
    "lint/against_build.py": {"FEW", "LARGE"},
    "lint/findings.py": {"TURNS"},
    "lint/metropolis_witness.py": {"ANGLES"},
    "lint/nodes.py": {"MOST_DIGITS"},
    "report/as_json.py": {"SCHEMA_VERSION", "VERSION"},
    "verify/builds/discrete_rows.py": {"LAST"},
    "verify/builds/noise_budget_word.py": {"DIRECTION"},
    "verify/core/processes.py": {"SPARE_SECONDS", "_PR_SET_PDEATHSIG"},
    "verify/from_data/separation.py": {"BITS"},
    "verify/infinity/claimed_lyapunov.py": {"FAR"},
    "verify/moves/limit.py": {"ENOUGH"},
    "verify/moves/volume.py": {"PLANE"},
}
"""Primes, seeds, digits, versions, styles, the pages at hand, and sizes that a theorem or a claim is about."""


def whole_numbers(text: str) -> Iterator[str]:
    """Yield the constants of a module that are whole numbers, and caches with a size of their own."""
    tree = ast.parse(text)
    for statement in tree.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                values = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                pairs = zip(names, values, strict=True) if len(names) == len(values) else ()
                yield from (ast.unparse(name) for name, value in pairs if is_whole(value))
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "maxsize" and isinstance(node.value, ast.Constant):
            yield f"maxsize={node.value.value}"


def is_whole(value: ast.expr) -> bool:
    """Whether an expression is made of whole numbers alone."""
    leaves = [node for node in ast.walk(value) if not isinstance(node, ast.operator | ast.unaryop | ast.expr_context)]
    inner = (ast.BinOp, ast.UnaryOp)
    return all(isinstance(x, inner) or (isinstance(x, ast.Constant) and type(x.value) is int) for x in leaves)


def test_whole_numbers_elsewhere_are_mathematics() -> None:
    files = {
        path.relative_to(PACKAGE).as_posix(): path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))
    }
    found = {
        file: {*whole_numbers(path.read_text(encoding="utf-8"))} for file, path in files.items() if file not in OWN
    }
    assert {file: names for file, names in found.items() if names} == MATHEMATICS


@pytest.mark.parametrize("name", [name for name in vars(limits) if name.isupper()])
def test_a_limit_is_read(name: str) -> None:
    others = (path for path in sorted(PACKAGE.rglob("*.py")) if path != Path(limits.__file__))
    assert any(f"limits.{name}" in path.read_text(encoding="utf-8") for path in others)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("MOST = 12", ["MOST"]),
        ("A, B = 2**10, 1.0", ["A"]),
        ("@lru_cache(maxsize=8)\ndef f(): ...", ["maxsize=8"]),
        ("X = y", []),
    ],
)
def test_a_limit_put_elsewhere_is_found(text: str, names: list[str]) -> None:
    assert [*whole_numbers(text)] == names
