"""JSON as the protocol has it: no key twice, no number that JSON or 64 bits cannot hold, no text that is no Unicode."""

import json
import math
import re
from typing import Any, NoReturn

from hudi_adapter.limits import MESSAGE_DEPTH

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_DIGITS = 20


class JsonError(ValueError):
    """A text that is not JSON, or more than the protocol takes."""


def parse_json(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        JsonError: it does not parse, is nested too deeply, names a key twice, holds half of a surrogate pair or a
            number that is not finite or wider than 64 bits.

    """
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_no_number
        )
        if text.count("[") + text.count("{") > MESSAGE_DEPTH:
            _check_depth(value)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except JsonError:
        raise
    except UnicodeEncodeError as error:
        raise JsonError("half of a surrogate pair is no text") from error
    except RecursionError as error:
        raise JsonError(f"nested deeper than {MESSAGE_DEPTH}") from error
    except ValueError as error:
        raise JsonError(str(error)) from error
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise JsonError(f"key {twice!r:.80} stands in an object twice")
    return found


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > _DIGITS:
        raise JsonError(f"{text:.30}... is wider than 64 bits")
    return int(text)


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError(f"{text:.30} is not finite")
    return number


def _no_number(text: str) -> NoReturn:
    raise JsonError(f"{text} is no JSON number")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MESSAGE_DEPTH + 1):
        level = [inner for outer in level for inner in _parts(outer)]
        if not level:
            return
    raise JsonError(f"nested deeper than {MESSAGE_DEPTH}")


def _parts(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
