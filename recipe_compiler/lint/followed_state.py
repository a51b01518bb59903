"""What a user's file keeps between calls that are followed: values that are followed by their operations."""

from collections.abc import Container, Mapping
from typing import Any

import numpy as np

from recipe_compiler.lint.nodes import Node, tape
from recipe_compiler.lint.plain_run import state
from recipe_compiler.lint.plain_run.state import KeptState
from recipe_compiler.lint.values import Symbolic, node_of


class FollowedState(KeptState):
    """One look at what a file keeps."""

    def __init__(self) -> None:
        super().__init__(tape.file)
        self.texts: dict[int, str] = {}

    def is_followed(self, obj: object) -> bool:
        """Whether something that looks like a number is a symbol."""
        return isinstance(obj, Symbolic)

    def followed(self, obj: object) -> str | None:
        """Return a followed value by its operations; one of an earlier call is what it was computed of."""
        node = obj if isinstance(obj, Node) else None if isinstance(obj, np.ndarray) else node_of(obj)
        if node is None:
            return None
        waiting = [node]
        while waiting:
            one = waiting[-1]
            parts = [part for part in one.args if isinstance(part, Node)]
            missing = [part for part in parts if part.serial not in self.texts]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            told = (self.texts[a.serial] if isinstance(a, Node) else str(a) for a in one.args)
            self.texts[one.serial] = str(hash((one.op, one.number, *told)))
        return self.texts[node.serial]


def kept(names: Mapping[str, Any], replaced: Container[str]) -> dict[str, str]:
    """Return what each name of a file leads to, those that are given for the call left out."""
    return state.kept(FollowedState(), names, replaced)
