"""The command line: what can be asked, and the exit codes. What is done is in `commands/`.

Nothing heavy is imported at the top: `recipe --help` must answer at once.
"""

import gc
import math
import os
import sys
from collections.abc import Callable, Sequence
from enum import StrEnum
from glob import escape as glob_escape
from glob import glob
from pathlib import Path
from typing import Annotated

import typer

import recipe_compiler
from recipe_compiler.commands.arguments import BuildArguments, RunOptions
from recipe_compiler.commands.clean_exit import code_of, guard_streams, with_exit_code
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import complain, say

EXIT_CODES = (
    "Exit codes: 0 proved; 1 refuted; 2 wrong usage or a faulty document; 3 undecided (0 with --allow-undecided); "
    "4 a run whose summary cannot be trusted; 70 an internal error; 130 interrupted; 143 terminated."
)

FOREIGN_OPTIONS = {
    "--tune": "--warmup", "--num-warmup": "--warmup", "--iter-warmup": "--warmup", "--burn-in": "--warmup",
    "--burnin": "--warmup", "--num-samples": "--draws", "--samples": "--draws", "--iter-sampling": "--draws",
    "--num-draws": "--draws", "--num-steps": "--draws", "--num-chains": "--chains", "--parallel-chains": "--cores",
    "--threads": "--cores", "--jobs": "--cores", "--eps": "--step-size", "--epsilon": "--step-size",
    "--stepsize": "--step-size", "--lr": "--step-size", "--learning-rate": "--step-size", "--random-seed": "--seed",
    "--rng-key": "--seed", "--thinning": "--thin", "--num-thin": "--thin", "--subsample-size": "--batch-size",
    "--minibatch-size": "--batch-size", "--output": "-o", "--out": "-o",
}  # fmt: skip
"""Options of other samplers, and what they are called here."""

NEW_OBJECTS = 400_000
"""After how many new objects Python looks for cycles: commands live for seconds, and most of what they make as long.

What a check imports is 200,000 objects, none of them in a cycle that could be given back.
"""
RESULTS = "20000"
"""How many results each function of SymPy keeps: of 1,000, its default, most are gone when they are asked for again."""

app = typer.Typer(
    name="recipe",
    help="From D(z), Q(z), H(z) to proved, fast, standalone samplers.\n\n" + EXIT_CODES,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class DocumentKind(StrEnum):
    """The kinds of document."""

    DYNAMICS = "dynamics"
    TARGET = "target"
    BUILD = "build"


class Shipped(StrEnum):
    """What ships under a name."""

    DYNAMICS = "dynamics"
    TARGET = "target"
    SCHEME = "scheme"
    BUILD = "build"
    EXPERIMENT = "experiment"
    DATA = "data"


def _between(low: int, high: int) -> Callable[[int | None], int | None]:
    """Return a check of a whole number that names the range, as faults of documents do."""

    def check_range(value: int | None) -> int | None:
        if value is not None and not low <= value <= high:
            raise typer.BadParameter(f"found {value}, expected {low} to {high}")
        return value

    return check_range


def _step_size(value: float | None) -> float | None:
    if value is not None and not (value > 0.0 and math.isfinite(value)):
        raise typer.BadParameter(f"found {value}, expected a step size > 0, finite")
    return value


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"recipe {recipe_compiler.__version__}")
        raise typer.Exit()


def _completing(*kinds: str, suffix: str = ".yaml") -> Callable[[str], list[str]]:
    """Return what completes the name of a document that ships, of one of some kinds, or of a file."""

    def complete(incomplete: str) -> list[str]:
        from recipe_compiler.spec.catalogue import names

        shipped = [name for kind in kinds for name in names(kind) if name.startswith(incomplete)]
        beside = [path + "/" if os.path.isdir(path) else path for path in glob(glob_escape(incomplete) + "*")]
        return [*shipped, *sorted(path for path in beside if path.endswith(("/", suffix)))]

    return complete


