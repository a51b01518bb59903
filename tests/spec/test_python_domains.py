"""What a SymPy symbol says of a coordinate is its domain, and is never dropped."""

import pytest
from sympy import log, symbols

from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.report.check import check
from recipe_compiler.spec.python import state_dynamics
from recipe_compiler.verdict import Verdict


def test_a_positive_symbol_is_a_positive_block() -> None:
    x, a = symbols("x a", positive=True)
    dynamics = state_dynamics(name="cir", state=[x], H=x - (a - 1) * log(x), D=[[x]], Q=[[0]])
    assert dynamics.declarations.blocks[0].domain.name is DomainName.POSITIVE
    findings = {finding.id: finding.verdict for finding in check(dynamics).findings}
    assert findings["d_psd"] is findings["stationary"] is Verdict.PROVED
    assert "boundary" in findings


def test_a_kind_that_is_no_domain_is_a_fault() -> None:
    x = symbols("x", nonzero=True, real=True)
    with pytest.raises(DocumentError, match="nonzero, expected a domain"):
        state_dynamics(name="f", state=[x], H=x**2 / 2, D=[[1]], Q=[[0]])
