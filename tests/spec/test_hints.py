"""What is written elsewhere, with what to write here: one hint for each."""

from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.errors import DocumentError

DOCUMENT = """name: t
state: {theta: {shape: d}, r: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}, c: {is: positive}}
functions: {U: {of: theta, role: potential}}
assume: ["c < 2"]
H: U(theta) + r.T @ inv(M) @ r/2
D: [[0, 0], [0, c*M]]
Q: [[0, -I], [I, 0]]
claims: {drift: {theta: inv(M) @ r, r: "-grad(U, theta) - c*r"}}
"""


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ('c*r"', "c*r'\"", "write next(r) for the value after a step"),
        ("grad(U, theta)", "grad(U)", "write grad(s, b), b the block"),
        ("grad(U, theta)", "grad(U, next(theta))", "derivatives are by a block, at the state before the step"),
        ("grad(U, theta)", "gradU(theta)", "write grad(U, theta)"),
        ("grad(U, theta)", "nabla U(theta)", "write grad(U, b)"),
        ("is: positive definite", "is: pos def", "did you mean `positive definite`?"),
        ("is: positive definite", "is: psd", "did you mean `positive semidefinite`?"),
        ("c < 2", "c != 0", "a name that is not zero is declared, `is: nonzero`"),
        ("c < 2", "c is positive", "kinds are declared, `c: {is: positive}`"),
        ("c: {is: positive}", "c: 2", "write `c: {value: ...}` in a build"),
        ("parameters:", "params:", "here it is called `parameters`"),
        ("c < 2", "sum(theta) == 1", "write a coordinate by the others"),
    ],
)
def test_what_is_written_elsewhere_is_told_how_it_is_written_here(
    tmp_path: Path, old: str, new: str, hint: str
) -> None:
    (tmp_path / "t.yaml").write_text(DOCUMENT.replace(old, new), encoding="utf-8")
    with pytest.raises(DocumentError) as error:
        load_dynamics(tmp_path / "t.yaml")
    assert any(hint in fault.hint for fault in error.value.faults)
