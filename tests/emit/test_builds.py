"""What a module of a build is like: its header, its names, the values that it holds, and steps taken in chunks."""

import ast
from dataclasses import replace

import pytest
from answers import SPECS, document
from running import shipped

from recipe_compiler.pipeline import compile_build


def docstring(file: str) -> str:
    return ast.get_docstring(ast.parse(file)) or ""


# Header: whatever a title says, the module behind it is the same


def behind_the_docstring(title: str) -> str:
    dynamics = (SPECS / "dynamics/sgld.yaml").read_text()
    lines = [line for line in dynamics.splitlines() if not line.startswith("title:")]
    for old, new in (("\\", "\\\\"), ('"', '\\"'), ("\r", "\\r"), ("\n", "\\n")):
        title = title.replace(old, new)
    sgld = "\n".join([*lines, f'title: "{title}"\n'])
    build = (SPECS / "builds/sgld_gaussian.yaml").read_text()
    build = build.replace("../dynamics/sgld.yaml", "sgld.yaml").replace("../targets", "SPECS/targets")
    tree = ast.parse(compile_build(document(build, sgld=sgld)).file)
    assert isinstance(ast.get_docstring(tree), str)
    digest = next(node for node in tree.body if isinstance(node, ast.Assign) and "SPEC_DIGEST" in ast.unparse(node))
    return ast.dump(ast.Module([node for node in tree.body[1:] if node is not digest], []))


@pytest.mark.slow
@pytest.mark.parametrize(
    "title",
    [
        'ok"""\nimport os; os.system("touch CANARY")\n"""',
        "ok\r\nimport os #",
        "a \\N{BULLET} \\x41 back\\slash\\",
        '""""""',
    ],
)
def test_a_title_stays_in_the_docstring(title: str) -> None:
    assert behind_the_docstring(title) == behind_the_docstring("plain")


OWN = """
name: own
dynamics: SPECS/dynamics/sghmc.yaml
target: target.yaml
bind: {M: 3*I, C: 2*I}
parameters: {PARAMETER: {value: 3}}
scheme: {name: sequential_euler, order: [r, theta]}
variant: full
sizes: {p: 2}
run: {step_size: 0.01}
"""


@pytest.mark.parametrize(
    ("parameter", "friction", "said"), [("C", "C_ = 2*I", "D[r,r] = 2 delta[i,j]"), ("c", "C = 2*I", "D[r,r] = C")]
)
def test_formulas_are_as_written_unless_names_of_the_dynamics_had_to_change(
    parameter: str, friction: str, said: str
) -> None:
    target = f"state: {{x: {{shape: p}}}}\nparameters: {{{parameter}: {{is: positive}}}}\n"
    target += f"potential: {parameter}*norm2(x)/2\n"
    build = document(OWN.replace("PARAMETER", parameter), target=target)
    lines = {line.strip() for line in docstring(compile_build(build).file).splitlines()}
    assert {f"U = {parameter}*norm2(x)/2", friction, said} <= lines
    assert ("H = U(theta) + r.T @ inv(M) @ r / 2" in lines) == (friction[1] == " ")


# Values: what is proved at those of a build alone is of these, and the file's `sample` takes no others

PUSHED = """
state: {theta: {shape: d}, r: {shape: d}}
parameters: {a: {}, c: {default: 2}, M: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r/2
D: [[0, 0], [0, c*I]]
Q: [[0, -a*I], [I, 0]]
"""
"""Q is skew at a = 1, and D is semidefinite at the default c = 2."""
PUSHED_NORMAL = """
name: pushed_normal
dynamics: dynamics.yaml
target: target.yaml
parameters: {a: {value: 1}, M: {value: [[2, 1/2], [1/2, 1]]}}
scheme: {name: baoab}
variant: full
run: {step_size: 0.2, draws: 10, warmup: 0, chains: 2}
"""


def test_a_build_that_is_right_at_its_values_alone_is_read_back_and_holds_them() -> None:
    normal = "state: {theta: {shape: 2}}\npotential: theta.T @ theta/2\n"
    file = compile_build(document(PUSHED_NORMAL, dynamics=PUSHED, target=normal)).file
    head = file.split('"""')[1]
    assert "Fixed:\n    a: 1.0\n    c: 2.0\n    M: [[2.0, 0.5], [0.5, 1.0]]\n" in head
    assert "exp(-H) is stationary (index calculus for every size; second engine, at the values of the build)" in head
    assert "default" not in head
    functions = {one.name: one for one in ast.parse(file).body if isinstance(one, ast.FunctionDef)}
    sample, run = functions["sample"], functions["run"]
    taken = {one.arg for one in (*sample.args.args, *sample.args.kwonlyargs)}
    assert "step_size" in taken
    assert not taken & {"a", "c", "M"}
    assert {"a", "c"} <= {one.arg for one in run.args.args}


# Names of the user that a module cannot have as they are get an underscore, and are listed

