"""A command with its files and streams, which is to end as it should whatever is in them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

FAULTY = frozenset({2})
PROVED, UNDECIDED = frozenset({0}), frozenset({3})
DECIDED = frozenset({0, 1, 3})

DYNAMICS = "name: s\nstate: {x: {}}\nfunctions: {U: {of: x, role: potential}}\nH: U(x)\nD: [[1]]\nQ: [[0]]\n"
TARGET = "name: t\nstate: {x: {}}\ndata: {u: {shape: N}}\nlog_prior: -x**2\nlog_likelihood: -(u - x)**2\n"
BUILD = """name: b
dynamics: d.yaml
target: t.yaml
scheme: {name: euler}
variant: full
data: {file: data.csv, u: u}
run: {step_size: 0.01, draws: 20, warmup: 5, chains: 1, thin: 1, seed: 1}
"""
VALUED = BUILD.replace("scheme:", "parameters: {c: {value: c.npy}}\nscheme:")
PLAIN = "name: n\nstate: {x: {}}\nH: x**2\nD: [[1]]\nQ: [[0]]\n"

Files = tuple[tuple[str, bytes], ...]
PARTS: Files = (("d.yaml", DYNAMICS.encode()), ("t.yaml", TARGET.encode()), ("data.csv", b"u\n1\n2\n3\n"))


def nothing(folder: Path) -> None:
    """Leave the folder as it is."""
    del folder


@dataclass(frozen=True)
class Try:
    """A command with its files, and the exit codes that it may have."""

    name: str
    arguments: tuple[str, ...]
    allowed: frozenset[int] = FAULTY
    files: Files = ()
    prepare: Callable[[Path], None] = field(default=nothing)
    """Makes what is no plain file."""
    redirected: str = ""
    """What the shell does with its streams."""


def document(name: str, content: str | bytes, allowed: frozenset[int] = FAULTY, file: str = "n.yaml") -> Try:
    """Return the check of one document."""
    data = content if isinstance(content, bytes) else content.encode()
    return Try(name, ("check", file), allowed, ((file, data),))


def run(name: str, *options: str, allowed: frozenset[int] = FAULTY, build: str = BUILD, **files: bytes) -> Try:
    """Return a run of a small build, some of its files replaced: `data_csv` is data.csv."""
    replaced = {key.replace("_", "."): content for key, content in files.items()}
    parts = {**dict(PARTS), "b.yaml": build.encode(), **replaced}
    return Try(name, ("run", "b.yaml", "--allow-undecided", *options), allowed, tuple(parts.items()))
