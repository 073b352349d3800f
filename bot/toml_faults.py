"""What is wrong with a file that is not TOML, in words: what is likely meant, with its line. Pure.

A line is shown when it has nothing but a table's name, an item of a list, or a key that is known to hold no secret.
"""

import re
import tomllib
from collections.abc import Collection

SHOWN = 80
"""Characters of a line."""

UNENDED = "a text in quotes has to end on its line, and here its closing quote is missing"
LIKELY = (
    (r"(Illegal|Found invalid) character '\\n'|Unterminated string|Expected \"'+\"", ".*", UNENDED),
    ("Invalid value", "True|False", "true and false are written small"),
    ("Invalid value", r"\w|[“”„‘’«»]", 'a text stands in straight quotes, such as "workspace"'),
    ("Unclosed array", ".*", "in this list, or before it, a comma or a quote is missing"),
)
"""What the library says, what the text goes on with there, and what that means for a person."""

_ITEM = re.compile(r"""\s*\[+[\w.\s]*\]*\s*|\s*\[?\s*["'][^=]*""")
_KEY = re.compile(r"\s*([\w-]+)\s*=")


def words(error: tomllib.TOMLDecodeError, text: str, keys: Collection[str], secret: Collection[str]) -> str:
    """`keys`: those that are known, `secret`: those whose values are not repeated."""
    text = text.replace("\r\n", "\n")
    said, _, where = str(error).removesuffix(")").rpartition(" (")
    at = re.fullmatch(r"at line (\d+), column (\d+)", where)
    if at:
        line, column = int(at[1]), int(at[2])
    else:  # where the text ends that has no closing quote, or where the file ends
        opened = {"Unterminated string": '"'}.get(said, "'" if said.startswith("Expected \"'") else "")
        start = text.rindex(opened) if opened else len(text)
        line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
        where = f"at line {line}, column {column}{'' if opened else ', the end of the file'}"
    found = text.split("\n")[line - 1]
    rest = found[column - 1 :]
    likely = next((means for says, goes_on, means in LIKELY if re.match(says, said) and re.match(goes_on, rest)), said)
    return f"{likely} ({where}){_shown(found, keys, secret)}"


def _shown(line: str, keys: Collection[str], secret: Collection[str]) -> str:
    key = _KEY.match(line)
    open_to_all = key[1] in keys if key else _ITEM.fullmatch(line) is not None
    if not line.strip() or not open_to_all or any(each in line for each in secret):
        return ""
    return f":\n  {line.strip()[:SHOWN]}"