OF_ANY = _completing("dynamics", "target", "scheme", "build")
OF_BUILDS = _completing("build", "dynamics", "target")
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Documents (YAML), my_spec.py:name, or names of `recipe list`.",
        autocompletion=OF_ANY,
    ),
]
OneFile = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A document (YAML), my_spec.py:name, or a name of `recipe list`.", autocompletion=OF_ANY
    ),
]
Builds = Annotated[
    list[str],
    typer.Argument(
        metavar="BUILD...", help="Builds, or dynamics; or dynamics, then a target.", autocompletion=OF_BUILDS
    ),
]
OneBuild = Annotated[
    str,
    typer.Argument(
        metavar="BUILD",
        help="A build; a target, whose sampler is chosen; or dynamics, with a target or a complete H.",
        autocompletion=_completing("build", "dynamics", "target"),
    ),
]
TheTarget = Annotated[
    str | None,
    typer.Argument(metavar="[TARGET]", help="With dynamics: the target.", autocompletion=_completing("target")),
]
TheData = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="With a target: the table of data.",
        autocompletion=_completing("data", suffix=".csv"),
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="With dynamics or a target: A=2, data.x=[a, b], scheme=baoab."),
]
Save = Annotated[
    Path | None, typer.Option("--save", metavar="F", help="Write the build that is made of dynamics and a target.")
]
AllowUndecided = Annotated[bool, typer.Option("--allow-undecided", help="Accept what is neither proved nor refuted.")]
AllowRefuted = Annotated[
    bool, typer.Option("--allow-refuted", help="Make a negative control of what is refuted, marked in all it writes.")
]
AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code", help="Run the Python files that a target names as its gradient, and a cycle as moves."
    ),
]
UseCache = Annotated[
    bool, typer.Option("--cache/--no-cache", help="Use verdicts of earlier commands about the same documents.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and leave.")
]
FROM_ONE, FROM_ZERO = _between(1, 10**9), _between(0, 10**9)
FEW, SEEDS = _between(1, 10_000), _between(0, 2**63 - 1)


def _given(
    data: str | None, settings: list[str] | None, save: Path | None, files: Sequence[str]
) -> BuildArguments | None:
    """Return what the options state about a build of dynamics and a target, or of dynamics alone; None without any."""
    given = BuildArguments(data, tuple(settings or ()), save)
    if given.is_empty:
        return None
    if len(files) > 2:
        problem = f"found {len(files)} document{'s' * (len(files) != 1)} with --data, --set or --save, expected two"
        raise typer.BadParameter(f"{problem}: dynamics and a target, which are made a build")
    return given


@app.callback()
def recipe(version: Version = False) -> None:
    """Take the options that are not of one command."""
    del version


@app.command()
@with_exit_code
def check(
    files: Files,
    json: AsJson = False,
    allow_undecided: AllowUndecided = False,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", metavar="F", help="Write what recheck.py needs to re-check it.")
    ] = None,
    data: TheData = None,
    settings: Settings = None,
    save: Save = None,
    use_cache: UseCache = True,
) -> ExitCode:
    """Decide whether documents are right, for every size.

    With --data, --set or --save: the build that two of them make, dynamics and a target.
    """
    from recipe_compiler.commands.check import check_files

    given = _given(data, settings, save, files)
    if certificate is not None and len(files) != 1 and given is None:
        raise typer.BadParameter(f"found {len(files)} documents, expected one: a certificate is about one document")
    return check_files(
        tuple(files), as_json=json, allow_undecided=allow_undecided, certificate=certificate, use_cache=use_cache,
        given=given,
    )  # fmt: skip


