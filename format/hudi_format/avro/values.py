"""Frozen dataclasses from and to the records that Avro and JSON readers give, by the types of their fields."""

import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
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
    arguments = {}
    for name, name_in_file, hint, required in _layout(kind):
        value = record.get(name_in_file)
        if value is not None:
            arguments[name] = _decode(hint, value, f"{kind.__name__}.{name_in_file}")
        elif required:
            raise ValueError(f"{kind.__name__} has no {name_in_file}")
    return kind(**arguments)


def to_record(value: Any) -> Any:
    """The record of a dataclass, with every field."""
    if is_dataclass(value):
        return {name_in_file: to_record(getattr(value, name)) for name, name_in_file, _, _ in _layout(type(value))}
    if isinstance(value, Mapping):
        return {key: to_record(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_record(item) for item in value]
    return value


_Layout = tuple[tuple[str, str, Any, bool], ...]


def _layout(kind: Any) -> _Layout:
    """Of each field: name, name in the file, type, and whether a value is required."""
    return _read_layout(kind)


@cache
def _read_layout(kind: Any) -> _Layout:
    hints = get_type_hints(kind)
    return tuple((field.name, _name_in_file(field), hints[field.name], _is_required(field)) for field in fields(kind))


def _name_in_file(field: Field[Any]) -> str:
    if NAME in field.metadata:
        return str(field.metadata[NAME])
    first, *rest = field.name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _is_required(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _decode(hint: Any, value: Any, where: str) -> Any:
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        (inner,) = (branch for branch in get_args(hint) if branch is not types.NoneType)
        return _decode(inner, value, where)
    if origin is tuple:
        return tuple(_decode(get_args(hint)[0], item, where) for item in _expect(list, value, where))
    if origin is not None:
        inner = get_args(hint)[1]
        items = _expect(dict, value, where).items()
        return {_expect(str, key, where): _decode(inner, item, where) for key, item in items}
    if is_dataclass(hint):
        return from_record(hint, value)  # type: ignore[arg-type]
    return _expect(hint, value, where)


def _expect(kind: type, value: Any, where: str) -> Any:
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise ValueError(f"{where} is {type(value).__name__}, not {kind.__name__}")
    return value
