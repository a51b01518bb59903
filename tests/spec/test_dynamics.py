"""Dynamics from YAML: what is read, and what is refused where."""

from fractions import Fraction

import pytest

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.expression import Filled, Identity, Number
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.spec.load import load

SCALARS = """
name: small
state: {x: {}, y: {}}
parameters: {a: {is: positive}}
H: x**2/2 + y**2/2
D: [[a, 0], [0, a]]
Q: [[0, -1], [1, 0]]
"""


def test_the_state_keeps_its_order(specs) -> None:
    dynamics = load(specs / "dynamics/sgnht.yaml")
    assert [block.name for block in dynamics.declarations.blocks] == ["theta", "r", "xi"]


def test_places_of_block_matrices_have_the_shape_of_their_blocks(specs) -> None:
    Q = load(specs / "dynamics/sgnht.yaml").Q
    assert [[place.shape for place in row] for row in Q] == [
        [Shape("d", "d"), Shape("d", "d"), Shape("d", None)],
        [Shape("d", "d"), Shape("d", "d"), Shape("d", None)],
        [Shape(None, "d"), Shape(None, "d"), SCALAR],
    ]


def test_two_sizes_make_rectangular_places(specs) -> None:
    dynamics = load(specs / "dynamics/generalised_langevin.yaml")
    assert dynamics.declarations.sizes == ("d", "k")
    assert dynamics.Q[1][2].shape == Shape("d", "k")
    assert dynamics.D[2][0] == Filled(0, Shape("k", "d"))


def test_a_declared_name_wins_over_the_language(load_text) -> None:
    names = ("E", "I", "N", "S", "O", "Q", "beta", "gamma", "zeta", "pi", "re", "im", "oo")
    state = ", ".join(f"{name}: {{}}" for name in names)
    zeros = [["0"] * len(names)] * len(names)
    energy = " + ".join(f"{name}**2" for name in names)
    dynamics = load_text(f"name: n\nstate: {{{state}}}\nH: {energy}\nD: {zeros}\nQ: {zeros}".replace("'", ""))
    assert [block.name for block in dynamics.declarations.blocks] == list(names)
    assert "Symbol(name='I'" in repr(dynamics.H)
    assert "Identity" not in repr(dynamics.H)


FORMS = {
    "nested lists": "D: [[a, x*y], [0, minimum(x, y)]]",
    "quoted entries": 'D: [["a", "x*y"], ["0", "minimum(x, y)"]]',
    "a quoted list": 'D: "[[a, x*y], [0, minimum(x, y)]]"',
    "a block of rows": "D: |\n  a, x*y\n  0, minimum(x, y)",
    "a block of bracketed rows": "D: |\n  [a, x*y],\n  [0, minimum(x, y)]",
    "a block of a list": "D: |\n  [[a, x*y],\n   [0, minimum(x, y)]]",
    "a list of lists": "D:\n- [a, x*y]\n- - 0\n  - minimum(x, y)",
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_block_matrix_has_many_forms_and_one_meaning(load_text, form: str) -> None:
    plain = load_text(SCALARS.replace("D: [[a, 0], [0, a]]", FORMS["nested lists"]))
    assert load_text(SCALARS.replace("D: [[a, 0], [0, a]]", form)) == plain


def test_one_block_needs_no_brackets(load_text) -> None:
    assert ((Identity("d"),),) == load_text("name: n\nstate: {x: {shape: d}}\nH: x.T @ x\nD: I\nQ: 0").D


def test_domains_and_kinds_are_read(load_text) -> None:
    text = SCALARS.replace("x: {}", "x: {domain: interval(0, 2*a)}").replace("y: {}", "y: {domain: circle}")
    declared = load_text(text.replace("is: positive", "is: [positive, nonzero]")).declarations
    assert declared.blocks[0].domain.name is DomainName.INTERVAL
    assert declared.blocks[0].domain.bounds[0] == Number(Fraction(0))
    assert declared.blocks[1].domain.name is DomainName.CIRCLE
    assert declared.parameters[0].kinds == (Kind.POSITIVE, Kind.NONZERO)


def test_assumptions_are_comparisons(load_text) -> None:
    dynamics = load_text(SCALARS + 'assume: ["a - 1 > 0", "x**2 <= a"]')
    assert [condition.op for condition in dynamics.declarations.assume] == [">", "<="]


def test_claims_may_stand_for_what_is_left_out(load_text) -> None:
    text = SCALARS.replace("D: [[a, 0], [0, a]]\nQ: [[0, -1], [1, 0]]\n", "")
    claims = "claims: {drift: {x: -x, y: -y}, diffusion: [[1, 0], [0, 1]], interpretation: stratonovich}"
    dynamics = load_text(text + claims)
    assert dynamics.D is None
    assert dynamics.claims.diffusion is not None
    assert dynamics.claims.stratonovich


def test_an_update_may_use_the_step_and_draws(load_text) -> None:
    update = "claims: {noise: {w: {}}, update: {x: x + eps*next(y), y: y + sqrt(2*eps)*w + N(0, eps)}}"
    assert dict(load_text(SCALARS + update).claims.update).keys() == {"x", "y"}


def test_the_source_knows_where_entries_stand(specs) -> None:
    source = load(specs / "dynamics/sghmc.yaml").source
    lines = [line.strip() for line in (specs / "dynamics/sghmc.yaml").read_text(encoding="utf-8").split("\n")]
    assert lines[source.place("H").line - 1].startswith("H:")
    assert lines[source.place("D[r,r]").line - 1] == "[0, C]]"
    assert source.place("D[r,r]").column == 9
    assert lines[source.place("claims.drift.r").line - 1].startswith("r: -grad")


def test_all_faults_are_reported_at_once_at_their_places(refused) -> None:
    faults = refused(
        "dynamics/sghmc",
        ("title:", "titel:"),
        ("@ r / 2", "@ r / 2 + thta"),
        ("[0, C]]", "[0, C*x]]"),
        ("is: positive definite", "is: [positive definite, skew]"),
        ("theta: inv(M) @ r", "theta: r.T"),
    )
    assert [(fault.entry, fault.where.line, fault.where.column) for fault in faults] == [
        ("titel", 4, 1),
        ("H", 16, 38),
        ("D[r,r]", 18, 11),
        ("claims.drift.theta", 24, 12),
    ]
    assert "title" in faults[0].hint
    assert "theta" in faults[1].hint


def test_a_state_of_a_hundred_and_one_blocks_is_too_large(load_text) -> None:
    state = "".join(f"  x{n}:\n" for n in range(101))
    with pytest.raises(ModelError, match="dense symbolic D of size 101 x 101, which exceeds the limit"):
        load_text(f"name: n\nstate:\n{state}H: 0\nD: 0\nQ: 0\n")
