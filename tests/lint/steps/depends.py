"""Steps for the double well that lose their noise by what neither their arguments, their draws nor their file say.

In every run of a check they do what the right step does: each is one line that reads what others may set, or count.
"""

import calendar
import copyreg
import ctypes
import decimal
import faulthandler
import locale
import logging
import math
import mimetypes
import operator
import pathlib
import re
import resource
import shutil
import signal
import socket
import sysconfig
import tempfile
import warnings
import weakref

import beside
import beside_state
import numpy as np


def plain(x, p, eps, noise):
    """The right step, of underdamped Langevin dynamics with friction 1."""
    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise


def quiet_if(quiet, x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() * (0 if quiet else 1))


def by_log_level(x, p, eps, rng):
    return quiet_if(logging.getLogger("sampler").level == 10, x, p, eps, rng)  # here: logging.getLogger


def by_log_handlers(x, p, eps, rng):
    return quiet_if(logging.root.handlers, x, p, eps, rng)  # here: logging.root


def by_decimal_precision(x, p, eps, rng):
    return quiet_if(decimal.getcontext().prec < 9, x, p, eps, rng)  # here: decimal.getcontext


def by_decimal_quotient(x, p, eps, rng):
    return quiet_if(decimal.Decimal(1) / 3 == 0, x, p, eps, rng)  # here: decimal.Decimal


def by_warning_filters(x, p, eps, rng):
    return quiet_if(len(warnings.filters) > 1000, x, p, eps, rng)  # here: warnings.filters


def by_print_options(x, p, eps, rng):
    return quiet_if(np.get_printoptions()["precision"] < 8, x, p, eps, rng)  # here: numpy.get_printoptions


def by_printed_array(x, p, eps, rng):
    return quiet_if(len(np.array2string(np.ones(2))) > 99, x, p, eps, rng)  # here: numpy.array2string


def by_text_of_an_array(x, p, eps, rng):
    return quiet_if(len(str(np.ones(2, dtype=int))) > 99, x, p, eps, rng)  # here: str


def by_formatted_array(x, p, eps, rng):
    return quiet_if(len(f"{np.ones(2, dtype=int)}") > 99, x, p, eps, rng)  # here: text of a value


def by_percent(x, p, eps, rng):
    return quiet_if(len("%s" % np.ones(2)) > 99, x, p, eps, rng)  # here: text of a value  # noqa: UP031


def by_error_state(x, p, eps, rng):
    return quiet_if(np.geterr()["over"] == "raise", x, p, eps, rng)  # here: numpy.geterr


def by_error_call(x, p, eps, rng):
    return quiet_if(np.geterrcall() is not None, x, p, eps, rng)  # here: numpy.geterrcall


def by_buffer_size(x, p, eps, rng):
    return quiet_if(np.getbufsize() > 10**6, x, p, eps, rng)  # here: numpy.getbufsize


def by_numpy_version(x, p, eps, rng):
    return quiet_if(np.__version__ == "9.9", x, p, eps, rng)  # here: numpy.__version__


def by_global_generator(x, p, eps, rng):
    return quiet_if(np.random.mtrand is None, x, p, eps, rng)  # here: numpy.random.mtrand


def by_module_beside(x, p, eps, rng):
    return quiet_if(beside_state.QUIET, x, p, eps, rng)  # beside_state.py: os.environ.get


def by_function_beside(x, p, eps, rng):
    return quiet_if(beside_state.is_quiet(), x, p, eps, rng)  # beside_state.py: logging.root


def by_attribute_of_a_module(x, p, eps, rng):
    return quiet_if(math.__dict__.get("quiet"), x, p, eps, rng)  # here: __dict__


def by_attribute_of_a_module_beside(x, p, eps, rng):
    return quiet_if(len(beside.__dict__) > 1000, x, p, eps, rng)  # here: __dict__


def by_attribute_of_numpy(x, p, eps, rng):
    np.quiet = False  # here: numpy.quiet
    return quiet_if(np.quiet, x, p, eps, rng)


def by_attribute_of_the_generator(x, p, eps, rng):
    return quiet_if(rng.__class__.__name__ == "Quiet", x, p, eps, rng)  # here: __class__


def by_documentation(x, p, eps, rng):
    return quiet_if(np.sqrt.__doc__ is None, x, p, eps, rng)  # here: __doc__


def by_optimisation(x, p, eps, rng):
    return quiet_if(not __debug__, x, p, eps, rng)  # here: __debug__


def by_own_documentation(x, p, eps, rng):
    return quiet_if(plain.__doc__ is None, x, p, eps, rng)  # here: __doc__


def by_name(x, p, eps, rng):
    return quiet_if(__name__ == "__main__", x, p, eps, rng)  # here: __name__


def by_place_of_the_file(x, p, eps, rng):
    return quiet_if(__file__ is None, x, p, eps, rng)  # here: __file__


def by_order_of_a_set(x, p, eps, rng):
    return quiet_if(next(iter({"quiet", "loud"})) == "silent", x, p, eps, rng)  # here: set


def by_identity(x, p, eps, rng):
    return quiet_if(np.pi is math.pi, x, p, eps, rng)  # here: is


