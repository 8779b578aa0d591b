r"""`hoodie.properties`: the text form of `java.util.Properties`, and its checksum.

#Updated at 2025-01-01T00:00:00Z        comment lines begin with # or !
hoodie.table.name=trips                 key, then = or : or blanks, then value
hoodie.table.create.schema={"type"\\:…    \\ escapes; \\uXXXX; a trailing \\ continues the line
"""

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence

from hudi_format.errors import FormatError, Reason

CHECKSUM_KEY = "hoodie.table.checksum"
MAXIMUM_BYTES = 16 * 1024 * 1024

_BLANKS = " \t\f"
_LINE_END = re.compile("\r\n|\r|\n")
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}


def parse_properties(data: bytes, file: str) -> dict[str, str]:
    r"""Keys and values of a properties file, in the order of the file; the last of equal keys holds.

    Raises:
        FormatError: PROPERTIES_INVALID for a bad `\\u` escape; LIMIT_EXCEEDED for a file over 16 MiB.

    Clauses: PR-001.

    """
    return dict(_entries(data, file))


def doubled_keys(data: bytes, file: str) -> dict[str, tuple[str, ...]]:
    """The keys that a properties file has with several values, and these in the order of the file.

    Raises:
        FormatError: as `parse_properties`.

    Clauses: PR-001.

    """
    values: dict[str, list[str]] = {}
    for key, value in _entries(data, file):
        values.setdefault(key, []).append(value)
    return {key: tuple(found) for key, found in values.items() if len(set(found)) > 1}


def _entries(data: bytes, file: str) -> Iterator[tuple[str, str]]:
    if len(data) > MAXIMUM_BYTES:
        raise FormatError(Reason.LIMIT_EXCEEDED, "PR-001", file, None, f"{len(data)} bytes of properties")
    for offset, line in _logical_lines(data.decode("latin-1")):
        key, value = _split(line)
        yield _unescape(key, file, offset), _unescape(value, file, offset)


def serialise_properties(properties: Mapping[str, str], comments: Sequence[str] = ()) -> bytes:
    """The same bytes for the same mapping: comment lines as given, then the keys sorted.

    Clauses: PR-001.
    """
    lines = [_comment(comment) for comment in comments]
    lines += [f"{_escape(key, key=True)}={_escape(properties[key], key=False)}" for key in sorted(properties)]
    return "".join(f"{line}\n" for line in lines).encode("latin-1")


def table_checksum(database: str | None, name: str) -> int:
    """CRC-32 of `<database>.<table>`; the database is empty when the table has none.

    Clauses: PR-003.
    """
    return zlib.crc32(f"{database or ''}.{name}".encode())


def check_checksum(properties: Mapping[str, str], file: str) -> None:
    """Accept an absent or right checksum.

    Raises:
        FormatError: CHECKSUM_MISMATCH when it is there and wrong.

    Clauses: PR-003.

    """
    declared = properties.get(CHECKSUM_KEY)
    if declared is None:
        return
    expected = table_checksum(properties.get("hoodie.database.name"), properties.get("hoodie.table.name", ""))
    if declared != str(expected):
        message = f"{CHECKSUM_KEY} is {declared!r}, database and table name give {expected}"
        hint = "the file was torn or edited: restore it from hoodie.properties.backup or a copy"
        raise FormatError(Reason.CHECKSUM_MISMATCH, "PR-003", file, None, message, hint)


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each entry: comments and blank lines left out, continued lines joined."""
    start = 0
    joined: list[str] | None = None
    for offset, line in _natural_lines(text):
        stripped = line.lstrip(_BLANKS)
        if joined is None:
            if not stripped or stripped[0] in "#!":
                continue
            start, joined = offset, []
        continued = _ends_with_odd_backslashes(stripped)
        joined.append(stripped[:-1] if continued else stripped)
        if not continued:
            if any(joined):
                yield start, "".join(joined)
            joined = None
    if joined and any(joined):
        yield start, "".join(joined)


def _natural_lines(text: str) -> Iterator[tuple[int, str]]:
    position = 0
    for end in _LINE_END.finditer(text):
        yield position, text[position : end.start()]
        position = end.end()
    if position < len(text):
        yield position, text[position:]


def _ends_with_odd_backslashes(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    """Key and value, still escaped: the key ends at the first bare `=`, `:` or blank."""
    position = 0
    while position < len(line) and line[position] not in "=:" + _BLANKS:
        position += 2 if line[position] == "\\" else 1
    key, rest = line[:position], line[position:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return key, rest


def _unescape(text: str, file: str, offset: int) -> str:
    if "\\" not in text:
        return text
    parts, position = [], 0
    while position < len(text):
        if text[position] != "\\":
            parts.append(text[position])
            position += 1
            continue
        letter = text[position + 1 : position + 2]
        if letter == "u":
            parts.append(_code_unit(text[position + 2 : position + 6], file, offset))
            position += 6
        else:
            parts.append(_ESCAPES.get(letter, letter))
            position += 2
    return _join_surrogates("".join(parts), file, offset)


def _code_unit(digits: str, file: str, offset: int) -> str:
    if not re.fullmatch("[0-9a-fA-F]{4}", digits):
        raise FormatError(
            Reason.PROPERTIES_INVALID, "PR-001", file, offset, f"\\u{digits} is no escape of four hex digits"
        )
    return chr(int(digits, 16))


def _join_surrogates(text: str, file: str, offset: int) -> str:
    """Two escaped UTF-16 units are one character; a lone unit is no text."""
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError as error:
        message = "an escape is half of a character"
        raise FormatError(Reason.PROPERTIES_INVALID, "PR-001", file, offset, message) from error


def _escape(text: str, *, key: bool) -> str:
    units = []
    for index, character in enumerate(text):
        if character in _ESCAPED:
            units.append(_ESCAPED[character])
        elif character in "=:#!\\" or (character == " " and (key or index == 0)):
            units.append("\\" + character)
        elif " " <= character <= "~":
            units.append(character)
        else:
            units.append(_unicode_escape(character))
    return "".join(units)


def _unicode_escape(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02X}{units[i + 1]:02X}" for i in range(0, len(units), 2))


def _comment(comment: str) -> str:
    """One comment line; breaks inside it would turn its rest into entries."""
    flat = _LINE_END.sub(" ", comment)
    return "#" + "".join(c if c <= "\xff" else _unicode_escape(c) for c in flat)
