"""The docstring of an emitted module: what it samples, from what, and what is known about it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from recipe_compiler.derive.noise import gradient_covariance
from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.derive.show import row_texts
from recipe_compiler.emit.citations import citation
from recipe_compiler.emit.module import FORMAT
from recipe_compiler.emit.print_chain import reported_by
from recipe_compiler.emit.sampler import OF_ALL, DrawnArray, Keyword, Sampler, shape_text
from recipe_compiler.formula.shapes import Kind, Size
from recipe_compiler.formula.show import text
from recipe_compiler.program.lower_draw import OF_NORMALS
from recipe_compiler.program.program import REST, ROWS, Cycle, Program
from recipe_compiler.program.step_stats import (
    ACCEPTANCE,
    INVOLUTION_ACCEPTANCE,
    INVOLUTIONS_TRIED,
    IRREVERSIBLE,
    TOO_FEW,
    TRIED,
    UNSOLVED,
    of_kind,
)
from recipe_compiler.spec.found_q import has_found_q
from recipe_compiler.spec.model import Build, DataFile, Scheme, Source
from recipe_compiler.spec.open_target import GRADIENT, POTENTIAL
from recipe_compiler.spec.recursion import says_of_equations
from recipe_compiler.spec.words import kept_text, word_text
from recipe_compiler.splitting.gradient_noise import LOST, OtherFormError, find_subtraction, format_given_up
from recipe_compiler.splitting.implicit import ORDER as IMPLICIT
from recipe_compiler.splitting.show import write_cycle_lines
from recipe_compiler.splitting.split_by import split_by
from recipe_compiler.splitting.words import find_order as weak_order
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.verdict import Proved, Refuted, Report
from recipe_compiler.version import __version__

WIDTH = 116

MADE_BY = "Emitted by recipe_compiler (format "
"""What the line below the title begins with, in every module and in nothing else."""


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
    stated, here = build.stated_dynamics.declarations, build.dynamics.declarations
    same = (stated.blocks, stated.parameters) == (here.blocks, here.parameters)
    own = derivation.dynamics.source if same and build.scheme.use is None else None  # no other names
    H = "" if build.is_complete else _as_written(own, "H")
    f = "f as it is claimed" if build.dynamics.as_claimed else "f = -(D + Q) grad H + Gamma"
    equation = f"Dynamics: dz = f dt + sqrt(2 D) dW, {f}"
    found = ["Q is not stated: it was recovered from the claimed drift"] if has_found_q(build) else []
    mark = build.mark
    sections = (
        _title(build),
        "" if mark is None else _section("REFUTED, a negative control: nothing is proved of it", mark.claims),
        "" if mark is None else _section("What is run", [mark.runs]),
        "\n".join(_usage(sampler)),
        _section("Data", _data(sampler)),
        _section("Parameters", [_parameter(one) for one in sampler.given if not one.held]),
        _section("Fixed", _held(sampler)),
        _section("State", _state(sampler)),
        _section("Draws, each of shape (chain, draw, ...)", _drawn(sampler)),
        _section("The build", _values(sampler)),
        _section("Energy", [f"H = {H or text(derivation.dynamics.H)}", *_target(build)]),
        _section(equation, [*found, *_dynamics(own, derivation)]),
        _section("With", _bound(build)),
        _section("Step", _step(build, derivation, program)),
        *(() if mark else _claims(report, advisory=build.target.is_open, allow_undecided=allow_undecided)),
        *(_of_any(report) if build.target.is_open and mark is None else ()),
        _section("Not checked here", report.caveats),
        _section("Renamed", [f"{old} is called {new}" for old, new in names.items()]),
        _section("References", map(citation, dict.fromkeys((*build.dynamics.references, *build.target.references)))),
        _section("Origin", _origin(build, digest)),
    )
    return "\n\n".join(part for part in sections if part) + "\n"


def _title(build: Build) -> str:
    what = _line(build.dynamics.title or build.dynamics.name)
    target = "any log density" if build.target.is_open else build.target.name
    refuted = "" if build.mark is None else "REFUTED: "
    return f"{refuted}{build.name}: {what}{'' if build.is_complete else f', for {target}'}."


def _usage(sampler: Sampler) -> Iterator[str]:
    """Yield how to call it: the lines that a reader copies first."""
    name = sampler.build.name
    examples = {"step_size": "0.01", "batch_size": "100", ROWS: "1000"}
    required = (word for word, default in sampler.keywords if not default)
    sizes = [f"{size}=3" for size, default in sampler.sizes if default == "None"]
    given = [*sampler.data, *sizes, *(f"{word}={examples.get(word, word)}" for word in required)]
    first = sampler.pieces[0]
    yield "To sample, with NumPy and Numba only:"
    yield ""
    yield f"    import {name}"
    yield ""
    yield f"    draws = {name}.sample({', '.join(given)})"
    yield f'    draws["{first.name}"].mean(axis=(0, 1))  # shape: {shape_text(("chain", "draw", *first.shape))}'
    yield f"    help({name}.sample)  # all arguments"


def _origin(build: Build, digest: str) -> Iterator[str]:
    parts = dict.fromkeys((build.dynamics.name, *(() if build.target.is_open else (build.target.name,))))
    made = f"from {' and '.join(parts)}, by version {__version__} of that package."
    yield f"{MADE_BY}{FORMAT}) {made}"
    yield f"Spec digest (SHA-256): {digest}"
    yield "Licence of this text: BSD-3-Clause, Copyright (c) 2026, The recipe_compiler authors; that of the formulas is"
    yield "their authors' own."


_MEANINGS = {
    ACCEPTANCE: "mean acceptance probability of the moves of a draw",
    UNSOLVED: "number of moves rejected because the implicit step was not solved or not finite",
    IRREVERSIBLE: "number of moves rejected because the reverse move does not return to the start",
    TRIED: "number of moves; where it is 0, acceptance is NaN",
    INVOLUTION_ACCEPTANCE: "mean acceptance probability of the involutions of a draw",
    INVOLUTIONS_TRIED: "number of involutions; where it is 0, involution_acceptance is NaN",
    TOO_FEW: "number of slice draws that needed more components than the model has",
}
"""What draws hold of the moves."""


def _meanings(scheme: Scheme) -> Mapping[str, str]:
    """Return the meaning of what draws hold of the moves of a scheme, for each kind of move."""
    found = dict(_MEANINGS)
    for k, move in enumerate(scheme.accepted):
        kind = scheme.kind_of(move)
        found[of_kind(ACCEPTANCE, k)] = f"mean acceptance probability of {kind}"
        found[of_kind(TRIED, k)] = f"number of moves of {kind}; where it is 0, {of_kind(ACCEPTANCE, k)} is NaN"
    return found


def _drawn(sampler: Sampler) -> Iterator[str]:
    yield from (_piece(piece) for piece in sampler.pieces)
    meanings = _meanings(sampler.build.scheme)
    yield from (f"{name}: a number, {meanings[name]}" for name, _ in reported_by(sampler.kernel))


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
    if program.rest:
        yield from _functions(sampler)
    elif program.gradient is not None and program.gradient.code:
        arguments = ", ".join(("out", *program.gradient.given))
        yield f"gradient: a function jitted by numba, gradient({arguments}), which writes grad U into out"
    for move in {own.argument: own for own in (program.cycle.codes if program.cycle else ())}.values():
        changed = ", ".join(one.block.name for one in move.changed)
        yield (
            f"{move.argument}: a function jitted by numba, {move.argument}({', '.join(move.arguments)}), which "
            f"changes {changed} in place and preserves exp(-H); stream: four words of uint64, the state of xoshiro256++"
        )
    kind = "float32" if program.narrow else "float64"
    made = {} if build.data is None else dict(_made(build.data))
    ones = ", after a column of ones" if build.data is not None and build.data.intercept else ""
    for datum in program.data:
        said = ", ".join(kind.value for kind in datum.kinds if kind is not Kind.REAL) or "finite"
        values = f"each one of {', '.join(map(str, datum.values))}" if datum.values else said
        own = f"{values}, {kind}"
        if datum.is_index:
            own = f"positions from 0 to {_last(datum.shape.cols)}, int64"
        yield f"{datum.name}: {shape_text(datum.axes)}, {own}{made.get(datum.name, '')}{ones if datum.axes[1:] else ''}"
    if program.data and build.data:
        yield from (f"column {made.name} = {text(made.formula)}" for made in build.data.made if not made.whole)


def _functions(sampler: Sampler) -> Iterator[str]:
    """Yield what a module of any U is given in the place of a target, and what of it is tried before a chain starts."""
    program, size = (
        sampler.program,
        shape_text(sampler.program.gradient.block.shape.sizes if sampler.program.gradient else ()),
    )
    jitted, rest = "a function jitted by numba, or one that numba can compile", "*data"
    yield f"{POTENTIAL}: {jitted}: {POTENTIAL}(theta, {rest}) returns U = -log density, up to a constant"
    if program.variant == "minibatch":
        yield (
            f"{GRADIENT}: likewise, {GRADIENT}(theta, batch, {rest}) returns an unbiased estimate of grad U, {size}, "
            "from the n rows in batch, uint64: grad of -log prior + (N/n) times the sum over them"
        )
        yield f"{ROWS}: N, how many rows there are; batches of batch_size of them are drawn here"
    else:
        yield f"{GRADIENT}: likewise, {GRADIENT}(theta, {rest}) returns grad U, {size}"
    yield f"{REST}: a tuple of the arrays and numbers that they take besides; () where they take none"
    optional = (
        "" if "potential" in program.functions else f" {POTENTIAL} is optional: {GRADIENT} is tried by its differences."
    )
    tried = ", its average over batches against all rows" if program.variant == "minibatch" else ""
    yield (
        f"check: tries {GRADIENT} where chains start: finite, a symmetric Jacobian{tried}, differences of {POTENTIAL}."
        f"{optional}"
    )


def _made(data: DataFile) -> Iterator[tuple[str, str]]:
    """Yield the fields of a build with what they are made of."""
    one_hot = dict(data.indicators)
    for name, taken in data.columns:
        how = "standardised " if name in data.standardise else ""
        what = f"{how}column{'s' if len(taken) > 1 else ''} {', '.join(taken)} of {data.file.name}"
        yield name, f"; in the build: {what}{', one-hot' if name in one_hot else ''}"
    yield from ((name, f"; in the build: {path.name}") for name, path in data.arrays)


def _parameter(one: Keyword) -> str:
    own = one.parameter
    kinds = ", ".join(kind.value for kind in own.kinds)
    said = f"default {_value(one)}" if one.default else f"required{f': {one.says}' if one.says else ''}"
    return f"{own.name}: {shape_text(own.shape.sizes)}, {kinds}; {said}"


def _value(one: Keyword) -> str:
    return one.default if one.default != "None" else " ".join(" ".join(one.made).split(" = ", 1)[1].split())


def _held(sampler: Sampler) -> Iterator[str]:
    """Yield the values of the build that `sample` takes no others for, and why."""
    held = [one for one in sampler.given if one.held and not one.ready]
    if held:
        yield from (f"{one.parameter.name}: {_value(one)}" for one in held)
        yield "the proofs below hold at these values only: to change one, compile a build that states another"


def _state(sampler: Sampler) -> Iterator[str]:
    left = dict(sampler.start.left)
    for block in sampler.program.blocks:
        said = f"; `init` is required: {left[block.name]}" if block.name in left else ""
        yield f"{block.name}: {shape_text(block.shape.sizes)}, {block.domain.name.value}{said}"


def _piece(piece: DrawnArray) -> str:
    return f"{piece.name}: {shape_text(piece.shape)}{f', {piece.says}' if piece.says else ''}"


def _values(sampler: Sampler) -> Iterator[str]:
    """Yield what the build says of a run: what `sample` does where it is told nothing else."""
    left = ("init", "progress", "threads", *dict(OF_ALL))
    run = sampler.build.run
    own = {"batch_size": str(run.batch_size or "")}
    settings = ((name, own.get(name, default)) for name, default in sampler.settings if name not in left)
    yield ", ".join(f"{name} {value or 'required'}" for name, value in settings)
    if run.schedule.name != "constant":
        yield f"the step size decreases along a chain (schedule {run.schedule.name}); draws are weighted by step_size"
    if run.lanes:
        yield "64 chains are advanced together"


def _as_written(source: Source | None, *path: str | int) -> str:
    """Return an entry of a document as its author wrote it; empty where it is not a text there."""
    entry = json.loads(source.document if source else "{}")
    for part in path:
        keys = range(len(entry)) if isinstance(entry, list) else entry if isinstance(entry, dict) else ()
        if part not in keys:
            return ""
        entry = entry[part]
    return entry if isinstance(entry, str) else ""


def _bound(build: Build) -> Iterator[str]:
    yield from (f"{name} = {_as_written(build.source, 'bind', name) or text(formula)}" for name, formula in build.bind)


def _target(build: Build) -> Iterator[str]:
    potential = build.dynamics.potential
    target = build.target
    det = "" if target.declared is None else " - log |det J|"
    if target.gradient is not None:
        yield f"grad {potential}: computed by {target.gradient}, an argument of sample()"
    if target.potential is not None:
        yield f"{potential} = {_as_written(target.source, 'potential') or text(target.potential)}{det}"
    if target.log_likelihood is not None:
        yield f"{potential} = -log_prior - sum over the data of log_likelihood{det}"
        what = "a row, from the states before it" if target.recursion else "one datum"
        written = _as_written(target.source, "log_likelihood") or text(target.log_likelihood)
        yield f"log_likelihood of {what} = {written}"
    elif target.log_prior is not None:
        yield f"{potential} = -log_prior{det}"
    for state in (state for state in target.recursion if not state.solves):
        yield f"{state.block.name} before the first row = {text(state.start)}"
        yield f"{state.block.name} after a row = {text(state.next)}"
    if target.log_prior is not None:
        yield f"log_prior = {_as_written(target.source, 'log_prior') or text(target.log_prior)}"
    yield from says_of_equations(target)
    let = json.loads(target.source.document).get("let") or {}
    yield from (f"{name} = {formula}" for name, formula in let.items())
    if det:
        yield f"J: Jacobian of the blocks of the target with respect to {_theta(build)}"


def _theta(build: Build) -> str:
    potential = next(own for own in build.dynamics.declarations.functions if own.name == build.dynamics.potential)
    return potential.of[0] if potential.of else "the state"


def _dynamics(source: Source | None, derivation: Derivation) -> Iterator[str]:
    blocks = [block.name for block in derivation.declarations.blocks]
    for name, matrix in (("D", derivation.D), ("Q", derivation.Q)):
        entries = [
            f"{name}[{a},{b}] = {_as_written(source, name, n, m) or tensor_text(entry)}"
            for n, (a, row) in enumerate(zip(blocks, matrix, strict=True))
            for m, (b, entry) in enumerate(zip(blocks, row, strict=True))
            if not entry.is_zero
        ]
        yield from entries or [f"{name} = 0"]
    rows = [
        row for n, g in enumerate(derivation.Gamma) if g.terms for row in row_texts(derivation, derivation.Gamma, n)
    ]
    if not derivation.dynamics.as_claimed:
        yield from [f"Gamma[{name}] = {formula}" for name, formula in rows] or ["Gamma = 0"]
    for n in range(len(blocks)):
        yield from (f"f[{name}] = {formula}" for name, formula in row_texts(derivation, derivation.drift, n))


def _step(build: Build, derivation: Derivation, program: Program) -> Iterator[str]:
    if build.scheme.cycle:
        yield "a cycle of moves, applied in order, each to the state z that the previous one returns:"
        found = split_by(derive(derivation.dynamics), build.scheme) if build.scheme.split else {}
        pieces = {name: piece for name, (piece, _) in found.items()}
        yield from (line.strip() for line in write_cycle_lines(derivation, build.scheme, pieces, build.target))
        trajectory = program.cycle.trajectory if program.cycle else None
        if trajectory is not None and trajectory.is_solved:
            yield "implicit steps: z' is rejected if the same number of steps back from it does not return to z"
    if program.cycle is not None and program.cycle.begins_anew:
        yield from _of_draws(program, program.cycle)
    integrates = bool(build.scheme.split or not build.scheme.cycle)
    if integrates:
        yield _scheme(build.scheme)
    if build.scheme.scale:
        yield f"steps of their own: {', '.join(f'{s} eps of {block}' for block, s in build.scheme.scale)}"
    if build.scheme.keep:
        yield kept_text(build.scheme.split, build.scheme.keep, build.scheme.word)
    if program.narrow:
        yield "the data are stored in float32; arithmetic is in float64"
    if not integrates:
        return
    if build.W is not None:
        yield f"to each gradient noise N(0, W) is added, new wherever it is evaluated, W = {text(build.W)}"
    if program.variant == "full":
        noise = "" if program.cycle or build.W else "; noise N(0, 2 eps D)"
        yield f"grad U over all data{noise}"
        if build.W is None:
            return
    else:
        yield f"grad U from {_batch(build)}, its sum scaled by N/n, the prior not"
    if build.control:
        mode = ", ".join(own.mode for own in build.control)
        at_mode = ", ".join(own.at_mode for own in build.control)
        yield f"control variates: differences to the gradients at {mode}, where grad U is {at_mode}, are summed;"
        yield "both are computed once, before the first step"
    if build.scheme.split:
        yield from _of_word(build, derivation, program)
        return
    if not any(noise.B_hat for noise in program.noises):
        of = "minibatch gradient" if build.W is None else "gradient"
        yield f"noise N(0, 2 eps D): V = 0 is assumed, so the noise of the {of} is not subtracted,"
        yield "and the draws are too wide"
        return
    yield f"noise N(0, eps (2 D - eps B_hat)), B_hat = (D + Q) V (D + Q)^T with V = {text(build.V)}"
    yield from _estimated(build)


def _estimated(build: Build) -> Iterator[str]:
    if build.estimated is not None:
        yield f"{build.estimated} is estimated from the data at the mode, before the first step"
    if build.moving is not None:
        yield f"`recipe run` then lets {build.estimated} follow each chain; `sample` keeps the one that it is given"


def _of_draws(program: Program, cycle: Cycle) -> Iterator[str]:
    """Yield what the draws of a cycle take, and what they leave nobody."""
    if any(draw.law not in OF_NORMALS for draw in cycle.draws):
        yield "draws use a varying number of random words from the chain's own stream"
    if any(draw.by_precision for draw in cycle.draws):
        yield "N(inv(P) u, inv(P)) is computed as L^-T (L^-1 u + n), n ~ N(0, I), L L^T = P, without an inverse"
    if cycle.trajectory is not None and (program.carried or cycle.accepted):
        known = " and ".join((*(("grad U",) if program.carried else ()), *(("U",) if cycle.accepted else ())))
        yield f"{known} at the drawn state: evaluated where the word begins, not carried from step to step"


def _of_word(build: Build, derivation: Derivation, program: Program) -> Iterator[str]:
    """Yield what a word makes of the noise of its gradient, and what is not true of a step with it."""
    if program.carried:
        of = "from the previous minibatch" if build.variant == "minibatch" else "of the step before, its noise with it"
        yield f"a step begins with the gradient {of}, which is part of the chain's state"
    try:
        found = find_subtraction(derivation, build.scheme, gradient_covariance(derivation, build.V))
    except OtherFormError as why:
        yield f"the noise of the gradient is not subtracted: {why}"
    else:
        yield f"for the noise of the gradient, V = {text(build.V)}: {format_given_up(build.scheme, found)},"
        yield f"B = (D + Q) V (D + Q)^T, E = exp(-eps F), by which {found.piece} damps {found.block}"
        yield from _estimated(build)
    yield LOST


def _scheme(scheme: Scheme) -> str:
    if scheme.split:
        named = ", ".join(f"{piece} ({flow})" for piece, flow in scheme.flows)
        flows = f"the flow of each piece, exact except for {named}" if named else "the exact flow of each piece"
        own = weak_order(scheme.split, highest=3).order
        own = min(own, IMPLICIT) if named else own
        name = "the word" if scheme.cycle else scheme.name
        return f"{name}: {word_text(scheme.split)}, {flows}, one after the other; weak order {own}"
    own = "Euler-Maruyama: every block is updated from the old state"
    if scheme.order:
        own = f"sequential Euler: {', then '.join(scheme.order)}; the noise covariance is evaluated at the old state"
    if scheme.reflect:
        return f"{own}; {', '.join(scheme.reflect)} reflected at 0; weak order 1 away from it, not decided at it"
    return f"{own}; weak order 1"


def _batch(build: Build) -> str:
    if build.contiguous:
        return "a minibatch of consecutive rows (cyclic) of data in random order"
    return f"a minibatch drawn {'with' if build.replacement else 'without'} replacement"


def _claims(report: Report, *, advisory: bool, allow_undecided: bool) -> Iterator[str]:
    """Yield a section for each set of assumptions, with the claims that were proved by it alone: all or those required.

    Where claims need not be proved, which of them are depends on the limits: then all that are required are named.
    """
    required = [finding for finding in report.findings if finding.required or advisory]
    if allow_undecided:
        says = "Claims, compiled with --allow-undecided (see `recipe check` for which are proved)"
        yield _section(says, (finding.says for finding in required))
        return
    groups: dict[tuple[str, ...], list[str]] = {}
    for finding in required:
        if isinstance(finding.decision, Proved):
            own = groups.setdefault(tuple(sorted(finding.decision.given)), [])
            own.append(f"{finding.says} ({finding.decision.by})")
    for given in sorted(groups, key=lambda assumptions: (len(assumptions), assumptions)):
        name = f"Proved, given that {'; '.join(given)}" if given else "Proved"
        yield _section(name, groups[given])


def _of_any(report: Report) -> Iterator[str]:
    """Yield what is not proved of every U, and all that proofs suppose, which nothing here decides."""
    others = [one for one in report.findings if not isinstance(one.decision, Proved)]
    why = {one.id: f" ({one.decision.by})" for one in others if isinstance(one.decision, Refuted)}
    yield _section("Not proved of every U", (f"{one.says}{why.get(one.id, '')}" for one in others))
    given = (fact for one in report.findings if isinstance(one.decision, Proved) for fact in one.decision.given)
    yield _section("Assumed, of U and of the arguments", dict.fromkeys(given))
