"""A document's nodes against its schema: every fault with its place, and a hint where a key is nearly known."""

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from recipe_compiler.errors import nearest
from recipe_compiler.spec.catalogue import EULER, NAMED
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.fields import SOME, FieldError, Leaf, Raw, refuse, shown
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema import Part
from recipe_compiler.spec.yaml_nodes import Mapping as MappingNode
from recipe_compiler.spec.yaml_nodes import plain

Document = TypeVar("Document", bound=Part)

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

_STAND_INS: Mapping[str, object] = {"name": "unnamed", "H": "0", "run.step_size": Fraction(1)}
"""What lets reading go on after a fault was found; a document with a fault is never returned."""

_DECLARING = frozenset({"state", "parameters", "functions", "data", "sizes", "dynamics", "target"})


_ON_A_WAY = re.compile(r"\]\.|\.name$")
"""Entries of which whatever else is found would follow: a key of one of several parts, the name of a scheme."""
_FAULTY = object()
"""In the place of what a fault was found in."""


def validate(root: MappingNode, model: type[Document], faults: Faults) -> Document:
    """Return the document, its faults added to `faults`.

    Faulty parts that declare nothing are left out, so that faults of formulas are found in the same reading. Raises
    SpecError if what remains is no document.
    """
    before, reader = len(faults.found), _Reader()
    document = reader.read(model, plain(root), Page(root, faults))
    entries = [fault.entry for fault in faults.found[before:]]
    declares = any(re.split(r"[.\[]", entry)[0] in _DECLARING for entry in entries)
    if declares or not reader.is_whole or any(_ON_A_WAY.search(entry) for entry in entries):
        raise faults.error()
    return document


class _Reader:
    """Reads raw text by the types of entries."""

    def __init__(self) -> None:
        self.is_whole = True
        """Whether every part has what it has to have."""

    def read(self, hint: Any, raw: Raw, at: Page) -> Any:
        """Return what is stated at a place; a fault is added where that is none of its type."""
        try:
            return self._read(hint, raw, at)
        except FieldError as refused:
            at.faults.malformed_at(at.where, at.label, refused.problem, refused.hint)
            return _FAULTY

    def _read(self, hint: Any, raw: Raw, at: Page) -> Any:
        match get_origin(hint), get_args(hint):
            case origin, (inner, *beside) if origin is Annotated:
                for one in reversed(beside):
                    if isinstance(one, Leaf):
                        return one.read(raw)
                    raw = one(raw) if callable(one) else raw
                if SOME in beside and raw in ([], {}):
                    refuse(raw, "at least one entry")
                return self._read(inner, raw, at)
            case origin, options if origin in (Union, UnionType):
                known = [option for option in options if option is not NoneType]
                if raw is None and len(known) < len(options):
                    return None
                if not isinstance(raw, dict):
                    return self._read(known[0], raw, at)
                return self._read(next((part for part in known if _is_meant(part, raw)), known[-1]), raw, at)
            case origin, known if origin is Literal:
                return raw if raw in known else _refuse_choice(raw, [str(one) for one in known if one])
            case origin, (key, value) if origin is dict:
                _demand_keys(raw, at)
                read = ((self.read(key, name, at[name]), self.read(value, one, at[name])) for name, one in raw.items())
                return {name: one for name, one in read if name is not _FAULTY and one is not _FAULTY}
            case origin, (item,) if origin is list:
                if not isinstance(raw, list):
                    items = ", ".join(map(str, raw)) if isinstance(raw, dict) else raw
                    refuse(raw, "a list", f"write brackets: `[{items}]`")
                read = [self.read(item, one, at[place]) for place, one in enumerate(raw)]
                return _FAULTY if any(one is _FAULTY for one in read) else read
            case _ if isinstance(hint, type) and issubclass(hint, Part):
                _demand_keys(raw, at)
                return self._part(hint, raw, at)
            case _:
                return raw

    def _part(self, model: type[Part], raw: dict[str, Raw], at: Page) -> Part:
        fields, stated = fields_of(model), dict[str, Any]()
        of_others = fields.pop("others", None)
        for key in (key for key in raw if key not in fields and of_others is None):
            at.faults.malformed_at(at[key].where, at[key].label, *_unknown_key(key, tuple(fields), model.hint))
        for key, (name, hint) in fields.items():
            made = self.read(hint, raw[key], at[key]) if key in raw else _FAULTY
            if made is not _FAULTY:
                stated[name] = made
                continue
            is_needed = not hasattr(model, name)
            if is_needed and key not in raw:
                says = next((one for one in get_args(hint)[1:] if isinstance(one, str)), "")
                at.faults.malformed_at(at[key].where, at[key].label, f"found no `{key}`, expected one", says)
            if (is_needed or key in raw) and at[key].label in _STAND_INS:
                stated[name] = _STAND_INS[at[key].label]
            else:
                self.is_whole = self.is_whole and not is_needed
        if of_others is not None:
            stated["others"] = self.read(of_others[1], {key: own for key, own in raw.items() if key not in fields}, at)
        return model(**stated)


def fields_of(model: type[Part]) -> dict[str, tuple[str, Any]]:
    """Return the keys of a part: to the name that Python has for each, and to its type."""
    return {name.removesuffix("_"): (name, hint) for name, hint in _hints(model).items()}


def _is_meant(hint: Any, raw: dict[str, Raw]) -> bool:
    """Whether keys are those of a part: it has to have one of them."""
    is_part = isinstance(hint, type) and issubclass(hint, Part)
    return is_part and any(key in raw and not hasattr(hint, name) for key, (name, _) in fields_of(hint).items())


@cache
def _hints(model: type[Part]) -> dict[str, Any]:
    return get_type_hints(model, include_extras=True)


def _demand_keys(raw: Raw, at: Page) -> None:
    if not isinstance(raw, dict):
        refuse(raw, "keys with values", _in_braces(at.path, raw))


def _refuse_choice(raw: Raw, known: list[str]) -> NoReturn:
    *others, last = [f"'{one}'" for one in known]
    expected = f"{', '.join(others)} or {last}" if others else last
    refuse(raw, expected, nearest(raw, known) if isinstance(raw, str) else "")


_SETS_OF_DATA = frozenset({"domain", "support", "range", "bounds", "lower", "upper", "min", "max", "values", "levels"})


def _unknown_key(key: str, known: tuple[str, ...], else_: str) -> tuple[str, str]:
    if key in _SETS_OF_DATA and "index_of" in known:
        hint = "`in: [0, 1]` lists the values that data may have; `is:` says positive, nonnegative, nonzero or integer"
        return f"found the unknown key `{key}`, expected one of {', '.join(known)}", hint
    here = [name for name in known if key in _ELSEWHERE.get(name, ())]
    hint = f"here it is called `{here[0]}`" if here else nearest(key, known) or else_
    return f"found the unknown key `{shown(key)}`, expected one of {', '.join(known)}", hint


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
