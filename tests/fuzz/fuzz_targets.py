"""Every parser of `hudi_format`, with real bytes to damage.

A parser is a public function whose name begins with one of `PREFIXES`; one that no target covers fails a test.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import Any

import hudi_format
import pyarrow as pa
from fuzz_inputs import LONGEST, Target, allowed, each_block, fixed, golden, placed, real, text
from fuzz_table_targets import TABLE_TARGETS
from hudi_format import names
from hudi_format.avro import files as containers
from hudi_format.avro import flat_reading
from hudi_format.avro import schemas as avro_schemas
from hudi_format.base import bloom_filters, orc, parquet_bytes, stored_file
from hudi_format.base import files as base_files
from hudi_format.hfile import blocks as hfile_blocks
from hudi_format.hfile import reader, trailer
from hudi_format.hfile.writer import write_hfile
from hudi_format.log import blocks, changes, content, deletes, hfiles, native
from hudi_format.schemas import arrow_schema
from hudi_format.table import internal_schema, properties, table_properties
from hudi_format.timeline import archived_log, commit_metadata, history, plans
from pyarrow import orc as arrow_orc

PREFIXES = ("parse_", "read_", "decode_", "open_")
# They open a place, not bytes.
NO_PARSERS = ("storage.opening.open_storage",)


def log_file(data: bytes) -> None:
    """Every way to decode every block: each answers or refuses, whatever the others do."""
    decoders = (
        content.decode_records,
        content.decode_arrow,
        content.decode_command,
        deletes.decode_deletes,
        changes.decode_changes,
    )
    found = list(each_block(data))
    for block in found:
        for decode in decoders:
            allowed(decode, block, "f")
    allowed(content.decode_arrows, found, ["f"] * len(found))


def block_contents(kind: blocks.BlockType) -> tuple[bytes, ...]:
    """Content of blocks of a type, each behind the header of its own block."""
    logs = (*golden("**/.*.log.*"), *golden("**/.*.cdc"), *(path for path in _own_blocks()))
    found = [one for data in logs for one in each_block(data) if one.type is kind and len(one.content) <= LONGEST]
    return tuple(one.content for one in found[:6])


def content_of(kind: blocks.BlockType) -> Callable[[bytes], None]:
    """Damaged content in an intact frame, where the frame's checks do not help."""

    def run(data: bytes) -> None:
        logs = (*golden("**/.*.log.*"), *golden("**/.*.cdc"), *_own_blocks())
        headers = [one.header for log in logs for one in each_block(log) if one.type is kind] or [{}]
        log_file(blocks.encode_block(kind, headers[0], data))

    return run


def native_log(data: bytes) -> None:
    """A log that is a whole Parquet file, as rows, as deletes and as changes."""
    for name in map(names.parse_native_log_name, NATIVE_NAMES):
        assert name is not None
        block = native.read_native_log(data, name, "f")
        allowed(native.native_rows, block, "f")
        allowed(native.native_deletes, block, ("n",), "f")
        allowed(native.native_changes, block, "f")


def _native_logs() -> tuple[bytes, ...]:
    header = {blocks.HeaderKey.INSTANT_TIME: "20250101000000000", blocks.HeaderKey.SCHEMA: '{"type":"record"}'}
    rows = pa.table({native.RECORD_KEY: ["a", "b"], "n": [1, None]})
    return (native.write_native_log(rows, header), native.write_native_log(rows.slice(0, 0), header))


@cache
def _own_blocks() -> tuple[bytes, ...]:
    """Blocks of types that the golden tables are short of."""
    schema = {
        "type": "record",
        "name": "r",
        "fields": [{"name": "id", "type": ["null", "string"]}, {"name": "n", "type": ["null", "long"]}],
    }
    records = [{"id": f"k{n}", "n": n} for n in range(20)]
    parquet = base_files.write_base_file(pa.table({"_hoodie_record_key": ["a", "b"], "n": [1, None]}), schema)
    header = {blocks.HeaderKey.INSTANT_TIME: "20250101000000000"}
    many = [{"id": f"k{n}", "n": None if n % 7 else n} for n in range(300)]
    return (
        content.data_block("20250101000000000", many, schema),
        hfiles.hfile_block("20250101000000000", records, schema, key_field="id"),
        blocks.encode_block(blocks.BlockType.PARQUET_DATA, header, parquet),
        changes.change_block("20250101000000000", [], changes.LoggingMode.OP_KEY_ONLY, schema),
    )


