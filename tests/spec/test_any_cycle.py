"""Random cycles: what fits is read as it was made, from YAML and from Python; whatever else stands there is told."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError, Fault
from recipe_compiler.spec.json_schema import schema_json
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Document, Metropolis, Move, Refresh, Steps
from recipe_compiler.spec.words import word_text

SPECS = Path(__file__).parents[2] / "specs"
WORDS = ["[B/2, A, B/2]", "[B, A]", "[{repeat: 3, of: [B/6, A/3, B/6]}]", "[2*B/5, A, 3*B/5]"]
FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
Plain = Any

shares = st.fractions(min_value=Fraction(-999, 1000), max_value=Fraction(999, 1000), max_denominator=1000)
refreshed = st.one_of(
    st.just(({"refresh": "r"}, Refresh("r"))),
    shares.map(lambda share: ({"refresh": {"r": str(share)}}, Refresh("r", share))),
)
counted = st.integers(1, 1000).map(lambda count: (count, (count, count)))
drawn = st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(sorted).map(
    lambda ends: (f"uniform({ends[0]}, {ends[1]})", (ends[0], ends[1]))
)  # fmt: skip


@st.composite
def with_word(draw: st.DrawFn) -> tuple[dict[str, Plain], Move, str]:
    word = draw(st.sampled_from(WORDS))
    stated: dict[str, Plain] = {"split": YAML(typ="safe").load(word)}
    if draw(st.booleans()):
        count = draw(st.integers(1, 1000))
        return {**stated, "steps": count}, Steps(count), word
    steps, read = draw(st.one_of(counted, drawn))
    flip = draw(st.sampled_from([(), ("r",), ("theta", "r")]))
    turned = {"flip": {block: f"-{block}" for block in flip}} if flip else {}
    return {"metropolis": {**stated, "steps": steps, **turned}}, Metropolis(read, flip), word


@st.composite
def cycles(draw: st.DrawFn) -> tuple[list[dict[str, Plain]], tuple[Move, ...], str]:
    around = draw(st.lists(refreshed, max_size=4))
    stated, move, word = draw(with_word())
    place = draw(st.integers(0, len(around)))
    moves = [*around[:place], (stated, move), *around[place:]]
    return [entry for entry, _ in moves], tuple(read for _, read in moves), word


def document(folder: Path, cycle: Plain) -> Path:
    """Return a file with a build of that cycle; JSON is YAML."""
    entries = {
        "format": 1, "name": "plane", "dynamics": f"{SPECS}/dynamics/hmc.yaml",
        "target": f"{SPECS}/targets/banana.yaml", "parameters": {"M": {"value": [[2, 1], [1, 3]]}},
        "scheme": {"cycle": cycle}, "variant": "full", "sizes": {"d": 2}, "run": {"step_size": 0.1},
    }  # fmt: skip
    path = folder / "plane.yaml"
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


@pytest.mark.slow
@FEW
@given(made=cycles())
def test_a_cycle_that_fits_is_read_as_it_was_made(tmp_path: Path, made: tuple[Plain, tuple[Move, ...], str]) -> None:
    stated, moves, word = made
    path = document(tmp_path, stated)
    build = load(path)
    assert isinstance(build, Build)
    assert (build.scheme.cycle, word_text(build.scheme.split)) == (moves, word)
    jsonschema.Draft202012Validator(schema_json()).validate(json.loads(path.read_text(encoding="utf-8")))
    in_python = rc.Build(
        name="plane", dynamics=f"{SPECS}/dynamics/hmc.yaml", target=f"{SPECS}/targets/banana.yaml",
        parameters={"M": [[2, 1], [1, 3]]}, scheme={"cycle": stated}, sizes={"d": 2}, step_size=0.1,
    )  # fmt: skip
    loaded = rc.load(path)
    assert in_python.digest == loaded.digest
    path.write_text(in_python.to_yaml(), encoding="utf-8")
    again = rc.load(path)
    assert again.digest == in_python.digest
    assert again.document == loaded.document


JUNK: list[Plain] = [
    None, "", " ", 0, -1, "1e9", "1e999", "nan", 10**30, "uniform(20, 1)", "uniform(1)", "uniform(1, 2, 3)", "-r", "r",
    "theta", "r\0", "é", "x" * 10_000, True, [], {}, [[]], [[[[[[1]]]]]], {"": ""}, {"r": None}, {"r": {"r": "r"}},
    {"refresh": "r"}, {"metropolis": None}, {"metropolis": {"metropolis": {}}}, ["B/2"] * 1001, [{}] * 101,
    {"repeat": 10**9, "of": ["B"]}, {"use": "/dev/zero"}, {"use": ".."}, {"use": "plane.yaml"}, {"when": "r > 0"},
    "__import__('os').system('true')", "{r: -r}", {"name": ["euler"]}, {"split": "B", "flows": {"B": ["midpoint"]}},
]  # fmt: skip


def replaced(data: st.DataObject, node: Plain, junk: Plain) -> Plain:
    """Return a node with one of the nodes below it, or itself, replaced."""
    children = list(node) if isinstance(node, dict) else list(range(len(node))) if isinstance(node, list) else []
    if not children or data.draw(st.integers(0, 3)) == 0:
        return junk
    chosen = data.draw(st.sampled_from(children))
    made = node.copy()
    made[chosen] = replaced(data, node[chosen], junk)
    return made


def read(path: Path) -> Document | tuple[Fault, ...]:
    try:
        return load(path)
    except DocumentError as error:
        return error.faults


@pytest.mark.slow
@FEW
@given(made=cycles(), data=st.data())
def test_whatever_stands_in_a_cycle_is_read_or_told(
    tmp_path: Path, made: tuple[Plain, tuple[Move, ...], str], data: st.DataObject
) -> None:
    path = document(tmp_path, replaced(data, made[0], data.draw(st.sampled_from(JUNK))))
    found = read(path)
    problems = [fault.problem for fault in found] if isinstance(found, tuple) else []
    assert problems or (isinstance(found, Build) and found.scheme.cycle)
    assert all(problem.startswith("found ") and len(problem) < 400 for problem in problems)
