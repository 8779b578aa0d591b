"""Frozen dataclasses from and to the records that Avro and JSON readers give, by the types of their fields."""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache, partial
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Value = TypeVar("Value")

# The key of a dataclass field's metadata that holds the name in the file, where it is not the camel case of the field.
NAME = "name_in_file"


def from_record(kind: type[Value], record: Any) -> Value:
    """A dataclass of a record; absent or null values take the field's default, unknown names are left out.

    Raises:
        ValueError: a value of another type than the field's, or none where the field has no default.

    """
    if not isinstance(record, Mapping):
        raise ValueError(f"{kind.__name__} is {type(record).__name__}, not a record")  # noqa: TRY004 - one error family
    get, arguments = record.get, {}
    for name, name_in_file, decode, required, plain in _layout(kind):
        value = get(name_in_file)
        if value is not None:
            arguments[name] = value if type(value) is plain else decode(value)
        elif required:
            raise ValueError(f"{kind.__name__} has no {name_in_file}")
    return kind(**arguments)


def to_record(value: Any) -> Any:
    """The record of a dataclass, with every field."""
    if is_dataclass(value):
        return {name_in_file: to_record(getattr(value, name)) for name, name_in_file, *_ in _layout(type(value))}
    if isinstance(value, Mapping):
        return {key: to_record(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_record(item) for item in value]
    return value


_Decode = Callable[[Any], Any]
_Layout = tuple[tuple[str, str, _Decode, bool, type | None], ...]


def _layout(kind: Any) -> _Layout:
    """Of each field: name, name in the file, what reads its value, whether a value is required, and its plain type."""
    return _read_layout(kind)


@cache
def _read_layout(kind: Any) -> _Layout:
    hints, found = get_type_hints(kind), []
    for one in fields(kind):
        name = _name_in_file(one)
        decode = _decoder(hints[one.name], f"{kind.__name__}.{name}")
        # A call for every value is what large commits cost most.
        plain = decode.args[0] if isinstance(decode, partial) and decode.func is _expect else None
        found.append((one.name, name, decode, _is_required(one), plain))
    return tuple(found)


def _name_in_file(field: Field[Any]) -> str:
    if NAME in field.metadata:
        return str(field.metadata[NAME])
    first, *rest = field.name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _decoder(hint: Any, where: str) -> _Decode:
    """What reads a value of a type. It is made once: large commits have a hundred thousand values of a few types."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (branch for branch in arguments if branch is not types.NoneType)
        return _decoder(inner, where)
    if origin is tuple:
        item = _decoder(arguments[0], where)
        return lambda value: tuple(map(item, _expect(list, where, value)))
    if origin is not None:
        key, item = partial(_expect, str, where), _decoder(arguments[1], where)
        return lambda value: {key(name): item(one) for name, one in _expect(dict, where, value).items()}
    if is_dataclass(hint):
        return partial(from_record, hint)  # type: ignore[arg-type]
    return partial(_expect, hint, where)


def _expect(kind: type, where: str, value: Any) -> Any:
    if type(value) is kind:
        return value
    if kind is float and type(value) is int:
        return float(value)
    raise ValueError(f"{where} is {type(value).__name__}, not {kind.__name__}")
