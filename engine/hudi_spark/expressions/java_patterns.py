r"""Java's regular expressions in Python's words, for those that mean the same in both.

Taken: characters, classes without set operations, groups, alternatives, greedy and lazy counts, `^ $ . \d \w \s`.
What is spelt alike and means something else is spelt anew; what Python lacks is refused.
"""

import re
from functools import lru_cache
from typing import Final

from hudi_spark.errors import UnsupportedFeature

_LINE_ENDS: Final = "\n\r\u0085\u2028\u2029"
_DOT: Final = f"[^{_LINE_ENDS}]"
_END: Final = r"(?=(?:\r\n|[\n\r\u0085\u2028\u2029])?\Z)"
_TOKEN: Final = re.compile(
    r"""\\[dDwWsStnrf]|\\[^A-Za-z0-9]|\[\^?\]?(?:\\[dDwWsStnrf]|\\[^A-Za-z0-9]|[^\]\[\\&])*\]
    |\(\?:|\(|\)|\||(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??|[.^$]|[^\\\[\](){}|*+?.^$]""",
    re.VERBOSE | re.DOTALL,
)


@lru_cache(maxsize=64)
def python_pattern(text: str) -> re.Pattern[str]:
    """The Python expression that matches what the Java one does.

    Raises:
        UnsupportedFeature: constructs that are not built.

    """
    pieces: list[str] = []
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise UnsupportedFeature("regular-expression", text)
        at = found.end()
        pieces.append(_piece(found.group(0), text))
    try:
        return re.compile("".join(pieces), re.ASCII)
    except re.error as error:
        raise UnsupportedFeature("regular-expression", f"{text}: {error}") from error


def _piece(token: str, text: str) -> str:
    if token.startswith("[") and ("--" in token or "||" in token or "~~" in token or token.startswith(("[]", "[^]"))):
        raise UnsupportedFeature("regular-expression", text)
    return {".": _DOT, "$": _END, "^": r"\A"}.get(token, token)


@lru_cache(maxsize=64)
def python_replacement(text: str, groups: int) -> tuple[str | int, ...]:
    r"""A Java replacement as literal text and numbers of groups: `$1` is a group, `\x` is x.

    Raises:
        UnsupportedFeature: names of groups, and groups that the pattern lacks.

    """
    pieces: list[str | int] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character not in "\\$":
            pieces.append(character)
            at += 1
        elif character == "\\" and at + 1 < len(text):
            pieces.append(text[at + 1])
            at += 2
        else:
            number, at = _group(text, at + 1, groups)
            pieces.append(number)
    return tuple(pieces)


def _group(text: str, at: int, groups: int) -> tuple[int, int]:
    """Further digits belong to the number as long as there is such a group."""
    end = at
    while end < len(text) and text[end] in "0123456789" and (end == at or int(text[at : end + 1]) <= groups):
        end += 1
    if end == at or int(text[at:end]) > groups:
        raise UnsupportedFeature("regular-expression", f"replacement {text}")
    return int(text[at:end]), end
