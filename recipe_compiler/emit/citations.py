"""References in full: an entry of `references.bib` as a line of plain text."""

import re
from functools import cache
from importlib.resources import files

_ENTRY = re.compile(r"^@\w+\{(\w+),\n(.*?)^\}", re.M | re.S)
_FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*?)\},?\n(?=\s*\w+\s*=|\Z)", re.M | re.S)


def citation(key: str) -> str:
    """Return a reference as `authors (year): title. where. arXiv`; the key itself if the bibliography lacks it."""
    fields = _bibliography().get(key)
    if fields is None:
        return key
    journal = fields.get("journal", fields.get("booktitle", fields.get("publisher", "")))
    volume = fields.get("volume", "") + (f"({fields['number']})" if "volume" in fields and "number" in fields else "")
    where = ", ".join(part for part in (journal, volume, fields.get("pages", "").replace("--", "-")) if part)
    archive = f"arXiv:{fields['eprint']}" if fields.get("eprinttype") == "arxiv" else ""
    authors = ", ".join(_turned(name) for name in fields["author"].split(" and "))
    return ". ".join(part for part in (f"{authors} ({fields['year']}): {fields['title']}", where, archive) if part)


def _turned(name: str) -> str:
    """Return `Given Family` of `Family, Given`."""
    family, comma, given = name.partition(", ")
    return f"{given} {family}" if comma else name


@cache
def _bibliography() -> dict[str, dict[str, str]]:
    source = files("recipe_compiler.emit").joinpath("references.bib").read_text(encoding="utf-8")
    return {key: {name: _plain(value) for name, value in _FIELD.findall(body)} for key, body in _ENTRY.findall(source)}


def _plain(value: str) -> str:
    """Return a field without TeX and accents: files are of ASCII."""
    bare = re.sub(r"\{\\.(\w)\}", r"\1", value).replace(r"{\o}", "o").replace(r"$\widehat{R}$", "R-hat")
    return " ".join(re.sub(r"[{}$\\]", "", bare).replace("--", "-").split())
