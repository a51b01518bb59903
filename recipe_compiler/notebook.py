"""Results in a notebook: short pieces of HTML, whatever the size of what they show."""

from collections.abc import Iterable, Sequence
from html import escape

MOST_BYTES = 20_000
"""Bytes that one result may take of a notebook's file."""

LONGEST = 400
"""Characters of a cell or line; the rest is left out."""

_CELL = 'style="text-align:left;vertical-align:top"'


def card(heading: str, table: str, lines: Iterable[str] = (), more: str = "print() shows it all") -> str:
    """Return a heading, a table and lines below it, as many of them as there is room for."""
    top = f"<div><p><b>{escape(shortened(heading))}</b></p>{table}"
    room, shown, left = MOST_BYTES - len(top.encode()) - 200, [], 0
    for line in lines:
        item = f"<li>{escape(shortened(line.strip()))}</li>"
        room -= len(item.encode())
        if room < 0:
            left += 1
        else:
            shown.append(item)
    if left:
        shown.append(f"<li>... and {left} more: {escape(more)}</li>")
    return f"{top}<ul>{''.join(shown)}</ul></div>" if shown else f"{top}</div>"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts, at most three quarters of what a result may take."""
    head = "".join(f"<th {_CELL}>{escape(heading)}</th>" for heading in headings)
    room, shown, left = MOST_BYTES * 3 // 4 - len(head), [], 0
    for row in rows:
        cells = "".join(f"<td {_CELL}>{escape(shortened(cell))}</td>" for cell in row)
        room -= len(cells.encode()) + 9
        if room < 0:
            left += 1
        else:
            shown.append(f"<tr>{cells}</tr>")
    if left:
        shown.append(f"<tr><td>... and {left} more</td></tr>")
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(shown)}</tbody></table>"


def shortened(text: str) -> str:
    """Return a text of at most `LONGEST` characters."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."
