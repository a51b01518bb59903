"""Ctrl-C in a real process: the draws are kept, the file is whole, the exit code says so."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import xarray
from emitted_file import module_of

from recipe_compiler.run.load_module import Emitted

pytestmark = pytest.mark.usefixtures("interruptible")

SCRIPT = """
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, {tests!r})
import conftest as fixtures

from recipe_compiler.run.load_module import load_file
from recipe_compiler.run.sample import sample
from recipe_compiler.run.store import save, to_datatree
from recipe_compiler.run.summary import summarise

module = load_file(Path({module!r}))
build, data = fixtures.make_build(), fixtures.make_data()
said = False


def progress(done, total):
    global said
    if min(done) > 20 and not said:
        said = True
        print("drawing", flush=True)


draws = sample(module, build, replace(build.run, draws=10_000_000, thin=1000), data, progress, cores=2)
tree = to_datatree(draws, build, data, "")
save(tree, Path({out!r}))
print(summarise(tree, draws).warnings[0], flush=True)
sys.exit(130 if draws.interrupted else 0)
"""


@pytest.mark.slow
def test_draws_survive_ctrl_c(full_module: Emitted, tmp_path: Path) -> None:
    out = tmp_path / "draws.nc"
    module = Path(module_of(full_module).__file__ or "")
    script = SCRIPT.format(tests=str(Path(__file__).parent), module=str(module), out=str(out))
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ.copy()
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "drawing\n"
    child.send_signal(signal.SIGINT)
    begin = time.monotonic()
    said, errors = child.communicate(timeout=60)
    assert child.returncode == 130, errors
    assert time.monotonic() - begin < 60
    assert said.startswith("interrupted after ")
    with xarray.open_datatree(out, engine="h5netcdf") as tree:
        theta = tree["posterior"]["theta"].to_numpy()
        assert tree.attrs["interrupted"] == 1
    assert theta.shape[0] == 4
    assert theta.shape[1] > 10
    assert np.isfinite(theta).all()
