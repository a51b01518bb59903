"""The docstring of an emitted module: what it samples, from what, and what is known about it."""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from recipe_compiler.derive.noise import gradient_covariance
from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.citations import citation
from recipe_compiler.emit.module import FORMAT
from recipe_compiler.emit.print_chain import told_by
from recipe_compiler.emit.sampler import DrawnArray, Keyword, Sampler, shape_text
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import Kind, Size
from recipe_compiler.formula.show import text
from recipe_compiler.program.lower_cycle import (
    ACCEPTANCE,
    INVOLUTION_ACCEPTANCE,
    INVOLUTIONS_TRIED,
    IRREVERSIBLE,
    TOO_FEW,
    TRIED,
    UNSOLVED,
    of_kind,
)
from recipe_compiler.program.lower_draw import OF_NORMALS
from recipe_compiler.program.program import Cycle, Program
from recipe_compiler.spec.model import Build, Scheme, Target
from recipe_compiler.spec.words import kept_text, word_text
from recipe_compiler.splitting.implicit import ORDER as IMPLICIT
from recipe_compiler.splitting.show_cycle import cycle_lines
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.splitting.subtraction import LOST, Subtraction, given_up_text, subtraction
from recipe_compiler.splitting.words import order as weak_order
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.verdict import Proved, Report
from recipe_compiler.version import __version__

WIDTH = 116

MADE_BY = "Emitted by recipe_compiler (format "
"""What the line below the title begins with, in every module and in nothing else."""

_DRAWN = {
    "philox": "normals by Philox4x32-10: a function of the run's key, chain, step and place in the step alone",
    "numpy": "normals by a numpy.random.Generator (PCG64) of each chain",
}
"""What the noise is drawn from, where that is not xoshiro256++."""


def header(
    sampler: Sampler, derivation: Derivation, report: Report, digest: str, names: Mapping[str, str], *,
    allow_undecided: bool = False,
) -> str:  # fmt: skip
    """Return the header's text, safe between triple quotes: one line of a user's text stays one line.

    It holds nothing that a limit on the time of a claim could change: the same build, the same text, on every machine.

    Args:
        sampler: what the file's `sample` takes and returns.
        derivation: of the bound dynamics.
        report: the verdicts about the build.
        digest: SHA-256 of the documents.
        names: the user's names that had to be changed, with what they became.
        allow_undecided: whether it was asked for though a required claim might be undecided.
    """
    build, program = sampler.build, sampler.program
    sections = (
        _title(build),
        "\n".join(_usage(sampler)),
        _section("Data", _data(sampler)),
        _section("Parameters", [_parameter(one) for one in sampler.given if not one.held]),
        _section("Held", _held(sampler)),
        _section("State", _state(sampler)),
        _section("Draws, each of shape (chain, draw, ...)", _drawn(sampler)),
        _section("The build", _values(sampler)),
        _section("Energy", [f"H = {text(derivation.dynamics.H)}", *_target(build)]),
        _section("Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma", _dynamics(derivation)),
        _section("Bound to", [f"{name} = {text(formula)}" for name, formula in build.bind]),
        _section("Step", _step(build, derivation, program)),
        *_claims(report, allow_undecided=allow_undecided),
        _section("Not checked here", report.caveats),
        _section("Renamed", [f"{old} is called {new}" for old, new in names.items()]),
        _section("References", [citation(key) for key in _references(build)]),
        _section("Origin", _origin(build, digest)),
    )
    return "\n\n".join(part for part in sections if part) + "\n"


def _title(build: Build) -> str:
    return f"{build.name}: {_line(build.dynamics.title or build.dynamics.name)}, for {build.target.name}."


def _usage(sampler: Sampler) -> Iterator[str]:
    """Yield how to call it: the lines that a reader copies first."""
    name = sampler.build.name
    given = [*sampler.data, *(f"{word}={_example(word)}" for word, default in sampler.keywords if not default)]
    first = sampler.pieces[0]
    yield "To draw from it, in plain Python with numpy and numba alone:"
    yield ""
    yield f"    import {name}"
    yield ""
    yield f"    draws = {name}.sample({', '.join(given)})"
    yield f'    draws["{first.name}"].mean(axis=(0, 1))  # of an array {shape_text(("chain", "draw", *first.shape))}'
    yield f"    help({name}.sample)  # settings, and what else it takes"


def _example(word: str) -> str:
    return {"step_size": "0.01", "batch_size": "100"}.get(word, word)


def _origin(build: Build, digest: str) -> Iterator[str]:
    made = f"from {build.dynamics.name} and {build.target.name}, by version {__version__} of that Python package."
    yield f"{MADE_BY}{FORMAT}) {made}"
    yield f"Spec digest (SHA-256): {digest}"
    yield "Licence of this text: BSD-3-Clause, Copyright (c) 2026, The recipe_compiler authors; that of the formulas is"
    yield "their authors' own."


