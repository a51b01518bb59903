"""Hostile inputs that are more than one document: commands with their files, all of which have to be refused."""

import io
import os
import pickle
import socket
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from cases import Bomb

PLAIN = "name: n\nstate: {x: {}}\nH: x**2\nD: [[1]]\nQ: [[0]]\n"
TARGET = "name: t\nstate: {x: {}}\ndata: {u: {shape: N}}\nlog_prior: -x**2\nlog_likelihood: -(u - x)**2\n"
BUILD = """name: b
dynamics: d.yaml
target: t.yaml
scheme: {name: euler}
variant: full
data: {file: data.csv, u: u}
run: {step_size: 0.01, draws: 20, warmup: 5, chains: 1, thin: 1, seed: 1}
"""
PARTS = {
    "n.yaml": PLAIN,
    "d.yaml": "name: s\nstate: {x: {}}\nfunctions: {U: {of: x, role: potential}}\nH: U(x)\nD: [[1]]\nQ: [[0]]\n",
    "t.yaml": TARGET,
    "b.yaml": BUILD,
    "data.csv": "u\n1\n2\n3\n",
}
"""What lies in the folder of every try."""
Content = str | bytes | Callable[[], str]
"""Of a file; what is large is made when it is written."""


@dataclass(frozen=True)
class Try:
    """A command and what differs of its files."""

    name: str
    arguments: tuple[str, ...]
    files: dict[str, Content]
    allowed: tuple[int, ...] = (2,)


def laid_out(folder: Path, files: dict[str, Content]) -> None:
    """Write the files of a try beside names that lead elsewhere."""
    for name, content in (PARTS | files).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        made = content() if callable(content) else content
        (folder / name).write_bytes(made if isinstance(made, bytes) else made.encode("utf-8", "surrogateescape"))
    for name, to in {"loop": "loop", "one": "two", "two": "one", "dangling": "gone", "zero": "/dev/zero"}.items():
        (folder / f"{name}.yaml").symlink_to(to if "/" in to else f"{to}.yaml")
    for name in ("fifo.yaml", "fifo.py"):
        os.mkfifo(folder / name)
    (folder / "folder.yaml").mkdir()
    with socket.socket(socket.AF_UNIX) as one, chdir(folder):  # the names of sockets are short
        one.bind("socket.yaml")


def check(name: str, text: Content, *allowed: int, file: str = "own.yaml") -> Try:
    return Try(name, ("check", file), {file: text}, allowed or (2,))


def run(name: str, *options: str, build: str = BUILD, **files: Content) -> Try:
    """Return a run of a small build; `data_csv` is data.csv."""
    named = {key.replace("_", "."): content for key, content in files.items()}
    return Try(name, ("run", "b.yaml", "--allow-undecided", *options), {"b.yaml": build, **named})


def documents() -> Iterator[Try]:
    """Yield documents that hold themselves, or have no end."""
    for length in (1, 2, 5):
        texts = [BUILD.replace("d.yaml", f"b{(k + 1) % length}.yaml") for k in range(length)]
        files = {f"b{k}.yaml": text.replace("t.yaml", f"b{(k + 1) % length}.yaml") for k, text in enumerate(texts)}
        yield from (Try(f"a cycle of {length}, {one}", (one, "b0.yaml"), files) for one in ("check", "compile", "run"))
    yield check("a cycle of an alias", "name: n\nstate: &s {x: *s}\nH: 1\n")
    yield check("a cycle of a merge", "a: &a {<<: *a}\n")
    yield check("a cycle of Python", "import recipe_compiler\nspec = recipe_compiler.load(__file__)\n", file="own.py")
    yield check("10 MB on a line", lambda: f"{PLAIN}title: {'a' * 10**7}\n")
    yield check("10 MB of comments", lambda: PLAIN + "# a comment\n" * 900_000)
    yield check("10 MB of spaces", lambda: PLAIN + " " * 10**7)
    yield check("1 MB less a byte of comments", PLAIN + "#" * (999_999 - len(PLAIN)), 0, 1, 3)
    yield check("a formula of 10 MB", lambda: PLAIN.replace("x**2", "+".join(["x"] * 5_000_000)))
    yield check("brackets in brackets", PLAIN.replace("x**2", "(" * 100_000 + "x" + ")" * 100_000))
    yield check("indented lists", "".join("  " * n + "- \n" for n in range(5000)))
    yield check("quotes without an end", PLAIN + 'title: "' + "a\n" * 10_000)
    vector = PLAIN.replace("x**2", "x.T @ x").replace("[[1]]", "[[I]]")
    yield check("a size of 10**9", vector.replace("{x: {}}", "{x: {shape: 1000000000}}"), 0, 1, 3)
    for size in ("1000000001", "10**30", "0", "-1", "1.5", "nan", "1e400"):
        yield check(f"a size of {size}", vector.replace("{x: {}}", f"{{x: {{shape: {size}}}}}"))