def hfile(data: bytes) -> None:
    """All that a reader of an HFile does: entries in order, a look-up, the bloom filter."""
    opened = reader.open_hfile(data, hfile_blocks.Origin("f"))
    allowed(lambda: list(opened.entries()))
    allowed(opened.lookup, b"k05")
    opened.meta_block("bloom")


@cache
def _hfiles() -> tuple[bytes, ...]:
    entries = [(f"k{n:02}".encode(), bytes([n]) * 40) for n in range(40)]
    gzip, plain = hfile_blocks.Codec.GZIP, hfile_blocks.Codec.NONE
    own = (
        write_hfile(entries, {"a": b"b"}, {"bloom": b"x" * 99}, codec=gzip, block_bytes=200),
        write_hfile(entries, codec=plain, checksum=hfile_blocks.Checksum.CRC32C, block_bytes=200),
        write_hfile([]),
    )
    return (*own, *golden("**/*.hfile"), *block_contents(blocks.BlockType.HFILE_DATA))


def base_file(data: bytes) -> None:
    """A Parquet file by name: its footer, all rows, some rows."""
    storage = placed("a.parquet", data)
    base_files.base_file_footer(storage, "a.parquet")
    base_files.read_base_file(storage, "a.parquet")
    base_files.open_base_parquet(storage, "a.parquet")


def orc_file(data: bytes) -> None:
    storage = placed("a.orc", data)
    base_files.base_file_footer(storage, "a.orc")
    base_files.read_base_file(storage, "a.orc")


@cache
def _orc() -> tuple[bytes, ...]:
    sink = pa.BufferOutputStream()
    arrow_orc.write_table(pa.table({"a": ["x", None, "ü"], "n": [1, 2, None], "l": [[1], [], None]}), sink)
    return (sink.getvalue().to_pybytes(),)


def stored_hfile(data: bytes) -> None:
    storage = placed("a.hfile", data)
    opened = reader.open_stored_hfile(storage, "a.hfile")
    list(opened.entries())


def history_file(data: bytes) -> None:
    storage = placed("a.parquet", data)
    try:
        history.latest_completion(storage, "a.parquet")
    finally:
        history.read_history_file(data, "f")


def bloom_text(data: bytes) -> None:
    for code in ("SIMPLE", "DYNAMIC_V0", text(data[:8])):
        allowed(bloom_filters.decode_bloom_filter, text(data), code, "f")


@cache
def _blooms() -> tuple[bytes, ...]:
    own = bloom_filters.encode_bloom_filter(bloom_filters.build_bloom_filter(["a", "b"], 4))
    keys = (parquet_bytes.open_parquet(data, "f", None, "x", "y").metadata.metadata or {} for data in golden(BASE))
    return (own.encode(), *(found[b"org.apache.hudi.bloomfilter"][:LONGEST] for found in keys if BLOOM in found))


BASE = "**/*-*.parquet"
BLOOM = b"org.apache.hudi.bloomfilter"
PLANS = tuple(form for form in vars(plans).values() if isinstance(form, plans.PlanForm))


def every_plan(data: bytes) -> None:
    for form in PLANS:
        allowed(form.parse, data, "f")


def avro_schema(data: bytes) -> None:
    """The schema, then all that is made of one."""
    schema = avro_schemas.parse_avro_schema(data, "f")
    allowed(avro_schemas.record_schema, data, "f")
    allowed(arrow_schema, schema, "f")