_TOLD = {
    ACCEPTANCE: "the mean probability that the moves of a draw were accepted with",
    UNSOLVED: "how many of them were refused since their steps were not solved for, or led to no number",
    IRREVERSIBLE: "how many of them were refused since they do not lead back to where they began",
    TRIED: "how many of them there were: where none was, acceptance is NaN",
    INVOLUTION_ACCEPTANCE: "the mean probability that the involutions of a draw were accepted with",
    INVOLUTIONS_TRIED: "how many of these there were: where none was, involution_acceptance is NaN",
    TOO_FEW: "how many draws by slices had a level below what no place holds: places that are not held reach it",
}
"""What is told of the moves of a draw."""


def _told(scheme: Scheme) -> Mapping[str, str]:
    """Return in words what is told of the moves of a scheme, each kind of them apart."""
    found = dict(_TOLD)
    for k, move in enumerate(scheme.accepted):
        kind = scheme.kind_of(move)
        found[of_kind(ACCEPTANCE, k)] = f"that of {kind}"
        found[of_kind(TRIED, k)] = f"how many there were of {kind}: where none was, {of_kind(ACCEPTANCE, k)} is NaN"
    return found


def _drawn(sampler: Sampler) -> Iterator[str]:
    yield from (_piece(piece) for piece in sampler.pieces)
    told = _told(sampler.build.scheme)
    yield from (f"{name}: a number, {told[name]}" for name, _ in told_by(sampler.kernel))


def _references(build: Build) -> Iterator[str]:
    yield from dict.fromkeys((*build.dynamics.references, *build.target.references))


def _section(name: str, lines: Iterable[str]) -> str:
    body = [part for line in lines for part in _wrapped(_line(line))]
    return "\n".join([f"{name}:", *body]) if body else ""


def _wrapped(line: str) -> list[str]:
    return wrap(line, WIDTH, initial_indent="    ", subsequent_indent="        ", break_long_words=False)


def _line(words: str) -> str:
    """Return a text on one line of printable ASCII that cannot end a docstring."""
    flat = " ".join(words.split())
    plain = flat.encode("ascii", "backslashreplace").decode("ascii")
    return plain.replace("\\", "\\\\").replace('"', "'")


def _last(size: Size | None) -> str:
    """Return the last position along an axis."""
    return str(size - 1) if isinstance(size, int) else f"{size} - 1"


def _data(sampler: Sampler) -> Iterator[str]:
    """Yield the shapes of the data, what they may hold, and what the build takes for them."""
    build, program = sampler.build, sampler.program
    if program.gradient is not None and program.gradient.code:
        arguments = ", ".join(("out", *program.gradient.given))
        yield f"gradient: a function jitted by numba, gradient({arguments}), which writes grad U into out"
    for move in {own.argument: own for own in (program.cycle.codes if program.cycle else ())}.values():
        changed = ", ".join(one.block.name for one in move.changed)
        yield (
            f"{move.argument}: a function jitted by numba, {move.argument}({', '.join(move.arguments)}), which "
            f"changes {changed} in place and keeps exp(-H); stream: four words of uint64, the state of xoshiro256++"
        )
    kind = "float32" if program.narrow else "float64"
    for datum in program.data:
        said = ", ".join(kind.value for kind in datum.kinds if kind is not Kind.REAL) or "finite"
        values = f"each one of {', '.join(map(str, datum.values))}" if datum.values else f"{said} numbers"
        own = f"{values}, kept as {kind}"
        if datum.is_index:
            own = f"positions from 0 to {_last(datum.shape.cols)}, kept as int64"
        yield f"{datum.name}: {shape_text(datum.axes)}, {own}"
    if not program.data or build.data is None:
        return
    columns = dict(build.data.columns)
    for name, taken in columns.items():
        how = "standardised " if name in build.data.standardise else ""
        said = f"{how}column{'s' if len(taken) > 1 else ''} {', '.join(taken)}"
        yield f"in the build, {name} is made of the {said} of {build.data.file.name}"
    yield from (f"column {made.name} = {text(made.formula)}" for made in build.data.made if not made.whole)
    yield from (f"in the build, {name} is {path.name}" for name, path in build.data.arrays)
    if build.data.intercept:
        yield "a column of ones stands before the columns of a matrix"
    yield from (f"{name} has a one at the place that its column counts" for name, _ in build.data.indicators)


def _parameter(one: Keyword) -> str:
    own = one.parameter
    kinds = ", ".join(kind.value for kind in own.kinds)
    said = f"{_value(one)} unless it is given" if one.default else f"to be given{f': {one.says}' if one.says else ''}"
    return f"{own.name}: {shape_text(own.shape.sizes)}, {kinds}; {said}"


