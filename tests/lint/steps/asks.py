"""Steps for the double well that ask what a value is, or how it is written: with numbers they do something else."""

# every step: double_well not proved

import contextlib
import functools
import io
import numbers
import pickle
import random

import numpy as np

MEMORY = {0.5: 0.0}


def plain(x, p, eps, noise):  # no step
    """The right step, of underdamped Langevin dynamics with friction 1."""
    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise


@functools.singledispatch
def _one(value):
    return 1


@_one.register(float)
def _none(value):
    return 0


def by_instance(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if isinstance(x, float) else 1))


def by_instance_of_numbers(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if isinstance(x, numbers.Number) else 1))


def by_type(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if type(x) in (float, np.float64) else 1))


def by_type_of_an_array(x, p, eps, rng):
    both = np.array([x, p])
    return plain(x, p, eps, rng.standard_normal() * (0 if type(both) is np.ndarray else 1))


def by_class(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if issubclass(x.__class__, float) else 1))


def by_pattern(x, p, eps, rng):
    match x:
        case float():
            return plain(x, p, eps, 0)
        case _:
            return plain(x, p, eps, rng.standard_normal())


def by_dispatch(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * _one(x))


def by_attribute(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if hasattr(x, "is_integer") else 1))


def by_attribute_otherwise(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (1 if getattr(x, "is_integer", None) is None else 0))


def by_text(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if "." in str(x) else 1))


def by_format(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if f"{x:.3}".startswith("-") else 1))


def by_texts_of_arrays(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if "-" in repr(np.array([x, p])) else 1))


def by_what_is_printed(x, p, eps, rng):
    text = io.StringIO()
    print(x, file=text)
    return plain(x, p, eps, rng.standard_normal() * (0 if text.getvalue() else 1))


def by_what_is_printed_elsewhere(x, p, eps, rng):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        print(x)
    return plain(x, p, eps, rng.standard_normal() * (0 if text.getvalue() else 1))


def by_result_type(x, p, eps, rng):
    both = np.result_type(np.array([x, p]), np.float32)
    return plain(x, p, eps, rng.standard_normal() * (0 if both == np.float64 else 1))


def by_buffer(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if np.array([x, p]).data.format == "d" else 1))


def by_flags(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if np.array([x, p]).flags.owndata else 1))


def by_pickle(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (1 if b"Symbolic" in pickle.dumps(x) else 0))


def by_hash(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (hash(x) % 2))


def by_key(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * MEMORY.get(x, 1.0))


def by_bytes(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if np.array([x, p]).tobytes() else 1))


def state_set_again(x, p, eps):
    before = np.random.get_state()  # noqa: NPY002
    noise = np.random.randn()  # noqa: NPY002
    np.random.set_state(before)  # noqa: NPY002
    return plain(x, p, eps, noise)


def python_state_set_again(x, p, eps):
    before = random.getstate()
    noise = random.gauss(0, 1)
    random.setstate(before)
    return plain(x, p, eps, noise)
