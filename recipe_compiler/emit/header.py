"""The docstring of an emitted module: what it samples, from what, and what is known about it."""

from collections.abc import Iterable, Iterator, Mapping
from textwrap import wrap

from recipe_compiler.derive.noise import gradient_covariance
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.module import FORMAT
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.formula.show import text
from recipe_compiler.program.program import Program
from recipe_compiler.spec.model import Build, Scheme
from recipe_compiler.spec.words import kept_text, word_text
from recipe_compiler.splitting.subtraction import LOST, Subtraction, given_up_text, subtraction
from recipe_compiler.splitting.words import order as weak_order
from recipe_compiler.tensor.show import text as tensor_text
from recipe_compiler.verdict import Proved, Report

WIDTH = 116

MADE_BY = "Emitted by recipe_compiler (format "
"""What the line below the title begins with, in every module and in nothing else."""

_DRAWN = {
    "philox": "normals by Philox4x32-10: a function of the run's key, chain, step and place in the step alone",
    "numpy": "normals by a numpy.random.Generator (PCG64) of each chain",
}
"""What the noise is drawn from, where that is not xoshiro256++."""


def header(
    build: Build, derivation: Derivation, program: Program, report: Report, digest: str, names: Mapping[str, str],
    *, allow_undecided: bool = False,
) -> str:  # fmt: skip
    """Return the header's text, safe between triple quotes: one line of a user's text stays one line.

    It holds nothing that a limit on the time of a claim could change: the same build, the same text, on every machine.

    Args:
        build: what the module is made of.
        derivation: of the bound dynamics.
        program: one step.
        report: the verdicts about the build.
        digest: SHA-256 of the documents.
        names: the user's names that had to be changed, with what they became.
        allow_undecided: whether it was asked for though a required claim might be undecided.
    """
    sections = (
        _title(build, digest),
        _section("State", _state(program)),
        _section("Energy", [f"H = {text(derivation.dynamics.H)}", *_target(build)]),
        _section("Dynamics: dz = f dt + sqrt(2 D) dW, f = -(D + Q) grad H + Gamma", _dynamics(derivation)),
        _section("Bound to", [f"{name} = {text(formula)}" for name, formula in build.bind]),
        _section("Parameters", [_parameter(p.name, p.kinds) for p in program.parameters]),
        _section("Step", _step(build, derivation, program)),
        _section("Claims", _claims(report, allow_undecided=allow_undecided)),
        _section("Not checked here", report.caveats),
        _section("Renamed", [f"{old} is called {new}" for old, new in names.items()]),
        _section("References", build.dynamics.references),
    )
    return "\n\n".join(part for part in sections if part) + "\n"


def _title(build: Build, digest: str) -> str:
    title = _line(build.dynamics.title or build.dynamics.name)
    name = f"{build.name}: {title}"
    made = f"{MADE_BY}{FORMAT}) from {build.dynamics.name} and {build.target.name}."
    return f"{name}.\n\n{made}\nSpec digest (SHA-256): {digest}"


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


def _state(program: Program) -> Iterator[str]:
    for block in program.blocks:
        yield f"{block.name}: {block.shape}, {block.domain.name.value}"


def _target(build: Build) -> Iterator[str]:
    potential = build.dynamics.potential
    target = build.target
    if target.gradient is not None:
        yield f"grad {potential} is computed by {target.gradient}, which the chain is given"
    if target.potential is not None:
        yield f"{potential} = {text(target.potential)}"
    if target.log_likelihood is not None:
        yield f"{potential} = -log_prior - sum over the data of log_likelihood"
        yield f"log_likelihood of one datum = {text(target.log_likelihood)}"
    if target.log_prior is not None:
        yield f"log_prior = {text(target.log_prior)}"


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


def _parameter(name: str, kinds: tuple[Kind, ...]) -> str:
    return f"{name}: {', '.join(kind.value for kind in kinds)}"


def _step(build: Build, derivation: Derivation, program: Program) -> Iterator[str]:
    yield _scheme(build.scheme)
    if build.scheme.keep:
        yield kept_text(build.scheme.split, build.scheme.keep, build.scheme.word)
    if program.noises and program.bit_generator in _DRAWN:
        yield _DRAWN[program.bit_generator]
    if program.narrow:
        yield "the data are stored in float32; arithmetic is in float64"
    if program.variant == "full":
        yield "grad U over all data; noise N(0, 2 eps D)"
        return
    yield f"grad U from {_batch(build)}, its sum scaled by N/n, the prior not"
    if build.control is not None:
        mode, at_mode = build.control
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
        exact = "the exact flow of each piece, one after the other"
        own = weak_order(scheme.split, highest=3).order
        return f"{scheme.name}: {word_text(scheme.split)}, {exact}; weak order {own}"
    if scheme.order:
        order = ", then ".join(scheme.order)
        return f"sequential Euler: {order}; the noise covariance is that of the old state; order 1"
    return "Euler-Maruyama: every block from the old state at once; weak order 1"


def _batch(build: Build) -> str:
    if build.contiguous:
        return "a minibatch of consecutive rows (row 0 follows the last) of data in random order"
    return f"a minibatch drawn {'with' if build.replacement else 'without'} replacement"


def _claims(report: Report, *, allow_undecided: bool) -> Iterator[str]:
    """Yield the required claims: proved, all of them; where they need not be, what is proved depends on the limits."""
    required = [finding for finding in report.findings if finding.required]
    if allow_undecided:
        yield "compiled with --allow-undecided; `recipe check` says which of these claims are proved:"
        yield from (finding.says for finding in required)
        return
    for finding in required:
        if isinstance(finding.decision, Proved):
            given = finding.decision.given
            by = finding.decision.by
            yield f"proved: {finding.says} (by {by}" + (f"; given {'; '.join(given)})" if given else ")")
    yield "advisory claims are decided by `recipe check`"
