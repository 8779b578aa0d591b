"""Tables with what no writer makes: files of whole frames and strange values, pages and footers with other bytes."""

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hudi_conformance.runner.archive import unpacked_corpus
from hudi_format.avro.files import read_container, write_container
from hudi_format.errors import FormatError

GOLDEN = unpacked_corpus()
TABLES = (
    "v6/apache_cow_upserts",
    "v6/apache_mor_event_time",
    "v8/mor_event_time_late_data",
    "v9/apache_mor_event_time",
    "v9/apache_mor_log_compaction",
    "v9/bad_index_group_missing",
    "v9/cow_changes_cleaned",
    "v9/cow_upserts",
    "v9/mor_archived",
)
ODD_TEXTS = (
    *("", "x", "subprocess:Popen", "-1", "9" * 40, "\\u0000", "null", "../..", "[]", "{}", "true", "a,,a", ","),
    *("s3://b/c", "memory://b/c", "file://x/y", "a:SIMPLE", "1e400", "COPY_ON_WRITE"),
)
ODD_KEYS = (
    *("hoodie.bootstrap.base.path", "hoodie.table.version", "hoodie.table.type", "hoodie.timeline.layout.version"),
    *("hoodie.timeline.path", "hoodie.timeline.history.path", "hoodie.archivelog.folder", "hoodie.table.name"),
    *("hoodie.table.metadata.partitions", "hoodie.table.index.defs.path", "hoodie.record.merge.mode"),
    *("hoodie.record.merge.strategy.id", "hoodie.compaction.payload.class", "hoodie.table.partial.update.mode"),
    *("hoodie.table.recordkey.fields", "hoodie.table.partition.fields", "hoodie.table.ordering.fields"),
    *("hoodie.table.keygenerator.class", "hoodie.table.base.file.format", "hoodie.table.create.schema"),
    *(
        "hoodie.populate.meta.fields",
        "hoodie.datasource.write.drop.partition.columns",
        "hoodie.table.timeline.timezone",
    ),
)
_ODD_VALUES: tuple[Any, ...] = (None, 0, -1, 1.5, "", "x", "../x", "é", True, [], [[]], {}, {"a": 1}, 2**70)
_METADATA = (
    "commit",
    "deltacommit",
    "replacecommit",
    "requested",
    "clean",
    "rollback",
    "savepoint",
    "inflight",
    "json",
)
_DATA = (".parquet", ".hfile", ".cdc")


def copied(table: str, folder: Path) -> Path:
    """A copy that may be damaged."""
    return Path(shutil.copytree(GOLDEN / table / "table", folder / "table"))


def with_property(copy: Path, key: str, value: str) -> None:
    """The table's properties with another value; a checksum would tell."""
    file = copy / ".hoodie" / "hoodie.properties"
    kept = [line for line in file.read_text().splitlines() if not line.startswith((f"{key}=", "hoodie.table.checksum"))]
    file.write_text("\n".join([*kept, f"{key}={value}", ""]))


def with_odd_metadata(source: random.Random, copy: Path) -> str:
    """A file of a timeline, or beside it, in which one value is another one, is lacking, or is there twice."""
    files = [one for one in sorted(copy.rglob("*")) if ".hoodie" in one.parts and one.suffix.lstrip(".") in _METADATA]
    source.shuffle(files)
    for file in files:
        changed = _changed(source, file.read_bytes())
        if changed is not None:
            file.write_bytes(changed)
            return str(file.relative_to(copy))
    return "nothing"


def _changed(source: random.Random, data: bytes) -> bytes | None:
    try:
        if data.startswith(b"Obj"):
            schema, records = read_container(data, "f")
            return write_container(schema, [_odd(source, records[0])])
        return json.dumps(_odd(source, json.loads(data))).encode()
    except (ValueError, FormatError, IndexError, TypeError, AttributeError, KeyError, OverflowError):
        # Empty, or a value that the container's schema does not take: another file is tried.
        return None


def _odd(source: random.Random, value: Any) -> Any:
    """The value with one change; texts that hold JSON, as a schema, are changed inside every second time."""
    place = source.choice([one for one in _places(value, ()) if one])
    outer = value
    for step in place[:-1]:
        outer = outer[step]
    last, inner = place[-1], outer[place[-1]]
    if isinstance(inner, str) and inner.startswith("{") and source.random() < 0.8:
        outer[last] = json.dumps(_odd(source, json.loads(inner)))
    elif isinstance(outer, list) and source.random() < 0.5:
        outer.append(inner)
    elif source.random() < 0.3:
        del outer[last]
    else:
        outer[last] = source.choice(_ODD_VALUES)
    return value


def _places(value: Any, at: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, one in inner:
        yield from _places(one, (*at, step))


def with_odd_bytes(source: random.Random, copy: Path) -> str:
    """A data file with other bytes: in its head, where pages begin, in its tail, where the footer is, or anywhere."""
    files = [one for one in sorted(copy.rglob("*")) if one.suffix in _DATA or ".log." in one.name]
    file = source.choice(files)
    data = bytearray(file.read_bytes())
    for _ in range(source.choice((1, 8, 40)) if data else 0):
        edge = min(len(data), source.choice((60, 400, 3000)))
        place = source.choice(
            (source.randrange(edge), len(data) - 1 - source.randrange(edge), source.randrange(len(data)))
        )
        data[place] = source.choice((0, 255, source.randrange(256), data[place] ^ 1))
    file.write_bytes(data)
    return str(file.relative_to(copy))
