"""A module that a step imports: it reads what others may set."""

import logging
import os

QUIET = os.environ.get("SAMPLER_QUIET", "") != ""


def is_quiet():
    return len(logging.root.handlers) > 1000
