"""Files that are none, data that hold no numbers, outputs that go over inputs, streams, code and usage."""

import io
import os
import pickle
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from attempt import BUILD, FAULTY, PARTS, PLAIN, PROVED, TARGET, VALUED, Try, run
from cases import Bomb


def streams() -> Iterator[Try]:
    """Streams that are closed, full or read-only."""
    good = (("n.yaml", PLAIN.encode()),)
    for closed in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", "2>/dev/full", "1</dev/null 2>&-"):
        allowed = FAULTY if "1<" in closed else PROVED
        yield Try(f"stream {closed}", ("check", "n.yaml"), allowed, good, redirected=closed)
        yield Try(f"stream {closed}, no file", ("check", "none.yaml"), redirected=closed)
    yield Try("stream full", ("check", "n.yaml"), files=good, redirected=">/dev/full")
    yield Try("stream full, JSON", ("check", "n.yaml", "--json"), files=good, redirected=">/dev/full 2>/dev/full")
    for command in (("--help",), ("--version",), ("schema",)):
        yield Try(f"stream full {command[0]}", command, redirected=">/dev/full")
        yield Try(f"stream closed {command[0]}", command, PROVED, redirected=">&-")


def no_files() -> Iterator[Try]:
    """Names of files that lead elsewhere."""

    def made(folder: Path) -> None:
        os.mkfifo(folder / "fifo.yaml")
        os.mkfifo(folder / "fifo.py")
        (folder / "loop.yaml").symlink_to("loop.yaml")
        (folder / "one.yaml").symlink_to("two.yaml")
        (folder / "two.yaml").symlink_to("one.yaml")
        (folder / "dangling.yaml").symlink_to("gone.yaml")
        (folder / "zero.yaml").symlink_to("/dev/zero")
        (folder / "folder.yaml").mkdir()
        with socket.socket(socket.AF_UNIX) as one:
            before = Path.cwd()
            os.chdir(folder)  # the names of sockets are short
            one.bind("socket.yaml")
            os.chdir(before)

    own = ("fifo.yaml", "fifo.py", "loop.yaml", "one.yaml", "dangling.yaml", "zero.yaml", "folder.yaml", "socket.yaml")
    system = ("/dev/zero", "/dev/null", "/dev/random", "/dev/stdin", "/dev/full", "/proc/self/mem", "/", "")
    for name in (*own, *system, "a" * 300 + ".yaml", "n.yaml:x"):
        yield Try(f"a document at {name[:20]!r}", ("check", name), FAULTY, (("n.yaml", PLAIN.encode()),), made)
    for name in ("fifo.yaml", "loop.yaml", "zero.yaml", "folder.yaml", "/dev/zero", "none.yaml", "../d.yaml"):
        files = ("b.yaml", BUILD.replace("d.yaml", name).encode()), *PARTS
        yield Try(f"dynamics at {name!r}", ("check", "b.yaml"), FAULTY, files, made)

    def unreadable(folder: Path) -> None:
        (folder / "n.yaml").chmod(0)

    allowed = PROVED if os.geteuid() == 0 else FAULTY
    yield Try("a document without permission", ("check", "n.yaml"), allowed, (("n.yaml", PLAIN.encode()),), unreadable)


def settings() -> Iterator[Try]:
    """Options that no run can have."""
    for option in ("--step-size", "--draws", "--chains", "--seed", "--cores", "--batch-size"):
        for value in ("nan", "inf", "-1", "1e400", "", "99999999999999999999", "\u0661x"):
            if (option, value) != ("--step-size", "99999999999999999999"):  # a number like others: it diverges
                yield run(f"{option} {value!a}", option, value)


