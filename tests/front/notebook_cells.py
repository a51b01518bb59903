"""Run cells from stdin as a notebook runs them, and answer with what each shows: a program, for a process of its own.

Cells run in IPython's `InteractiveShell`, the part of a kernel that is not transport; what they display goes where a
kernel would publish it.
"""

import json
import sys
import types
from typing import Any

from IPython.core.displayhook import CapturingDisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.io import capture_output
from traitlets.config import Config


def main() -> None:
    """Print one JSON list: of each cell its text, the data of its result and of its displays, and its error."""
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config, user_module=types.ModuleType("notebook"))
    shown = [run(shell, cell) for cell in json.load(sys.stdin)]
    sys.stdout.write(json.dumps(shown))


def run(shell: InteractiveShell, cell: str) -> dict[str, Any]:
    """Run one cell."""
    shell.display_pub = CapturingDisplayPublisher(parent=shell)
    hook = CapturingDisplayHook(shell=shell, outputs=[])
    shell.display_trap.hook = hook
    with capture_output(stdout=True, stderr=True, display=False) as text:
        result = shell.run_cell(cell, store_history=False)
    error = result.error_before_exec or result.error_in_exec
    return {
        "text": text.stdout,
        "stderr": text.stderr,
        "result": [output["data"] for output in hook.outputs],
        "displays": [{"data": out["data"], "update": out["update"]} for out in shell.display_pub.outputs],
        "error": None if error is None else repr(error),
    }


if __name__ == "__main__":
    main()
