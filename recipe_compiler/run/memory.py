"""The memory of the machine."""

import os


def machine_memory() -> int | None:
    """Return the bytes of memory that the machine has, None where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # AttributeError: on Windows
        return None
