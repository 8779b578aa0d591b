"""Ids of clauses and properties as people type them: `tl-4`, `TL4` and `TL-004` are one id."""

import difflib
import re
from collections.abc import Iterable, Sequence

from hudi_conformance.runner.resources import CorpusError

_TYPED = re.compile(r"^\s*(?P<prefix>[A-Za-z]{2,4})[-_ ]?(?P<number>\d{1,6})\s*$")
_MOST_NEAR = 3


def normal_number(text: str) -> str:
    """The id that a text stands for: capitals, a dash, three digits; any other text is left as it is."""
    typed = _TYPED.match(text)
    return f"{typed['prefix'].upper()}-{int(typed['number']):03}" if typed else text


def nearest_numbers(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """The known ids most like a text: of the same letters those with the nearest numbers, else by spelling."""
    ids = sorted(known)
    prefix, _, number = normal_number(text).partition("-")
    of_prefix = [one for one in ids if one.partition("-")[0] == prefix.upper()]
    if of_prefix and number.isdecimal():
        return tuple(sorted(of_prefix, key=lambda one: (abs(_number(one) - int(number)), one))[:_MOST_NEAR])
    return tuple(of_prefix[:_MOST_NEAR] or difflib.get_close_matches(normal_number(text), ids, _MOST_NEAR))


def unknown_number(what: str, text: str, known: Iterable[str]) -> str:
    """The sentence for an id that nothing has, with the nearest ones: "there is no clause TL-404; did you mean ..."."""
    near = nearest_numbers(text, known)
    return f"there is no {what} {normal_number(text)!r}{meant(near)}"


def meant(near: Sequence[str]) -> str:
    """The end of such a sentence: "; did you mean TL-014, TL-013 or TL-015?"; nothing where nothing is near."""
    *others, last = near or ("",)
    return f"; did you mean {' or '.join(filter(None, (', '.join(others), last)))}?" if last else ""


def nearest_words(word: str, known: Iterable[str]) -> str:
    """The same end for words."""
    return meant(difflib.get_close_matches(word, sorted(known), 1))


def known_word(what: str, word: str, known: Iterable[str]) -> str:
    """The word, which is one of those that are known.

    Raises:
        CorpusError: it is not; the nearest is named.

    """
    words = tuple(known)
    if word not in words:
        raise CorpusError(f"there is no {what} {word!r}{nearest_words(word, words)}")
    return word


def _number(identifier: str) -> int:
    return int(identifier.partition("-")[2] or 0)
