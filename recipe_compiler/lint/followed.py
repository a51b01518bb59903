"""What was followed of a step: what it was given, how often it was called, what did not run, what it returns."""

from collections.abc import Sequence

from recipe_compiler.formula.show import text
from recipe_compiler.lint.answer import Answer, Trace
from recipe_compiler.lint.bind_arguments import STATE, Ask, Given
from recipe_compiler.verify.core.sizes import Sizes, written


def followed(ask: Ask, answer: Answer, sizes: Sequence[Sizes]) -> tuple[str, ...]:
    """Return, in sentences, what verdicts about a step are about; nothing where none of its calls was followed."""
    traces = [(at, case) for at, case in zip(sizes, answer.cases, strict=False) if isinstance(case, Trace)]
    if not traces:
        return ()
    calls = min(trace.calls for _, trace in traces)
    where = "; ".join(written(at) for at, _ in traces if at)
    times = f"{calls} calls, one after the other, did the same" + (f" at each of {where}" if where else "")
    return (f"followed: {ask.source.step}({', '.join(_given(ask))}); {times}", *unrun(answer), *orders(ask, answer))


def unrun(answer: Answer) -> tuple[str, ...]:
    """Return the lines of a step and what it calls that no call ran: what they do is not in a verdict."""
    left = [set(case.left) for case in answer.cases if isinstance(case, Trace)]
    lines = sorted(set.intersection(*left)) if left else []
    return (f"not followed: line {', '.join(map(str, lines))}, which no call ran",) if lines else ()


def orders(ask: Ask, answer: Answer) -> tuple[str, ...]:
    """Return the order in which a step returns its blocks, where that is not the document's."""
    names = [_name(given) for given in ask.outputs]
    found: dict[str, None] = {}
    for trace in answer.cases:
        if isinstance(trace, Trace) and list(trace.order) != sorted(trace.order):
            returned = [names[trace.order.index(place)] for place in range(len(names))]
            found[f"it returns ({', '.join(returned)}), not ({', '.join(names)}): seen by what is left as eps -> 0"] = (
                None
            )
    return tuple(found)


def _given(ask: Ask) -> list[str]:
    own = {given.name: given for given in ask.given}
    arguments = [
        f"{a.name} at its default" if a.name not in own else _stands(own[a.name]) for a in ask.source.arguments
    ]
    return [*arguments, *(f"{name} of the file: {_stands(own[name])}" for name in ask.globals)]


def _stands(given: Given) -> str:
    """Return an argument with what it stands for."""
    match given.kind:
        case "eps":
            what = "the step size"
        case "generator":
            what = "draws of N(0, 1)"
        case "size":
            what = f"the size {given.size}"
        case "normals":
            what = f"a draw of N(0, I) as long as {_name(given)}"
        case _ if given.kind == STATE:
            what = "the state"
        case _:
            what = "" if given.formula is None else text(given.formula)
    return given.name if what in {given.name, ""} else f"{given.name}: {what}"


def _name(given: Given) -> str:
    return given.name if given.block is None else given.block.name
