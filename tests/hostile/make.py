"""The cases of every entry of the list."""

from collections.abc import Callable, Iterator

from cases import (
    ACCEPT,
    DYNAMICS,
    EITHER,
    REFUSE,
    RIGHT,
    Case,
    array_files,
    formula_cases,
    name_cases,
    quoted,
    read_list,
    run_case,
    yaml_case,
)

LAZY = {"H28", "H29", "H47"}
"""Formulas that may be accepted as long as nothing expands them."""


def all_cases() -> Iterator[Case]:
    """Yield the cases of the whole list, in its order."""
    for entry in read_list():
        id, payload, where = (str(entry[key]) for key in ("id", "payload", "where"))
        if id in SPECIAL:
            yield from SPECIAL[id](id, payload)
        elif where.startswith("expression"):
            yield from formula_cases(id, payload, EITHER if id in LAZY else REFUSE, ())
        elif where == "state / parameter name":
            yield from name_cases(id, payload, REFUSE, ("letters",))
        else:
            yield yaml_case(id, "document", payload)


def _titles(id: str, payload: str) -> Iterator[Case]:
    text = DYNAMICS.format(**RIGHT)
    yield yaml_case(id, "title", f"title: {quoted(payload)}\n{text}", wanted=ACCEPT)
    yield yaml_case(id, "references", f"references: [{quoted(payload)}]\n{text}", wanted=ACCEPT)


def _recipe_name(id: str, payload: str) -> Iterator[Case]:
    yield yaml_case(id, "name", DYNAMICS.format(**RIGHT).replace("name: n", f"name: {payload}"), ("name",))


def _formulas(*payloads: tuple[str, str, tuple[str, ...]]) -> Callable[[str, str], Iterator[Case]]:
    def cases(id: str, _: str) -> Iterator[Case]:
        for payload, wanted, names in payloads:
            yield from formula_cases(id, payload, wanted, names)

    return cases


def _coupled(id: str, _: str) -> Iterator[Case]:
    names = ("a", "b", "c", "d", "e")
    state = ", ".join(f"{name}: {{}}" for name in names)
    D = [[("2" if i == j else "0") for j in range(5)] for i in range(5)]
    Q = [[("0" if i == j else "1" if i < j else "-1") for j in range(5)] for i in range(5)]
    text = f"name: n\nstate: {{{state}}}\nH: (a+b+c+d+e)**60\nD: {D}\nQ: {Q}\n".replace("'", "")
    yield yaml_case(id, "H", text, wanted=EITHER)


def _derivatives(id: str, _: str) -> Iterator[Case]:
    deep = "sin(sin(sin(sin(sin(sin(sin(sin(x))))))))**20"
    text = DYNAMICS.format(**{**RIGHT, "H": deep, "D": quoted(f"({deep})**2"), "drift": f"-grad({deep}, x)"})
    yield yaml_case(id, "H", text, wanted=EITHER)


def _large_state(id: str, _: str) -> Iterator[Case]:
    for count in (10_000, 500):
        state = "".join(f"  x{n}: {{}}\n" for n in range(count))
        yield yaml_case(id, f"{count} blocks", f"name: n\nstate:\n{state}H: 0\nD: 1\nQ: 0\n", ("state", "size"))


def _laughs(id: str, _: str) -> Iterator[Case]:
    levels = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    yield yaml_case(id, "document", "\n".join(levels), ("anchor",))


def _settings(*changes: tuple[str, str]) -> Callable[[str, str], Iterator[Case]]:
    def cases(id: str, _: str) -> Iterator[Case]:
        for key, value in changes:
            yield run_case(id, key, value, ("run." + key,))

    return cases


def _step(id: str, _: str) -> Iterator[Case]:
    yield run_case(id, "step_size", "1e-3", wanted=ACCEPT)


def _unknown(id: str, _: str) -> Iterator[Case]:
    yield run_case(id, "", "stepsize", ("stepsize", "step_size"), more=", stepsize: 0.1")


def _nested(id: str, _: str) -> Iterator[Case]:
    yield yaml_case(id, "flow", "[" * 2000 + "]" * 2000, ("nesting",))
    yield yaml_case(id, "value", "H: " + "[" * 400_000, ("nesting",))
    yield yaml_case(id, "block", "".join("  " * n + "a:\n" for n in range(800)), ("nesting",))


def _bytes(id: str, _: str) -> Iterator[Case]:
    good = DYNAMICS.format(**RIGHT)
    for field, data in (("BOM", b"\xef\xbb\xbf" + good.encode()), ("CRLF", good.replace("\n", "\r\n").encode())):
        yield yaml_case(id, field, data, wanted=ACCEPT)
    yield yaml_case(id, "UTF-8", good.replace("name: n", "title: \u00e9\nname: n").encode("latin-1"), ("0xe9",))
    yield yaml_case(id, "NUL", good.encode() + b"\0", ("U+0000",))
    yield yaml_case(id, "UTF-16", good.encode("utf-16"), ("UTF-16",))
    yield yaml_case(id, "tab", good.replace("H:", "\tH:"), ("tab",))


