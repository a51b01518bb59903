"""Python processes that start with their libraries imported: a parent that has them forks for every one.

`python -m recipe_compiler check FILE` imports for longer than it computes. What is started here has the same arguments,
environment, folder, streams, signals and exit code; threads are waited for, what is registered for the end is done.
What differs is the start: the seed of hashes is that of the parent, and the options of the interpreter are. A test of
either starts a new one. And that modules are not taken apart at the end, which would copy all that the parent has.

The parent is `warm.py PATH MODULE...`, which listens at PATH until its input ends. What a test starts in the place of
Python is `warm_client.py PATH ARGUMENTS...`: it sends what it was given, its open streams too, passes signals on and
ends as the fork does.
"""

import array
import atexit
import gc
import importlib
import io
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

CLIENT = Path(__file__).with_name("warm_client.py")
LIBRARIES = (
    "arviz_stats.accessors", "clarabel", "flint", "h5netcdf.legacyapi", "json", "multiprocessing.connection",
    "multiprocessing.popen_fork", "numba", "pyarrow.pandas_compat", "pydantic.type_adapter", "rich.console",
    "rich.table", "ruamel.yaml", "scipy.linalg", "scipy.optimize", "sympy", "typer", "xarray",
)  # fmt: skip
"""What commands import of others; without our own, for copies of the package."""
OWN = (
    *LIBRARIES, "recipe_compiler.audit.of_build", "recipe_compiler.cli", "recipe_compiler.pipeline",
    "recipe_compiler.commands.check", "recipe_compiler.commands.compile", "recipe_compiler.commands.derive",
    "recipe_compiler.commands.run", "recipe_compiler.explain.repair.repairs", "recipe_compiler.explain.samples.samples",
    "recipe_compiler.readback.of_build", "recipe_compiler.report.check", "recipe_compiler.report.in_builds",
    "recipe_compiler.spec.read_build", "recipe_compiler.spec.read_dynamics", "recipe_compiler.spec.read_scheme",
    "recipe_compiler.spec.read_target",
)  # fmt: skip


@contextmanager
def warm_python(modules: tuple[str, ...]) -> Generator[list[str]]:
    """Yield what a command begins with instead of `sys.executable`."""
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(
            [sys.executable, str(Path(__file__)), at := f"{folder}/socket", *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        ) as parent,
    ):
        assert parent.stdin is not None
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n", "the parent of warm processes ended"
        try:
            yield [sys.executable, "-I", "-S", str(CLIENT), at]
        finally:
            parent.stdin.close()


