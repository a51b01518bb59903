"""The line of a wrong step: that of its noise where the diffusion differs, else of a coordinate whose drift does."""

from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.equation import list_differences
from recipe_compiler.lint.read import ONE, UNREAD, MomentReader
from recipe_compiler.trace.operations import Trace, inside


def find_offending_line(read: MomentReader) -> int:
    """Return the line of the file that makes the first wrong coordinate of a step; 0 where it is not known."""
    try:
        mean, covariance = _list_wrong_coordinates(read)
    except UNREAD:
        return 0
    trace = read.problem.trace
    flat = [place for group in trace.outputs for place in group]
    if covariance:
        return trace.lines[_find_noise(trace, flat[covariance[0]])]
    return trace.lines[flat[mean[0]]] if mean else 0


def _list_wrong_coordinates(read: MomentReader) -> tuple[list[int], list[int]]:
    """Return the coordinates whose drift, and those whose diffusion, is not that of the document."""
    problem = read.problem
    parts = read.parts(read.unit)
    low = min(parts, default=read.unit)
    if low not in parts:
        return [], []
    part, n = parts[low], range(len(problem.z))
    entries = [*part.mean, *(x for row in part.covariance for x in row)]
    dynamics = problem.subject.dynamics
    if low == read.unit and dynamics.D is not None and dynamics.Q is not None:
        entries = [e for _, e in list_differences(problem, part, ONE)]
    wrong = [k for k, e in enumerate(entries) if not is_zero(e)]
    return [k for k in wrong if k < len(n)], [(k - len(n)) // len(n) for k in wrong if k >= len(n)]


def _find_noise(trace: Trace, place: int) -> int:
    """Return the place where the first draw of a value is multiplied or drawn; the place of the value without one."""
    own = [(k, trace.operations[k]) for k in inside(trace.operations, place)]
    draws = {k for k, operation in own if operation.op == "draw"}
    products = [k for k, operation in own if operation.op == "mul" and draws.intersection(operation.parts)]
    return min(products or draws or [place])
