"""The texts that shipped builds compile to, each emitted once in a run of the tests."""

import os
from functools import cache
from pathlib import Path

import pytest
from loaders import load_build
from reports import FOLDER

from recipe_compiler.pipeline import compile_build
from recipe_compiler.readback import child_process
from recipe_compiler.run.atomic_write import write_whole

ROOT = Path(__file__).parents[2]
BUILDS = sorted((ROOT / "specs" / "builds").glob("*.yaml"))


@cache
def shipped_text(name: str) -> str:
    """Return the file that a shipped build compiles to; it is read back in `tests/readback` alone."""
    kept = Path(os.environ[FOLDER]) / "emitted" / f"{name}.py"
    if not kept.exists():
        kept.parent.mkdir(exist_ok=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(child_process, "read_all", lambda *_: None)
            text = compile_build(load_build(ROOT / "specs" / "builds" / f"{name}.yaml")).file
        write_whole(kept, text.encode())
    return kept.read_text(encoding="utf-8")