def names() -> Iterator[Try]:
    """Yield names of files that lead elsewhere."""
    odd = ("fifo.yaml", "fifo.py", "loop.yaml", "one.yaml", "dangling.yaml", "zero.yaml", "folder.yaml", "socket.yaml")
    system = ("/dev/zero", "/dev/null", "/dev/random", "/dev/full", "/proc/self/mem", "/", "")
    for name in (*odd, *system, "a" * 300 + ".yaml", "n.yaml:x", "\udcff.yaml"):
        yield Try(f"a document at {name[:20]!a}", ("check", name), {})
    for name in (*odd[:-1], "/dev/zero", "none.yaml", "../d.yaml"):
        yield run(f"dynamics at {name}", build=BUILD.replace("d.yaml", name))
    for name in ("./n.yaml", "/", ""):
        yield Try(f"a certificate at {name!r}", ("check", "n.yaml", "--certificate", name), {})
    for command in ("compile", "run"):
        for name in ("/dev/null", "/proc/nothing", "b.yaml/x"):
            yield Try(f"{command} into {name}", (command, "b.yaml", "--allow-undecided", "-o", name), {})


TABLES = {
    "quoted": 'u\n"1\n2\n3\n', "hex": "u\n0x10\n", "NUL": b"u\n1\0\n", "UTF-16": "u\n1\n".encode("utf-16"),
    "Latin-1": b"u\n1\n\xe9\n", "too large": "u\n1e400\n", "binary": bytes(range(256)) * 100,
    "wide": ",".join(f"c{k}" for k in range(100_000)) + "\n" + ",".join(["1"] * 100_000) + "\n",
    "a formula": 'u\n=cmd|"/C touch CANARY"!A0\n',
}  # fmt: skip
PARQUET = {
    "garbage": bytes(range(256)) * 50, "the magic alone": b"PAR1PAR1", "empty": b"", "CSV": b"u\n1\n",
    "a footer too long": b"PAR1" + bytes(40) + b"\xff\xff\xff\x7fPAR1",
}  # fmt: skip
STATE = "recipe_compiler checkpoint"
STATES = {
    "garbage": bytes(range(256)), "empty": b"", "a pickle": pickle.dumps(Bomb()), "cut": f"{STATE} 1\nab",
    "another version": f"{STATE} 99\n00\n{{}}", "no digest": f"{STATE} 1\n",
}  # fmt: skip