AWKWARD = {
    "dynamics": """
state: {row: {shape: k}, run: {shape: k}}
parameters: {range: {shape: [k, k], is: positive definite}, eps: {is: positive}, row_new: {is: positive}}
functions: {U: {of: row, role: potential}}
H: U(row) + row_new * run.T @ inv(range) @ run / 2
D: [[0, 0], [0, eps*I]]
Q: [[0, -I], [I, 0]]
""",
    "target": """
state: {b: {shape: k}}
data: {data: {shape: [len, k]}, step: {shape: len}}
parameters: {total: {is: positive, default: 2}}
log_prior: -b.T @ b / (2*total)
log_likelihood: -(step - data @ b)**2 / 2
""",
    "data.csv": "p,q,y\n1,2,3\n0,1,1\n2,2,1\n",
}
AWKWARD_BUILD = """
dynamics: dynamics.yaml
target: target.yaml
parameters: {range: {value: [[2, 0.5], [0.5, 1]]}, eps: {value: 1}, row_new: {value: 3}}
scheme: {name: sequential_euler, order: [run, row]}
variant: minibatch
data: {file: data.csv, data: [p, q], step: y}
run: {step_size: 0.1, batch_size: 2}
"""
STACKED = """
state: {NAME: {shape: 2}, a: {}}
data: {x: {shape: [N, 2]}, y: {shape: N}}
log_prior: -(NAME.T @ NAME + a**2)/2
log_likelihood: -(y - x @ NAME - a)**2/2
"""
STACKED_BUILD = """
dynamics: SPECS/dynamics/sgld.yaml
bind: {D: I}
target: target.yaml
scheme: {name: euler}
variant: VARIANT
data: {file: data.csv, x: [p, q], y: y}
run: {step_size: 0.1BATCH}
"""


@pytest.mark.slow
def test_awkward_names_are_changed_and_the_module_still_reads_back() -> None:
    text = compile_build(document(AWKWARD_BUILD, **AWKWARD)).file
    compile(text, "awkward", "exec")
    for old in ("row", "run", "range", "eps", "step", "total", "len"):
        assert f"{old} is called {old}_" in text
    assert "def step(" in text
    assert "def run(" in text


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted")
@pytest.mark.parametrize(("variant", "batch"), [("full", ""), ("minibatch", ", batch_size: 2")])
@pytest.mark.parametrize("name", ["total", "row", "batch", "grad_U", "grad_U_tilde"])
def test_blocks_of_a_target_keep_clear_of_what_is_computed(name: str, variant: str, batch: str) -> None:
    """Blocks of a target that are parts of the potential's block stand in loops with names of their own."""
    build = STACKED_BUILD.replace("VARIANT", variant).replace("BATCH", batch)
    beside = {"target": STACKED.replace("NAME", name), "data.csv": AWKWARD["data.csv"]}
    compile(compile_build(document(build, **beside)).text, name, "exec")


# Chunks: steps are taken chunk by chunk where no entry touches another

CHUNKED = """
dynamics: SPECS/dynamics/DYNAMICS.yaml
target: target.yaml
bind: BIND
parameters: PARAMETERS
scheme: {name: euler}
variant: full
run: {step_size: 0.05, draws: 10, chains: 1}
"""
WELLS = "state: {theta: {shape: d}}\nparameters: {mu: {shape: d}}\npotential: sum((theta - mu)**4) / 4\n"
COUPLED = "state: {theta: {shape: d}}\npotential: (theta.T @ theta)**2 / 4\n"
MU = "mu: {value: 0}"


@pytest.mark.parametrize(
    ("dynamics", "target", "bound", "parameters", "d", "expected"),
    [
        ("sgld", WELLS, "{D: I}", MU, 0, True),
        ("sgld", WELLS, "{D: I}", MU, 64, True),
        ("sgld", WELLS, "{D: I}", MU, 63, False),
        ("sghmc", WELLS, "{M: I, C: c*I}", f"{MU}, c: {{value: 1, is: positive}}", 0, True),
        ("sgld", COUPLED, "{D: I}", "", 0, False),
        ("sgld", WELLS, "{D: I/d}", MU, 0, False),  # their number
        ("sgld", WELLS, "{}", f"{MU}, D: {{value: 1}}", 0, False),  # a matrix
        ("sgnht", WELLS, "{}", f"{MU}, A: {{value: 1}}", 0, False),
    ],
)
def test_chunks_are_chosen_where_no_entry_touches_another(
    dynamics: str, target: str, bound: str, parameters: str, d: int, expected: bool
) -> None:
    text = CHUNKED.replace("DYNAMICS", dynamics).replace("BIND", bound).replace("PARAMETERS", f"{{{parameters}}}")
    module = shipped(replace(document(text, target=target), sizes=(("d", d),) if d else ()))
    assert bool(module.kernel.chunked) == expected
    assert ("def sweep(" in module.text) == expected
