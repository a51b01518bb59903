"""What all tests share: golden texts, what one run found out, and compiled code, kept from one run to the next."""

import difflib
import fcntl
import gc
import multiprocessing
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from uuid import uuid4
from zlib import crc32

# Threads of BLAS wait for work by computing, some 20 ms after each product of matrices however small, and
# each worker has one processor. Said before NumPy is imported, for all workers and their children.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["SYMPY_CACHE_SIZE"] = "20000"  # as the command does

import pytest
from large_pages import LargePages
from plain_modules import compiled_modules, plain_modules
from processor_time import noted
from reports import FOLDER, decided, granted, read_back

from recipe_compiler import pipeline
from recipe_compiler.advise import make_plan, plan_run
from recipe_compiler.cache import Cache
from recipe_compiler.cli import NEW_OBJECTS
from recipe_compiler.readback import child_process
from recipe_compiler.readback.child_process import Reading, read_all
from recipe_compiler.report import check as report

Golden = Callable[[Path, str], None]
Readings = Callable[[], Iterable[Reading]]
PAGES = LargePages()

PLAIN = {"advise", "cli", "front", "run"}
"""Folders whose tests run chains of a few draws, in plain Python."""

KEPT_SECONDS = 7 * 24 * 3600
"""How long compiled code of the tests is kept: texts change, and what they were once is of no use."""

DECIDING = {"errata", "explain", "golden", "lint", "mutants", "readback", "recheck", "report", "soundness", "verify"}
"""Folders of tests that decide in forks of their worker: each costs the more the more the worker has grown."""
RUNNING = ("advise", "posteriors", "properties", "statistics", "run", "scheme", "emit", "front", "cli", "targets")
"""Folders of tests that compile emitted modules, 10 MB each that a worker keeps; those that take longest first."""


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder of this run, and keep compiled code with pytest's own cache, for all workers and their children.

    Modules are kept by their content, and the jit asks for its own version and the processor's besides.
    """
    gc.set_threshold(NEW_OBJECTS)  # as the command does
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="recipe_compiler_tests_")
        config.add_cleanup(lambda: shutil.rmtree(os.environ.pop(FOLDER), ignore_errors=True))
    if "NUMBA_CACHE_DIR" in os.environ:
        return
    folder = config.rootpath / ".pytest_cache" / "compiled"
    old = time.time() - KEPT_SECONDS
    for found in (*folder.glob("*_*"), *folder.glob("recipe_compiler/*")):
        if found.stat().st_mtime < old:
            shutil.rmtree(found, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, object, object]:
    """Let one worker after another import a file of tests: what the first compiles, with assertions, others read."""
    if not isinstance(collector, pytest.Module):
        return (yield)
    with (Path(os.environ[FOLDER]) / "imported").open("w") as one_after_the_other:
        fcntl.lockf(one_after_the_other, fcntl.LOCK_EX, 1, crc32(collector.nodeid.encode()))
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, object, object]:
    """Decide while workers are small, compile after that; tests that take longest do not come last.

    Workers begin with a half of the tests each, and take from the end of what another has left. Hypothesis reads the
    constants of all our sources here, and keeps them in files: one worker does that for 10 s, and others find them.
    """
    items.sort(key=_turn)
    with (Path(os.environ[FOLDER]) / "collected").open("w") as one_after_the_other:
        fcntl.flock(one_after_the_other, fcntl.LOCK_EX)
        return (yield)


def _turn(item: pytest.Item) -> int:
    folders = item.path.parts
    running = [place for place, folder in enumerate(RUNNING, 2) if folder in folders]
    return 0 if DECIDING.intersection(folders) else running[0] if running else 1


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden` and `--processor-time`."""
    parser.addoption("--update-golden", action="store_true", help="accept changes of golden texts, and show them")
    parser.addoption("--processor-time", metavar="FILE", help="write what each test takes, one line a test")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note what a test takes with its fixtures, where that is asked for, and see to the memory of this process.

    Forks of it, most of which decide a document, cost the less the more it has grown. A command that ends gives up
    looking for cycles: this process goes on with it. Not by fixtures, which cost more than that.
    """
    file = item.config.getoption("--processor-time")
    with noted(file, item.nodeid) if file else nullcontext():
        PAGES.follow()
        found = yield
        gc.unfreeze()
        return found


@pytest.fixture(autouse=True)
def _empty_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Let commands find nothing that is known from before: neither the user's cache nor that of another test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache" / uuid4().hex))


@pytest.fixture
def known_verdicts(_empty_cache: None, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Let commands find what others found in this run of the tests: for tests of what comes after the verdicts.

    Those that read nothing back have a folder of their own: there texts are said to be read that were not.
    """
    own = "unread" if "without_reading_back" in request.fixturenames else ""
    monkeypatch.setenv("XDG_CACHE_HOME", os.path.join(os.environ[FOLDER], own))


