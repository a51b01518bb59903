"""What the harness makes of the list of hostile inputs: documents with their files, and what is wanted of each."""

import io
import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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


class Bomb:
    """Writes the canary when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, ("CANARY", "w")


def array_files() -> Iterator[Case]:
    """Yield builds whose values are pickles, in the dress of array files."""
    raw = pickle.dumps(Bomb())
    npy, npz = io.BytesIO(), io.BytesIO()
    np.save(npy, np.array([Bomb()], dtype=object), allow_pickle=True)
    np.savez(npz, x=np.array([Bomb()], dtype=object))
    text = BUILD.format(**{**RIGHT, "value": "value.npy"}).encode()
    for field, data in (("pickle", raw), ("npy", npy.getvalue()), ("npz", npz.getvalue())):
        yield Case("H19", field, text, REFUSE, ("value.npy",), (*PARTS, ("value.npy", data)))


LAZY = {"H28", "H29", "H47"}
"""Formulas that may be accepted as long as nothing expands them."""


def _coupled() -> str:
    names = ("a", "b", "c", "d", "e")
    D = [["2" if i == j else "0" for j in range(5)] for i in range(5)]
    Q = [["0" if i == j else "1" if i < j else "-1" for j in range(5)] for i in range(5)]
    state = ", ".join(f"{name}: {{}}" for name in names)
    return f"name: n\nstate: {{{state}}}\nH: (a+b+c+d+e)**60\nD: {D}\nQ: {Q}\n".replace("'", "")


def _laughs() -> str:
    levels = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    return "\n".join([*levels, *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))])


def _large(count: int) -> str:
    state = "".join(f"  x{n}: {{}}\n" for n in range(count))
    return f"name: n\nstate:\n{state}H: 0\nD: 1\nQ: 0\n"


GOOD = DYNAMICS.format(**RIGHT)
DEEP = "sin(sin(sin(sin(sin(sin(sin(sin(x))))))))**20"
THTA = DYNAMICS.format(**{**RIGHT, "H": "thta**2"}).replace("x: {}", "theta: {}")
FORMULAS_OF: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "H35": (("+".join(["x"] * 50_000), ("10,000",)),),
    "H45": (("where(x > 0, 1, " * 200 + "0" + ")" * 200, ("nested",)),),
    "H63": tuple((text, (point,)) for text, point in (
        ("x\u2060**2", "U+2060"), ("x\u00b2", "U+00B2"), ("\u2212x", "U+2212"), ("x\u202e", "U+202E"),
    )),
    "H66": (("x^2", ("**",)),),
    "H67": (("2x", ()), ("x(1+y)", ("x",)), ("sin x", ())),
    "H71": tuple((text, ()) for text in ("oo", "nan", "zoo*x", "1/0", "x/0", "0**-1")),
}  # fmt: skip
"""Formulas that every field refuses, with what a fault names."""
SETTINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "H54": (("seed", "010"), ("draws", "1:30"), ("thin", "1_000")),
    "H56": tuple(("step_size", value) for value in (".nan", ".inf", "-1", "0", "true", "nan", "1e400")),
    "H73": (
        ("draws", "1000000000000000000"), ("thin", "0"), ("chains", "-1"), ("batch_size", "51"), ("batch_size", "0"),
        ("seed", "-1"), ("seed", str(2**70)),
    ),
}  # fmt: skip
NAMES: dict[str, tuple[tuple[str, str, str], ...]] = {
    "H61": (("\uff58", REFUSE, "U+FF58"),),
    "H62": (("\u0445", REFUSE, "U+0445"),),
    "H64": (
        *((name, REFUSE, "keyword") for name in ("lambda", "class", "None", "True")),
        *((name, REFUSE, "letters") for name in ("__class__", "_x")),
        *((name, ACCEPT, "") for name in ("print", "np", "range", "x1__")),
    ),
    "H65": tuple(
        (name, ACCEPT, "") for name in ("E", "I", "N", "S", "O", "Q", "beta", "gamma", "zeta", "pi", "re", "im", "oo")
    ),
}
Row = tuple[str, str | bytes, tuple[str, ...], str]


def documents(id: str, payload: str) -> tuple[Row, ...]:
    """Return the documents of an entry: field, text, what a fault names, and what is wanted."""

    def of(H: str, wanted: str) -> Row:
        return ("H", DYNAMICS.format(**{**RIGHT, "H": H}), (), wanted)

    found: dict[str, tuple[Row, ...]] = {
        **dict.fromkeys(("H15", "H16"), (
            ("title", f"title: {quoted(payload)}\n{GOOD}", (), ACCEPT),
            ("references", f"references: [{quoted(payload)}]\n{GOOD}", (), ACCEPT),
        )),
        **dict.fromkeys(("H17", "H18"), (("H", payload, ("tag", "H"), REFUSE),)),
        "H21": (("name", GOOD.replace("name: n", f"name: {payload}"), ("name",), REFUSE),),
        "H38": (("H", DYNAMICS.format(**{
            **RIGHT, "H": DEEP, "D": quoted(f"({DEEP})**2"), "drift": f"-grad({DEEP}, x)",
        }), (), EITHER),),
        "H39": (("H", _coupled(), (), EITHER),),
        "H46": tuple((f"{count} blocks", _large(count), ("state", "size"), REFUSE) for count in (10_000, 500)),
        "H48": (("document", _laughs(), ("anchor",), REFUSE),),
        "H49": (("document", payload, ("alias",), REFUSE),),
        "H50": (
            ("flow", "[" * 2000 + "]" * 2000, ("nesting",), REFUSE),
            ("value", "H: " + "[" * 400_000, ("nesting",), REFUSE),
            ("block", "".join("  " * n + "a:\n" for n in range(800)), ("nesting",), REFUSE),
        ),
        "H51": (("document", "".join(f"key{n:06}: {n:07}\n" for n in range(100_000)), ("1,000,000",), REFUSE),),
        "H52": (("document", payload, ("lines 1 and 2",), REFUSE),),
        "H55": (("state", f"name: n\n{payload}\nH: 0\nD: 0\nQ: 0\n", ("keys with values",), REFUSE),),
        "H58": (("document", "a: 1\n---\nb: 2\n", ("second document",), REFUSE),),
        "H59": (
            ("BOM", b"\xef\xbb\xbf" + GOOD.encode(), (), ACCEPT),
            ("CRLF", GOOD.replace("\n", "\r\n"), (), ACCEPT),
            ("UTF-8", GOOD.replace("name: n", "title: \u00e9\nname: n").encode("latin-1"), ("0xe9",), REFUSE),
            ("NUL", GOOD.encode() + b"\0", ("U+0000",), REFUSE),
            ("UTF-16", GOOD.encode("utf-16"), ("UTF-16",), REFUSE),
            ("tab", GOOD.replace("H:", "\tH:"), ("tab",), REFUSE),
        ),
        "H60": tuple(
            (repr(text), text, ("expected",), REFUSE)
            for text in ("", "- a\n- b", "hello", "null", "# only a comment\n", "1")
        ),
        "H68": tuple(of(H, ACCEPT) for H in ("1/2*x**2", "0.5*x**2", "x**2/2")),
        "H69": (of(payload, ACCEPT),),
        "H70": (of("log(x)", EITHER),),
        "H72": (("H", THTA, ("thta", "theta"), REFUSE),),
    }  # fmt: skip
    return found.get(id, ())


def cases_of(id: str, payload: str, where: str) -> Iterator[Case]:
    """Yield the cases of an entry."""
    if rows := documents(id, payload):
        for field, text, names, wanted in rows:
            yield Case(id, field, text if isinstance(text, bytes) else text.encode(), wanted, names)
    elif id in FORMULAS_OF:
        for formula, names in FORMULAS_OF[id]:
            yield from formula_cases(id, formula, REFUSE, names)
    elif id in SETTINGS:
        for key, value in SETTINGS[id]:
            yield run_case(id, key, value, (f"run.{key}",))
    elif id in NAMES or where == "state / parameter name":
        for name, wanted, part in NAMES.get(id, ((payload, REFUSE, "letters"),)):
            yield from name_cases(id, name, wanted, (part,) if part else ())
    elif id == "H19":
        yield from array_files()
    elif id == "H53":
        yield run_case(id, "step_size", "1e-3", wanted=ACCEPT)
    elif id == "H57":
        yield run_case(id, "", "stepsize", ("stepsize", "step_size"), more=", stepsize: 0.1")
    else:
        assert where.startswith("expression"), id
        yield from formula_cases(id, payload, EITHER if id in LAZY else REFUSE, ())


def all_cases() -> Iterator[Case]:
    """Yield the cases of the whole list, in its order."""
    for entry in json.loads((Path(__file__).parent / "hostile_inputs.json").read_text(encoding="utf-8"))["inputs"]:
        yield from cases_of(*(str(entry[key]) for key in ("id", "payload", "where")))
