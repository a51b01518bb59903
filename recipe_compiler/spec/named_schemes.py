"""The names that `scheme: {name: baoab}` may hold: Euler's, and the documents in `schemes` beside this file."""

from pathlib import Path

FOLDER = Path(__file__).parent / "schemes"
"""The documents of schemes that have a name, which ships with the package: `specs/schemes` is a link to it."""
NAMED = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
"""Schemes that are words, each by the name of its document."""
EULER = ("euler", "sequential_euler")
"""Steps that are no words: every block is moved by its whole drift."""