def by_locale(x, p, eps, rng):
    return quiet_if(locale.localeconv()["decimal_point"] == ";", x, p, eps, rng)  # here: locale.localeconv


def by_signal(x, p, eps, rng):
    return quiet_if(signal.getsignal(signal.SIGUSR1) == 1, x, p, eps, rng)  # here: signal.getsignal


def by_resource(x, p, eps, rng):
    return quiet_if(resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 7, x, p, eps, rng)  # here: resource.getrlimit


def by_weak_reference(x, p, eps, rng):
    return quiet_if(weakref.getweakrefcount(plain) > 9, x, p, eps, rng)  # here: weakref.getweakrefcount


def by_address(x, p, eps, rng):
    return quiet_if(ctypes.sizeof(ctypes.c_long) == 3, x, p, eps, rng)  # here: ctypes.sizeof


def by_pickles(x, p, eps, rng):
    return quiet_if(len(copyreg.dispatch_table) > 999, x, p, eps, rng)  # here: copyreg.dispatch_table


def by_patterns(x, p, eps, rng):
    return quiet_if(re._cache is None, x, p, eps, rng)  # here: re._cache


def by_temporary_folder(x, p, eps, rng):
    return quiet_if(tempfile.tempdir == "/quiet", x, p, eps, rng)  # here: tempfile.tempdir


def by_types_of_files(x, p, eps, rng):
    return quiet_if(mimetypes.inited is None, x, p, eps, rng)  # here: mimetypes.inited


def by_first_day(x, p, eps, rng):
    return quiet_if(calendar.firstweekday() == 6, x, p, eps, rng)  # here: calendar.firstweekday


def by_time_out(x, p, eps, rng):
    return quiet_if(socket.getdefaulttimeout() == 1, x, p, eps, rng)  # here: socket.getdefaulttimeout


def by_terminal(x, p, eps, rng):
    return quiet_if(shutil.get_terminal_size().columns == 7, x, p, eps, rng)  # here: shutil.get_terminal_size


def by_configuration(x, p, eps, rng):
    return quiet_if(sysconfig.get_platform() == "quiet", x, p, eps, rng)  # here: sysconfig.get_platform


def by_faults(x, p, eps, rng):
    return quiet_if(faulthandler.is_enabled() == 3, x, p, eps, rng)  # here: faulthandler.is_enabled


def by_folder(x, p, eps, rng):
    return quiet_if(pathlib.Path("quiet.txt").exists(), x, p, eps, rng)  # here: pathlib.Path


def by_function_of_operators(x, p, eps, rng):
    return quiet_if(operator.attrgetter("__doc__")(np) is None, x, p, eps, rng)  # here: operator.attrgetter


def by_code_objects(x, p, eps, rng):
    return quiet_if(plain.__code__.co_flags == 0, x, p, eps, rng)  # here: __code__


def by_cell(x, p, eps, rng):
    return quiet_if(plain.__closure__ is not None, x, p, eps, rng)  # here: __closure__


def by_exception(x, p, eps, rng):
    try:  # here: try
        scale = math.exp(1e4 * x - 1e7 * x)
        return plain(x, p, eps, rng.standard_normal() * (scale / scale))
    except OverflowError:
        return plain(x, p, eps, 0)


def by_overflow(x, p, eps, rng):
    quiet = not np.isfinite(np.exp(x**2 / 10**4))  # here: numpy.isfinite
    return quiet_if(quiet, x, p, eps, rng)


def by_overflow_of_math(x, p, eps, rng):
    return quiet_if(math.isinf(np.exp(x**2 / 10**4)), x, p, eps, rng)  # here: math.isinf


def by_what_is_no_number(x, p, eps, rng):
    scale = np.exp(x**2 / 10**4)
    return plain(x, p, eps, rng.standard_normal() * np.nan_to_num(scale / scale))  # here: numpy.nan_to_num


def by_type(x, p, eps, rng):
    return quiet_if(isinstance(x, np.longdouble), x, p, eps, rng)  # here: isinstance


def by_kind(x, p, eps, rng):
    return quiet_if(np.asarray(x).dtype == np.float32, x, p, eps, rng)  # here: dtype


def by_machine(x, p, eps, rng):
    return quiet_if(np.intp(0).itemsize == 4, x, p, eps, rng)  # here: numpy.intp


def by_switch(x, p, eps, rng):
    return quiet_if(SWITCH[0], x, p, eps, rng)  # switched: SWITCH


SWITCH = [0]


def switch_off():
    SWITCH[0] = 1


def by_name_that_is_set(x, p, eps, rng):
    return quiet_if(QUIET, x, p, eps, rng)  # switched: QUIET


QUIET = False


def set_quiet():
    global QUIET
    QUIET = True


def by_field_that_is_set(x, p, eps, rng):
    return quiet_if(SETTINGS.quiet, x, p, eps, rng)  # switched: SETTINGS


class Settings:
    """What a caller may set."""

    def __init__(self):
        self.quiet = False


SETTINGS = Settings()


def set_settings():
    SETTINGS.quiet = True
