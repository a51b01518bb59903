"""What a slip of the pen is said to be: where it stands, what is wrong, what to write, and that alone."""

from pathlib import Path

import pytest

from recipe_compiler.errors import DocumentError
from recipe_compiler.spec.load import load

DYNAMICS = """name: sghmc
state:
  theta: {shape: d}
  r: {shape: d}
parameters:
  M: {shape: [d, d], is: positive definite}
  C: {shape: [d, d], is: positive semidefinite}
functions:
  U: {of: theta, role: potential}
H: U(theta) + r.T @ inv(M) @ r / 2
D: [[0, 0],
    [0, C]]
Q: [[0, -I],
    [I, 0]]
claims:
  drift:
    theta: inv(M) @ r
    r: -grad(U, theta) - C @ inv(M) @ r
"""
TARGET = """name: reg
state:
  theta: {shape: d}
  sigma: {domain: positive, transform: log}
data:
  x: {shape: [N, d]}
  y: {shape: N}
log_prior: normal(theta, 0, 5) + half_normal(sigma, 1)
log_likelihood: normal(y, x @ theta, sigma)
"""
BUILD = """name: b
dynamics: hmc
target: reg.yaml
bind: {M: I}
scheme: {name: euler}
variant: full
data: {file: d.csv, x: [c1, c2], y: r}
run: {step_size: 0.01}
"""
SLIPS = [
    (DYNAMICS, "  drift:\n", "  drift\n", 16, "put a colon behind the key: `drift: ...`"),
    (DYNAMICS, "D: [[0, 0],", "D: [0, 0],", 11, "brackets around its rows: `D: [[0, 0], ...]`"),
    (DYNAMICS, "[0, C]]", "[0, C]]]", 12, "found `]`, which closes no bracket leave it out"),
    (DYNAMICS, "  r: {shape: d}", "  r: shape: d", 4, "write `r: {shape: d}`"),
    (DYNAMICS, "C @ inv", "gamma @ inv", 18, "declare it under parameters, or write gamma(...)"),
    (DYNAMICS, "-grad(U, theta)", "-grad(U)", 18, "write grad(s, b), b the block by which"),
    (DYNAMICS, "-grad(U, theta)", "-grad U", 18, "write grad(U, b), b a block"),
    (DYNAMICS, "r.T @", "r' @", 10, "A.T for a transpose"),
    (DYNAMICS, "inv(M) @ r / 2", "M^-1 @ r / 2", 10, "inv(A) for an inverse"),
    (DYNAMICS, "inv(M) @ r / 2", "inverse(M) @ r / 2", 10, "write inv(A)"),
    (DYNAMICS, "positive definite", "spd", 6, "did you mean `positive definite`?"),
    (DYNAMICS, "positive semidefinite", "psd", 7, "did you mean `positive semidefinite`?"),
    (DYNAMICS, "parameters:", "paramters:", 5, "did you mean `parameters`?"),
    (DYNAMICS, "@ inv(M) @ r\n", "@ inv(M) r\n", 18, "or @ for a product of matrices"),
    (TARGET, "domain: positive", "is: positive", 4, "here it is called `domain`"),
    (TARGET, "log_likelihood:", "log_likelihod:", 9, "did you mean `log_likelihood`?"),
    (TARGET, "y: {shape: N}", "y: N", 7, "write `y: {shape: N}`"),
    (TARGET, "y: {shape: N}", "y:{shape: N}", 7, "put a space behind the colon: `y: ...`"),
    (BUILD, "{name: euler}", "baobab", 5, "write `scheme: {name: baoab}`"),
    (BUILD, "{name: euler}", "{split: B/2 A B/2}", 5, "write a list: [B/2, A, B/2]"),
    (BUILD, "run:", "runs:", 8, "did you mean `run`?"),
    (BUILD, "step_size", "stepsize", 8, "here it is called `step_size`"),
    (BUILD, "reg.yaml", "reg.yml", 3, "did you mean `reg.yaml`?"),
    (BUILD, "reg.yaml", "reg", 3, "did you mean `reg.yaml`?"),
    (BUILD, "0.01", "O.01", 8, "did you mean `0.01`?"),
    (BUILD, "{step_size: 0.01}", "{step_size: 0.01, draws: 1O0}", 8, "did you mean `100`?"),
    (BUILD, "variant: full", "variant: full\nsizes: d=2", 7, "write `sizes: {d: 2}`"),
    (TARGET, "x @ theta", "math.exp(x @ theta)", 9, "write exp(...)"),
    (TARGET, "log_prior:", "assume: [normalizable]\nlog_prior:", 8, "did you mean `normalisable`?"),
    (BUILD, "M: I", "m: I", 4, "did you mean `M`?"),
    (BUILD, "bind: {M: I}\n", "", 2, "`M: {value: ...}`, or bind it"),
    (BUILD, "x: [", "X: [", 7, "did you mean `x`?"),
    (BUILD, "{name: euler}", "{splt: [B/2, A, B/2]}", 5, "did you mean `split`?"),
    (BUILD, "{name: euler}", "[B/2, A, B/2]", 5, "write `scheme: {split: [B/2, A, B/2]}`"),
    (DYNAMICS, "[[0, 0],", "[[O, 0],", 11, "did you mean 0 (zero)?"),
    (DYNAMICS, "- C @", "- V(theta) @", 18, "`functions: {V: {of: theta}}`, a matrix with `shape: [d, d]`"),
    (DYNAMICS, "of: theta", "of: tehta", 9, "did you mean `theta`?"),
    (DYNAMICS, "r.T @ inv(M) @ r", "inv(M) r", 10, "write (...)*r, or @"),
    (DYNAMICS, "r.T @ inv(M) @ r", "|r|**2", 10, "norm2(v)"),
    (DYNAMICS, "r.T @ inv(M) @ r", "r**2", 10, "norm2(v)"),
    (DYNAMICS, "-grad(U, theta)", "-grad(theta, U)", 18, "grad(U, theta)"),
    (DYNAMICS, "M: {shape: [d, d]", "M: {shape: (d x d)", 6, "a matrix is [rows, columns]"),
    (TARGET, "normal(theta, 0, 5)", "theta ~ normal(0, 5)", 8, "add `normal(theta, 0, 1)`"),
    (TARGET, "y: {shape: N}", "y: {shape: N, in: {0, 1}}", 7, "write brackets: `[0, 1]`"),
]


@pytest.mark.parametrize(("document", "right", "wrong", "line", "says"), SLIPS)
def test_a_slip_is_one_fault_on_its_line(
    document: str, right: str, wrong: str, line: int, says: str, tmp_path: Path
) -> None:
    assert right in document
    (tmp_path / "reg.yaml").write_text(TARGET)
    (tmp_path / "own.yaml").write_text(document.replace(right, wrong, 1))
    with pytest.raises(DocumentError) as caught:
        load(tmp_path / "own.yaml")
    (fault,) = caught.value.faults
    assert fault.where.line == line
    assert says in f"{fault.problem} {fault.hint}"
