"""Documents that hold themselves, or have no end; forms, names and numbers are in `hostile_inputs.json`."""

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
