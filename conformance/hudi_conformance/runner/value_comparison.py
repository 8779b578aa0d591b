"""JSON values of ops compared: what order counts, which fields are free text, what more an adapter may say."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hudi_adapter.logical_types import LogicalTypeError, family, parse_type

_MISSING = object()


def compare_values(
    op: str, expected: Any, actual: Any, normalize: Callable[[Any], Any] | None = None
) -> tuple[str, ...]:
    """Every difference in words; empty when both say the same.

    An object may hold more than the expected one (the protocol may gain fields), never less. `tell` puts the actual
    answer in the words of the expected one; what counts of its order is looked at before.
    """
    compare = _COMPARISONS.get(op)
    normalized = normalize(actual) if normalize else actual
    disorder = _disorder(actual) if op == "list_timeline" else ()
    return *disorder, *(compare(expected, normalized) if compare else _differences("value", expected, normalized))


def _disorder(timeline: Any) -> tuple[str, ...]:
    """Ordered by requested time; which of two actions of one instant comes first is free."""
    entries = timeline if isinstance(timeline, list) else []
    requested = [str(entry.get("requested")) for entry in entries if isinstance(entry, dict)]
    return () if requested == sorted(requested) else ("value: not ordered by requested time",)


def _timeline(expected: Any, actual: Any) -> Iterable[str]:
    if not isinstance(actual, list):
        return [f"value: expected a list, is {_json(actual)}"]
    return _bag_differences("instant", _projected(expected), _projected(actual, expected))


def _slices(expected: Any, actual: Any) -> Iterable[str]:
    """Slices in any order, the log files of each in merge order."""
    if not isinstance(actual, list):
        return [f"value: expected a list, is {_json(actual)}"]
    wanted = {(entry["partition"], entry["file_id"]): entry for entry in expected}
    found = {_slice_key(entry): entry for entry in actual}
    repeated = len(actual) - len(found)
    return [
        *([f"value: {repeated} file group(s) stand twice"] if repeated else []),
        *(f"missing slice {_json(wanted[key])}" for key in sorted(wanted.keys() - found.keys())),
        *(f"extra slice {_json(found[key])}" for key in sorted(found.keys() - wanted.keys(), key=repr)),
        *(
            text
            for key in sorted(wanted.keys() & found.keys())
            for text in _differences(f"slice {'/'.join(key).lstrip('/')}", wanted[key], found[key])
        ),
    ]


def _slice_key(entry: Any) -> tuple[Any, Any]:
    return (entry.get("partition"), entry.get("file_id")) if isinstance(entry, dict) else ("", _json(entry))


def _info(expected: Any, actual: Any) -> Iterable[str]:
    """The expected entries; the schema's columns in any order, compared by family of logical types."""
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        return _differences("value", expected, actual)
    plain = {name: value for name, value in expected.items() if name != "schema"}
    return [*_differences("value", plain, actual), *_schema_differences(expected, actual)]


def _schema_differences(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> Iterable[str]:
    if "schema" not in expected:
        return []
    wanted, found = _column_families(expected["schema"]), _column_families(actual.get("schema"))
    return _differences("value.schema", wanted, found, exact=True)


def _column_families(schema: Any) -> Any:
    try:
        return {column["name"]: family(parse_type(column["type"])) for column in schema}
    except (TypeError, KeyError, LogicalTypeError):
        return schema


def _violations(expected: Any, actual: Any) -> Iterable[str]:
    """Which clauses are broken and how badly; `where` and `message` are for people."""
    if not isinstance(actual, list):
        return [f"value: expected a list, is {_json(actual)}"]
    wanted, found = _broken(expected), _broken(actual)
    return [
        *(f"missing violation {clause} ({severity})" for clause, severity in sorted(wanted - found)),
        *(f"extra violation {clause} ({severity})" for clause, severity in sorted(found - wanted)),
    ]


def _broken(violations: Iterable[Any]) -> set[tuple[str, str]]:
    entries = (entry for entry in violations if isinstance(entry, dict))
    return {(str(entry.get("clause")), str(entry.get("severity"))) for entry in entries}


def _projected(entries: Any, like: Any = None) -> list[Any]:
    """Entries as text to compare, without the fields that the expected ones do not have."""
    names = {name for entry in like or entries if isinstance(entry, dict) for name in entry}
    return [
        {name: value for name, value in entry.items() if name in names} if isinstance(entry, dict) else entry
        for entry in entries
    ]


def _bag_differences(word: str, expected: Iterable[Any], actual: Iterable[Any]) -> Iterable[str]:
    left_over = [_json(entry) for entry in actual]
    for entry in map(_json, expected):
        if entry in left_over:
            left_over.remove(entry)
        else:
            yield f"missing {word} {entry}"
    yield from (f"extra {word} {entry}" for entry in left_over)


def _differences(path: str, expected: Any, actual: Any, *, exact: bool = False) -> Iterable[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        for name in sorted(expected):
            yield from _differences(f"{path}.{name}", expected[name], actual.get(name, _MISSING), exact=exact)
        if exact:
            yield from (f"{path}.{name}: not expected" for name in sorted(actual.keys() - expected.keys()))
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for index, (wanted, found) in enumerate(zip(expected, actual, strict=True)):
            yield from _differences(f"{path}[{index}]", wanted, found, exact=exact)
    elif type(expected) is not type(actual) or expected != actual:
        yield f"{path}: expected {_json(expected)}, is {_json(actual)}"


def _json(value: Any) -> str:
    if value is _MISSING:
        return "absent"
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


_COMPARISONS: Mapping[str, Callable[[Any, Any], Iterable[str]]] = {
    "list_timeline": _timeline,
    "list_file_slices": _slices,
    "table_info": _info,
    "check_table": _violations,
}