@app.command()
@with_exit_code
def derive(file: OneFile, latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX.")] = False) -> ExitCode:
    """Print grad H, Gamma, drift, noise and the SDE."""
    from recipe_compiler.commands.derive import derive_file

    return derive_file(file, latex=latex)


@app.command("compile")
@with_exit_code
def compile_(
    builds: Builds,
    folder: Annotated[Path, typer.Option("--output-dir", "-o", help="Where the modules go.")] = Path("generated"),
    compare: Annotated[bool, typer.Option("--check", help="Write nothing; fail if a module there differs.")] = False,
    allow_undecided: AllowUndecided = False,
    allow_refuted: AllowRefuted = False,
    data: TheData = None,
    settings: Settings = None,
    save: Save = None,
    use_cache: UseCache = True,
) -> ExitCode:
    """Verify builds, emit and read back their modules; of dynamics alone, one for any log density.

    With --data, --set or --save: the build that two documents make, dynamics and a target, or that dynamics make.
    """
    from recipe_compiler.commands.compile import compile_files

    return compile_files(
        tuple(builds), folder, compare=compare, allow_undecided=allow_undecided, allow_refuted=allow_refuted,
        use_cache=use_cache, given=_given(data, settings, save, builds),
    )  # fmt: skip


@app.command()
@with_exit_code
def run(
    build: OneBuild,
    target: TheTarget = None,
    data: TheData = None,
    settings: Settings = None,
    save: Save = None,
    folder: Annotated[Path, typer.Option("--output-dir", "-o", help="Where the draws go.")] = Path("runs"),
    draws: Annotated[int | None, typer.Option(callback=FROM_ONE, help="Kept draws of a chain.")] = None,
    warmup: Annotated[int | None, typer.Option(callback=FROM_ZERO, help="Draws thrown away before them.")] = None,
    chains: Annotated[int | None, typer.Option(callback=FEW, help="Chains, 10000 at most.")] = None,
    cores: Annotated[int | None, typer.Option(callback=FEW, help="Threads; by default, all cores.")] = None,
    seed: Annotated[
        int | None, typer.Option(callback=SEEDS, help="Below 2**63; the same seed, the same draws.")
    ] = None,
    step_size: Annotated[float | None, typer.Option(callback=_step_size, help="eps, above 0.")] = None,
    batch_size: Annotated[int | None, typer.Option(callback=FROM_ONE, help="Data in a minibatch.")] = None,
    thin: Annotated[int | None, typer.Option(callback=FROM_ONE, help="Steps per draw.")] = None,
    lanes: Annotated[
        bool | None,
        typer.Option("--lanes/--no-lanes", help="64 chains side by side: other draws of the same distribution."),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Run nothing: print the build with what `step_size: auto` chooses.")
    ] = False,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Pictures of the run, as PNG. Needs matplotlib.")
    ] = None,
    log_likelihood: Annotated[
        bool | None,
        typer.Option(
            "--log-likelihood/--no-log-likelihood", help="Store that of every datum; by default, up to 64 MiB."
        ),
    ] = None,
    predictive: Annotated[
        bool | None,
        typer.Option("--predictive/--no-predictive", help="Store data drawn by posterior and prior; by default, few."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an earlier run into DIR ended.")] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the draws of an earlier run, which otherwise are moved aside.")
    ] = False,
    json: AsJson = False,
    allow_undecided: AllowUndecided = False,
    allow_refuted: AllowRefuted = False,
    allow_code: AllowCode = False,
    use_cache: UseCache = True,
) -> ExitCode:
    """Compile a build, run its chains, summarise; of a target alone, a sampler is chosen.

    The draws are stored as netCDF. Options take the place of the build's `run:` section. Once a minute, and at the
    end, all that the chains depend on is kept beside them: a run that was stopped goes on with --resume and draws the
    same bits as one that was not; so does a finished one with more --draws.
    """
    from recipe_compiler.commands.run import Results, run_build

    options = RunOptions(draws, warmup, chains, seed, step_size, batch_size, thin, lanes)
    files = [build] if target is None else [build, target]
    return run_build(
        files, Results(folder, plots, overwrite, log_likelihood, predictive), options, cores,
        given=_given(data, settings, save, files),
        resume=resume, as_json=json, allow_undecided=allow_undecided, allow_refuted=allow_refuted,
        allow_code=allow_code, use_cache=use_cache, only_plan=plan,
    )  # fmt: skip


