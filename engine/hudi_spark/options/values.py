"""The text of a value: whether it is of its key's kind, and its one spelling."""

import math
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.options.entries import Entry, Kind

_MEGABYTE: Final = 1024 * 1024
# What a long integer of Java holds for certain.
_MOST_DIGITS: Final = 18


def settled(entry: Entry, name: str, text: str) -> str:
    """The value of an entry that came under a name, in its one spelling.

    Raises:
        HudiError: CONFIG_INVALID when it is not of the entry's kind.

    Clauses: PR-022.

    """
    value = _spelled(entry, name, text.strip())
    return _in_bytes(value, name, text) if name in entry.megabytes else value


def _spelled(entry: Entry, name: str, text: str) -> str:
    if entry.kind is Kind.FLAG:
        return _choice(text, ("true", "false"), entry, name)
    if entry.kind is Kind.NUMBER:
        return _number(text, entry, name)
    if entry.kind is Kind.DECIMAL:
        return _decimal(text, name)
    return _choice(text, entry.choices, entry, name) if entry.kind is Kind.CHOICE else text


def _choice(text: str, choices: tuple[str, ...], entry: Entry, name: str) -> str:
    """One of the choices, however it is capitalised."""
    words = {choice.lower(): choice for choice in choices} | dict(entry.spellings)
    found = words.get(text.lower())
    if found is None:
        raise refusal(f"{name} is {text!r}", f"say {' or '.join(choices)}")
    return found


def _number(text: str, entry: Entry, name: str) -> str:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS):
        raise refusal(f"{name} is {text!r}, which is no whole number", f"give at most {_MOST_DIGITS} digits")
    if entry.least is not None and int(text) < entry.least:
        raise refusal(f"{name} is {text}", f"give at least {entry.least}")
    return str(int(text))


def _decimal(text: str, name: str) -> str:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise refusal(f"{name} is {text!r}, which is no number", "give it in digits")
    return text


def _in_bytes(value: str, name: str, text: str) -> str:
    """Flink counts these in megabytes."""
    if int(value) < 0:
        raise refusal(f"{name} is {text.strip()}", "give megabytes")
    return str(int(value) * _MEGABYTE)


def refusal(message: str, hint: str) -> HudiError:
    """The error of an option that cannot be honoured."""
    return HudiError(Reason.CONFIG_INVALID, "PR-022", message, hint=hint)