def _no_mapping(id: str, _: str) -> Iterator[Case]:
    for text in ("", "- a\n- b", "hello", "null", "# only a comment\n", "1"):
        yield yaml_case(id, repr(text), text, ("expected",))


def _names(*names: str, part: str, wanted: str = REFUSE) -> Callable[[str, str], Iterator[Case]]:
    def cases(id: str, _: str) -> Iterator[Case]:
        for name in names:
            yield from name_cases(id, name, wanted, (part,) if part else ())

    return cases


def _reserved(id: str, _: str) -> Iterator[Case]:
    for name in ("lambda", "class", "None", "True"):
        yield from name_cases(id, name, REFUSE, ("keyword",))
    for name in ("__class__", "_x"):
        yield from name_cases(id, name, REFUSE, ("letters",))
    for name in ("print", "np", "range", "x1__"):
        yield from name_cases(id, name, ACCEPT)


SPECIAL: dict[str, Callable[[str, str], Iterator[Case]]] = {
    "H15": _titles,
    "H16": _titles,
    "H17": lambda id, payload: iter([yaml_case(id, "H", payload, ("tag", "H"))]),
    "H18": lambda id, payload: iter([yaml_case(id, "H", payload, ("tag", "H"))]),
    "H19": lambda id, payload: array_files(),
    "H21": _recipe_name,
    "H35": _formulas(("+".join(["x"] * 50_000), REFUSE, ("10,000",))),
    "H38": _derivatives,
    "H39": _coupled,
    "H45": _formulas(("where(x > 0, 1, " * 200 + "0" + ")" * 200, REFUSE, ("nested",))),
    "H46": _large_state,
    "H48": _laughs,
    "H49": lambda id, payload: iter([yaml_case(id, "document", payload, ("alias",))]),
    "H50": _nested,
    "H51": lambda id, payload: iter(
        [yaml_case(id, "document", "".join(f"key{n:06}: {n:07}\n" for n in range(100_000)), ("1,000,000",))]
    ),
    "H52": lambda id, payload: iter([yaml_case(id, "document", payload, ("lines 1 and 2",))]),
    "H53": _step,
    "H54": _settings(("seed", "010"), ("draws", "1:30"), ("thin", "1_000")),
    "H55": lambda id, payload: iter([yaml_case(id, "state", f"name: n\n{payload}\nH: 0\nD: 0\nQ: 0\n", ("quote it",))]),
    "H56": _settings(*(("step_size", value) for value in (".nan", ".inf", "-1", "0", "true", "nan", "1e400"))),
    "H57": _unknown,
    "H58": lambda id, payload: iter([yaml_case(id, "document", "a: 1\n---\nb: 2\n", ("second document",))]),
    "H59": _bytes,
    "H60": _no_mapping,
    "H61": _names("\uff58", part="U+FF58"),
    "H62": _names("\u0445", part="U+0445"),
    "H63": _formulas(
        ("x\u2060**2", REFUSE, ("U+2060",)),
        ("x\u00b2", REFUSE, ("U+00B2",)),
        ("\u2212x", REFUSE, ("U+2212",)),
        ("x\u202e", REFUSE, ("U+202E",)),
    ),
    "H64": _reserved,
    "H65": _names(
        *("E", "I", "N", "S", "O", "Q", "beta", "gamma", "zeta", "pi", "re", "im", "oo"), part="", wanted=ACCEPT
    ),
    "H66": _formulas(("x^2", REFUSE, ("**",))),
    "H67": _formulas(("2x", REFUSE, ()), ("x(1+y)", REFUSE, ("x",)), ("sin x", REFUSE, ())),
    "H68": lambda id, payload: iter(
        yaml_case(id, form, DYNAMICS.format(**{**RIGHT, "H": form}), wanted=ACCEPT)
        for form in ("1/2*x**2", "0.5*x**2", "x**2/2")
    ),
    "H69": lambda id, payload: iter([yaml_case(id, "H", DYNAMICS.format(**{**RIGHT, "H": payload}), wanted=ACCEPT)]),
    "H70": lambda id, payload: iter([yaml_case(id, "H", DYNAMICS.format(**{**RIGHT, "H": "log(x)"}), wanted=EITHER)]),
    "H71": _formulas(*((text, REFUSE, ()) for text in ("oo", "nan", "zoo*x", "1/0", "x/0", "0**-1"))),
    "H72": lambda id, payload: iter(
        [
            yaml_case(
                id, "H", DYNAMICS.format(**{**RIGHT, "H": "thta**2"}).replace("x: {}", "theta: {}"), ("thta", "theta")
            )
        ]
    ),
    "H73": _settings(
        ("draws", "1000000000000000000"),
        ("thin", "0"),
        ("chains", "-1"),
        ("batch_size", "51"),
        ("batch_size", "0"),
        ("seed", "-1"),
        ("seed", str(2**70)),
    ),
}