@dataclass(frozen=True, slots=True)
class Request:
    """A process to be started."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    streams: dict[int, int]
    """The streams that are open, and the descriptors that they are here."""


def _received(connection: socket.socket) -> Request:
    descriptors = array.array("i")
    size = int.from_bytes(_exactly(connection, 4), "big")
    _, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_LEN(3 * descriptors.itemsize))
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            descriptors.frombytes(data[: len(data) - len(data) % descriptors.itemsize])
    said = json.loads(_exactly(connection, size))
    streams = dict(zip(said["streams"], descriptors, strict=True))
    return Request(said["arguments"], said["environment"], said["folder"], streams)


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = connection.recv(size - len(found))
        if not more:
            raise ConnectionError("a client went away while it spoke")
        found += more
    return found


def _serve(path: str) -> Request | None:
    """Fork for every client, and tell it how the fork ended. Returns in forks, with what to be; in the parent None."""
    children: dict[int, socket.socket] = {}
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    wake.setblocking(False)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening, selectors.DefaultSelector() as selector:
        listening.bind(path)
        listening.listen(64)
        for one in (listening, wake, sys.stdin):
            selector.register(one, selectors.EVENT_READ)
        os.write(1, b"ready\n")
        while True:
            for key, _ in selector.select():
                match key.fileobj:
                    case io.TextIOBase():
                        return None
                    case one if one is wake:
                        wake.recv(4096)
                        _bury(children, selector)
                    case one if one is listening:
                        request = _accept(listening, children, selector)
                        if request is not None:
                            for other in (wake, woken, *children.values()):
                                other.close()
                            return request
                    case gone if isinstance(gone, socket.socket):  # clients say no more, so this one was ended
                        for child in [pid for pid, client in children.items() if client is gone]:
                            os.kill(child, signal.SIGKILL)
                        selector.unregister(gone)
                    case _:
                        pass


def _accept(
    listening: socket.socket, children: dict[int, socket.socket], selector: selectors.BaseSelector
) -> Request | None:
    """Fork for the next client; return what it asks for in the fork."""
    connection, _ = listening.accept()
    try:
        request = _received(connection)
    except ConnectionError:
        connection.close()
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads beside a fork: libraries have idle ones
        pid = os.fork()
    if pid == 0:
        connection.close()
        return request
    for descriptor in request.streams.values():
        os.close(descriptor)
    children[pid] = connection
    selector.register(connection, selectors.EVENT_READ)
    with suppress(OSError):
        connection.sendall(pid.to_bytes(4, "big"))
    return None


def _bury(children: dict[int, socket.socket], selector: selectors.BaseSelector) -> None:
    """Tell the clients whose forks have ended how."""
    while children:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        connection = children.pop(pid)
        with suppress(KeyError):
            selector.unregister(connection)
        with suppress(OSError):
            connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
        connection.close()


def _become(request: Request) -> None:
    """Be what a new process would be: signals, environment, folder, streams."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(request.environment)
    os.chdir(request.folder)
    for stream in range(3):
        if stream in request.streams:
            os.dup2(request.streams[stream], stream)
        else:
            os.close(stream)
    for descriptor in request.streams.values():
        os.close(descriptor)
    sys.stdin = sys.__stdin__ = _stream(0, "r")
    sys.stdout = sys.__stdout__ = _stream(1, "w")
    sys.stderr = sys.__stderr__ = _stream(2, "w")
    if "numba" in sys.modules:
        importlib.import_module("numba.core.config").reload_config()


def _stream(number: int, mode: str) -> io.TextIOWrapper | None:
    """Return a standard stream as the interpreter makes it when it starts; None where it is closed."""
    try:
        raw = io.FileIO(number, mode, closefd=False)
    except OSError:
        return None
    raw.name = f"<{('stdin', 'stdout', 'stderr')[number]}>"
    errors = "backslashreplace" if number == 2 else "strict"
    made = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
    lines = number == 2 or raw.isatty()
    return io.TextIOWrapper(made, "utf-8", errors, newline="\n" if mode == "w" else None, line_buffering=lines)


def _run(arguments: list[str], path: list[str]) -> None:
    """Run what Python's command line names: `-m MODULE`, `-c TEXT` or a file."""
    given = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    what, *rest = arguments
    if what == "-m":
        sys.path[:] = [os.getcwd(), *given, *path]
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif what == "-c":
        sys.path[:] = ["", *given, *path]
        sys.argv = ["-c", *rest[1:]]
        module = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(rest[0], "<string>", "exec"), vars(module))
    else:
        sys.path[:] = [str(Path(what).parent), *given, *path]
        sys.argv = arguments
        runpy.run_path(what, run_name="__main__")


def _end(code: object) -> None:
    """End as the interpreter does; returns where it is to say itself what is amiss: of a code, or of a stream."""
    threading._shutdown()
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        return
    with suppress(OSError, ValueError):
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit((code or 0) & 0xFF)


def _prepare_jit() -> None:
    """Have what the jit loads when it first compiles, or finds compiled code: half a second of every process."""
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def _main() -> None:
    own = {str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    for module in sys.argv[2:]:
        importlib.import_module(module)
    if "numba" in sys.modules:
        _prepare_jit()
    path = [one for one in sys.path if one not in own]
    gc.freeze()  # so that forks do not look it over, which would copy it
    request = _serve(sys.argv[1])
    if request is not None:
        _become(request)
        try:
            _run(request.arguments, path)
        except SystemExit as end:
            _end(end.code)
            raise
        _end(None)


if __name__ == "__main__":
    _main()
