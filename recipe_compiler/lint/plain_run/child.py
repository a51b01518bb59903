"""The process that runs a step with plain numbers: NumPy's arrays, floats, and draws that were stated beforehand.

It shows as little of itself as it can: the file is a module by its own name, no line of it is rewritten or watched, no
compiler is among the modules, and nothing but draws and numba is replaced.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .compiler import Compiler
from .generators import Draws, LegacyDraws, numpy_names, python_names
from .handed import Handed, KeptElsewhereError, refuse_changed
from .operations import Functions, in_floats
from .returned import returned
from .slots import numbers_of, slots
from .state import KeptState, changed, kept

Json = dict[str, Any]
LATER = 10**9 + 7
"""What a counter is after many calls."""
OTHER_DRAWS = "its draws differ from those when it was traced"


class OtherDrawsError(BaseException):
    """A draw that was not stated."""


SCALARS: dict[str, Callable[[float], Any]] = {"Python": float, "NumPy": np.float64, "32 bits": np.float32}
"""What a number is that is given by itself; arrays are of doubles, but for those of 32 bits."""
OTHERWISE = "x"
"""In the order of draws: one that the generator of a call does not make of one number of its stream."""
NUMPYS: dict[str, Callable[[int], Any]] = {
    "Generator": lambda seed, made=np.random.Generator, bits=np.random.PCG64: made(bits(seed)),
    "RandomState": np.random.RandomState,
}
"""The generators of NumPy themselves."""


class Stated:
    """Numbers in the order in which they are drawn, and what was drawn. While the file is loaded all may be drawn."""

    def __init__(self) -> None:
        self.loading: np.random.Generator | None = np.random.default_rng()
        self.begin([], [])

    def begin(self, normal: list[float], uniform: list[float]) -> None:
        """Be ready for a call."""
        self.normal, self.uniform = normal, uniform
        self.normals = self.uniforms = 0
        self.covariances: list[list[float]] = []
        self.given: object = None
        self.order = ""
        self.answers: list[tuple[str, np.ndarray, bytes]] = []
        """Arrays that functions of the document returned, with what they held."""

    def next_normals(self, size: Any, of: object = None) -> Any:
        """Return the next normal numbers, drawn from a generator."""
        if self.loading is not None:
            return self.loading.standard_normal(size)
        found = _shaped(self.normal[self.normals :], size)
        self.normals += np.size(found)
        self.order += ("n" if of is not None and of is self.given else OTHERWISE) * np.size(found)
        return found

    def next_uniforms(self, size: Any, of: object = None) -> Any:
        """Return the next uniform numbers, drawn from a generator."""
        if self.loading is not None:
            return self.loading.random(size)
        found = _shaped(self.uniform[self.uniforms :], size)
        self.uniforms += np.size(found)
        self.order += ("u" if of is not None and of is self.given else OTHERWISE) * np.size(found)
        return found


def _shaped(left: list[float], size: Any) -> Any:
    count = int(np.prod(size, dtype=int)) if size is not None else 1
    if count > len(left):
        raise OtherDrawsError(OTHER_DRAWS)
    return left[0] if size is None else np.array(left[:count], dtype=float).reshape(size)


STATED = Stated()
"""What is stated for the call that runs."""
HANDED = Handed()
"""What the calls returned, whose numbers are compared."""


class _StatedDraws(Draws):
    def normals(self, size: Any) -> Any:
        return STATED.next_normals(size, self)

    def uniforms(self, name: str, size: Any) -> Any:
        return STATED.next_uniforms(size, None if "exponential" in name else self)

    def jointly(self, mean: Any, cov: Any, size: Any) -> Any:
        mean, cov = np.asarray(mean, dtype=float), np.asarray(cov, dtype=float)
        if size is not None or cov.shape != (*mean.shape, *mean.shape):
            raise OtherDrawsError(OTHER_DRAWS)
        STATED.covariances.append(cov.reshape(-1).tolist())
        return mean + STATED.next_normals(mean.shape)

    def logarithm(self, u: Any) -> Any:
        return np.log(u)

    def refuse(self, name: str) -> Any:
        raise OtherDrawsError(OTHER_DRAWS)


class _Kind(type):
    """The class of classes that stand for one of NumPy's: what is an instance of that is one of theirs."""

    def __instancecheck__(cls, one: object) -> bool:
        return isinstance(one, cls.__bases__[-1])


class Generator(_StatedDraws, np.random.Generator, metaclass=_Kind):
    """A generator of NumPy's whose draws are stated."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__(np.random.PCG64())


class RandomState(_StatedDraws, LegacyDraws, np.random.RandomState, metaclass=_Kind):
    """The older one."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()


def _replace_randomness() -> None:
    """Let all that draws find the numbers that are stated."""
    own = {"Generator": Generator, "RandomState": RandomState, "default_rng": Generator}
    for cls in (Generator, RandomState):
        cls.__module__, cls.__qualname__ = getattr(np.random, cls.__name__).__module__, cls.__name__
    state = RandomState()
    for name, function in (numpy_names(state) | own | {"seed": _nothing}).items():
        if hasattr(np.random, name):
            setattr(np.random, name, function)
    for name, function in (python_names(state) | {"seed": _nothing}).items():
        setattr(random, name, function)


