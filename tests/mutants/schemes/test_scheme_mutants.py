"""Wrong words are refuted again without the compiler; their witnesses are in `tests/documents/mutants/schemes.yaml`."""

import json
from pathlib import Path

import pytest
from reports import certificate_of, report

from recipe_compiler import recheck
from recipe_compiler.verdict import Verdict


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.yaml")), ids=lambda path: path.stem)
def test_it_is_refuted_again_without_the_compiler(path: Path) -> None:
    found = dict(recheck.recheck(json.loads(certificate_of(path))))
    assert set(found.values()) >= {"rechecked: exactly"}
    assert {one.id for one in report(path).findings if one.verdict is Verdict.REFUTED} <= found.keys()
