"""Commands that leave with 2: each says what was found or expected, and writes nothing."""

import shlex
from pathlib import Path

import pytest
from command import recipe

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back")

ROOT = Path(__file__).parents[2]
SGLD = (ROOT / "specs/dynamics/sgld.yaml").read_text(encoding="utf-8")
AUTO = "dynamics: sghmc\ntarget: standard_normal\nscheme: {name: baoab}\nvariant: full\nsizes: {d: 3}\n"
FILES = {
    "d.csv": "a,y\n" + "".join(f"{k / 10},{(k * 7) % 5}\n" for k in range(40)),
    "auto.yaml": f"name: auto\n{AUTO}run: {{step_size: auto}}\n",
    "case.yaml": SGLD.replace("\nH:", "\nh:").replace("\nstate:", "\nState:"),
    "escape.yaml": SGLD.replace("name: sgld", 'name: "sg\\e[31mld"'),
    "draws.nc": "no netCDF",
    "exit.py": "import sys\nsys.exit(0)",
    "raise.py": "raise SystemExit",
    "divide.py": "1 / 0",
    "import.py": "import nothing_of_this_name",
    "syntax.py": "def",
    "mine.yaml": "precious",
}
RUN, STEPS = "run sgld_gaussian", f"{ROOT}/tests/lint/steps/"


def rows(command: str, *ends: tuple[str, str]) -> list[tuple[str, str]]:
    return [(f"{command}{'' if command.endswith('/') else ' '}{end}", words) for end, words in ends]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        *rows(
            RUN, ("--draws 0", "1 to 1000000000"), ("--draws 99999999999", "1 to 1000000000"),
            ("--warmup -1", "0 to 1000000000"), ("--chains 0", "1 to 10000"), ("--cores 0", "1 to 10000"),
            ("--seed -1", "0 to 9223372036854775807"), ("--thin 0", "1 to 1000000000"),
            ("--batch-size 0", "1 to 1000000000"), ("--step-size 0", "> 0"), ("--step-size nan", "> 0"),
            ("--step-size inf", "finite"), ("--tune 5", "here it is called --warmup"),
            ("--num-samples=5", "here it is called --draws"), ("--num_warmup 5", "here it is called --warmup"),
            ("--eps 5", "here it is called --step-size"), ("--random_seed 5", "here it is called --seed"),
            ("--batch_size 5", "here it is called --batch-size"), ("--step_size 5", "here it is called --step-size"),
            ("--batch-size 3", "full"),
            ("--draws 1000000000 --chains 10000", "must fit into"),
        ),
        *rows("check", ("", "Missing argument"), ("--frobnicate", "No such option"), ("escape.yaml", "escape.yaml"),
              ("nowhere.yaml", "nowhere.yaml"), (".", "a folder"), ("nowhere.py:name", "nowhere.py"),
              ("d.csv/x", "d.csv/x"), ("case.yaml", "did you mean `H`?"), ("case.yaml", "did you mean `state`?")),
        *rows("check", ("exit.py:sampler", "exit.py"), ("raise.py:sampler", "raise.py"),
              ("divide.py:sampler", "ZeroDivisionError"), ("import.py:sampler", "ModuleNotFoundError"),
              ("syntax.py:sampler", "syntax.py")),
        *rows("check sgld --certificate", ("none/c.json", "found no folder"), (".", "found a folder"),
              ("/dev/full", "found a pipe or a device"), ("/dev/null", "found a pipe or a device"),
              ("/dev/stdout", "found a stream"), ("-", "found a stream"), ("d.csv/below", "found no folder")),
        *rows("check sgnht banana --set", ("B=2", "found `B`, expected a parameter, a function, a size"),
              ("spred=2", "did you mean `spread`?"), ("A", "expected NAME=VALUE"), ("A=[1", "--set A"),
              ("run=2", "found `run`, expected a parameter"),
              ("variant.x=2", "found `variant`, which is one value"), ("run.steps=2", "--set run.steps found"),
              ("scheme=baobab", "--set scheme.name found")),
        ("check sgnht poisson_regression --data none.csv", "found no table that can be read"),
        ("check sgnht eight_schools --data d.csv", "found no column `w` in d.csv (a, y)"),
        ("check banana sgnht --set A=2", "expected dynamics and a target, in this order"),
        ("check sgnht banana sgnht --set A=2", "expected two"),
        ("check cir banana --set d=2", "found no potential in the dynamics"),
        ("check sgnht banana --save mine.yaml", "found a file of that name"),
        ("chek", "check"),
        ("show ../dynamics/sghmc", "expected the name of something that ships"),
        *rows("compile", ("", "Missing argument"), ("banana", "expected a build"),
              ("sgld --set run.step_size=auto", "a plan needs a target"), ("sgld_gaussian -o d.csv", "d.csv")),
        *rows(f"lint --against sgld {STEPS}", ("nothing.py:step", "found no such file"),
              ("right.py", "expected FILE.py:NAME"), ("right.py:sgld --map theta", "expected --map NAME=WHAT"),
              ("right.py:sgld --map nobody=D", "found no `nobody`"),
              ("right.py:sgld --map theta=phi", "--map theta 'phi' is not declared"),
              ("right.py:sgld --map eps=normal(phi)", "expected normal(BLOCK) with a block of the state"),
              ("right.py:sgld --map grad_U=theta", "found the arguments theta, grad_U for the block theta")),
        ("derive", "Missing argument"),
        ("run", "Missing argument"),
        ("run sgld", "found no target, expected one"),
        ("run auto.yaml --step-size 0.1", "--step-size: found 0.1 for a build with step_size: auto"),
        ("rerun draws.nc", "cannot be read as draws"),
        ("new other --target --from sghmc", "found `sghmc`, expected the name of a target that ships"),
        ("new other --target --build", "one"),
        ("new mine", "NAME found a file of that name, expected a name that is free hint: `recipe check"),
        *((f"new -- {shlex.quote(name)}", "NAME")
          for name in ("../up", "a/b", ".hidden", "", "lambda", "a b", "-x", "a" * 100, "mine.yaml")),
    ],
)  # fmt: skip
def test_it_leaves_with_2_says_why_and_writes_nothing(line: str, words: str, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    outcome = recipe(*shlex.split(line), folder=tmp_path)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.replace("│", " ").split())
    assert "\x1b" not in outcome.err
    assert outcome.out == "" or line.startswith("run ")
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == FILES


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "words"),
    [
        ("sgld_logistic", "every step reads data"),
        ("wright_fisher_dirichlet", "a step works in arrays, such as a factor of the noise"),
        ("cir_categories", "every step reads data"),
        ("scaled_categories", "a step works in arrays"),
    ],
)
def test_lanes_are_refused_by_name_where_they_cannot_be(tmp_path: Path, build: str, words: str) -> None:
    outcome = recipe("run", build, "--draws", "30", "--lanes", folder=tmp_path)
    assert outcome.code == 2
    assert build in outcome.err
    assert words in outcome.err