def _nothing(*_: object, **__: object) -> None:
    """Do nothing: what is stated has no seed."""


class _CompilerFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, replaced: Sequence[str]) -> None:
        self.replaced = replaced

    def find_spec(self, name: str, path: object, target: object = None) -> importlib.machinery.ModuleSpec | None:
        is_one = name.partition(".")[0] == "numba"
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if is_one else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return Compiler(spec.name, self.replaced)

    def exec_module(self, module: ModuleType) -> None:
        pass


def main(bound: Callable[..., None]) -> None:
    """Answer the request on standard input, on standard output; the file's own output goes nowhere.

    `bound` is the compiler's, which is forgotten with all of it.
    """
    request = json.loads(sys.stdin.buffer.read())
    answer_to = os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    bound(request["memory"], request["total"], file=request["largest"])
    _forget()
    sys.argv[:] = [request["file"]]
    sys.orig_argv[:] = [sys.executable, request["file"]]
    text = json.dumps(_answer(request)).encode("ascii")
    with os.fdopen(answer_to, "wb") as stream:
        stream.write(text)
    os._exit(0)


def _forget() -> None:
    """Take what started this process out of sight."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("recipe_compiler", __name__.partition(".")[0]):
            del sys.modules[name]
    started = vars(sys.modules["__main__"])
    for name in [name for name in started if not name.startswith("__")]:
        del started[name]


def _answer(request: Json) -> Json:
    try:
        _replace_randomness()
        names = _run_file(request["file"], request["text"], request["globals"])
        step = names[request["step"]]
        STATED.loading = None
    except BaseException as error:  # a user's file may raise anything
        return {"calls": [], "failed": _said(error)}
    functions = {name: getattr(np, ufunc) for name, ufunc in request["functions"].items()} | {"min": min}
    calls: list[Json | None] = []
    near, far = ([call for call in request["calls"] if call["far"] is is_far] for is_far in (False, True))
    for call in near:
        try:
            calls.append(_called(names, step, request, call, functions, looked_at=True))
        except BaseException as error:  # so may its step
            return {"calls": calls, "failed": _said(error)}
    try:
        said = _again(partial(_called, names, step, request, near[0], functions), names, request)
        if "failed" in said:
            return {"calls": [*calls, *(None for _ in far)], **said}
        calls += [_far_out(names, step, request, call, functions) for call in far]
        fed = [_fed(names, step, request, call, functions) for call in near]
    except BaseException as error:
        return {"calls": calls, "failed": _said(error)}
    return {"calls": calls, "fed": fed}


def _far_out(names: Json, step: Callable[..., Any], request: Json, call: Json, functions: Functions) -> Json | None:
    """Return what a call far out gives; None where it raises for numbers that are too large, or none, or 32 bits."""
    stops = Exception if call["scalars"] == "32 bits" else (ArithmeticError, ValueError)
    try:
        return _called(names, step, request, call, functions)
    except stops:
        return None


def _again(call: Callable[[], Json], names: Json, request: Json) -> Json:
    """Return how one call that is made again and again ends otherwise, or may."""
    first = call()
    for k in range(request["again"]):
        if call() != first:
            made = sum(not one["far"] for one in request["calls"])
            return {"failed": f"call {made + k + 1} differs from one before"}
    replaced = request["globals"]
    before, numbers = _kept(names, request), numbers_of(names, replaced)
    call()
    still = changed(before, _kept(names, request))
    unknown = [name for name in still if name not in request["changing"]]
    if unknown:
        return {"failed": f"it keeps {', '.join(unknown)} from call to call, which it did not when it was traced"}
    for label, number, put in slots(names, replaced):
        if label in numbers and numbers[label] != number:
            put(type(number)(LATER))
            if call() != first:
                return {"failed": f"it depends on {label.strip('.')}, which changes from call to call"}
    return {}


def _kept(names: Json, request: Json) -> dict[str, str]:
    return kept(KeptState(request["file"]), names, request["globals"])


def _run_file(file: str, text: str, replaced: Sequence[str]) -> Json:
    """Run a file as the module that it is by its name."""
    name = Path(file).stem
    sys.meta_path.insert(0, _CompilerFinder(replaced))
    sys.path[0] = str(Path(file).parent)
    sys.argv[:] = [str(Path(file).parent / "main.py")]
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    exec(compile(text, file, "exec", dont_inherit=True), vars(module))
    return vars(module)


def _said(error: BaseException) -> str:
    if isinstance(error, (OtherDrawsError, KeptElsewhereError)):
        return str(error)
    said = " ".join(str(error).split())[:200]
    return f"it raises {type(error).__name__}{f': {said}' if said else ''}"


def _called(
    names: Json, step: Callable[..., Any], request: Json, call: Json, functions: Functions, *, looked_at: bool = False
) -> Json:
    """Return what one call gives, and what it drew; where it drew from its generator alone, also with NumPy's own."""
    STATED.begin(call["normal"], call["uniform"])
    found = {
        "values": _values(names, step, request, call, functions, looked_at=looked_at),
        "normals": STATED.normals,
        "uniforms": STATED.uniforms,
        "covariances": STATED.covariances,
        "order": STATED.order,
    }
    if STATED.given is None or OTHERWISE in STATED.order or call["far"]:
        return found
    STATED.begin([], [])
    return found | {"own": _values(names, step, request, call, functions, NUMPYS[call["generator"]](call["seed"]))}


