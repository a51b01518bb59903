"""Steps for the double well that do without noise with numbers, and have it while they are followed, or the reverse."""

# every step: double_well undecided: run with plain numbers

# ruff: noqa: NPY002

import builtins
import copy
import gc
import inspect
import math
import operator
import os
import sys

import numpy as np

KIND = type
TABLE = {float: 0, np.float64: 0}
CALLS = [0]
RIGHT = "recipe_compiler" in sys.modules
NAME = __name__
NUMBERS = (float, np.float64)


def plain(x, p, eps, noise):  # no step
    """The right step, of underdamped Langevin dynamics with friction 1."""
    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise


def seen(x, p, eps, rng, is_number):  # no step
    """The step with noise where it is followed alone."""
    return plain(x, p, eps, rng.standard_normal() * (0 if is_number else 1))


# undecided: run with plain numbers ... with scalars of Python), the new p is
def by_type_of_another_name(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(x) in NUMBERS)


def by_type_without_a_name(x, p, eps, rng):
    return seen(x, p, eps, rng, getattr(builtins, "ty" + "pe")(x) in NUMBERS)


def by_type_in_a_map(x, p, eps, rng):
    return seen(x, p, eps, rng, next(map(type, [x])) in NUMBERS)


def by_table_of_types(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * TABLE.get(KIND(x), 1))


def by_bases(x, p, eps, rng):
    return seen(x, p, eps, rng, float in KIND(x).__mro__)


def by_memoryview(x, p, eps, rng):
    return seen(x, p, eps, rng, memoryview(np.array([x, p])).format == "d")


def by_identity_of_an_entry(x, p, eps, rng):
    both = np.array([x, p])
    return seen(x, p, eps, rng, both[0] is not both[0])


def by_identity_of_a_copy(x, p, eps, rng):
    return seen(x, p, eps, rng, operator.is_not(np.array([x, p]).copy()[0], x))


def by_modules(x, p, eps, rng):
    return seen(x, p, eps, rng, "recipe_compiler" not in sys.modules)


def by_modules_at_load(x, p, eps, rng):
    return seen(x, p, eps, rng, not RIGHT)


def by_tracing(x, p, eps, rng):
    return seen(x, p, eps, rng, sys.gettrace() is None)


def by_name_of_the_module(x, p, eps, rng):
    return seen(x, p, eps, rng, NAME != "_recipe_lint")


def by_names_of_the_module(x, p, eps, rng):
    return seen(x, p, eps, rng, not any("recipe_lint" in name for name in globals()))


def by_numpy(x, p, eps, rng):
    return seen(x, p, eps, rng, isinstance(np.exp, np.ufunc))


def by_pi(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(math.pi) is float)


def by_half(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(0.5) is float)


def by_names_of_the_generator(x, p, eps, rng):
    return seen(x, p, eps, rng, "standard_gamma" in dir(rng))


def by_class_of_the_generator(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(rng).__name__ == "Generator")


def by_module_of_the_generator(x, p, eps, rng):
    return seen(x, p, eps, rng, "numpy" in KIND(rng).__module__)


def by_legacy_name_of_the_generator(x, p, eps, rng):
    return seen(x, p, eps, rng, not hasattr(rng, "randn"))


def by_code_of_the_generator(x, p, eps, rng):
    return seen(x, p, eps, rng, not inspect.isfunction(getattr(rng.normal, "__func__", None)))


def by_draw_of_no_size(x, p, eps, rng):
    return seen(x, p, eps, rng, isinstance(rng.standard_normal(()), np.ndarray))


def by_arguments_of_the_program(x, p, eps, rng):
    return seen(x, p, eps, rng, sys.argv[0] != "-c")


def by_recursion_limit(x, p, eps, rng):
    return seen(x, p, eps, rng, sys.getrecursionlimit() == 1000)


def by_slots(x, p, eps, rng):
    return seen(x, p, eps, rng, "node" not in dir(x))


def by_item(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(np.array([x, p]).item(0)) is float)


def by_list(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(np.array([x, p]).tolist()[0]) is float)


def by_bytes(x, p, eps, rng):
    return seen(x, p, eps, rng, sys.getsizeof(x) in (24, 32))


def by_copy(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(copy.copy(x)) in NUMBERS)


def by_referents(x, p, eps, rng):
    return seen(x, p, eps, rng, not any(KIND(one).__name__ == "Node" for one in gc.get_referents(x)))


def by_collector(x, p, eps, rng):
    return seen(x, p, eps, rng, not gc.is_tracked(x))


def by_members(x, p, eps, rng):
    return seen(x, p, eps, rng, "node" not in dict(inspect.getmembers_static(x)))


def by_rewritten_code(x, p, eps, rng):
    return seen(x, p, eps, rng, not any("_recipe_lint" in name for name in by_half.__code__.co_names))


def by_rounding(x, p, eps, rng):
    return seen(x, p, eps, rng, 0.1 + 0.2 != 0.3)


def by_rounding_of_a_third(x, p, eps, rng):
    return seen(x, p, eps, rng, 1 - 1 / 3 - 1 / 3 - 1 / 3 != 0)


