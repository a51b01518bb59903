"""`recipe design`: which D and Q explore a target faster."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from recipe_compiler.advise.design import (
    Design,
    Varies,
    design_of,
    designed,
    is_for_any_target,
    left_plain,
    map_of,
    ranked,
)
from recipe_compiler.advise.draw_designs import draw_designs
from recipe_compiler.cache import open_cache
from recipe_compiler.commands.arguments import BuildArguments
from recipe_compiler.commands.documents import load_named
from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.commands.made_build import make_build
from recipe_compiler.commands.outputs import demand_folder
from recipe_compiler.commands.run_json import refusals_said, say_json
from recipe_compiler.display import say, show_rows
from recipe_compiler.errors import DocumentError, spec_error
from recipe_compiler.plots.panels import demand_matplotlib
from recipe_compiler.plots.pictures import Pictures
from recipe_compiler.run.progress import Stages
from recipe_compiler.spec.catalogue import names
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Document, Dynamics, Target


def design_target(
    target: str, samplers: Sequence[str], given: BuildArguments, seconds: float, plots: Path | None, *,
    as_json: bool, use_cache: bool = True,
) -> ExitCode:  # fmt: skip
    """Rank samplers of a target by the gradients that an effective draw takes: shipped dynamics, or those named.

    Args:
        target: its document.
        samplers: dynamics, or builds of the target; empty: all that ship and take a target.
        given: data and settings; those of one sampler alone are left out of the others.
        seconds: of the processor, that the chains of each may take.
        plots: the folder of the picture.
        as_json: whether one JSON object is printed.
        use_cache: whether verdicts and plans of earlier commands are used.
    """
    with refusals_said(target, as_json=as_json), Stages().said(quiet=as_json) as stages:
        stages("reading the documents")
        if not isinstance(load_named(target), Target):
            raise spec_error(target, "document", "found no target, expected one: `recipe design TARGET [SAMPLER...]`")
        if plots is not None:
            demand_matplotlib()
            demand_folder(plots, "--plots", ())
        cache, found, refused = open_cache(use=use_cache), list[Design](), list[DocumentError]()
        candidates = dict(_candidates(samplers))
        for name, document in candidates.items():
            try:
                build = _build(name, document, target, _of(document, candidates.values(), given))
            except DocumentError as error:
                refused.append(error)
                found.append(replace(design_of(_dynamics(document)), why_not=error.faults[0].problem))
                continue
            stated = {text.partition("=")[0].strip() for text in given.settings}
            free = [name for name in left_plain(build) if name not in stated and isinstance(document, Dynamics)]
            if free:
                why = f'nothing states {", ".join(free)}, without which it is one of the others: --set "{free[0]}=..."'
                found.append(replace(design_of(build.stated_dynamics), why_not=why))
                continue
            found.append(replace(designed(build, cache, seconds, stages), name=name))
        stages("")
        if len(refused) == len(candidates):
            raise refused[0]
        first, others = ranked(found)
        if plots is not None:
            Pictures({"design": draw_designs(Path(target).stem, first)}).write(plots)
        if as_json:
            rows = [_plain(one) for one in (*first, *others)]
            say_json({"target": target, "samplers": rows})
        else:
            _show(first, others)
    return ExitCode.PROVED


def show_map(*, as_json: bool) -> ExitCode:
    """Print shipped samplers by their D and Q: zero, constant, or of the state (Ma, Chen and Fox 2015, Figure S.4)."""
    designs = [design_of(own) for name in names("dynamics") if isinstance(own := load(name), Dynamics)]
    if as_json:
        rows = [{"name": one.name, "D": one.D.value, "Q": one.Q.value} for one in designs]
        say_json({"samplers": rows})
        return ExitCode.PROVED
    cells = map_of(designs)
    headings = ("", *(f"Q: {Q.value}" for Q in Varies))
    show_rows(headings, [(f"D: {D.value}", *(", ".join(cells[D, Q]) for Q in Varies)) for D in Varies])
    return ExitCode.PROVED


def _candidates(samplers: Sequence[str]) -> Iterator[tuple[str, Dynamics | Build]]:
    for name in samplers or names("dynamics"):
        document: Document = load_named(name)
        if not isinstance(document, Dynamics | Build):
            raise spec_error(
                name, "document", f"found a {type(document).__name__.lower()}, expected dynamics or a build"
            )
        if samplers or (isinstance(document, Dynamics) and is_for_any_target(document)):
            yield name, document


def _dynamics(document: Dynamics | Build) -> Dynamics:
    return document.stated_dynamics if isinstance(document, Build) else document


def _build(name: str, document: Dynamics | Build, target: str, given: BuildArguments) -> Build:
    """Return the build of a sampler. Raises DocumentError where it does not go together with the target."""
    if isinstance(document, Dynamics):
        return make_build([name, target], given, quiet=True)
    asked = load(target)
    if not isinstance(asked, Target) or document.target.name != asked.name:
        raise spec_error(
            name, "document", f"found a build of {document.target.name}, expected one of the target {target}"
        )
    return document


def _of(document: Dynamics | Build, every: Iterable[Dynamics | Build], given: BuildArguments) -> BuildArguments:
    """Return what is given, without settings of what other dynamics declare and these do not."""
    own = set(_dynamics(document).declarations.names)
    others = {name for one in every for name in _dynamics(one).declarations.names} - own
    kept = tuple(text for text in given.settings if text.partition("=")[0].strip() not in others)
    return replace(given, settings=kept)


def _show(first: Sequence[Design], others: Sequence[Design]) -> None:
    headings = ("", "D", "Q", "step", "gradients", "steps", "sds off", "by")
    rows = [
        (one.name, one.D.value, one.Q.value, one.step, f"{one.gradients:.3g}", f"{one.steps:.3g}", one.bias, one.by)
        for one in first
    ]
    say("gradients and steps for one effective draw of the slowest coordinate, mean or square:")
    show_rows(headings, rows)
    for one in others:
        say(f"{one.name}: no figure: {one.why_not}")


def _plain(one: Design) -> dict[str, object]:
    return {
        "name": one.name, "D": one.D.value, "Q": one.Q.value, "step": one.step,
        "gradients_per_effective_draw": one.gradients,
        "steps_per_effective_draw": one.steps,
        "sds_off": one.bias, "by": one.by, "why_not": one.why_not,
    }  # fmt: skip
