"""Emitted modules are written once, imported, and refused when they are something else."""

from pathlib import Path

import pytest

from recipe_compiler.errors import RunError
from recipe_compiler.run.load_module import load_text

pytestmark = pytest.mark.usefixtures("with_jit")

TEXT = '''"""An emitted module."""

FORMAT = 2
SPEC_DIGEST = "0123"
VARIANT = "full"
REPLACEMENT = False
BLOCKS = (("theta", 0),)
SIZES = ()
PARAMETERS = ()
CONSTANTS = ()
DATA = ()
POTENTIAL_BLOCK = "theta"
ARGUMENTS = ("theta", "eps", "thin", "noise_state", "clipped", "theta_draws")


def prepare(eps):
    return ()


def run(theta, eps, thin, noise_state, clipped, theta_draws):
    return 0


def seed_streams(seed, chains):
    return None, None
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path


def files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def test_the_interface_is_read() -> None:
    module = load_text("one", TEXT)
    assert (module.name, module.digest, module.blocks) == ("one", "0123", (("theta", 0),))


def test_a_text_is_written_once_and_named_after_its_content(folder: Path) -> None:
    load_text("one", TEXT)
    (path,) = files(folder)
    written = path.stat().st_mtime_ns
    load_text("one", TEXT)
    assert files(folder) == [path]
    assert path.stat().st_mtime_ns == written
    load_text("one", TEXT.replace("0123", "4567"))
    assert len(files(folder)) == 2


def test_a_damaged_file_is_written_again(folder: Path) -> None:
    load_text("one", TEXT)
    files(folder)[0].write_text("raise SystemExit")
    assert load_text("one", TEXT).digest == "0123"


def test_the_cache_stays_out_of_the_way_where_home_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/proc/nowhere")
    assert load_text("one", TEXT).digest == "0123"


def test_another_format_is_refused(folder: Path) -> None:
    with pytest.raises(RunError, match="found emission format 99"):
        load_text("other", TEXT.replace("FORMAT = 2", "FORMAT = 99"))


def test_without_compilation_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.config.DISABLE_JIT", 1)
    with pytest.raises(RunError, match="found NUMBA_DISABLE_JIT set, expected numba to compile"):
        load_text("any", "")
