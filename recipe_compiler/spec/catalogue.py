"""What ships with the package under a name: the documents and the data of `specs`."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "catalogue"
"""A link to `specs`, whose files a wheel holds: a folder for each kind of document, and one of data."""
SCHEMES = FOLDER / "schemes"
NAMED = tuple(sorted(path.stem for path in SCHEMES.glob("*.yaml")))
"""Schemes that are words, each by the name of its document."""
EULER = ("euler", "sequential_euler")
"""Steps that are no words: every block is moved by its whole drift."""