def _value(one: Keyword) -> str:
    return one.default if one.default != "None" else " ".join(" ".join(one.made).split(" = ", 1)[1].split())


def _held(sampler: Sampler) -> Iterator[str]:
    """Yield the values of the build that `sample` takes no others for, and why."""
    held = [one for one in sampler.given if one.held and not one.ready]
    if held:
        yield from (f"{one.parameter.name}: {_value(one)}" for one in held)
        yield "what is proved below at the values of the build is of these alone: compile a build that states others"


def _state(sampler: Sampler) -> Iterator[str]:
    left = dict(sampler.start.left)
    for block in sampler.program.blocks:
        said = f"; its start is to be given by init: {left[block.name]}" if block.name in left else ""
        yield f"{block.name}: {shape_text(block.shape.sizes)}, {block.domain.name.value}{said}"


def _piece(piece: DrawnArray) -> str:
    return f"{piece.name}: {shape_text(piece.shape)}{f', {piece.says}' if piece.says else ''}"


def _values(sampler: Sampler) -> Iterator[str]:
    """Yield what the build says of a run: what `sample` does where it is told nothing else."""
    left = ("init", "progress", "threads")
    run = sampler.build.run
    own = {"batch_size": str(run.batch_size or "")}
    settings = ((name, own.get(name, default)) for name, default in sampler.settings if name not in left)
    yield ", ".join(f"{name} {value or 'to be given'}" for name, value in settings)
    if run.schedule.name != "constant":
        yield f"the step size falls along a chain by the schedule {run.schedule.name}; draws are weighted by step_size"
    if run.lanes:
        yield "chains are advanced 64 side by side"


def _target(build: Build) -> Iterator[str]:
    potential = build.dynamics.potential
    target = build.target
    if target.gradient is not None:
        yield f"grad {potential} is computed by {target.gradient}, which the chain is given"
    if target.potential is not None:
        yield f"{potential} = {text(target.potential)}"
    if target.log_likelihood is not None:
        yield f"{potential} = -log_prior - sum over the data of log_likelihood"
        what = "a row, of the states before it" if target.recursion else "one datum"
        yield f"log_likelihood of {what} = {_as_stated(target, 'log_likelihood', target.log_likelihood)}"
    elif target.log_prior is not None:
        yield f"{potential} = -log_prior"
    for state in target.recursion:
        yield f"{state.block.name} before the first row = {text(state.start)}"
        yield f"{state.block.name} after a row = {text(state.next)}"
    if target.log_prior is not None:
        yield f"log_prior = {_as_stated(target, 'log_prior', target.log_prior)}"


def _as_stated(target: Target, entry: str, formula: Formula) -> str:
    """Return a formula of a target by the densities that its author named: normal(b, 0, 5) + ..."""
    terms = () if target.declared else target.stated.terms(entry)
    written = (f"{name}({', '.join(map(text, of))})" if name else text(of[0]) for name, of in terms)
    return " + ".join(written) or text(formula)


def _dynamics(derivation: Derivation) -> Iterator[str]:
    blocks = [block.name for block in derivation.dynamics.declarations.blocks]
    for name, matrix in (("D", derivation.D), ("Q", derivation.Q)):
        entries = [
            f"{name}[{a},{b}] = {tensor_text(entry)}"
            for a, row in zip(blocks, matrix, strict=True)
            for b, entry in zip(blocks, row, strict=True)
            if not entry.is_zero
        ]
        yield from entries or [f"{name} = 0"]
    corrections = [f"Gamma[{b}] = {tensor_text(g)}" for b, g in zip(blocks, derivation.Gamma, strict=True) if g.terms]
    yield from corrections or ["Gamma = 0"]
    for block, drift in zip(blocks, derivation.drift, strict=True):
        yield f"f[{block}] = {tensor_text(drift)}"


