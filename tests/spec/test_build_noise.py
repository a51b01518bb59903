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


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("{generator: mt19937}", "found `mt19937`, expected", "xoshiro"),
        ("{generator: Philox}", "found `Philox`, expected", "philox"),
        ("{generator: }", "found nothing, expected", "xoshiro"),
        ("philox", "found `philox`, expected", ""),
        ("{stream: philox}", "stream", "generator"),
    ],
)
def test_anything_else_is_refused_by_name(refused, text: str, problem: str, hint: str) -> None:
    (fault,) = refused(BUILD, noise(text))
    assert problem in f"{fault.entry} {fault.problem}"
    assert hint in f"{fault.problem} {fault.hint}"
