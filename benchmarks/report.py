"""Results of races: kept as JSON, and shown as text, as the table of docs/performance.md and as its plot.

Run as a program it writes the page and the plot again from docs/performance.json.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recipe_compiler.run import atomic_write

DOCS = Path(__file__).parent.parent / "docs"
RECORD = DOCS / "performance.json"
PAGE = DOCS / "performance.md"
PLOT = DOCS / "performance.svg"
BEGIN, END = "<!-- results: written by benchmarks/race.py -->", "<!-- end of results -->"

Row = Mapping[str, Any]

NAMES = {
    "c": "C", "sequential_euler": "sequential Euler", "jax_scan": "JAX `lax.scan`", "blackjax": "BlackJAX",
    "natural_numba": "natural numba", "numba_blas": "numba with BLAS", "numpy": "NumPy",
    "read_bandwidth": "one read of the data",
}  # fmt: skip


SECONDS = {
    "cold": "cold", "cached": "cached", "cold_logistic": "cold, logistic regression",
    "cached_logistic": "cached, logistic regression", "natural_numba_cached": "natural numba, cached",
}  # fmt: skip
"""Figures of first calls, which are no race."""


@dataclass(frozen=True, slots=True)
class Goal:
    """A ratio to reach: at most that many times the limit's time, or at least that many times as fast as a rival."""

    against: str
    at_most: float | None = None
    at_least: float | None = None

    def reached(self, row: Row) -> float | None:
        """Return the ratio measured, in the direction of the goal; None where one of the two is missing."""
        if self.against in SECONDS:
            return row.get(self.against)
        times = row.get("times_emitted", {}).get(self.against)
        if times is None:
            return None
        return 1.0 / times if self.at_most is not None else times

    def met(self, row: Row) -> bool | None:
        """Return whether it is met; None where it cannot be said."""
        found = self.reached(row)
        if found is None:
            return None
        return found <= self.at_most if self.at_most is not None else found >= (self.at_least or 0.0)

    def wanted(self) -> str:
        """Return what is wanted, as text."""
        return f"<= {self.at_most:g}" if self.at_most is not None else f">= {self.at_least:g}"


def _goals(at_most: float | None, **at_least: float) -> tuple[Goal, ...]:
    first = (Goal("c", at_most=at_most),) if at_most is not None else ()
    return (*first, *(Goal(key, at_least=value) for key, value in at_least.items()))


FIRST_CALL = {"cold": 1.0, "cached": 0.3}
"""Seconds a first call may take."""

GOALS: Mapping[str, tuple[Goal, ...]] = {
    "w1a": _goals(1.10, jax_scan=5, blackjax=50),
    "baoab_w1a": _goals(1.2, sequential_euler=1 / 1.2),
    "hmc_w1a": _goals(1.3, blackjax=20),
    "w1b": _goals(1.10),
    "w1c": _goals(1.10, jax_scan=5, blackjax=50),
    "w2_d2": _goals(1.5, jax_scan=8, natural_numba=4),
    "w2_d14": _goals(1.2, jax_scan=4, natural_numba=3),
    "hmc_logistic": _goals(1.3, blackjax=5),
    "w3_minibatch": _goals(1.25, jax_scan=1.6, numba_blas=1.25),
    "w3_full": _goals(None, read_bandwidth=0.8, jax_scan=2, numba_blas=1.6),
    "w4": _goals(1.3, jax_scan=20),
    "w5": _goals(1.35, blackjax=10),
    "scir": _goals(1.5, numpy=2),
    "first_call": tuple(
        Goal(f"{start}{module}", at_most=most) for module in ("", "_logistic") for start, most in FIRST_CALL.items()
    ),
}


def merge(file: Path, name: str, row: Row, machine: Mapping[str, Any]) -> None:
    """Put a row into a file of results; its other rows stay. The file is written beside its place and moved there.

    `machine` of the file is that of most rows; those that were raced on another hold theirs.
    """
    results = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"machine": {}, "workloads": {}}
    rows = {key: {"machine": results["machine"], **old} for key, old in results["workloads"].items()}
    rows[name] = {**row, "goals": list(_judged(name, row)), "machine": dict(machine)}
    every = [one["machine"] for one in rows.values()]
    shared = max(every, key=lambda one: (every.count(one), one == results["machine"]))
    rows = {key: {k: x for k, x in one.items() if (k, x) != ("machine", shared)} for key, one in rows.items()}
    results = {**results, "machine": shared, "workloads": {key: rows[key] for key in (*GOALS, *rows) if key in rows}}
    write_whole(file, json.dumps(results, indent=1) + "\n")


def write_whole(file: Path, text: str) -> None:
    """Write a file whole or not at all, and nothing that is no file; its folder is made where it is not there."""
    file.parent.mkdir(parents=True, exist_ok=True)
    atomic_write.write_whole(file, text.encode())


def _judged(name: str, row: Row) -> Iterator[dict[str, Any]]:
    for goal in GOALS[name]:
        yield {"against": goal.against, "wanted": goal.wanted(), "found": goal.reached(row), "met": goal.met(row)}