@app.command()
@with_exit_code
def design(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[TARGET]", help="The target; left out: the map of what ships.",
                       autocompletion=_completing("target")),
    ] = None,
    samplers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SAMPLER...]", help="Dynamics, or builds of the target; left out: all that ship.",
                       autocompletion=_completing("dynamics", "build")),
    ] = None,
    data: TheData = None,
    settings: Settings = None,
    seconds: Annotated[float, typer.Option(help="Of the processor, for the chains of each sampler.")] = 20.0,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="The table as a picture, PNG. Needs matplotlib.")
    ] = None,
    json: AsJson = False,
    use_cache: UseCache = True,
) -> ExitCode:  # fmt: skip
    """Rank samplers of a target: which D and Q take fewest gradients for an effective draw.

    Each is planned as `recipe run` plans it, to the same accuracy: by the audit of its step, or by pilot chains.
    Without a target, print shipped dynamics by their D and Q: 0, constant, or of the state.
    """
    from recipe_compiler.commands.design import design_target, show_map

    if target is None:
        return show_map(as_json=json)
    given = BuildArguments(data, tuple(settings or ()))
    return design_target(target, samplers or (), given, seconds, plots, as_json=json, use_cache=use_cache)


@app.command()
@with_exit_code
def rerun(
    file: Annotated[str, typer.Argument(metavar="RUN.nc", help="A file that `recipe run` wrote.")],
    folder: Annotated[Path, typer.Option("--output-dir", "-o", help="Where the draws go.")] = Path("runs/again"),
    root: Annotated[
        Path | None,
        typer.Option("--root", metavar="DIR", help="What files in the build are relative to; else where it was."),
    ] = None,
    cores: Annotated[int | None, typer.Option(callback=FEW, help="Threads; by default, all cores.")] = None,
    json: AsJson = False,
    allow_undecided: AllowUndecided = False,
    allow_refuted: AllowRefuted = False,
    allow_code: AllowCode = False,
    use_cache: UseCache = True,
) -> ExitCode:
    """Make a stored run again, bit for bit, from the documents and settings in its file, and from its data.

    It is refused, with the reason, where the data, or what this version emits, are not those of the run.
    """
    from recipe_compiler.commands.run import Results, rerun_file

    return rerun_file(
        file, Results(folder), root, cores,
        as_json=json, allow_undecided=allow_undecided, allow_refuted=allow_refuted, allow_code=allow_code,
        use_cache=use_cache,
    )  # fmt: skip


