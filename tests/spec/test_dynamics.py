"""Dynamics from YAML: what is read, and what is refused where."""

from fractions import Fraction

import pytest
from answers import SPECS, document, shipped

from recipe_compiler.errors import DocumentError, ModelError
from recipe_compiler.formula.expression import Filled, Identity, Number
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape

SCALARS = """
name: small
state: {x: {}, y: {}}
parameters: {a: {is: positive}}
H: x**2/2 + y**2/2
D: [[a, 0], [0, a]]
Q: [[0, -1], [1, 0]]
"""
LIST = "D: [[a, 0], [0, a]]"


def test_places_of_block_matrices_have_the_shape_of_their_blocks() -> None:
    dynamics, square, column = shipped("dynamics/sgnht"), Shape("d", "d"), Shape("d", None)
    assert [block.name for block in dynamics.declarations.blocks] == ["theta", "r", "xi"]
    assert [[place.shape for place in row] for row in dynamics.Q] == [
        [square, square, column], [square, square, column], [Shape(None, "d"), Shape(None, "d"), SCALAR],
    ]  # fmt: skip
    dynamics = shipped("dynamics/generalised_langevin")
    assert dynamics.declarations.sizes == ("d", "k")
    assert dynamics.Q[1][2].shape == Shape("d", "k")
    assert dynamics.D[2][0] == Filled(0, Shape("k", "d"))
    assert ((Identity("d"),),) == document("state: {x: {shape: d}}\nH: x.T @ x\nD: I\nQ: 0").D


def test_a_declared_name_wins_over_the_language() -> None:
    names = ("E", "I", "N", "S", "O", "Q", "beta", "gamma", "zeta", "pi", "re", "im", "oo")
    state, zeros = ", ".join(f"{name}: {{}}" for name in names), [[0] * len(names)] * len(names)
    energy = " + ".join(f"{name}**2" for name in names)
    dynamics = document(f"state: {{{state}}}\nH: {energy}\nD: {zeros}\nQ: {zeros}")
    assert [block.name for block in dynamics.declarations.blocks] == list(names)
    assert "Symbol(name='I'" in repr(dynamics.H)
    assert "Identity" not in repr(dynamics.H)


@pytest.mark.parametrize(
    "form",
    [
        'D: [["a", "x*y"], ["0", "minimum(x, y)"]]',
        'D: "[[a, x*y], [0, minimum(x, y)]]"',
        "D: |\n  a, x*y\n  0, minimum(x, y)",
        "D: |\n  [a, x*y],\n  [0, minimum(x, y)]",
        "D: |\n  [[a, x*y],\n   [0, minimum(x, y)]]",
        "D:\n- [a, x*y]\n- - 0\n  - minimum(x, y)",
        "D: Matrix([[a, x*y], [0, minimum(x, y)]])",
        'D: "Matrix([\\n[a, x*y],\\n[0, minimum(x, y)]])"',
    ],
)
def test_a_block_matrix_has_many_forms_and_one_meaning(form: str) -> None:
    plain = document(SCALARS.replace(LIST, "D: [[a, x*y], [0, minimum(x, y)]]"))
    assert document(SCALARS.replace(LIST, form)) == plain


def test_domains_kinds_and_assumptions_are_read() -> None:
    text = SCALARS.replace("x: {}", 'x: {domain: "interval(0, 2*a)"}').replace("y: {}", "y: {domain: circle}")
    text = text.replace("is: positive", "is: [positive, nonzero]") + 'assume: ["a - 1 > 0", "x**2 <= a"]'
    declared = document(text).declarations
    assert [block.domain.name for block in declared.blocks] == [DomainName.INTERVAL, DomainName.CIRCLE]
    assert declared.blocks[0].domain.bounds[0] == Number(Fraction(0))
    assert declared.parameters[0].kinds == (Kind.POSITIVE, Kind.NONZERO)
    assert [condition.op for condition in declared.assume] == [">", "<="]


def test_claims_may_stand_for_what_is_left_out() -> None:
    claims = "claims: {drift: {x: -x, y: -y}, diffusion: [[1, 0], [0, 1]], interpretation: stratonovich}"
    dynamics = document(SCALARS.partition("D: ")[0] + claims)
    assert dynamics.D is None
    assert dynamics.claims.diffusion is not None
    assert dynamics.claims.stratonovich
    update = "claims: {noise: {w: {}}, update: {x: x + eps*next(y), y: y + sqrt(2*eps)*w + N(0, eps)}}"
    assert dict(document(SCALARS + update).claims.update).keys() == {"x", "y"}


SGHMC = (SPECS / "dynamics/sghmc.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("entry", "begins"), [("H", "U(theta) + "), ("D[r,r]", "C]]"), ("claims.drift.r", "-grad(U, theta)")]
)
def test_the_source_knows_where_entries_stand(entry: str, begins: str) -> None:
    place = shipped("dynamics/sghmc").source.place(entry)
    assert SGHMC.split("\n")[place.line - 1][place.column - 1 :].startswith(begins)


def test_all_faults_are_reported_at_once_at_their_places() -> None:
    text = SGHMC
    for old, new in (
        ("title:", "titel:"), ("@ r / 2", "@ r / 2 + thta"), ("[0, C]]", "[0, C*x]]"),
        ("theta: inv(M) @ r", "theta: r.T"),
        ("is: positive definite", "is: [positive definite, skew]"),
    ):  # fmt: skip
        text = text.replace(old, new)
    with pytest.raises(DocumentError) as caught:
        document(text)
    faults = caught.value.faults
    assert [(fault.entry, fault.where.line, fault.where.column) for fault in faults] == [
        ("titel", 4, 1), ("H", 16, 38), ("D[r,r]", 18, 11), ("claims.drift.theta", 24, 12),
    ]  # fmt: skip
    assert "title" in faults[0].hint
    assert "theta" in faults[1].hint


def test_a_state_of_a_hundred_and_one_blocks_is_too_large() -> None:
    state = "".join(f"  x{n}:\n" for n in range(101))
    with pytest.raises(ModelError, match="dense symbolic D of size 101 x 101, which exceeds the limit"):
        document(f"name: n\nstate:\n{state}H: 0\nD: 0\nQ: 0\n")
