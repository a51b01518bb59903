"""From the bytes of a document to its text: UTF-8 of bounded size, without characters that deceive a reader."""

from typing import NoReturn

from recipe_compiler.errors import Fault, Place, SpecError

MAX_BYTES = 1_000_000

_LINE_BREAKS = "\x85\u2028\u2029"
"""Characters that YAML takes for a new line and editors do not."""
_BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Controls that make text look other than it is."""


def document_text(data: bytes, file: str) -> str:
    """Return the text of a document, with line feeds as the only line ends and without a byte order mark.

    Raises SpecError for more than 1 MB, bytes that are not UTF-8, control characters.
    """
    if len(data) > MAX_BYTES:
        _refuse(
            Place(file), f"found more than {MAX_BYTES:,} bytes, expected at most that", "put arrays into .npy files"
        )
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        _refuse(Place(file, 1), "found UTF-16, expected UTF-8", "save the file as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _position(data[: error.start].decode("utf-8", "replace"))
        found = f"found the byte 0x{data[error.start]:02x}, expected UTF-8"
        _refuse(Place(file, line, column), found, "save the file as UTF-8")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for at, character in enumerate(text):
        if _forbidden(character):
            line, column = _position(text[:at])
            problem = f"found the character U+{ord(character):04X}, expected printable text"
            _refuse(Place(file, line, column), problem, "remove it: editors do not show it")
    return text


def _forbidden(character: str) -> bool:
    if " " <= character <= "~":
        return False
    if character in "\t\n":
        return False
    return character < " " or character in _LINE_BREAKS or character in _BIDIRECTIONAL or "\x7f" <= character <= "\x9f"


def _position(before: str) -> tuple[int, int]:
    lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return len(lines), len(lines[-1]) + 1


def _refuse(where: Place, problem: str, hint: str) -> NoReturn:
    raise SpecError([Fault(where, "document", problem, hint)])
