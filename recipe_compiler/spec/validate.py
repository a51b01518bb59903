"""A document's nodes against its schema: every fault with its place, and a hint where a key is nearly known."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from recipe_compiler.errors import nearest
from recipe_compiler.spec.catalogue import EULER, NAMED
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.fields import found, plain_name_problem, shown
from recipe_compiler.spec.yaml_nodes import Mapping as MappingNode
from recipe_compiler.spec.yaml_nodes import Plain, Scalar, Sequence, descend, plain

Document = TypeVar("Document", bound=BaseModel)

_ELSEWHERE: Mapping[str, tuple[str, ...]] = {
    "warmup": ("tune", "num_warmup", "n_warmup", "burn_in", "burnin", "burn", "n_tune", "warm_up"),
    "draws": ("num_samples", "n_samples", "samples", "n_draws", "num_draws", "iterations", "n"),
    "step_size": ("eps", "epsilon", "stepsize", "step", "learning_rate", "lr", "h", "dt"),
    "seed": ("random_seed", "rng_seed", "random_state"),
    "chains": ("num_chains", "n_chains"),
    "thin": ("thinning", "n_thin"),
    "batch_size": ("batch", "batchsize", "minibatch_size", "n_batch", "subsample_size"),
    "H": ("energy", "hamiltonian", "Hamiltonian"),
    "D": ("diffusion", "diffusion_matrix"),
    "Q": ("curl", "curl_matrix"),
    "state": ("states", "blocks", "variables", "z"),
    "parameters": ("params", "parameter", "hyperparameters", "constants"),
    "functions": ("function",),
    "log_prior": ("prior", "logprior", "logp_prior"),
    "log_likelihood": ("likelihood", "loglik", "log_lik", "loglikelihood"),
    "laws": ("conditionals", "full_conditionals", "law", "gibbs"),
    "derived": ("generated_quantities", "generated", "transformed_parameters", "deterministic", "deterministics"),
    "potential": ("U", "energy", "neg_log_density", "log_density"),
    "is": ("kind", "type", "kinds", "constraint"),
    "domain": ("support", "range", "constraint", "is", "in"),
    "shape": ("size", "dim", "dims", "dimension", "length"),
    "standardise": ("standardize", "normalise", "normalize", "scale"),
    "assume": ("assumptions", "assumption", "constraints"),
    "init": ("initial", "start", "initvals", "init_params"),
    "data": ("observed", "dataset"),
    "default": ("value",),
    "title": ("description", "author", "comment"),
}
"""Keys of this language to what they are called elsewhere."""

_STAND_INS: Mapping[str, str] = {"name": "unnamed", "H": "0", "step_size": "1"}
"""What lets reading go on after a fault was found; a document with a fault is never returned."""

_DECLARING = frozenset({"state", "parameters", "functions", "data", "sizes", "dynamics", "target"})


def validate(root: MappingNode, model: type[Document], faults: Faults) -> Document:
    """Return the document, its faults added to `faults`.

    Faulty parts that declare nothing are left out, so that faults of formulas are found in the same reading. Raises
    SpecError if what remains is no document.
    """
    data = plain(root)
    try:
        return model.model_validate(data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
    for detail in errors:
        _add(root, model, detail, faults)
    if any(str(detail["loc"][0]) in _DECLARING for detail in errors if detail["loc"]):
        raise faults.error()
    for detail in sorted(errors, key=lambda detail: len(detail["loc"]), reverse=True):
        _put_aside(data, tuple(detail["loc"]))
    try:
        return model.model_validate(data)
    except ValidationError:
        raise faults.error() from None


def _add(root: MappingNode, model: type[BaseModel], detail: ErrorDetails, faults: Faults) -> None:
    path = tuple(step for step in detail["loc"] if step != "[key]")
    where, entry = descend(root, path)[0], entry_name(path)
    match detail["type"]:
        case "extra_forbidden":
            faults.malformed_at(where, entry, *_unknown_key(str(path[-1]), _keys(model, path[:-1])))
        case "missing":
            faults.malformed_at(descend(root, path[:-1])[0], entry, f"found no `{path[-1]}`, expected one")
        case "document":
            context = detail.get("ctx", {})
            faults.malformed_at(where, entry, detail["msg"], str(context.get("hint", "")))
        case _:
            faults.malformed_at(where, entry, *_in_words(detail))


def entry_name(path: tuple[str | int, ...]) -> str:
    """Return the entry as a user would name it: `state.theta.shape`, `assume[0]`."""
    name = "".join(f"[{step}]" if isinstance(step, int) else f".{shown(step)}" for step in path)
    return name.removeprefix(".") or "document"


_SETS_OF_DATA = frozenset({"domain", "support", "range", "bounds", "lower", "upper", "min", "max", "values", "levels"})


def _unknown_key(key: str, known: tuple[str, ...]) -> tuple[str, str]:
    if key in _SETS_OF_DATA and "index_of" in known:
        hint = "`in: [0, 1]` lists the values that data may have; `is:` says positive, nonnegative, nonzero or integer"
        return f"found the unknown key `{key}`, expected one of {', '.join(known)}", hint
    here = [name for name in known if key in _ELSEWHERE.get(name, ())]
    hint = f"here it is called `{here[0]}`" if here else nearest(key, known)
    return f"found the unknown key `{shown(key)}`, expected one of {', '.join(known)}", hint


def _in_words(detail: ErrorDetails) -> tuple[str, str]:
    value, context = detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "literal_error":
            expected = str(context.get("expected", ""))
            known = tuple(name.strip("'") for name in expected.replace(" or ", ", ").split(", "))
            expected = expected.removesuffix(" or ''")
            return f"found {found(value)}, expected {expected}", nearest(value, known) if isinstance(value, str) else ""
        case "list_type":
            items = ", ".join(map(str, value)) if isinstance(value, dict) else value
            return f"found {found(value)}, expected a list", f"write brackets: `[{items}]`"
        case "dict_type" | "model_type":
            return f"found {found(value)}, expected keys with values", _in_braces(detail["loc"], value)
        case "too_short":
            return f"found {found(value)}, expected at least one entry", ""
        case _:
            return f"found {found(value)}: {detail['msg']}", ""


def _in_braces(entry: tuple[str | int, ...], value: object) -> str:
    """Return how a value in the place of keys with values is written with its key; empty where none is meant."""
    match entry:
        case ("scheme",) if isinstance(value, list) and all(isinstance(piece, str) for piece in value):
            return f"write `scheme: {{split: [{', '.join(value)}]}}`"
        case ("scheme",) if isinstance(value, str):
            known = (*EULER, *NAMED)
            near = value if value in known else nearest(value, known).removeprefix("did you mean ").strip("`?") or value
            return f"write `scheme: {{name: {near}}}`"
        case ("gradient_noise",) if value == "estimate":
            return "write `gradient_noise: {V: estimate}`"
        case (str(key),) if isinstance(value, str) and value.count("=") == 1:
            return f"write `{key}: {{{value.replace('=', ': ')}}}`"
        case ("state" | "data", str(name)) if isinstance(value, str) and value.isidentifier():
            return f"write `{name}: {{shape: {value}}}`"
        case ("parameters", str(name)):
            return f"write `{name}: {{value: ...}}` in a build, `{name}: {{default: ...}}` in dynamics or a target"
        case _:
            return ""


def _keys(model: type[BaseModel], path: tuple[str | int, ...]) -> tuple[str, ...]:
    part = model
    for step in path:
        field = next((f for name, f in part.model_fields.items() if step in (name, f.alias)), None)
        if field is not None:
            part = next(_models(field.annotation), part)
    return tuple(field.alias or name for name, field in part.model_fields.items())


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)


def _put_aside(data: Plain, path: tuple[str | int, ...]) -> None:
    """Take a faulty part out of the raw data, a list with its faulty entry; put a stand-in where one is required."""
    keys = [step for step in path if step != "[key]"]
    while keys and isinstance(keys[-1], int):
        keys.pop()
    for step in keys[:-1]:
        if not isinstance(data, dict) or not isinstance(step, str):
            return
        data = data.get(step)
    if isinstance(data, dict) and keys:
        key = str(keys[-1])
        data.pop(key, None)
        data |= {key: _STAND_INS[key]} if key in _STAND_INS else {}


def check_names(root: MappingNode, sections: tuple[str, ...], faults: Faults) -> None:
    """Refuse declared names that other YAML readers take for truth values, unless they are quoted."""
    for section in sections:
        match root.get(section):
            case MappingNode(entries=entries):
                names = [key for key, _ in entries]
            case Sequence(items=items):
                names = [item for item in items if isinstance(item, Scalar)]
            case _:
                names = []
        for name in names:
            problem = plain_name_problem(name.text) if name.plain else None
            if problem is not None:
                faults.malformed_at(name.place, f"{section}.{name.text}", *problem)
