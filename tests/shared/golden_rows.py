"""Rows of committed files of JSON, each of which a test finds again."""

import hashlib
import json
from collections.abc import Collection
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[1] / "golden"
ROOT = GOLDEN.parents[1]


def demand_row(file: str, name: str, found: object, names: Collection[str], request: pytest.FixtureRequest) -> None:
    """Fail where what was found of a name is not what a file holds; accept it with `--update-golden`.

    Rows of names that are no longer among `names` are left out then.
    """
    path = GOLDEN / file
    known = json.loads(path.read_text(encoding="utf-8"))
    if request.config.getoption("--update-golden"):
        known = {one: row for one, row in known.items() if one in names} | {name: found}
        path.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", encoding="utf-8")
    assert found == known.get(name)


def digest_of(said: object) -> str:
    """Return a digest of what is said, wherever the repository lies."""
    text = json.dumps(said, sort_keys=True).replace(f"{ROOT.as_posix()}/", "")
    return hashlib.sha256(text.encode()).hexdigest()