def row_text(name: str, row: Row) -> str:
    """Return a workload's results as lines of text."""
    times = row.get("times_emitted", {})
    lines = [f"{name}: {row['about']} ({row['unit']})"]
    for key in ("emitted", *SECONDS, *NAMES):
        if row.get(key) is not None:
            ratio = f"{times[key]:9.2f} x" if key in times else ""
            lines.append(f"  {key:20}{_number(row[key]):>10} {ratio:12}{row.get(f'{key}_note', '')}".rstrip())
        elif f"{key}_reason" in row:
            lines.append(f"  {key:20}{'-':>10} {'':12}{row[f'{key}_reason']}")
    for goal in GOALS[name]:
        found = goal.reached(row)
        shown = "not known" if found is None else f"{found:.2f}, {'met' if goal.met(row) else 'MISSED'}"
        lines.append(f"  goal {goal.against} {goal.wanted()}: {shown}")
    lines.extend(f"  NOT THE SAME WORK: {fault}" for fault in row["disagreements"])
    return "\n".join(lines)


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def write_docs() -> None:
    """Put the table of RECORD into PAGE, between its two marks, and draw the plot."""
    results = json.loads(RECORD.read_text(encoding="utf-8"))
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    write_whole(PAGE, f"{before}{BEGIN}\n\n{_page(results)}\n{END}{after}")
    draw(results)


def _page(results: Mapping[str, Any]) -> str:
    machine = results["machine"]
    versions = ", ".join(f"{key} {machine[key]}" for key in list(machine)[6:] if machine[key])
    lines = [
        f"Machine: {machine['processor']}, {machine['cores']} cores, vectors {machine['vectors']}; one core is used. ",
        f"C: {machine['compiler']}. Python {machine['python']}, {versions}.",
        "",
        "| workload | unit | emitted | C | goals: wanted, found |",
        "|---|---|---|---|---|",
    ]
    for name, row in results["workloads"].items():
        emitted, limit = (_number(row[key]) if row.get(key) is not None else "-" for key in ("emitted", "c"))
        lines.append(f"| `{name}` {row['about']} | {row['unit']} | {emitted} | {limit} | {_goals_text(name, row)} |")
    lines += ["", "Times of all, in the same units; in brackets how many times as long as the emitted module:", ""]
    known = {key for row in results["workloads"].values() for key in row}
    keys = [key for key in NAMES if key in known - {"c", "read_bandwidth"}]
    lines += [f"| workload | {' | '.join(NAMES[key] for key in keys)} |", "|---" * (len(keys) + 1) + "|"]
    for name, row in results["workloads"].items():
        lines.append(f"| `{name}` | {' | '.join(_cell(row, key) for key in keys)} |")
    return "\n".join(lines) + "\n" + _reasons(results)


def _goals_text(name: str, row: Row) -> str:
    texts = []
    for goal in GOALS[name]:
        found = goal.reached(row)
        what = (NAMES | SECONDS).get(goal.against, goal.against)
        verdict = "not known" if found is None else f"{found:.2f}" + ("" if goal.met(row) else " **missed**")
        texts.append(f"{what} {goal.wanted().replace('<=', '≤').replace('>=', '≥')}: {verdict}")
    return "; ".join(texts)


def _cell(row: Row, key: str) -> str:
    if row.get(key) is None:
        return "-"
    times = row.get("times_emitted", {}).get(key)
    return _number(row[key]) + (f" ({_number(times)})" if times is not None else "")


def _reasons(results: Mapping[str, Any]) -> str:
    """Return what is to be said about emitted modules that are missing, notes, and what disagreed."""
    said = []
    for name, row in results["workloads"].items():
        if (own := row.get("machine")) is not None:
            apart = [f"{key} {own[key]}" for key in own if own[key] and own[key] != results["machine"].get(key)]
            said.append(f"- `{name}`: raced on another machine: {'; '.join(apart)}.")
        if row.get("emitted_reason"):
            said.append(f"- `{name}`: not emitted yet: {row['emitted_reason']}")
        said.extend(f"- `{name}`, {NAMES.get(key, key)}: {row[f'{key}_note']}." for key in ("emitted", *NAMES)
                    if row.get(f"{key}_note"))  # fmt: skip
        said.extend(f"- `{name}`: **not the same work**: {fault}" for fault in row["disagreements"])
    return "\n" + "\n".join(said) + "\n" if said else ""


def draw(results: Mapping[str, Any]) -> None:
    """Draw every rival's time over the emitted module's, one line of dots per workload; nothing without matplotlib."""
    try:
        import matplotlib
    except ImportError:
        print("matplotlib is not installed: the plot stays as it is")
        return
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "race"
    import matplotlib.pyplot as plt

    rows = {name: row for name, row in results["workloads"].items() if row.get("times_emitted")}
    figure, axes = plt.subplots(figsize=(8.0, 0.45 * len(rows) + 1.6))
    for key in NAMES:
        points = [(row["times_emitted"][key], k) for k, row in enumerate(rows.values()) if key in row["times_emitted"]]
        if points:
            marker, size = ("|", 16) if key in ("c", "read_bandwidth") else ("o", 7)
            colour = "black" if key == "c" else None
            label = NAMES[key].replace("`", "")
            axes.plot(*zip(*points, strict=True), marker, markersize=size, label=label, color=colour)
    axes.axvline(1.0, color="grey", linewidth=1.0)
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set_xlabel("time over that of the emitted module (right of 1: slower)")
    axes.legend(fontsize=7, ncols=2, loc="lower right")
    figure.tight_layout()
    beside = PLOT.with_name(f".{PLOT.name}")
    figure.savefig(beside, format="svg", metadata={"Date": None})
    beside.replace(PLOT)
    plt.close(figure)


if __name__ == "__main__":
    write_docs()
