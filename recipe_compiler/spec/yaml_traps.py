"""What YAML's own complaints mean to someone who wrote a formula."""

_TRAPS = (
    ("mapping values are not allowed", "a value holds `: `", "quote the formula"),
    ("sequence entries are not allowed", "a value starts with `- `", "write the minus next to its term, or quote it"),
    ("expected chomping or indentation", "a value starts with `|` or `>`", "write abs(x), or quote the formula"),
    ("found character '\\t'", "a tab is used as indentation", "indent with spaces"),
    ("cannot start any token", "a value starts with a character that YAML keeps for itself", "quote the formula"),
    ("expected ',' or ']'", "a list is not closed, or an entry holds `[`", "close it with `]`, or quote the entry"),
    ("expected ',' or '}'", "a mapping is not closed, or a value holds `{`", "close it with `}`, or quote the value"),
    ("could not find expected ':'", "a line is no `key: value`", "write `key: value`"),
    ("expected <block end>", "the indentation does not fit the lines above", "start all keys of a part in one column"),
    ("expected alphabetic or numeric", "a value starts with `*` or `&`", "quote the formula"),
    ("unexpected end of stream", "a quotation mark is not closed", "close it"),
    ("found unexpected end", "a quotation mark is not closed", "close it"),
)


def explain(problem: str) -> tuple[str, str]:
    """Return problem and hint for a message of the YAML parser."""
    for part, meaning, hint in _TRAPS:
        if part in problem:
            return f"found what YAML cannot read ({problem}): {meaning}", hint
    return f"found what YAML cannot read ({problem})", "check quotes, brackets and indentation"
