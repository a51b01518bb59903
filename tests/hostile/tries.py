"""Hostile inputs that are more than one document."""

from collections.abc import Iterator
from itertools import chain

from attempt import Try
from of_documents import cycles, large
from of_files import (
    arrays,
    checkpoints,
    no_files,
    outputs,
    parquet,
    python_files,
    settings,
    streams,
    tables,
    usage,
)

KINDS = (
    *(streams, cycles, large, no_files, settings, tables, arrays, parquet, checkpoints, outputs),
    *(python_files, usage),
)


def all_tries() -> Iterator[Try]:
    """Yield the tries of every kind."""
    return chain.from_iterable(kind() for kind in KINDS)
