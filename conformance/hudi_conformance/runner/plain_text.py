"""Text of others made fit to be shown and kept: nothing that steers a terminal or is no Unicode, and never too much."""

import re

from rich.cells import cell_len

_ODD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


def plain(text: str, most: int) -> str:
    """The text with control characters, changes of direction and lone surrogates as escapes, at most so long."""
    cut = text if len(text) <= most else text[:most]
    shown = _ODD.sub(_escaped, cut)
    return shown if len(shown) <= most and cut is text else _shortened(shown, most)


def plain_end(text: str, most: int) -> str:
    """The same, of which the end is kept."""
    shown = _ODD.sub(_escaped, text[-most - 1 :])
    return shown if len(shown) <= most else f"…\n{shown[2 - most :]}"


def counted(count: int, noun: str) -> str:
    """A number with its noun: "1 case", "2 cases"."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def fitted(text: str, columns: int) -> str:
    """The text in at most so many columns of a terminal; what is left out is an ellipsis."""
    if cell_len(text) <= columns:
        return text
    while cell_len(text) >= columns:
        text = text[: min(len(text) - 1, columns)]
    return f"{text}…"


def _shortened(text: str, most: int) -> str:
    return f"{text[: most - 1]}…"


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
