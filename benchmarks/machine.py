"""The machine and the versions a race ran with."""

import importlib.metadata
import os
import platform
from pathlib import Path

import limits

PACKAGES = ("numba", "llvmlite", "numpy", "jax", "blackjax")


def describe() -> dict[str, str | int | None]:
    """Return the processor, the compiler and the versions; None for what is missing."""
    return {
        "processor": _processor(),
        "vectors": _vectors(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": _compiler(),
        **{name: _version(name) for name in PACKAGES},
    }


def _cpuinfo(key: str) -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(key)), "")


def _processor() -> str:
    import llvmlite.binding

    return f"{_cpuinfo('model name') or platform.processor()} (LLVM: {llvmlite.binding.get_host_cpu_name()})"


def _vectors() -> str:
    flags = _cpuinfo("flags").split()
    return next((name for name in ("avx512f", "avx2", "sse2", "asimd") if name in flags), "unknown")


def _compiler() -> str | None:
    try:
        return limits.compiler_name()
    except limits.CompilerMissingError:
        return None


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