def tables() -> Iterator[Try]:
    """CSV files that are none, or hold no numbers."""
    good = {"CR ends": b"u\r1\r2\r", "BOM": b"\xef\xbb\xbfu\n1\n2\n", "quoted": b'"u"\n"1"\n"2"\n'}
    bad = {
        "empty": b"",
        "a header alone": b"u\n",
        "ragged": b"u,v\n1,2\n3\n",
        "no such column": b"v\n1\n",
        "text": b"u\nx\n",
        "nan": b"u\n1\nnan\n",
        "inf": b"u\n1\ninf\n",
        "empty cells": b"u,v\n1,\n,2\n",
        "hex": b"u\n0x10\n",
        "underscores": b"u\n1_0\n",
        "Arabic digits": "u\n\u0661\u0662\n".encode(),
        "NUL": b"u\n1\0\n",
        "UTF-16": "u\n1\n".encode("utf-16"),
        "Latin-1": b"u\n1\n\xe9\n",
        "a quote without an end": b'u\n"1\n2\n3\n',
        "a huge cell": b"u\n" + b"1" * 200_000 + b"\n",
        "a number too large": b"u\n1e400\n",
        "a column twice": b"u,u\n1,2\n",
        "binary": bytes(range(256)) * 100,
        "many columns": b",".join(b"c%d" % k for k in range(100_000)) + b"\n" + b",".join([b"1"] * 100_000) + b"\n",
        "a formula": b'u\n=cmd|"/C touch CANARY"!A0\n',
    }
    for name, data in bad.items():
        yield run(f"CSV: {name}", data_csv=data)
    for name, data in good.items():
        yield run(f"CSV: {name}", "--step-size", "0", data_csv=data)


def _npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def arrays() -> Iterator[Try]:
    """Array files that are pickles, damaged, or hold no numbers."""
    good = _npy(np.ones(3))
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"
    forged = [header % size for size in (b"1" + b"0" * 18, b"-1", b"3, 0", b"10**9", b"True")]
    forged += [
        b"__import__('os').system('touch CANARY')",
        b"{'descr': 'O', 'fortran_order': False, 'shape': (3,)}",
        b"(" * 5000,
    ]
    bad = {
        "objects": _npy(np.array([Bomb()], dtype=object)),
        "a pickle": pickle.dumps(Bomb()),
        "truncated": good[:-5],
        "half a header": good[:20],
        "no magic": good[6:],
        "empty": b"",
        "complex": _npy(np.ones(3) * 1j),
        "text": _npy(np.array(["a"])),
        "dates": _npy(np.array(["2020-01-01"], "M8[D]")),
        "four axes": _npy(np.ones((1, 1, 1, 1))),
        "no rows": _npy(np.ones(0)),
        "nan": _npy(np.array([1.0, np.nan])),
        "inf": _npy(np.array([1.0, np.inf])),
        "version 9": good[:6] + b"\x09" + good[7:],
    }
    for k, text in enumerate(forged):
        whole = text + b" " * (118 - len(text)) + b"\n" if len(text) < 118 else text + b"\n"
        bad[f"a forged header {k}"] = b"\x93NUMPY\x01\x00" + len(whole).to_bytes(2, "little") + whole + bytes(24)
    for name, data in bad.items():
        yield run(f"npy: {name}", build=BUILD.replace("data.csv", "data.npy").replace("u: u", "u: '0'"), data_npy=data)
        target = TARGET.replace("data:", "parameters: {c: {shape: 2}}\ndata:").encode()
        yield run(f"npy as a value: {name}", build=VALUED, t_yaml=target, c_npy=data)


def parquet() -> Iterator[Try]:
    """Parquet files that are none."""
    build = BUILD.replace("data.csv", "data.parquet")
    bad = {
        "garbage": bytes(range(256)) * 50,
        "the magic alone": b"PAR1PAR1",
        "empty": b"",
        "a footer too long": b"PAR1" + bytes(40) + b"\xff\xff\xff\x7fPAR1",
        "CSV": b"u\n1\n",
    }
    for name, data in bad.items():
        yield run(f"Parquet: {name}", build=build, data_parquet=data)


def checkpoints() -> Iterator[Try]:
    """Checkpoints that are damaged, or no folders."""
    states = {
        "garbage": bytes(range(256)),
        "empty": b"",
        "a pickle": pickle.dumps(Bomb()),
        "cut": b"recipe_compiler checkpoint 1\nab",
        "another version": b"recipe_compiler checkpoint 99\n00\n{}",
        "no digest": b"recipe_compiler checkpoint 1\n",
    }
    for name, state in states.items():
        files = (*PARTS, ("b.yaml", BUILD.encode()), ("runs/b.checkpoint/state", state))
        yield Try(f"checkpoint: {name}", ("run", "b.yaml", "--allow-undecided", "--resume"), FAULTY, files)
    for name in ("state", "lock"):
        files = (*PARTS, ("b.yaml", BUILD.encode()), (f"runs/b.checkpoint/{name}/x", b""))
        yield Try(f"checkpoint: {name} is a folder", ("run", "b.yaml", "--allow-undecided", "--resume"), FAULTY, files)
    files = (*PARTS, ("b.yaml", BUILD.encode()), ("runs/b.checkpoint", b""))
    yield Try("checkpoint: a file", ("run", "b.yaml", "--allow-undecided", "--resume"), FAULTY, files)


