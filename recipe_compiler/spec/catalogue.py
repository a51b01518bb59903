"""What ships with the package under a name: the documents and the data in `recipe_compiler/catalogue`."""

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "catalogue"
"""A folder for each kind of document, and one of data: `specs` at the top of the project is a link to it."""
SCHEMES = FOLDER / "schemes"
NAMED = tuple(sorted(path.stem for path in SCHEMES.glob("*.yaml")))
"""Schemes that are words, each by the name of its document."""
EULER = ("euler", "sequential_euler")
"""Steps that are no words: every block is moved by its whole drift."""
