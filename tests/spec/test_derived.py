"""`derived:` of targets and builds: what its formulas may name, and how they are called."""

from pathlib import Path

import pytest

import recipe_compiler as rc

TARGET = """format: 1
name: schools
state:
  mu: {shape: scalar}
  tau: {shape: scalar, domain: positive, transform: log}
  eta: {shape: J}
data:
  y: {shape: N}
parameters:
  s: {is: positive, default: 2}
log_prior: -mu**2/2 - eta.T @ eta/2 - tau**2/2
log_likelihood: -(y - mu - tau*sum(eta))**2/2
"""


def test_a_build_derives_under_other_names_than_its_target(tmp_path: Path) -> None:
    file = tmp_path / "target.yaml"
    file.write_text(TARGET + "derived: {theta_s: mu*ones + tau*eta}\n")
    sghmc = Path(__file__).parents[2] / "specs/dynamics/sghmc.yaml"
    given = {
        "dynamics": sghmc,
        "target": file,
        "sizes": {"J": 3, "d": 5},
        "step_size": 0.1,
        "bind": {"M": "I", "C": "I"},
    }
    build = rc.Build(name="b", derived={"first": "eta[0]*s*J"}, **given)
    assert [name for name, _ in (*build.document.target.derived, *build.document.derived)] == ["theta_s", "first"]
    for name in ("theta_s", "theta", "eta"):
        with pytest.raises(rc.ModelError, match=f"derived.{name}  found `{name}`, which is declared already"):
            rc.Build(name="b", derived={name: "eta[0]"}, **given)