def outputs() -> Iterator[Try]:
    """Results that would go over what they are made from, or into what is no file."""

    def made(folder: Path) -> None:
        (folder / "link.json").symlink_to("n.yaml")
        os.link(folder / "n.yaml", folder / "hard.json")
        (folder / "loop.json").symlink_to("loop.json")
        (folder / "full.json").symlink_to("/dev/full")
        os.mkfifo(folder / "fifo.json")

    for name in (
        "n.yaml",
        "./n.yaml",
        "link.json",
        "hard.json",
        "loop.json",
        "full.json",
        "fifo.json",
        "/dev/full",
        "/dev/null",
        "/dev/stdout",
        "-",
        ".",
        "/",
        "none/c.json",
        "n.yaml/c.json",
        "",
    ):
        files = (("n.yaml", PLAIN.encode()),)
        yield Try(f"a certificate at {name!r}", ("check", "n.yaml", "--certificate", name), FAULTY, files, made)
    for command in ("compile", "run"):
        for name in ("b.yaml", "/dev/null", "/dev/full", "/proc/nothing", "b.yaml/x"):
            files = (*PARTS, ("b.yaml", BUILD.encode()))
            arguments = (command, "b.yaml", "--allow-undecided", "-o", name)
            yield Try(f"{command} into {name!r}", arguments, FAULTY, files)


def python_files() -> Iterator[Try]:
    """Python specifications that do not end as they should. They are code, and run; what they do is no verdict."""
    texts = {
        "a syntax error": "def",
        "an exit": "raise SystemExit(0)",
        "an end": "import os\nos._exit(0)",
        "an end with 1": "import os\nos._exit(1)",
        "an interrupt": "raise KeyboardInterrupt",
        "a generator's end": "raise GeneratorExit",
        "a crash": "import os\nos.abort()",
        "no memory": "x = []\nwhile True:\n    x.append(bytearray(10**8))\n",
        "closed streams": "import os\nfor n in range(3, 20):\n    os.close(n)\n",
        "NUL": "x = 1\0",
        "Latin-1": "# \udce9",
        "an error without words": "raise Exception",
        "a warning": "import warnings\nwarnings.warn('x')",
        "a module": "spec = 1",
        "itself": "import n",
        "a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(1,)).start()",
    }
    for name, text in texts.items():
        data = text.encode("utf-8", "surrogateescape")
        yield Try(f"Python: {name}", ("check", "n.py:spec"), FAULTY, (("n.py", data),))
        yield Try(f"lint: {name}", ("lint", "n.py:step"), frozenset({2, 3}), (("n.py", data),))


def usage() -> Iterator[Try]:
    """Commands that are none."""
    good = (("n.yaml", PLAIN.encode()),)
    for arguments in (
        ("chek", "n.yaml"),
        ("check",),
        ("check", "--frobnicate"),
        ("check", "n.yaml", "n.yaml", "--certificate", "c.json"),
        ("check", "--certificate"),
        ("derive", "n.yaml", "n.yaml"),
        ("compile", "n.yaml"),
        ("run", "n.yaml"),
        ("schema", "nothing"),
        ("lint", "n.yaml"),
        ("lint", "n.py"),
        ("lint", ":"),
        ("lint", "n.py:"),
        ("lint", "n.py:a.b"),
        ("lint", "n.py:step", "--map", "x"),
        ("lint", "n.py:step", "--map", "=y"),
        ("run", "n.yaml", "--tune", "5"),
        ("--json", "check", "n.yaml"),
        ("check", "-" * 1000),
        ("new",),
        ("new", "a", "b"),
        ("check", "\udcff.yaml"),
    ):
        yield Try(f"usage: {' '.join(arguments)[:40]!a}", arguments, FAULTY, good)
