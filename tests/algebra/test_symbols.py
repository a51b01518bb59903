"""Names at fixed sizes: one object for each, which its declaration tells apart from all others."""

from pathlib import Path

from loaders import load_dynamics

from recipe_compiler.algebra.scalars.symbols import component, coordinate, coordinates, symbol

SPEC = Path(__file__).parents[2] / "specs" / "dynamics" / "gsgrhmc.yaml"
SIZES = {"d": 2}


def test_a_name_is_one_object() -> None:
    declarations = load_dynamics(SPEC).declarations
    for block in declarations.blocks:
        assert coordinate(block, (1,)) is coordinate(block, (1,))
    for function in declarations.functions:
        at = (0, 1)[: len(function.shape.sizes)]
        assert component(function, at, declarations, SIZES) is component(function, at, declarations, SIZES)


def test_a_function_of_more_blocks_is_another_one() -> None:
    declarations = load_dynamics(SPEC).declarations
    function = next(f for f in declarations.functions if not f.shape.sizes)
    found = component(function, (), declarations, SIZES)
    there = component(function, (), declarations, {"d": 3})
    assert found != there
    own = [z for block in declarations.blocks if block.name in function.of for z in coordinates(block, SIZES)]
    assert found.free_symbols == {*own}


def test_what_may_be_assumed_is_part_of_a_name() -> None:
    assert symbol("a", ("real",)) != symbol("a", ("real", "positive"))
    assert symbol("a", ("real", "positive")).is_positive
