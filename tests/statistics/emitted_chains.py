"""Emitted modules run by hand: their file imported, their `run` called with arguments found by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
from emitted_file import module_of
from numpy.typing import NDArray
from ruamel.yaml import YAML
from shipped_text import shipped_text

from recipe_compiler.run.load_module import load_file, load_text

Array = NDArray[np.float64]

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """What a build says of its run, read from the YAML text itself."""

    values: Mapping[str, Array]
    eps: float
    scheme: str
    order: tuple[str, ...]


def settings(build: str) -> Settings:
    """Return values of parameters, step size and scheme of a shipped build."""
    document = YAML(typ="safe").load(ROOT / "specs" / "builds" / f"{build}.yaml")
    values = {name: _array(entry["value"]) for name, entry in document.get("parameters", {}).items()}
    scheme = document["scheme"]
    return Settings(values, float(document["run"]["step_size"]), scheme["name"], tuple(scheme.get("order", ())))


def _array(value: object) -> Array:
    """Return exact numbers, `1/2` among them, as floats: a number, a column or a matrix."""
    if isinstance(value, list):
        return np.array([_array(entry) for entry in value])
    return np.asarray(float(Fraction(str(value))))


def shipped_module(build: str) -> ModuleType:
    """Import the module of a shipped build as the run driver does: its compiled code is kept by content."""
    return module_of(load_text(build, shipped_text(build)))


def with_fault(build: str, right: str, wrong: str, folder: Path) -> ModuleType:
    """Import the module of a build with one line of its text changed, from a file in `folder`."""
    text = shipped_text(build)
    assert text.count(right) == 1, f"the text of {build} no longer has one `{right}`: plant the fault elsewhere"
    path = folder / f"{build}.py"
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    return module_of(load_file(path))


def run_chains(
    module: ModuleType, values: Mapping[str, Array], eps: float, starts: Array, draws: int, thin: int, seed: int,
    arguments: Mapping[str, object] | None = None, discard: int = 0,
) -> Array:  # fmt: skip
    """Return the draws [chains, draws, n_z] of chains from `starts` [chains, n_z], one after the other.

    Args:
        module: an emitted module.
        values: values of its parameters.
        eps: the step size.
        starts: where each chain starts, all blocks side by side in the order of BLOCKS.
        draws: how many states to keep of each chain.
        thin: steps from one to the next.
        seed: of the module's own streams.
        arguments: further arguments of `run` by name: data, `batch_size`.
        discard: draws to drop at the start of each chain.
    """
    chains = starts.shape[0]
    given = [float(values[name]) if values[name].ndim == 0 else values[name] for name in module.PARAMETERS]
    constants = dict(zip(module.CONSTANTS, module.prepare(*given, eps), strict=True))
    noise, batch = module.seed_streams(seed, chains)
    ends = np.cumsum([size or 1 for _, size in module.BLOCKS])
    kept = []
    for k in range(chains):
        state = [part.copy() for part in np.split(starts[k], ends[:-1])]
        filled = [np.empty((draws, part.size)) for part in state]
        names = [name for name, _ in module.BLOCKS]
        found = {
            **dict(zip(module.PARAMETERS, given, strict=True)), **constants, **(arguments or {}),
            **dict(zip(names, state, strict=True)), "eps": eps, "thin": thin,
            "noise_state": noise[k].copy(), "batch_state": batch[k].copy(),
            **{f"{name}_draws": array for name, array in zip(names, filled, strict=True)},
        }  # fmt: skip
        if "permutation" in module.ARGUMENTS:
            found["permutation"] = np.arange(found[module.DATA[0]].shape[0], dtype=np.uint64)
        if hasattr(module, "first_values"):
            sizes = {size: block.size for (_, size), block in zip(module.BLOCKS, state, strict=True)}
            found |= {name: np.empty(sizes.get(size, size)) for name, size in module.CARRIED}
            module.first_values(*[found[name] for name in module.FIRST_ARGUMENTS])
        assert module.run(*[found[name] for name in module.ARGUMENTS]) == draws, "a chain left the finite numbers"
        kept.append(np.concatenate(filled, axis=1)[discard:])
    return np.stack(kept)
