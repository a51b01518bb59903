"""What hints call `write this in your YAML`, for those who state their documents in Python."""

import re
from dataclasses import replace

from recipe_compiler.errors import Fault

_SPELLINGS = (
    (r"quote an entry that holds a comma or bracket, or use a block: `\|`, then a row on each line",
     "D and Q have one place for each pair of blocks: D=[[A, 0], [0, B]] of two, D=[[A]] of one, whatever its size; "
     "numbers go in a place as an array or a sympy.Matrix, D=[[np.eye(2)]]"),
    (r"a formula with commas or brackets is quoted",
     "a formula is one object: an expression, a number, an object of SymPy's, or a text of the language"),
    (r"declare `functions: \{U: \{of: theta, role: potential\}\}`, with one block",
     'write U = function("U", of=theta, role="potential") and use it in H'),
    (r"declare U: \{of: theta, role: potential\}", 'write U = function("U", of=theta, role="potential")'),
    (r"declare `(\w+)` under functions, of the blocks it depends on", r'write \1 = function("\1", of=theta)'),
    (r"or declare it under parameters", "or declare it with scalar, vector or matrix"),
    (r"declare it under state, parameters or functions",
     "declare it with scalar, vector, matrix or function, and use that object"),
    (r"declare that a matrix is positive definite: \{is: positive definite\}",
     'declare that a matrix is positive definite: matrix("M", "d", "d", is_="positive definite")'),
    (r"give blocks a shape: `theta: \{shape: d\}` is d coordinates at once",
     'vector("theta", "d") is d coordinates at once'),
    (r"write under parameters: `(\w+): \{value: ...\}`, or bind it",
     r'write parameters={"\1": ...}, or bind={"\1": ...}'),
    (r"write `data: \{file: ..., (\w+): \[columns\]\}`", r'write data={"file": ..., "\1": [columns]}'),
    (r"declare it in the target: (\w+): \{shape: \[N, K\]\}", r'declare it in the target: data("\1", "N", "K")'),
    (r"state the sizes of both under `sizes`", 'state the sizes of both: sizes={"d": 2}'),
    (r"`sizes: \{(\w+): (\d+)\}`", r'sizes={"\1": \2}'),
    (r"write `shuffle: SEED` under data, or `shuffled: true`", 'write data={..., "shuffle": SEED} or "shuffled": True'),
    (r"\[\{refresh: r\}, \{metropolis: \{split: \[B/2, A, B/2\], steps: 10, flip: \{r: -r\}\}\}\]",
     '[{"refresh": r}, {"metropolis": {"split": ["B/2", "A", "B/2"], "steps": 10, "flip": {r: -r}}}]'),
    (r"`(draw|refresh): (\w+)`", r'{"\1": "\2"}'),
    (r"declare the draw under claims\.noise and use its name",
     'write claims={"noise": [w], ...} with w = vector("w", "d")'),
    (r"write `?claims\.(\w+)`?", r'write claims={"\1": ...}'),
)  # fmt: skip
_PATTERNS = tuple((re.compile(said), instead) for said, instead in _SPELLINGS)


def in_python(fault: Fault) -> Fault:
    """Return a fault with its hint spelled as Python has it."""
    hint = fault.hint
    for pattern, instead in _PATTERNS:
        hint = pattern.sub(instead, hint)
    return replace(fault, hint=hint)
