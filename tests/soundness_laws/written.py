"""Documents written by a test: their text is put together from a few entries and loaded."""

from pathlib import Path

from loaders import load_dynamics

from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verify.core.subject import Subject, subject_of

POTENTIAL = "U: {of: theta, role: potential}"


def document(
    at: Path,
    state: str,
    H: str,
    *,
    D: str = "",
    Q: str = "",
    parameters: str = "",
    functions: str = "",
    update: dict[str, str] | None = None,
    drift: str = "",
) -> Dynamics:
    """Return the dynamics with these entries; `drift` and `update` are claims."""
    lines = ["format: 1", "name: written", f"state: {{{state}}}"]
    lines += [f"parameters: {{{parameters}}}"] * bool(parameters) + [f"functions: {{{functions}}}"] * bool(functions)
    lines += [f'H: "{H}"'] + [f"D: {D}"] * bool(D) + [f"Q: {Q}"] * bool(Q)
    if update or drift:
        lines += ["claims:"] + [f"  drift: {{{drift}}}"] * bool(drift)
        lines += ["  update:", *(f'    {name}: "{new}"' for name, new in update.items())] if update else []
    path = at / "written.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load_dynamics(path)


def subject(at: Path, state: str, H: str, *, D: str = "", parameters: str = "", functions: str = "") -> Subject:
    """Return the subject of dynamics with Q = 0, and with unit noise in every block if D is not given."""
    blocks = [name.split(":")[0].strip() for name in state.split("},")]
    unit = "I" if "shape" in state else "1"
    noise = D or _matrix([[unit if a == b else "0" for b in blocks] for a in blocks])
    Q = _matrix([["0" for _ in blocks] for _ in blocks])
    return subject_of(document(at, state, H, D=noise, Q=Q, parameters=parameters, functions=functions))


def _matrix(rows: list[list[str]]) -> str:
    return "[" + ", ".join("[" + ", ".join(row) + "]" for row in rows) + "]"