SCHEMA_TEXTS = (
    '{"type":"record","name":"r","fields":[{"name":"a","type":["null",{"type":"array","items":"long"}]}]}',
    '{"type":"record","name":"r","fields":[{"name":"d","type":{"type":"bytes","logicalType":"decimal","precision":9}}]}',
    '{"type":"record","name":"r","fields":[{"name":"m","type":{"type":"map","values":"long"}},'  # noqa: ISC004
    '{"name":"e","type":{"type":"enum","name":"e","symbols":["A"]}},{"name":"f","type":{"type":"fixed","name":"x","size":8}}]}',
)
INTERNAL_SCHEMAS = (
    '{"schemas":[{"max_column_id":3,"version_id":20250101000000000,"type":"record","fields":[{"id":0,"name":"a",'
    '"optional":true,"type":"string","doc":""},{"id":1,"name":"m","optional":true,"type":{"type":"map","key_id":2,'
    '"value_id":3,"key":"string","value":"decimal(10, 2)","value_optional":true}}]}]}'
)
DATA_NAMES = (
    "0f2e-0_0-1-0_20250101000000000.parquet",
    ".0f2e-0_20250101000000000.log.1_0-1-0",
    ".0f2e-0_20250101000000000.log.1_0-1-0.cdc",
    "00000001-0f2e-0_1-2-3_20250101000000000.orc",
)
NATIVE_NAMES = tuple(f"0f2e-0_0-1-0_20250101000000000_1.{kind}.parquet" for kind in ("log", "deletes", "cdc"))
TIMELINE_NAMES = (
    "20250101000000000_20250101000000001.deltacommit",
    "20250101000000000.commit.requested",
    "20250101000000000.schemacommit",
)


def timeline_names(data: bytes) -> None:
    for layout in (1, 2):
        allowed(names.parse_timeline_file_name, text(data), layout)
        allowed(names.parse_schema_commit_name, text(data), layout)