@app.command()
@with_exit_code
def compare(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Files that `recipe run` wrote: runs/*.nc.")],
    json: AsJson = False,
) -> ExitCode:
    """Print runs of one target side by side: what each cost, and where they lie apart by more than chance."""
    from recipe_compiler.commands.compare import compare_runs

    return compare_runs(runs, as_json=json)


@app.command()
@with_exit_code
def experiment(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]",
            help="An experiment of `recipe list`, or its file; without one, they are listed.",
            autocompletion=_completing("experiment"),
        ),
    ] = None,
    folder: Annotated[Path, typer.Option("--output-dir", "-o", help="Where draws and results go.")] = Path(
        "runs/experiments"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Few draws, to see that it runs.")] = False,
    plots: Annotated[bool, typer.Option("--plots", help="Draw its pictures. Needs matplotlib.")] = False,
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE.md", help="Write results and pictures into a page, and beside it."),
    ] = None,
    cores: Annotated[int | None, typer.Option(callback=FEW, help="Threads; by default, all cores.")] = None,
    json: AsJson = False,
    use_cache: UseCache = True,
) -> ExitCode:
    """Run an experiment of a paper: its builds, a table beside the published one, and whether its claims hold.

    What is finished is kept: the same command goes on where it was stopped, and prints at once what is there.
    """
    from recipe_compiler.commands.experiment import run_named

    return run_named(
        name, folder, quick=quick, as_json=json, page=page, plots=plots, cores=cores, use_cache=use_cache
    )  # fmt: skip


@app.command()
@with_exit_code
def lint(
    step: Annotated[str, typer.Argument(metavar="FILE.py:STEP", help="A step function. Its file is run.")],
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="SPEC",
            help="Dynamics to judge it by, U being any function, or a build: its target's U where grad_U is not given.",
            autocompletion=_completing("dynamics", "build"),
        ),
    ] = None,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="NAME=WHAT", help="What an argument is: a block, eps, rng, a formula (`v=eps*r`)."
        ),
    ] = None,
    json: AsJson = False,
    allow_undecided: AllowUndecided = False,
) -> ExitCode:
    """Say what an existing step function samples.

    Its file is code and is run, in a child process with limits on time and memory.
    """
    from recipe_compiler.commands.lint import lint_step

    pairs = [tuple(part.strip() for part in text.partition("=")[::2]) for text in maps or ()]
    for text, pair in zip(maps or (), pairs, strict=True):
        if not all(pair):
            raise typer.BadParameter(f"found --map {text}, expected --map NAME=WHAT")
    named = [(pair[0], pair[1]) for pair in pairs]
    return lint_step(step, against, named, as_json=json, allow_undecided=allow_undecided)


@app.command()
@with_exit_code
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the document; the file is NAME.yaml.")],
    dynamics: Annotated[bool, typer.Option("--dynamics", help="A sampler, which is the default.")] = False,
    target: Annotated[bool, typer.Option("--target", help="A statistical model.")] = False,
    build: Annotated[bool, typer.Option("--build", help="A sampler, a model and data together.")] = False,
    origin: Annotated[
        str | None, typer.Option("--from", metavar="NAME", help="A shipped document to copy: see `recipe list`.")
    ] = None,
) -> ExitCode:
    """Write NAME.yaml: a commented document to start from."""
    from recipe_compiler.commands.new import write_new

    kinds = [kind.value for kind, wanted in zip(DocumentKind, (dynamics, target, build), strict=True) if wanted]
    if len(kinds) > 1:
        raise typer.BadParameter(f"found {' and '.join(f'--{kind}' for kind in kinds)}, expected one of them")
    return write_new(name, kinds[0] if kinds else None, origin)


@app.command("list")
@with_exit_code
def list_(
    kind: Annotated[Shipped | None, typer.Argument(help="Which of them; by default all.")] = None,
    json: AsJson = False,
) -> ExitCode:
    """Print what ships: dynamics, targets, schemes, builds and data, with what each needs."""
    from recipe_compiler.commands.catalogue import list_catalogue

    return list_catalogue(None if kind is None else kind.value, as_json=json)


@app.command()
@with_exit_code
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of `recipe list`.", autocompletion=OF_ANY)],
) -> ExitCode:
    """Print a shipped document."""
    from recipe_compiler.commands.catalogue import show_document

    return show_document(name)


@app.command()
@with_exit_code
def schema(
    kind: Annotated[DocumentKind | None, typer.Argument(help="Which document; by default all.")] = None,
) -> ExitCode:
    """Print the JSON Schema of documents."""
    from recipe_compiler.commands.schema import print_schema

    return print_schema(None if kind is None else kind.value)


def _foreign(arguments: Sequence[str]) -> tuple[str, str] | None:
    """Return the first option that other samplers know, or that is spelled with underscores, and our name for it."""
    ours = set(FOREIGN_OPTIONS.values())
    for argument in arguments:
        given = argument.split("=")[0]
        spelled = given.lower().replace("_", "-")
        if given.startswith("--") and spelled in FOREIGN_OPTIONS:
            return given, FOREIGN_OPTIONS[spelled]
        if spelled != given and spelled in ours:
            return given, spelled
    return None


def main() -> None:
    """Run the command line."""
    gc.set_threshold(NEW_OBJECTS)
    os.environ.setdefault("SYMPY_CACHE_SIZE", RESULTS)  # which SymPy, imported by the commands that need it, reads then
    guard_streams()
    arguments = sys.argv[1:]
    if arguments[:1] == ["run"] and (foreign := _foreign(arguments)) is not None:
        complain(f"found {foreign[0]}, expected an option of `recipe run`: here it is called {foreign[1]}")
        sys.exit(ExitCode.FAULTY)
    try:
        app(args=arguments, prog_name="recipe")
    except Exception as error:  # of the help itself: a full disk
        sys.exit(code_of(error))
    finally:
        gc.freeze()  # the memory goes back as a whole: to look all of it over for cycles first takes a fifth of a check
