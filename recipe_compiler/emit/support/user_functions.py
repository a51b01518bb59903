"""Functions of a user, a density and its gradient, as chains call them: by address, with data that are at an address.

So jitted chains have the same types whatever functions and data they are given: they are compiled once, and kept.
"""

# Emitted files carry this code without annotations, and call it.

import functools
import warnings

import numpy as np
from numba import njit, typeof, types
from numba.extending import intrinsic

_REALS, _ADDRESSES = types.float64[::1], types.uint8[::1]
_SIGNATURES = {
    "potential": types.float64(_REALS, _ADDRESSES),
    "gradient": types.void(_REALS, _REALS, _ADDRESSES),
    "gradient_of_batch": types.void(_REALS, _REALS, types.uint64[::1], _ADDRESSES),
}  # of what `_adapted` returns


def _jitted(name, function):
    """Return a function as jitted code calls it; one that is not jitted yet is, with its globals of now.

    Raises TypeError.
    """
    if hasattr(function, "py_func"):  # which jitted functions keep
        return function
    if not hasattr(function, "__code__"):
        found, expected = type(function).__name__, "expected a Python function, jitted by numba.njit or one that can be"
        raise TypeError(f"{name}: found {found}, {expected}")
    return njit(error_model="numpy")(function)


def _checked_data(data):
    """Return what a user's functions are given beside the state, as jitted code takes it. Raises TypeError."""
    if not isinstance(data, tuple):
        raise TypeError(f"data: found {type(data).__name__}, expected a tuple of arrays and numbers: data=(x, y)")
    own = tuple(np.ascontiguousarray(one) if np.ndim(one) else one for one in data)
    for k, one in enumerate(own):
        found = np.asarray(one).dtype
        if not (isinstance(one, np.ndarray) or np.isscalar(one)) or isinstance(one, str | bytes):
            raise TypeError(f"data: found {type(one).__name__} at {k}, expected an array or a number")
        if found.kind not in "biufc" or not found.isnative:
            raise TypeError(f"data: found {found} at {k}, expected numbers, in the byte order of this machine")
    return own


@intrinsic
def _write_addresses(_, room, data):
    """Write to `room` what numba knows of the arrays and numbers of a tuple. It does not keep them alive."""

    def build(context, builder, signature, arguments):
        value = arguments[1]
        for k, kind in enumerate(signature.args[1]):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, builder.extract_value(value, k))
                array.meminfo, array.parent = array.meminfo.type(None), array.parent.type(None)  # nobody counts them
                value = builder.insert_value(value, array._getvalue(), k)
        place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        builder.store(value, builder.bitcast(place, value.type.as_pointer()))
        return context.get_dummy_value()

    return types.void(room, data), build


@njit
def _fill_addresses(room, data):
    _write_addresses(room, data)


def _addresses_of(data):
    """Return where the arrays and numbers of a tuple are, for functions that `_adapted` returns of this tuple's type.

    The tuple has to live as long as they are called.
    """
    if not hasattr(_fill_addresses, "py_func"):  # NUMBA_DISABLE_JIT
        return data
    room = np.zeros(64 + sum(64 + 16 * np.ndim(one) for one in data), np.uint8)
    _fill_addresses(room, data)
    return room


@functools.lru_cache(maxsize=32)
def _adapted(role, function, kind):
    """Return a user's function as a chain calls it: the same for the same, so that it is compiled once.

    role: "U", "grad_U" or "grad_U of a batch". kind: numba's type of the tuple whose addresses it is given.
    """

    @intrinsic
    def addressed(_, room):
        def build(context, builder, signature, arguments):
            place = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            return builder.load(builder.bitcast(place, context.get_value_type(kind).as_pointer()))

        return kind(room), build

    def itself(data):
        return data

    read = addressed if hasattr(_fill_addresses, "py_func") else itself

    @njit(error_model="numpy")
    def potential(theta, data):
        return float(function(theta, *read(data)))

    @njit(error_model="numpy")
    def gradient(out, theta, data):
        found = function(theta, *read(data))
        for k in range(out.size):  # numba compiles `out[:] = found` for seconds
            out[k] = found[k]

    @njit(error_model="numpy")
    def gradient_of_batch(out, theta, batch, data):
        found = function(theta, batch, *read(data))
        for k in range(out.size):
            out[k] = found[k]

    return {"U": potential, "grad_U": gradient, "grad_U of a batch": gradient_of_batch}[role]


def _by_address(function):
    """Return a jitted function of chains as one that takes a user's functions by address: compiled once for all."""
    entries = []

    def call(*given):
        if not entries:
            kinds = [
                types.FunctionType(_SIGNATURES[one.__name__]) if hasattr(one, "py_func") else typeof(one)
                for one in given
            ]
            entries.append(function.compile(tuple(kinds)))
        return entries[0](*given)

    return call if hasattr(function, "compile") else function


def _tell_seed(seed, default, states):
    """Warn of a seed that is stated for chains that go on from a state of another one."""
    own = int(states[0]["seed"][0])
    if seed not in (own, default):
        said = f"seed: found {seed} beside a state of seed {own}, whose random streams go on: leave seed out"
        warnings.warn(said, RuntimeWarning, stacklevel=3)
