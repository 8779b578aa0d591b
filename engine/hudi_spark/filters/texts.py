r"""Spark's functions of texts on Arrow columns, and Java's regular expressions.

Taken: characters, classes without set operations, groups, alternatives, greedy and lazy counts, `^ $ . \d \w \s`.
What is spelt alike and means something else is spelt anew; what Python lacks is refused.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.schema import one_chunk

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


def lower(column: Any) -> Any:
    """Spark's `lower`: the whole mapping of Unicode, where Arrow's goes character by character."""
    return _case(column, pc.ascii_lower, str.lower)


def upper(column: Any) -> Any:
    """Spark's `upper`: `ß` becomes `SS`."""
    return _case(column, pc.ascii_upper, str.upper)


def _case(column: Any, plain: Callable[[Any], Any], whole: Callable[[str], str]) -> Any:
    if pc.all(pc.string_is_ascii(column)).as_py() is not False:
        return plain(column)
    return _each(column, whole, pa.string())


def _each(column: Any, change: Callable[[str], Any], kind: pa.DataType) -> Any:
    """A function of each distinct text."""
    encoded = one_chunk(column).dictionary_encode()
    changed = pa.array([change(text) for text in encoded.dictionary.to_pylist()], kind)
    return changed.take(encoded.indices)


def substring(column: Any, position: int, length: int) -> Any:
    """Spark's `substring`: positions count from 1, negative ones from the end."""
    if length <= 0:
        return pc.utf8_slice_codeunits(column, 0, 0)
    if position >= 0:
        start = max(position - 1, 0)
        return pc.utf8_slice_codeunits(column, start, start + length)
    end = position + length
    return pc.utf8_slice_codeunits(column, position, end if end < 0 else None)


def trim(column: Any, characters: str = " ") -> Any:
    """Spark's `trim`: blanks, or any of the characters, at both ends."""
    return pc.utf8_trim(column, characters)


def ltrim(column: Any, characters: str = " ") -> Any:
    """Spark's `ltrim`."""
    return pc.utf8_ltrim(column, characters)


def rtrim(column: Any, characters: str = " ") -> Any:
    """Spark's `rtrim`."""
    return pc.utf8_rtrim(column, characters)


def length(column: Any) -> Any:
    """Spark's `length`: characters of texts, bytes of binary."""
    is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    return pc.utf8_length(column) if is_text else pc.binary_length(column)


def regexp_replace(column: Any, pattern: str, replacement: str) -> Any:
    """Spark's `regexp_replace`: every match.

    Raises:
        UnsupportedFeature: constructs of Java's expressions that are not built.

    """
    compiled = python_pattern(pattern)
    _refuse_halves(column, compiled)
    pieces = python_replacement(replacement, compiled.groups)

    def replaced(found: Any) -> str:
        return "".join(piece if isinstance(piece, str) else found.group(piece) or "" for piece in pieces)

    return _each(column, lambda text: compiled.sub(replaced, text), pa.string())


def _refuse_halves(column: Any, compiled: re.Pattern[str]) -> None:
    """What matches nothing at all matches for Java between the halves of characters beyond U+FFFF, too."""
    beyond = pc.any(pc.match_substring_regex(column, r"[\x{10000}-\x{10FFFF}]")).as_py()
    if beyond and compiled.match("") is not None:
        raise UnsupportedFeature("regular-expression", f"{compiled.pattern} on characters beyond U+FFFF")


def regexp_extract(column: Any, pattern: str, group: int = 1) -> Any:
    """Spark's `regexp_extract`: a group of the first match, empty where there is none.

    Raises:
        UnsupportedFeature: constructs of Java's expressions that are not built, and groups that the pattern lacks.

    """
    compiled = python_pattern(pattern)
    if not 0 <= group <= compiled.groups:
        raise UnsupportedFeature("regular-expression", f"group {group} of {pattern}")

    def extracted(text: str) -> str:
        found = compiled.search(text)
        return (found.group(group) or "") if found else ""

    return _each(column, extracted, pa.string())


def split(column: Any, pattern: str) -> Any:
    """Spark's `split`, without a limit.

    Raises:
        UnsupportedFeature: constructs of Java's expressions that are not built.

    """
    compiled = python_pattern(pattern)
    _refuse_halves(column, compiled)

    def parts(text: str) -> list[str]:
        pieces: list[str] = []
        begin = 0
        for found in compiled.finditer(text):
            # Nothing matched at the very beginning makes no piece; the empty expression makes none at the end either.
            if found.end() == 0 or (not pattern and found.start() == len(text)):
                continue
            pieces.append(text[begin : found.start()])
            begin = found.end()
        return [*pieces, text[begin:]]

    return _each(column, parts, pa.list_(pa.string()))