TARGETS: tuple[Target, ...] = (
    Target(
        "properties",
        lambda data: properties.check_checksum(properties.parse_properties(data, "f"), "f"),
        real(".hoodie/hoodie.properties", "**/.hoodie_partition_metadata"),
        (properties.parse_properties,),
    ),
    Target(
        "checked properties",
        lambda data: table_properties.parse_checked_properties(data, "f"),
        real(".hoodie/hoodie.properties"),
        (table_properties.parse_checked_properties,),
    ),
    Target(
        "commits",
        lambda data: commit_metadata.parse_commit_metadata(data, "f"),
        real(".hoodie/**/*.deltacommit", ".hoodie/**/*.commit", ".hoodie/**/*.replacecommit"),
        (commit_metadata.parse_commit_metadata,),
    ),
    Target(
        "plans",
        every_plan,
        real(".hoodie/**/*.requested", ".hoodie/**/*.clean", ".hoodie/**/*.rollback", ".hoodie/**/*.savepoint"),
        tuple(vars(plans)[name] for name in vars(plans) if name.startswith("parse_") and callable(vars(plans)[name])),
    ),
    Target(
        "containers",
        lambda data: containers.read_container(data, "f"),
        real(".hoodie/**/*.deltacommit", ".hoodie/**/*.compaction.requested"),
        (containers.read_container,),
    ),
    Target(
        "history",
        history_file,
        real(".hoodie/timeline/history/*.parquet"),
        (history.read_history_file, history.latest_completion),
    ),
    Target(
        "manifests",
        lambda data: history.parse_manifest(data, "f"),
        real(".hoodie/timeline/history/manifest_*"),
        (history.parse_manifest,),
    ),
    Target("versions", lambda data: history.parse_version(data, "f"), fixed("7", "123"), (history.parse_version,)),
    Target(
        "archived logs",
        lambda data: archived_log.read_archived_log(data, "f"),
        real(".hoodie/archived/.commits_.archive*"),
        (archived_log.read_archived_log,),
    ),
    Target(
        "logs",
        log_file,
        lambda: (*golden("**/.*.log.*"), *golden("**/.*.cdc"), *_own_blocks()),
        (
            blocks.read_blocks,
            content.decode_records,
            content.decode_avro_records,
            content.decode_avro_arrow,
            content.decode_arrow,
            content.decode_arrows,
            content.decode_parquet_block,
            content.decode_command,
            deletes.decode_deletes,
            changes.decode_changes,
            hfiles.decode_hfile_records,
            flat_reading.decode_flat_rows,
        ),
    ),
    *(
        Target(
            f"{kind.name} blocks",
            content_of(kind),
            lambda kind=kind: block_contents(kind) or (b"\0\0\0\3\0\0\0\0",),
            (),
        )
        for kind in blocks.BlockType
    ),
    Target("HFiles", hfile, _hfiles, (reader.open_hfile, reader.open_hfile_source, hfile_blocks.read_block)),
    Target("stored HFiles", stored_hfile, _hfiles, (reader.open_stored_hfile, trailer.parse_trailer)),
    Target(
        "HFile information",
        lambda data: trailer.parse_file_info(data, 0, hfile_blocks.Origin("f")),
        fixed(trailer.encode_file_info({"a": b"b", "c": b""})),
        (trailer.parse_file_info,),
    ),
    Target(
        "base files",
        base_file,
        lambda: golden(BASE),
        (
            base_files.read_base_file,
            base_files.read_chosen,
            base_files.open_base_parquet,
            stored_file.open_stored,
            parquet_bytes.open_parquet,
            parquet_bytes.read_parquet,
            parquet_bytes.read_rows,
        ),
    ),
    Target("ORC files", orc_file, _orc, (orc.open_orc, orc.read_orc_rows)),
    Target("bloom filters", bloom_text, _blooms, (bloom_filters.decode_bloom_filter,)),
    Target("Avro schemas", avro_schema, fixed(*SCHEMA_TEXTS), (avro_schemas.parse_avro_schema,)),
    Target(
        "schemas with ids",
        lambda data: internal_schema.parse_schema_history(data, "f"),
        fixed(INTERNAL_SCHEMAS),
        (internal_schema.parse_schema_history, internal_schema.parse_internal_schema),
    ),
    Target(
        "column types",
        lambda data: internal_schema.parse_column_type(text(data), "f"),
        fixed("decimal(10, 2)", "fixed[16]", "timestamp"),
        (internal_schema.parse_column_type,),
    ),
    Target(
        "names of data files",
        lambda data: names.parse_data_file_name(text(data)),
        fixed(*DATA_NAMES),
        (names.parse_data_file_name,),
    ),
    Target(
        "names of native logs",
        lambda data: names.parse_native_log_name(text(data)),
        fixed(*NATIVE_NAMES),
        (names.parse_native_log_name,),
    ),
    Target("native logs", native_log, _native_logs, (native.read_native_log,)),
    Target(
        "names of timeline files",
        timeline_names,
        fixed(*TIMELINE_NAMES),
        (names.parse_timeline_file_name, names.parse_schema_commit_name),
    ),
    Target(
        "names of markers",
        lambda data: names.parse_marker_name(text(data)),
        fixed("0f2e-0_0-1-0_20250101000000000.parquet.marker.CREATE"),
        (names.parse_marker_name,),
    ),
    Target(
        "names of history files",
        lambda data: (history.parse_history_name(text(data)), history.manifest_number(text(data))),
        fixed("20250101000000000_20250101000000001_0.parquet", "manifest_5"),
        (history.parse_history_name,),
    ),
    *TABLE_TARGETS,
)


def parsers() -> dict[str, Callable[..., Any]]:
    """Every parser of the package by module and name."""
    found: dict[str, Callable[..., Any]] = {}
    for module in pkgutil.walk_packages(hudi_format.__path__, "hudi_format."):
        members = vars(importlib.import_module(module.name))
        for name, function in members.items():
            if inspect.isfunction(function) and function.__module__ == module.name and name.startswith(PREFIXES):
                found[f"{module.name.removeprefix('hudi_format.')}.{name}"] = function
    return found
