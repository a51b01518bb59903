"""Copies of folders of Python that need not be compiled again."""

import shutil
import sys
from pathlib import Path


def copy_compiled(folder: Path, to: Path, *, links: bool) -> None:
    """Copy a folder with what Python has compiled of it: times are kept, by which it tells what is current.

    `links`: whether links are copied as such, or what they lead to.
    """
    shutil.copytree(folder, to, symlinks=links)
    compiled = Path(f"{sys.pycache_prefix}{folder}")
    if sys.pycache_prefix is not None and compiled.is_dir():
        shutil.copytree(compiled, f"{sys.pycache_prefix}{to}")