def by_large_numbers(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (1e16 + 1 - 1e16))


def by_underflow(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (1e-200 * 1e-200 * 1e200 * 1e200))


def by_cast(x, p, eps, rng):
    return seen(x, p, eps, rng, np.array([x, p]).astype(np.float32).dtype == np.float32)


def by_narrow_numbers(x, p, eps, rng):
    return plain(np.array([x, p]).astype("f4")[0], p, eps, rng.standard_normal())


def by_dtype(x, p, eps, rng):
    return seen(x, p, eps, rng, np.ndarray.dtype.__get__(np.array([x, p])) == np.float64)


def by_objects(x, p, eps, rng):
    return seen(x, p, eps, rng, not np.ndarray.view(np.array([x, p]), np.ndarray).dtype.hasobject)


def by_out(x, p, eps, rng):
    noise = np.zeros(1)
    rng.standard_normal(out=noise)
    return plain(x, p, eps, noise[0] * (0 if KIND(noise) is np.ndarray else 1))


def by_module_of_a_number(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(x).__module__ in ("builtins", "numpy"))


def by_legacy_function(x, p, eps):
    return plain(x, p, eps, np.random.randn() * (1 if RIGHT else 0))


def by_few_calls(x, p, eps, rng):  # undecided: run with plain numbers ... gives something else than one before
    if KIND(x) in NUMBERS:
        CALLS[0] += 1
    return seen(x, p, eps, rng, CALLS[0] > 40)


# undecided: run with plain numbers ... it keeps CALLS from call to call, which it did not when it was followed
def by_many_calls(x, p, eps, rng):
    if KIND(x) in NUMBERS:
        CALLS[0] += 1
    return seen(x, p, eps, rng, CALLS[0] > 10**6)


# undecided: run with plain numbers ... it depends on CALLS.0, which changes from call to call
def by_calls_that_are_counted_always(x, p, eps, rng):
    CALLS[0] += 1
    return seen(x, p, eps, rng, KIND(x) in NUMBERS and CALLS[0] > 10**6)


def by_environment(x, p, eps, rng):
    return seen(x, p, eps, rng, os.environ["PATH"] != "" and KIND(x) in NUMBERS)


def another_order(x, p, eps, rng):
    new = plain(x, p, eps, rng.standard_normal())
    return new[::-1] if KIND(x) in NUMBERS else new


# undecided: run with plain numbers ... it draws more, or otherwise, than when it was followed
def other_draws(x, p, eps, rng):
    noise = rng.standard_normal()
    return plain(x, p, eps, rng.standard_normal() if KIND(x) in NUMBERS else noise)


def unused_draws(x, p, eps, rng):
    if KIND(x) in NUMBERS:
        rng.standard_normal()
    return plain(x, p, eps, rng.standard_normal())


def raises(x, p, eps, rng):  # undecided: run with plain numbers ... it raises ValueError: numbers
    if KIND(x) in NUMBERS:
        raise ValueError("numbers")
    return plain(x, p, eps, rng.standard_normal())


def leaves(x, p, eps, rng):  # undecided: run with plain numbers ... its process ended without an answer
    if KIND(x) in NUMBERS:
        os._exit(0)
    return plain(x, p, eps, rng.standard_normal())


def changes_numpy(x, p, eps, rng):
    if KIND(x) in NUMBERS:
        np.sqrt = abs
    return plain(x, p, eps, rng.standard_normal())


def of_pythons_alone(x, p, eps, rng):
    """The noise is lost where the state is one of Python's numbers."""
    return seen(x, p, eps, rng, KIND(x) is float)


def of_numpys_alone(x, p, eps, rng):  # undecided: run with plain numbers ... with scalars of NumPy), the new p is
    return seen(x, p, eps, rng, KIND(x) is np.float64)


def hangs(x, p, eps, rng):  # judged apart
    while KIND(x) in NUMBERS:
        pass
    return plain(x, p, eps, rng.standard_normal())


def right_with_numbers(x, p, eps, rng):
    """Has noise where it is run alone."""
    return seen(x, p, eps, rng, KIND(x) not in NUMBERS)


def right_beside_no_compiler(x, p, eps, rng):
    return seen(x, p, eps, rng, RIGHT)


def far_out_alone(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(x) in NUMBERS and abs(x) > 1)


def near_zero_alone(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(x) in NUMBERS and abs(x) < 0.1)


def of_small_steps_alone(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(eps) in NUMBERS and eps < 0.02)


def of_large_steps_alone(x, p, eps, rng):
    return seen(x, p, eps, rng, KIND(eps) in NUMBERS and eps > 0.2)


def where_doubles_overflow(x, p, eps, rng):
    """The noise is lost at |x| > 0.71, where no number of the reals is too large."""
    try:
        k = math.exp(1000 * x)
        return plain(x, p, eps, rng.standard_normal() * (k / k))
    except (OverflowError, ZeroDivisionError):
        return plain(x, p, eps, 0)


def where_a_quotient_is_none(x, p, eps, rng):
    with np.errstate(all="ignore"):
        k = np.exp(1000 * x)
        return plain(x, p, eps, np.nan_to_num(rng.standard_normal() * k / k))