def npy(array: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def forged(header: str) -> bytes:
    """Return an array file of 24 bytes with a header of one's own."""
    whole = header.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(whole).to_bytes(2, "little") + whole + bytes(24)


GOOD = npy(np.ones(3))
HEADER = "{'descr': '<f8', 'fortran_order': False, 'shape': (%s,), }"
ARRAYS = {
    "objects": npy(np.array([Bomb()], dtype=object)), "a pickle": pickle.dumps(Bomb()), "truncated": GOOD[:-5],
    "half a header": GOOD[:20], "no magic": GOOD[6:], "version 9": GOOD[:6] + b"\x09" + GOOD[7:], "empty": b"",
    "complex": npy(np.ones(3) * 1j), "dates": npy(np.array(["2020-01-01"], "M8[D]")), "text": npy(np.array(["a"])),
    "four axes": npy(np.ones((1, 1, 1, 1))), "no rows": npy(np.ones(0)),
    "nan": npy(np.array([1.0, np.nan])), "inf": npy(np.array([1.0, np.inf])),
    **{f"a shape of {size}": forged(HEADER % size) for size in ("1" + "0" * 18, "-1", "3, 0", "10**9", "True")},
    "code": forged("__import__('os').system('touch CANARY')"), "brackets": forged("(" * 5000),
    "no objects": forged("{'descr': 'O', 'fortran_order': False, 'shape': (3,)}"),
}  # fmt: skip


def data() -> Iterator[Try]:
    """Yield data, values and checkpoints that are none, and options that no run can have."""
    for name, table in TABLES.items():
        yield run(f"CSV: {name}", data_csv=table)
    for name, table in PARQUET.items():
        yield run(f"Parquet: {name}", build=BUILD.replace("data.csv", "data.parquet"), data_parquet=table)
    valued = BUILD.replace("scheme:", "parameters: {c: {value: c.npy}}\nscheme:")
    of_c = TARGET.replace("data:", "parameters: {c: {shape: 2}}\ndata:")
    for name, array in ARRAYS.items():
        yield run(f"npy: {name}", build=BUILD.replace("csv, u: u", "npy, u: '0'"), data_npy=array)
        yield run(f"npy as a value: {name}", build=valued, t_yaml=of_c, c_npy=array)
    for name, state in STATES.items():
        yield run(f"checkpoint: {name}", "--resume", **{"runs/b.checkpoint/state": state})
    for name in ("b.checkpoint", "b.checkpoint/state/x", "b.checkpoint/lock/x"):
        yield run(f"checkpoint: {name}", "--resume", **{f"runs/{name}": b""})
    for option in ("--step-size", "--draws", "--chains", "--seed", "--cores", "--batch-size"):
        for value in ("nan", "inf", "-1", "1e400", "", "\u0661x"):
            yield run(f"{option} {value!a}", option, value)


PYTHON = {
    "an end": "import os\nos._exit(0)", "an end with 1": "import os\nos._exit(1)", "an exit": "raise SystemExit(0)",
    "an interrupt": "raise KeyboardInterrupt", "a generator's end": "raise GeneratorExit", "a syntax error": "def",
    "a crash": "import os\nos.abort()", "no memory": "x = []\nwhile True:\n    x.append(bytearray(10**8))\n",
    "closed streams": "import os\nfor n in range(3, 20):\n    os.close(n)\n", "NUL": "x = 1\0", "Latin-1": "# \udce9",
    "an error without words": "raise Exception", "a warning": "import warnings\nwarnings.warn('x')",
    "a module": "spec = 1", "itself": "import own",
    "a thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(1,)).start()",
    "a cycle of lists": "import recipe_compiler\nD = [[1]]\nD[0][0] = D\nx = recipe_compiler.scalar('x')\n"
    "spec = recipe_compiler.Dynamics(name='s', state=[x], H=x, D=D)\n",
}  # fmt: skip
"""Files that do not end as they should. They are code, and run; what they do is no verdict."""
USAGE = (
    "check --certificate", "check n.yaml n.yaml --certificate c.json", "derive n.yaml n.yaml", "compile n.yaml",
    "schema nothing", "lint n.yaml", "lint n.py", "lint :", "lint n.py:", "lint n.py:a.b", "lint n.py:step --map x",
    "lint n.py:step --map =y", "--json check n.yaml", "new", "new a b", f"check {'-' * 1000}",
)  # fmt: skip


def code() -> Iterator[Try]:
    for name, text in PYTHON.items():
        yield Try(f"Python: {name}", ("check", "own.py:spec"), {"own.py": text})
        yield Try(f"lint: {name}", ("lint", "own.py:step"), {"own.py": text}, (2, 3))
    yield from (Try(f"usage: {line[:40]}", tuple(line.split()), {}) for line in USAGE)


TRIES = (*documents(), *names(), *data(), *code())
