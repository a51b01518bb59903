"""Proofs for data as they are declared, and facts of parameters: of the doubles that run and of what is written."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Decision, Proved, Undecided
from recipe_compiler.verify.builds.normalisable import normalisable_build

SGHMC = Path(__file__).parents[3] / "specs" / "dynamics" / "sghmc.yaml"

BUILD = f"""
format: 1
name: weighted_build
dynamics: {SGHMC}
target: target.yaml
scheme: {{name: baoab}}
variant: full
data: {{file: data.csv, columns: {{made: FORMULA}}, w: made, y: y}}
run: {{step_size: auto}}
"""
ON_A_LINE = ((0.1, 0.2, 0.3, 1.0), (0.1, 0.2, 0.3, 2.0), (0.2, 0.4, 0.6, 3.5))

WEIGHTED = """
format: 1
name: weighted
state: {mu: {}}
data: {w: {shape: N, is: KIND}, y: {shape: N}}
log_likelihood: -w*(y - mu)**2/2
"""
OF_A_DENSITY = """
format: 1
name: scaled
state: {mu: {}}
data: {w: {shape: N}, y: {shape: N}}
log_likelihood: normal(y, mu, w)
"""


def decided(folder: Path, name: str = "build.yaml") -> Decision:
    own = observed(load_build(folder / name))
    assert isinstance(own, Build)
    return normalisable_build(own, bind(own)).decision


def weighted(folder: Path, target: str, formula: str) -> Decision:
    np.savetxt(folder / "data.csv", np.array(ON_A_LINE), delimiter=",", header="a,b,c,y", comments="", fmt="%.17g")
    (folder / "target.yaml").write_text(target)
    (folder / "build.yaml").write_text(BUILD.replace("FORMULA", formula))
    return decided(folder)


@pytest.mark.parametrize(
    "target", [WEIGHTED.replace("KIND", "positive"), OF_A_DENSITY], ids=["declared", "of a density"]
)
def test_what_is_0_as_it_is_written_is_not_positive_by_rounding(target: str, tmp_path: Path) -> None:
    """As doubles 0.1 + 0.2 - 0.3 is 5.6e-17; as they are written U is the same for every mu."""
    found = weighted(tmp_path, target, "a + b - c")
    assert isinstance(found, Undecided)
    assert "as it is written has numbers that it may not have" in found.tried[0]
    assert isinstance(weighted(tmp_path, target, "a + b"), Proved)


PARAMETERS = f"""
format: 1
name: forms_build
dynamics: {SGHMC}
target: target.yaml
scheme: {{name: baoab}}
variant: full
bind: {{M: I, C: I}}
parameters: {{A: {{value: VALUE}}}}
data: {{file: data.csv, y: y}}
run: {{step_size: 0.01}}
"""
FORMS = """
format: 1
name: forms
state: {b: {shape: 2}}
parameters: {A: {shape: [4, 2]}}
data: {y: {shape: N}}
log_prior: -norm2(A @ b)/2
log_likelihood: -(y - b[0] - 3*b[1])**2/2
"""


def forms(folder: Path, value: str) -> Decision:
    (folder / "data.csv").write_text("y\n0.5\n1.5\n2.25\n")
    (folder / "target.yaml").write_text(FORMS)
    (folder / "build.yaml").write_text(PARAMETERS.replace("VALUE", value))
    return decided(folder)


def test_columns_of_an_array_file_that_are_multiples_as_written_have_no_full_rank(tmp_path: Path) -> None:
    """Along b = (-3, 1) nothing changes: 0.3 is three times 0.1, though its double is not three times that of 0.1."""
    np.save(tmp_path / "A.npy", np.array([[0.1, 0.3], [0.2, 0.6], [0.7, 2.1], [0.4, 1.2]]))
    assert isinstance(forms(tmp_path, "A.npy"), Undecided)
    np.save(tmp_path / "A.npy", np.array([[0.1, 0.3], [0.2, 0.6], [0.7, 2.1], [0.4, 1.3]]))
    assert isinstance(forms(tmp_path, "A.npy"), Proved)


def test_columns_that_are_multiples_as_doubles_have_no_full_rank(tmp_path: Path) -> None:
    last = "[[1, 3], [1, 3.00000000000000000001], [2, 6], [4, 12]]"
    assert isinstance(forms(tmp_path, last), Undecided)
    assert isinstance(forms(tmp_path, last.replace("3.00000000000000000001", "3.5")), Proved)


@pytest.mark.parametrize(
    ("last", "verdict"), [("3.00000000000000000001", Undecided), ("1e400", Undecided), ("3.1", Proved)]
)
def test_a_potential_is_proved_only_if_it_is_so_as_doubles_and_as_written(
    tmp_path: Path, last: str, verdict: type[Decision]
) -> None:
    potential = FORMS[: FORMS.index("data:")] + "potential: norm2(A @ b)/2\n"
    value = f"[[1, 3], [2, 6], [1, {last}], [4, 12]]"
    (tmp_path / "target.yaml").write_text(potential)
    own = PARAMETERS.replace("VALUE", value).replace("data: {file: data.csv, y: y}\n", "")
    (tmp_path / "build.yaml").write_text(own)
    found = decided(tmp_path)
    assert isinstance(found, verdict)
    assert last != "1e400" or (isinstance(found, Undecided) and "too large for a double" in found.tried[0])