def _step(build: Build, derivation: Derivation, program: Program) -> Iterator[str]:
    if build.scheme.cycle:
        yield "a cycle of moves, one after the other, each from the state z that the one before leaves:"
        found = split_by(derive(derivation.dynamics), build.scheme) if build.scheme.split else {}
        pieces = {name: piece for name, (piece, _) in found.items()}
        yield from (line.strip() for line in cycle_lines(derivation, build.scheme, pieces, build.target))
        trajectory = program.cycle.trajectory if program.cycle else None
        if trajectory is not None and trajectory.is_solved:
            yield "steps are solved for: z' is refused where as many of them from it, turned round, do not lead to z"
    if program.cycle is not None and program.cycle.begins_anew:
        yield from _of_draws(program, program.cycle)
    integrates = bool(build.scheme.split or not build.scheme.cycle)
    if integrates:
        yield _scheme(build.scheme)
    if build.scheme.keep:
        yield kept_text(build.scheme.split, build.scheme.keep, build.scheme.word)
    if program.noises and program.bit_generator in _DRAWN:
        yield _DRAWN[program.bit_generator]
    if program.narrow:
        yield "the data are stored in float32; arithmetic is in float64"
    if not integrates:
        return
    if program.variant == "full":
        noise = "" if program.cycle else "; noise N(0, 2 eps D)"
        yield f"grad U over all data{noise}"
        return
    yield f"grad U from {_batch(build)}, its sum scaled by N/n, the prior not"
    if build.control:
        mode = ", ".join(own.mode for own in build.control)
        at_mode = ", ".join(own.at_mode for own in build.control)
        yield f"control variates: the sum is of differences to the gradients at {mode}, where grad U is {at_mode};"
        yield "both are found once, before a run"
    if build.scheme.split:
        yield from _of_word(build, derivation, program)
        return
    if not any(noise.B_hat for noise in program.noises):
        yield "noise N(0, 2 eps D): the covariance V of the minibatch gradient is taken to be 0, so the noise it adds"
        yield "is not subtracted and the draws are too wide by it"
        return
    yield f"noise N(0, eps (2 D - eps B_hat)), B_hat = (D + Q) V (D + Q)^T with V = {text(build.V)}"
    if build.estimated is not None:
        yield f"{build.estimated} is estimated from the data at the mode, before a run"


def _of_draws(program: Program, cycle: Cycle) -> Iterator[str]:
    """Yield what the draws of a cycle take, and what they leave nobody."""
    if any(draw.law not in OF_NORMALS for draw in cycle.draws):
        yield "draws take as many words of the chain's own stream as they need, one draw after the other"
    if any(draw.by_precision for draw in cycle.draws):
        yield "N(inv(P) u, inv(P)) is L^-T (L^-1 u + n), n ~ N(0, I), with L L^T = P: no matrix is inverted"
    if cycle.trajectory is not None and (program.carried or cycle.accepted):
        known = " and ".join((*(("grad U",) if program.carried else ()), *(("U",) if cycle.accepted else ())))
        yield f"{known} at the state that is drawn: evaluated where the word begins, and not kept from step to step"


def _of_word(build: Build, derivation: Derivation, program: Program) -> Iterator[str]:
    """Yield what a word makes of the noise of its gradient, and what is not true of a step with it."""
    if program.carried:
        yield "a step begins with the gradient of the minibatch before, which is state of the chain"
    found = subtraction(derivation, build.scheme, gradient_covariance(derivation, build.V))
    if isinstance(found, Subtraction):
        yield f"for the noise of the gradient, V = {text(build.V)}: {given_up_text(build.scheme, found)},"
        yield f"B = (D + Q) V (D + Q)^T, E = exp(-eps F) what {found.piece} leaves of {found.block}"
        if build.estimated is not None:
            yield f"{build.estimated} is estimated from the data at the mode, before a run"
    else:
        yield f"nothing is given up for the noise of the gradient: {found.why}"
    yield LOST


def _scheme(scheme: Scheme) -> str:
    if scheme.split:
        named = ", ".join(f"{piece} ({flow})" for piece, flow in scheme.flows)
        flows = f"the flow of each piece, exact but of {named}" if named else "the exact flow of each piece"
        own = weak_order(scheme.split, highest=3).order
        own = min(own, IMPLICIT) if named else own
        name = "the word" if scheme.cycle else scheme.name
        return f"{name}: {word_text(scheme.split)}, {flows}, one after the other; weak order {own}"
    if scheme.order:
        order = ", then ".join(scheme.order)
        return f"sequential Euler: {order}; the noise covariance is that of the old state; order 1"
    return "Euler-Maruyama: every block from the old state at once; weak order 1"


def _batch(build: Build) -> str:
    if build.contiguous:
        return "a minibatch of consecutive rows (row 0 follows the last) of data in random order"
    return f"a minibatch drawn {'with' if build.replacement else 'without'} replacement"


def _claims(report: Report, *, allow_undecided: bool) -> Iterator[str]:
    """Yield a section for each set of assumptions, with the required claims that were proved by it alone.

    Where claims need not be proved, which of them are depends on the limits: then all that are required are named.
    """
    required = [finding for finding in report.findings if finding.required]
    if allow_undecided:
        says = "Claims; compiled with --allow-undecided, `recipe check` says which of them are proved"
        yield _section(says, (finding.says for finding in required))
        return
    groups: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for finding in required:
        if isinstance(finding.decision, Proved):
            by = groups.setdefault(tuple(sorted(finding.decision.given)), {})
            by.setdefault(finding.decision.by, []).append(finding.says)
    for given in sorted(groups, key=lambda assumptions: (len(assumptions), assumptions)):
        name = f"Proved, given that {'; '.join(given)}" if given else "Proved"
        yield _section(name, (f"{'; '.join(says)} ({by})" for by, says in groups[given].items()))
