"""No module is made of a wrong cycle; what each fails is in `tests/documents/mutants/moves.yaml`."""

from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.errors import VerificationError
from recipe_compiler.pipeline import compile_build

REFUTED = {
    "ghmc_without_flip": "metropolis",
    "momentum_of_a_quartic": "refresh",
    "nothing_moves_the_position": "cycle",
    "shape_of_all_data": "draw",
}


@pytest.mark.parametrize("name", REFUTED)
def test_no_module_is_made_of_it(name: str) -> None:
    with pytest.raises(VerificationError, match=f"{REFUTED[name]} is refuted"):
        compile_build(load_build(Path(__file__).parent / f"{name}.yaml"))
