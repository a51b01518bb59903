"""Documents that hold themselves, have no end, or names and numbers that nobody has."""

from collections.abc import Iterator

from attempt import BUILD, DECIDED, PLAIN, Try, document


def cycles() -> Iterator[Try]:
    """Documents that hold themselves."""
    for length in (1, 2, 5):
        texts = [BUILD.replace("d.yaml", f"b{(k + 1) % length}.yaml") for k in range(length)]
        texts = [text.replace("t.yaml", f"b{(k + 1) % length}.yaml") for k, text in enumerate(texts)]
        files = tuple((f"b{k}.yaml", text.encode()) for k, text in enumerate(texts))
        for command in ("check", "compile", "run"):
            yield Try(f"cycle of {length} builds, {command}", (command, "b0.yaml"), files=files)
    yield document("cycle of an alias", "name: n\nstate: &s {x: *s}\nH: 1\n")
    yield document("cycle of a merge", "a: &a {<<: *a}\n")
    own = "import recipe_compiler\nspec = recipe_compiler.load(__file__)\n"
    yield document("cycle of a Python file", own, file="n.py")
    other = "import recipe_compiler\nD = [[1]]\nD[0][0] = D\nx = recipe_compiler.scalar('x')\n"
    yield document(
        "cycle of lists", f"{other}s = recipe_compiler.Dynamics(name='s', state=[x], H=x, D=D)\n", file="n.py"
    )


def large() -> Iterator[Try]:
    """Documents and nesting without an end."""
    yield document("10 MB on a line", PLAIN + "title: " + "a" * 10**7 + "\n")
    yield document("10 MB of comments", PLAIN + "# a comment\n" * 900_000)
    yield document("10 MB of spaces", PLAIN + " " * 10**7)
    yield document("1 MB less a byte of comments", (PLAIN + "#" * (999_999 - len(PLAIN))), DECIDED)
    yield document("a formula of 10 MB", PLAIN.replace("x**2", "+".join(["x"] * 5_000_000)))
    yield document("brackets in brackets", PLAIN.replace("x**2", "(" * 100_000 + "x" + ")" * 100_000))
    yield document("a list in lists", "H: " + "[" * 60 + "]" * 60)
    yield document("indented lists", "".join("  " * n + "- \n" for n in range(5000)))
    yield document("quotes without an end", PLAIN + 'title: "' + "a\n" * 10_000)
    vector = PLAIN.replace("x**2", "x.T @ x").replace("[[1]]", "[[I]]")
    yield document("a size of 10**9", vector.replace("{x: {}}", "{x: {shape: 1000000000}}"), DECIDED)
    for size in ("1000000001", "10**30", "0", "-1", "1.5", "nan", "1e400"):
        yield document(f"a size of {size}", vector.replace("{x: {}}", f"{{x: {{shape: {size}}}}}"))


def numbers() -> Iterator[Try]:
    """Numbers that no machine holds."""
    for formula in (
        "x**(10**9)",
        "2**(2**(2**64))",
        "1e999999999*x",
        "x**1e400",
        "9" * 20_000 + "*x",
        "x/0",
        "0**(-1)*x",
        "(x+1)**100000",
        "nan*x",
        "oo*x",
        "1e-999999999*x",
        "0x10*x",
        "1_0*x",
        "\u0661*x",
        "1.2.3*x",
    ):
        yield document(f"formula {formula[:30]}", PLAIN.replace("x**2", formula))
    for formula in ("x**2*1e300", "x**2/3**200", "x**2 + 1e-300"):
        yield document(f"formula {formula}", PLAIN.replace("x**2", formula), DECIDED)


def names() -> Iterator[Try]:
    """Names that are others, or nobody's."""
    hostile = (
        "__class__",
        "__init__",
        "__import__",
        "None",
        "lambda",
        "self.x",
        "\u0445",
        "x\u0301",
        "\uff58",
        "x\u200b",
        "\u202ex",
        "x\x00",
        "x\ny",
        "",
        " ",
        "x" * 64,
        "../x",
        "con/../x",
        "0x",
        "x-y",
        "<<",
        "\U0001f600",
    )
    for name in hostile:
        quoted = '"' + "".join(c if c.isascii() and c.isprintable() else f"\\U{ord(c):08x}" for c in name) + '"'
        yield document(f"a block called {name!a}", PLAIN.replace("{x: {}}", f"{{{quoted}: {{}}}}"))
        yield document(f"a document called {name!a}", PLAIN.replace("name: n", f"name: {quoted}"))
    for name in ("__class__", "../x", "", "a/b", "NUL\n", "\u0445"):
        yield Try(f"a new spec called {name!a}", ("new", "--", name))


def yaml_forms() -> Iterator[Try]:
    """Forms of YAML that a specification has no use for."""
    forms = {
        "merge": "<<: {name: n}\nstate: {x: {}}\nH: x**2\nD: [[1]]\nQ: [[0]]\n",
        "merge of an alias": "base: &b {x: {}}\nname: n\nstate: {<<: *b}\nH: x**2\n",
        "a key that is a list": "? [a, b]\n: c\n",
        "a key that is a mapping": "? {a: b}\n: c\n",
        "a null key": "~: a\n" + PLAIN,
        "an empty key": ": a\n" + PLAIN,
        "a directive": "%YAML 1.1\n---\n" + PLAIN.replace("[[1]]", "[[no]]"),
        "a tag directive": "%TAG ! tag:yaml.org,2002:python/\n---\n!object/apply:os.system ['touch CANARY']\n",
        "a tag": "H: !!python/object/apply:os.system ['touch CANARY']\n",
        "binary": "name: !!binary aGVsbG8=\n" + PLAIN,
        "two documents": PLAIN + "---\n" + PLAIN,
        "a key twice": PLAIN + "H: x**4\n",
        "a tab": PLAIN.replace("H:", "\tH:"),
        "nothing": "",
        "a list": "- a\n",
        "a number": "1\n",
    }
    for name, text in forms.items():
        yield document(f"YAML: {name}", text)
    good = PLAIN.encode()
    for name, data in {
        "NUL": good + b"\0",
        "NUL first": b"\0" + good,
        "UTF-16": PLAIN.encode("utf-16"),
        "UTF-32": PLAIN.encode("utf-32"),
        "latin-1": good + b"# \xe9\n",
        "an overlong form": good + b"# \xc0\x80",
        "a surrogate": good + b"# \xed\xa0\x80",
        "escape codes": good + b"# \x1b[31m\n",
        "bidirectional": PLAIN.encode() + "# \u202e\n".encode(),
        "a compiled file": bytes(range(256)) * 40,
        "gzip": b"\x1f\x8b\x08" + bytes(100),
    }.items():
        yield document(f"bytes: {name}", data)
