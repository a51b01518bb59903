"""What the harness builds from the list of hostile inputs: named documents and files, and what is wanted of each."""

import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

REFUSE, ACCEPT, EITHER = "refuse", "accept", "either"


@dataclass(frozen=True)
class Case:
    """One document to load."""

    id: str
    field: str
    document: bytes
    wanted: str = REFUSE
    names: tuple[str, ...] = ()
    """Parts that some fault's entry, problem or hint has to hold."""
    files: tuple[tuple[str, bytes], ...] = ()


def quoted(text: str) -> str:
    """Return a text as YAML reads it back, whatever is in it."""
    return json.dumps(text)


DYNAMICS = """name: n
state: {{x: {{}}, y: {{}}}}
parameters: {{p: {{}}}}
assume: [{assume}]
H: {H}
D: [[{D}, 0], [0, 1]]
Q: [[0, {Q}], [1, 0]]
claims: {{drift: {{x: {drift}, y: 0}}, marginal: {{x: {marginal}}}}}
"""
TARGET = """name: t
state: {{x: {{}}, y: {{}}}}
data: {{u: {{shape: N}}}}
log_prior: {log_prior}
log_likelihood: {log_likelihood}
"""
PLAIN_DYNAMICS = "name: m\nstate: {x: {}, y: {}}\nparameters: {c: {}}\nfunctions: {U: {of: x, role: potential}}\n"
PLAIN_DYNAMICS += "H: U(x) + y**2/2\nD: [[0, 0], [0, c**2]]\nQ: [[0, -1], [1, 0]]\n"
PLAIN_TARGET = "name: t\nstate: {x: {}}\ndata: {u: {shape: N}}\nlog_likelihood: -(u - x)**2\n"
BUILD = """name: b
dynamics: dynamics.yaml
target: target.yaml
bind: {{c: {bind}}}
parameters: {{x1: {{value: {value}}}}}
scheme: {{name: euler}}
variant: minibatch
gradient_noise: {{V: {V}}}
sizes: {{N: 50}}
data: {{file: data.csv, u: u}}
init: {{y: {init}}}
run:
  {{step_size: {step_size}, batch_size: {batch_size}, draws: {draws}, thin: {thin}, chains: {chains},
   seed: {seed}{more}}}
"""
FORMULAS = {
    **{name: (DYNAMICS, name) for name in ("H", "D", "Q", "drift", "marginal")},
    "assume": (DYNAMICS, "assume"),
    **{name: (TARGET, name) for name in ("log_prior", "log_likelihood")},
    **{name: (BUILD, name) for name in ("bind", "V", "init")},
}
RIGHT = {
    **{"H": "x**2 + y**2", "D": "1", "Q": "-1", "drift": "-x", "marginal": "x**2", "assume": "", "log_prior": "-x**2"},
    **{"log_likelihood": "-(u - x*y)**2", "bind": "x1", "value": "1", "V": "0", "init": "0", "step_size": "0.1"},
    **{"batch_size": "5", "draws": "10", "thin": "1", "chains": "1", "seed": "1", "more": ""},
}
PARTS = (("dynamics.yaml", PLAIN_DYNAMICS.encode()), ("target.yaml", PLAIN_TARGET.encode()))


def formula_cases(id: str, payload: str, wanted: str, names: tuple[str, ...]) -> Iterator[Case]:
    """Yield a document for every field that holds a formula."""
    for field, (template, key) in FORMULAS.items():
        text = template.format(**{**RIGHT, key: quoted(payload)})
        yield Case(id, field, text.encode(), wanted, names, PARTS if template is BUILD else ())


def run_case(id: str, key: str, value: str, names: tuple[str, ...] = (), wanted: str = REFUSE, more: str = "") -> Case:
    """Return a build with one of its run arguments replaced."""
    text = BUILD.format(**{**RIGHT, "more": more, **({key: value} if key else {})})
    return Case(id, f"run.{key or 'more'}={value[:20]}", text.encode(), wanted, names or (key,), PARTS)


def name_cases(id: str, name: str, wanted: str = REFUSE, names: tuple[str, ...] = ()) -> Iterator[Case]:
    """Yield documents that declare a name as a block, a parameter, a function, a size and their own."""
    key, others = quoted(name), "D: [[1]]\nQ: [[0]]\n"
    block = f"name: n\nstate: {{{key}: {{}}}}\nH: 1\n{others}"
    parameter = f"name: n\nstate: {{x: {{}}}}\nparameters: {{{key}: {{is: positive}}}}\nH: x**2\n{others}"
    function = f"name: n\nstate: {{x: {{}}}}\nfunctions: {{{key}: {{of: x}}}}\nH: x**2\n{others}"
    size = f"name: n\nstate: {{x: {{shape: {key}}}}}\nH: x.T @ x\nD: [[0]]\nQ: [[0]]\n"
    title = f"name: {key}\nstate: {{x: {{}}}}\nH: x**2\n{others}"
    documents = {"state": block, "parameters": parameter, "functions": function, "shape": size, "name": title}
    for field, text in documents.items():
        yield Case(id, field, text.encode(), wanted, names)


def yaml_case(id: str, field: str, text: str | bytes, names: tuple[str, ...] = (), wanted: str = REFUSE) -> Case:
    """Return a whole document."""
    return Case(id, field, text.encode() if isinstance(text, str) else text, wanted, names)


class Bomb:
    """Writes the canary when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, ("CANARY", "w")


def array_files() -> Iterator[Case]:
    """Yield builds whose values are pickles, in the dress of array files."""
    import io

    import numpy as np

    raw = pickle.dumps(Bomb())
    npy, npz = io.BytesIO(), io.BytesIO()
    np.save(npy, np.array([Bomb()], dtype=object), allow_pickle=True)
    np.savez(npz, x=np.array([Bomb()], dtype=object))
    text = BUILD.format(**{**RIGHT, "value": "value.npy"}).encode()
    for field, data in (("pickle", raw), ("npy", npy.getvalue()), ("npz", npz.getvalue())):
        yield Case("H19", field, text, REFUSE, ("value.npy",), (*PARTS, ("value.npy", data)))


def read_list() -> list[dict[str, object]]:
    """Return the list of hostile inputs."""
    return json.loads((Path(__file__).parent / "hostile_inputs.json").read_text(encoding="utf-8"))["inputs"]