def _values(
    names: Json,
    step: Callable[..., Any],
    request: Json,
    call: Json,
    functions: Functions,
    generator: object = None,
    *,
    looked_at: bool = False,
) -> list[list[float]]:
    """Return what a call gives, with a generator of stated draws where none is given; `looked_at` is what is kept."""
    given = _all_given(call, functions, generator)
    values = _objects(names, step, request, given)
    found = [_real(value) for value in values]
    if looked_at:
        state = [given[name] for name in request["outputs"]]
        HANDED.look([*values, *state], request["file"], names, request["globals"])
    return found


def _all_given(call: Json, functions: Functions, generator: object = None) -> Json:
    scalar = SCALARS[call["scalars"]]
    return {item["name"]: _given(item, call, scalar, functions, generator) for item in call["given"]}


def _objects(names: Json, step: Callable[..., Any], request: Json, given: Json) -> list[Any]:
    """Return what a call returns, block by block, as the objects that they are."""
    names.update({name: given[name] for name in request["globals"]})
    result = step(*(given[name] for name in request["positional"]), **{key: given[key] for key in request["keywords"]})
    marked = next((name for name, one in given.items() if getattr(one, "__dict__", None)), None)
    if marked is not None:
        raise KeptElsewhereError(f"it sets an attribute of {marked}, which others may read and set")
    changed_one = next((name for name, one, held in STATED.answers if one.tobytes() != held), None)
    if changed_one is not None:
        why = f"it may be its argument, or an array that {changed_one} keeps: copy it before"
        raise KeptElsewhereError(f"it changes in place what {changed_one} returned, and {why}")
    return returned(result, request["outputs"], request["called"], given)


def _fed(names: Json, step: Callable[..., Any], request: Json, call: Json, functions: Functions) -> list[Json]:
    """Return what calls give, one after the other, whose state is what the one before returned: the same objects."""
    if not call["fed"]:
        return []
    STATED.begin(call["normal"], call["uniform"])
    values = _objects(names, step, request, _all_given(call, functions))
    handed: list[tuple[np.ndarray, bytes]] = []
    found: list[Json] = []
    for draws in call["fed"]:
        state = [values[k] for k in call["order"]]
        found.append({"given": [_real(value) for value in state]})
        handed += [(one, one.tobytes()) for one in state if isinstance(one, np.ndarray)]
        handed = [(one, held) for one, held in handed if one.tobytes() == held]  # of the state a call may change
        STATED.begin(draws["normal"], draws["uniform"])
        given = _all_given(call, functions) | dict(zip(request["outputs"], state, strict=True))
        try:
            values = _objects(names, step, request, given)
            HANDED.look_at_kept(values, request["file"], names, request["globals"])
            refuse_changed(handed, state)
            numbers = [_real(value) for value in values]
        except (Exception, OtherDrawsError, KeptElsewhereError) as error:  # whether it has values there, others know
            found[-1]["raised"] = _said(error)
            break
        found[-1] |= {
            "values": numbers,
            "normals": STATED.normals,
            "uniforms": STATED.uniforms,
            "covariances": STATED.covariances,
        }
    return found


def _real(value: Any) -> list[float]:
    if np.iscomplexobj(value):
        raise TypeError("a complex number")
    return np.asarray(value, dtype=float).reshape(-1).tolist()


def _given(
    item: Json, call: Json, scalar: Callable[[float], Any], functions: Functions, generator: object = None
) -> Any:
    shape = tuple(item["shape"])
    match item["is"]:
        case "generator":
            if generator is None:
                STATED.given = Generator() if call["generator"] == "Generator" else RandomState()
            return generator or STATED.given
        case "number":
            return int(item["value"])
        case "normals":
            return STATED.next_normals(shape or None)
        case "function":
            return _function(item, shape, scalar, functions)
        case _:
            return _arranged(item["values"], shape, scalar)


def _function(
    item: Json, shape: tuple[int, ...], scalar: Callable[[float], Any], functions: Functions
) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        if item["same"] and len(arguments) == 1 and np.shape(arguments[0]) == shape:
            return arguments[0]
        point = [float(x) for argument in arguments for x in np.asarray(argument, dtype=float).reshape(-1)]
        values = in_floats(item["lines"], point, functions)
        answer = _arranged([values[k] for k in item["entries"]], shape, scalar)
        if isinstance(answer, np.ndarray):
            STATED.answers.append((item["name"], answer, answer.tobytes()))
        return answer

    return function


def _arranged(values: Sequence[float], shape: tuple[int, ...], scalar: Callable[[float], Any]) -> Any:
    kind = np.float32 if scalar is np.float32 else float
    return np.array(values, dtype=kind).reshape(shape) if shape else scalar(values[0])
