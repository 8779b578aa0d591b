"""The archived log of version 6: a log file whose data blocks hold the states of old actions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_format.avro.schemas import schema_text
from hudi_format.avro.values import from_record, to_record
from hudi_format.errors import FormatError, Reason, refusing
from hudi_format.log.blocks import BlockType, HeaderKey, RawBlock, encode_block, read_blocks
from hudi_format.log.content import decode_avro_records, encode_avro_records
from hudi_format.timeline import plans
from hudi_format.timeline.commit_metadata import CommitMetadata, commit_metadata_of_record, record_of_commit_metadata
from hudi_format.timeline.timeline_schemas import archived_entry

_CLAUSE = "TL-032"
_JAVA_STRINGS = {"avro.java.string": "String"}

Content = (
    CommitMetadata
    | plans.CleanMetadata
    | plans.CleanerPlan
    | plans.CompactionPlan
    | plans.IndexCommit
    | plans.RequestedReplace
    | plans.RollbackMetadata
    | plans.SavepointMetadata
)

_FIELDS: Mapping[str, Callable[[Any], Content]] = {
    "hoodieCommitMetadata": commit_metadata_of_record,
    "hoodieReplaceCommitMetadata": commit_metadata_of_record,
    "HoodieInflightReplaceMetadata": commit_metadata_of_record,
    "hoodieCleanMetadata": lambda record: from_record(plans.CleanMetadata, record),
    "hoodieCleanerPlan": lambda record: from_record(plans.CleanerPlan, record),
    "hoodieCompactionPlan": lambda record: from_record(plans.CompactionPlan, record),
    "hoodieIndexCommitMetadata": lambda record: from_record(plans.IndexCommit, record),
    "hoodieRequestedReplaceMetadata": lambda record: from_record(plans.RequestedReplace, record),
    "hoodieRollbackMetadata": lambda record: from_record(plans.RollbackMetadata, record),
    "hoodieSavePointMetadata": lambda record: from_record(plans.SavepointMetadata, record),
}


@dataclass(frozen=True, slots=True)
class ArchivedState:
    """One state of one action. `state_time` is when its file was written, where that is known.

    Clauses: TL-032.
    """

    instant: str
    action: str
    state: str
    state_time: str | None
    content: Content | None


def is_archived_log(name: str) -> bool:
    """Whether a file of the archive folder holds actions.

    Clauses: TL-032.
    """
    return name.startswith(".commits_.archive.") and not name.endswith(".crc")


def read_archived_log(data: bytes, file: str) -> tuple[ArchivedState, ...]:
    """The states in an archived log, in their order; torn blocks are left out, as in any log.

    Raises:
        FormatError: TIMELINE_FILE_CORRUPT for an intact block whose records do not decode or are no actions.

    Clauses: TL-032.

    """
    states: list[ArchivedState] = []
    for block in read_blocks(data, file):
        if isinstance(block, RawBlock) and block.type is BlockType.AVRO_DATA:
            states += _states(block, file)
    return tuple(states)


def write_archived_log(states: Sequence[ArchivedState], *, java_strings: bool = False) -> bytes:
    """One block of an archived log; `java_strings`: its schema shows Java to read texts as strings.

    Without that Apache Hudi fails when it reads the log, with that it reads what it would have written.

    Clauses: TL-032.
    """
    schema = archived_entry()
    records = [_record(state) for state in states]
    declared = _with_java_strings(schema) if java_strings else schema
    return encode_block(
        BlockType.AVRO_DATA, {HeaderKey.SCHEMA: schema_text(declared)}, encode_avro_records(records, schema)
    )


def _with_java_strings(schema: Any) -> Any:
    """The schema with the property that generated classes of Java put at texts, and at the keys of maps."""
    if isinstance(schema, list):
        return [_with_java_strings(branch) for branch in schema]
    if schema == "string":
        return {"type": "string", **_JAVA_STRINGS}
    if not isinstance(schema, Mapping):
        return schema
    if "fields" in schema:
        fields = [{**one, "type": _with_java_strings(one["type"])} for one in schema["fields"]]
        return {**schema, "fields": fields}
    inner = {name: _with_java_strings(schema[name]) for name in ("items", "values") if name in schema}
    return {**schema, **inner, **(_JAVA_STRINGS if schema.get("type") == "map" else {})}


def archived_log_name(number: int) -> str:
    """The name of the n-th archived log, from 1.

    Clauses: TL-032.
    """
    return f".commits_.archive.{number}_1-0-1"


def _record(state: ArchivedState) -> dict[str, Any]:
    record: dict[str, Any] = {
        "commitTime": state.instant,
        "actionType": state.action,
        "actionState": state.state,
        "stateTransitionTime": state.state_time,
        "version": 1,
    }
    if isinstance(state.content, CommitMetadata):
        return {**record, _commit_field(state): record_of_commit_metadata(state.content)}
    typed = {name for kind, name in _NAMES.items() if isinstance(state.content, kind)}
    return {**record, **{name: to_record(state.content) for name in typed}}


def _commit_field(state: ArchivedState) -> str:
    if state.action != "replacecommit":
        return "hoodieCommitMetadata"
    return "HoodieInflightReplaceMetadata" if state.state == "INFLIGHT" else "hoodieReplaceCommitMetadata"


_NAMES: Mapping[type, str] = {
    plans.CleanMetadata: "hoodieCleanMetadata",
    plans.CleanerPlan: "hoodieCleanerPlan",
    plans.CompactionPlan: "hoodieCompactionPlan",
    plans.IndexCommit: "hoodieIndexCommitMetadata",
    plans.RequestedReplace: "hoodieRequestedReplaceMetadata",
    plans.RollbackMetadata: "hoodieRollbackMetadata",
    plans.SavepointMetadata: "hoodieSavePointMetadata",
}


def _states(block: RawBlock, file: str) -> Iterator[ArchivedState]:
    try:
        records = decode_avro_records(block, file)
    except FormatError as error:
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, _CLAUSE, file, block.offset, error.message) from error
    with refusing(Reason.TIMELINE_FILE_CORRUPT, _CLAUSE, file, block.offset, "a record is no archived action"):
        for record in records:
            yield _state(record)


def _state(record: Mapping[str, Any]) -> ArchivedState:
    instant, action, state = (record.get(name) for name in ("commitTime", "actionType", "actionState"))
    if not (isinstance(instant, str) and isinstance(action, str)):
        raise ValueError("an action has no instant or no type")  # noqa: TRY004 - one error family
    typed = [decode(record[name]) for name, decode in _FIELDS.items() if record.get(name) is not None]
    # Archives older than the state column hold completed actions only.
    return ArchivedState(
        instant, action, str(state or "COMPLETED"), record.get("stateTransitionTime"), typed[0] if typed else None
    )
