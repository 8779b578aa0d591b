"""The change log that a rewritten base file has beside it: what became of each key, in one of three modes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from hudi_adapter.reasons import Reason
from hudi_format.avro.columnar import encode_framed_rows
from hudi_format.avro.schemas import schema_text
from hudi_format.log.blocks import BlockType, HeaderKey, block_parts
from hudi_format.log.changes import COLUMNS, LoggingMode, change_schema
from hudi_format.log.columnar import avro_content, parts_within
from hudi_format.names import LogFileName
from hudi_format.schemas import arrow_schema, without_meta_fields

from hudi_spark.arrays import one_chunk
from hudi_spark.effects.helper import joined
from hudi_spark.errors import HudiError
from hudi_spark.files.places import Place
from hudi_spark.flows.flow import TaskIdentity
from hudi_spark.options.resolving import Options
from hudi_spark.state.configuration import PROPERTIES_FILE, TableConfiguration, flag

_ENABLED: Final = "hoodie.table.cdc.enabled"
_MODE: Final = "hoodie.table.cdc.supplemental.logging.mode"
_DEFAULT_MODE: Final = LoggingMode.DATA_BEFORE_AFTER


@dataclass(frozen=True, slots=True)
class ChangeForm:
    """How the change logs of a write look; `avro` is the schema of a change in the mode. Sizes are in bytes.

    Clauses: CD-008, CD-009.
    """

    mode: LoggingMode
    avro: Mapping[str, Any] = field(hash=False)
    block_bytes: int = 256 * 1024 * 1024
    file_bytes: int = 1024 * 1024 * 1024


def change_form(configuration: TableConfiguration, avro: Mapping[str, Any], options: Options) -> ChangeForm | None:
    """The form that a table asks for, None where it logs no changes; `avro` is the table's schema.

    Raises:
        HudiError: PROPERTIES_INVALID for an unknown mode.

    Clauses: CD-008, CD-009.

    """
    if not flag(configuration.properties, _ENABLED, default=False):
        return None
    mode = _mode(configuration.properties.get(_MODE, "").strip().upper() or _DEFAULT_MODE)
    return ChangeForm(
        mode,
        _without_namespace_inside(change_schema(mode, without_meta_fields(avro))),
        options.number("hoodie.logfile.data.block.max.size"),
        options.number("hoodie.logfile.max.size"),
    )


def _without_namespace_inside(change: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a change, in which the image has no namespace of its own, since it is that of the change."""
    fields = []
    for one in change["fields"]:
        branches = [
            {key: value for key, value in branch.items() if key != "namespace"} if isinstance(branch, dict) else branch
            for branch in one["type"]
        ]
        fields.append({**one, "type": branches})
    return {**change, "fields": fields}


def write_changes(  # noqa: PLR0917 - where the log stands, what is in it, who writes it
    place: Place, changes: pa.Table, partition: str, file_id: str, form: ChangeForm, identity: TaskIdentity
) -> dict[str, int]:
    """Changes as a log beside the group's base file, or as several where they are many: the size of each, by path.

    `changes`, one for each key: `op` (`i`, `u` or `d`), `record_key`, and the images `before` and `after`, structs of
    the table's columns that are null where there is no such row. What the mode leaves out need not be there.

    Raises:
        HudiError: WRITE_CONFLICT when a file is there already.

    Clauses: CD-008, CD-009, SL-005, MK-001, TL-020.

    """
    sizes: dict[str, int] = {}
    name = LogFileName(file_id, place.requested, 1, identity.write_token, cdc=True)
    for parts in _files(list(_blocks(changes, form, place.requested)), form.file_bytes):
        data = b"".join(parts)
        # A new file in every version of the table: whoever undoes the write has to delete it, not to append to it.
        place.announce(partition, str(name), "CREATE")
        place.effects.put_log_file(place.requested, partition, str(name), data)
        sizes[joined(partition, str(name))] = len(data)
        name = replace(name, version=name.version + 1)
    return sizes


def _blocks(changes: pa.Table, form: ChangeForm, instant: str) -> Iterator[list[Any]]:
    """Clauses: CD-009, LF-001."""
    framed = encode_framed_rows(_logged(changes, form, instant), form.avro)
    header = {HeaderKey.INSTANT_TIME: instant, HeaderKey.SCHEMA: schema_text(form.avro)}
    for start, count in parts_within(framed, form.block_bytes):
        yield block_parts(BlockType.CDC_DATA, header, avro_content(framed.slice(start, count)))


def _files(blocks: Sequence[list[Any]], most_bytes: int) -> Iterator[list[Any]]:
    """The parts of each file's blocks."""
    held: list[Any] = []
    for block in blocks:
        held += block
        if sum(memoryview(part).nbytes for part in held) > most_bytes:
            yield held
            held = []
    if held:
        yield held


def _logged(changes: pa.Table, form: ChangeForm, instant: str) -> pa.Table:
    """The columns of the mode."""
    schema = arrow_schema(form.avro)
    columns = []
    for name in COLUMNS[form.mode]:
        if name == "ts_ms":
            columns.append(pa.repeat(pa.scalar(instant), changes.num_rows))
        elif name in {"before", "after"}:
            columns.append(_image(one_chunk(changes.column(name)), schema.field(name).type))
        else:
            columns.append(changes.column(name))
    return pa.Table.from_arrays(columns, names=list(COLUMNS[form.mode]))


def _image(rows: pa.StructArray, kind: pa.StructType) -> pa.StructArray:
    """The columns of an image, found by name; null rows stay null."""
    fields = list(kind)
    children = [pc.struct_field(rows, one.name).cast(one.type) for one in fields]
    # A null row has null columns, also those that may not be null in a row.
    nullable = [one.with_nullable(True) for one in fields]
    return pa.StructArray.from_arrays(children, fields=nullable, mask=pc.is_null(rows))


def _mode(text: str) -> LoggingMode:
    if text not in set(LoggingMode):
        message = f"{_MODE} {text!r} is none of {', '.join(LoggingMode)}"
        raise HudiError(Reason.PROPERTIES_INVALID, "CD-008", message, PROPERTIES_FILE, hint="restore the table's mode")
    return LoggingMode(text)
