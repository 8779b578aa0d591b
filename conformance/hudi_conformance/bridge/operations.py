"""The protocol's reading ops, asked of the model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hudi_adapter.rows import Rows, rows_of_mappings
from hudi_model import incremental, pruning, queries
from hudi_model import tables as readings_of_model
from hudi_model.origins import with_all_columns
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.tables import Readings, Table
from hudi_model.time import InstantTime
from hudi_model_tools import violations

RELEASED = readings_of_model.RELEASED
SKIPPING = ("hoodie.metadata.enable", "hoodie.enable.data.skipping")
"""The settings of a reader that uses the metadata table and its indexes."""
END_SCHEMA = "hoodie.datasource.read.schema.use.end.instanttime"
"""The setting of an incremental query that has the columns as of its end."""
READINGS = {"released": RELEASED, "text": readings_of_model.TEXT}


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """Rows, or a JSON value, and what was skipped on the way."""

    content: Any
    warnings: tuple[queries.Warning, ...] = ()

    @property
    def has_rows(self) -> bool:
        """Whether the op answers rows."""
        return isinstance(self.content, Rows)


def evaluate(table: Table, op: str, params: Mapping[str, Any], readings: Readings = RELEASED) -> ModelAnswer:
    """The model's answer to one question of the protocol.

    Raises:
        Rejection: the table or the question breaks a rule.
        Unsupported: the model does not hold the op or the feature yet.

    """
    if op not in OPERATIONS:
        raise Unsupported(op)
    return OPERATIONS[op](with_all_columns(table), params, readings)


def _snapshot(table: Table, params: Mapping[str, Any], readings: Readings) -> ModelAnswer:
    """The rows of a snapshot; with a filter, where the question allows it, those of slices that indexes leave over."""
    selection = _selection(params)
    if skips_data(params) and table.metadata and selection.filter is not None:
        return _rows(pruning.read_pruned(table, selection.filter, readings, selection))
    return _rows(queries.read_snapshot(table, readings, selection))


def skips_data(params: Mapping[str, Any]) -> bool:
    """Whether a question asks its reader to skip what indexes rule out."""
    configs = params.get("configs") or {}
    return all(str(configs.get(key)).lower() == "true" for key in SKIPPING)


def _as_of(table: Table, params: Mapping[str, Any], readings: Readings) -> ModelAnswer:
    return _rows(queries.read_as_of(table, _time(params.get("instant")), readings, _selection(params)))


def _optimized(table: Table, params: Mapping[str, Any], readings: Readings) -> ModelAnswer:
    return _rows(queries.read_optimized(table, _instant(params), readings, _selection(params)))


def _unmerged(table: Table, params: Mapping[str, Any], readings: Readings) -> ModelAnswer:
    """Every row as it was written; no index is asked, since some know of merged rows alone."""
    as_of, selection = _instant(params), replace(_selection(params), unmerged=True)
    if as_of is None:
        return _rows(queries.read_snapshot(table, readings, selection))
    return _rows(queries.read_as_of(table, as_of, readings, selection))


def _incremental(table: Table, params: Mapping[str, Any], readings: Readings) -> ModelAnswer:
    at_end = str((params.get("configs") or {}).get(END_SCHEMA)).lower() == "true"
    answer = incremental.read_incremental(table, *_range(params), readings, _selection(params), columns_of_end=at_end)
    return _rows(answer)


def _changes(table: Table, params: Mapping[str, Any], readings: Readings) -> ModelAnswer:
    return _rows(incremental.read_changes(table, *_range(params), readings))


def _timeline(table: Table, params: Mapping[str, Any], _readings: Readings) -> ModelAnswer:
    return ModelAnswer(queries.list_timeline(table, include_history=bool(params.get("include_history", False))))


def _slices(table: Table, params: Mapping[str, Any], readings: Readings) -> ModelAnswer:
    return ModelAnswer(queries.list_file_slices(table, as_of=_instant(params), readings=readings))


def _info(table: Table, _params: Mapping[str, Any], _readings: Readings) -> ModelAnswer:
    return ModelAnswer(queries.table_info(table))


def _check(table: Table, _params: Mapping[str, Any], _readings: Readings) -> ModelAnswer:
    found = violations.violations(table)
    return ModelAnswer(
        [
            {"clause": one.clause, "severity": one.severity.value, "where": one.where, "message": one.message}
            for one in found
        ]
    )


OPERATIONS: Mapping[str, Callable[[Table, Mapping[str, Any], Readings], ModelAnswer]] = {
    "read_snapshot": _snapshot,
    "read_as_of": _as_of,
    "read_optimized": _optimized,
    "read_unmerged": _unmerged,
    "read_incremental": _incremental,
    "read_changes": _changes,
    "list_timeline": _timeline,
    "list_file_slices": _slices,
    "table_info": _info,
    "check_table": _check,
}


def _selection(params: Mapping[str, Any]) -> queries.Selection:
    columns = tuple(params["columns"]) if params.get("columns") is not None else None
    return queries.Selection(columns, params.get("filter"), bool(params.get("meta_columns", False)))


def _instant(params: Mapping[str, Any]) -> InstantTime | None:
    given = params.get("as_of")
    return None if given is None else _time(given)


def _range(params: Mapping[str, Any]) -> tuple[str, str | None]:
    """Begin and end of a range; the words for the earliest begin are the model's to know."""
    end = params.get("end")
    return str(_time(params.get("begin"))), None if end is None else str(_time(end))


def _time(given: Any) -> InstantTime:
    if not isinstance(given, str):
        raise Rejection(Reason.INSTANT_MALFORMED, "TM-001", "instant", f"{given!r:.80} is no instant")
    return InstantTime(given)


def _rows(answer: queries.Answer) -> ModelAnswer:
    schema = tuple((field.name, field.type) for field in answer.schema.fields)
    return ModelAnswer(rows_of_mappings(schema, answer.rows), answer.warnings)
