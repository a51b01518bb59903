"""The three kinds of document, seen from their keys."""

BUILD = frozenset({"dynamics", "target", "bind", "scheme", "variant", "run", "sizes", "gradient_noise", "init"})
DYNAMICS = frozenset({"H", "D", "Q", "claims", "functions"})
TARGET = frozenset({"potential", "log_prior", "log_likelihood", "gradient", "data"})

KINDS = (("build", BUILD), ("dynamics", DYNAMICS), ("target", TARGET))
"""Kinds with the keys that tell them, the first first where a document has as many of two."""
EACH_HAS = "dynamics have H, D and Q; a target has log_likelihood or potential; a build has dynamics and target"
