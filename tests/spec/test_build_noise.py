"""What the noise is drawn from: a key of a build."""

import pytest

BUILD = "builds/sghmc_double_well"
VARIANT = "variant: full"


def noise(text: str) -> tuple[str, str]:
    return VARIANT, f"{VARIANT}\nnoise: {text}"


def test_it_is_xoshiro_unless_it_is_stated(load_spoiled) -> None:
    assert load_spoiled(BUILD).bit_generator == "xoshiro"
    assert load_spoiled(BUILD, noise("{}")).bit_generator == "xoshiro"


@pytest.mark.parametrize("generator", ["xoshiro", "philox", "numpy"])
def test_it_is_what_is_stated(load_spoiled, generator: str) -> None:
    assert load_spoiled(BUILD, noise(f"{{generator: {generator}}}")).bit_generator == generator