def _find_once(put: Callable[[object, str, object], None]) -> None:
    """Let compilations that are given no cache find what others of this run found: verdicts, and texts read back.

    Not where a test puts something in the place of reading back: of that nothing is kept, and nothing is found.
    """
    read = pipeline._read_unless_known

    def once(name: str, to_read: Readings, key: Callable[[], tuple[str, ...]], cache: Cache) -> None:
        shared = cache.folder is None and child_process.read_all is read_all
        read(name, to_read, key, read_back() if shared else cache)

    for module in (pipeline, make_plan, plan_run):
        put(module, "check_once", decided)
    put(pipeline, "_read_unless_known", once)


@pytest.fixture(scope="session", autouse=True)
def _all_tests() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        _find_once(patch.setattr)
        yield


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Take SIGINT and SIGTERM as a program of a terminal does, and the processes started here too.

    What a script starts in the background finds SIGINT ignored, and so do its own processes.
    """
    handlers = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def taken_for_granted() -> Iterator[None]:
    """Compile builds whose claims are not decided: for tests of what a module does, not of what is true of it."""
    with granted():
        yield


@pytest.fixture
def without_reading_back() -> Iterator[None]:
    """Compile builds without reading their text back: for tests of what a module does, not of what is found in it.

    That every build that is shipped, and every shape of a text, is read back is tested in `readback`.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(child_process, "read_all", lambda *_: None)
        yield


@pytest.fixture
def without_jit() -> Iterator[None]:
    """Import emitted modules as plain Python: for tests that ask for few gradients and steps."""
    with plain_modules():
        yield


@pytest.fixture
def with_jit(without_jit: None) -> Iterator[None]:
    """Let the jit compile emitted modules all the same: for tests of it that are not slow."""
    with compiled_modules():
        yield


@pytest.fixture(scope="module", autouse=True)
def _plain_by_default(request: pytest.FixtureRequest) -> Iterator[None]:
    """Import emitted modules as plain Python in some folders, but for files whose `pytestmark` says `with_jit`."""
    is_plain = request.path.parent.name in PLAIN and not any(
        "with_jit" in mark.args for mark in request.node.iter_markers("usefixtures")
    )
    with plain_modules() if is_plain else nullcontext():
        yield


@pytest.fixture(autouse=True)
def _compiled_if_slow(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the jit compile modules for tests that are slow, which draw much."""
    is_slow = request.path.parent.name in PLAIN and request.node.get_closest_marker("slow") is not None
    with compiled_modules() if is_slow else nullcontext():
        yield


@pytest.fixture(scope="module")
def without_explanations() -> Iterator[None]:
    """Check documents without a search for repairs of what is refuted: for tests of verdicts alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "list_explanations", lambda *_: ())
        yield


def _compute() -> None:
    while True:
        pass


@pytest.fixture
def busy_machine() -> Iterator[None]:
    """Other programs beside the test, two for every processor, that take all they are given: a third is left to it."""
    fork = multiprocessing.get_context("fork")
    others = [fork.Process(target=_compute, daemon=True) for _ in range(2 * (os.cpu_count() or 1))]
    for other in others:
        other.start()
    yield
    for other in others:
        other.kill()
        other.join()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """A check that a text equals a committed file; with `--update-golden` the file is written and the change shown."""
    update = request.config.getoption("--update-golden")

    def check(path: Path, text: str) -> None:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if text == before:
            return
        lines = difflib.unified_diff(before.splitlines(), text.splitlines(), str(path), "now", lineterm="")
        change = "\n".join(lines)
        if not update:
            pytest.fail(f"{change}\n\naccept with: python -m pytest --update-golden", pytrace=False)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        request.config.get_terminal_writer().line(f"\n{change}")

    return check
