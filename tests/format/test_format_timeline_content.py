"""Commit metadata as JSON and Avro, plans and results, and the container they stand in."""

import zlib
from dataclasses import replace
from typing import Any

import pytest
from format_strategies import LONGS, TEXT
from hudi_format.avro.files import SYNC_MARKER, read_container, write_container
from hudi_format.errors import FormatError, Reason, UnsupportedFormat
from hudi_format.timeline import plans
from hudi_format.timeline.commit_metadata import (
    CommitMetadata,
    RuntimeStats,
    WriteStat,
    content_kind,
    parse_commit_metadata,
    serialise_avro,
    serialise_json,
)
from hypothesis import given
from hypothesis import strategies as st

COUNT_FIELDS = tuple(
    name for name in WriteStat.__slots__ if name.startswith(("num_", "total_")) or name == "file_size_in_bytes"
)
STATS = st.builds(
    WriteStat,
    file_id=st.none() | TEXT,
    path=st.none() | TEXT,
    prev_commit=TEXT,
    partition_path=TEXT,
    log_version=st.none() | st.integers(0, 2**31 - 1),
    log_files=st.none() | st.lists(TEXT, max_size=2).map(tuple),
    cdc_stats=st.none() | st.dictionaries(TEXT, LONGS, max_size=2),
    runtime_stats=st.none() | st.builds(RuntimeStats, LONGS, LONGS, LONGS),
    **dict.fromkeys(COUNT_FIELDS, LONGS),
)
COMMITS = st.builds(
    CommitMetadata,
    st.none() | TEXT,
    st.booleans(),
    st.lists(STATS, max_size=3).map(lambda stats: tuple(sorted(stats, key=lambda stat: stat.partition_path))),
    st.dictionaries(TEXT, st.lists(TEXT, max_size=2).map(tuple), max_size=2),
    st.dictionaries(TEXT, TEXT, max_size=2),
)
SAMPLE = CommitMetadata(
    "UPSERT",
    False,
    (WriteStat("f1", "p0/f1.parquet", "null", 3, partition_path="p0", runtime_stats=RuntimeStats(0, 7, 0)),),
    {},
    {"schema": '{"type":"record"}', "é": ""},
)


@given(COMMITS)
def test_commit_metadata_round_trips_as_avro_with_replaced_groups(metadata: CommitMetadata):
    assert parse_commit_metadata(serialise_avro(metadata, replace=True), "f") == metadata


@given(COMMITS)
def test_commit_metadata_round_trips_as_avro_without_replaced_groups(metadata: CommitMetadata):
    plain = replace(metadata, replaced_file_ids={})
    assert parse_commit_metadata(serialise_avro(plain), "f") == plain


@given(COMMITS)
def test_commit_metadata_round_trips_as_json(metadata: CommitMetadata):
    assert parse_commit_metadata(serialise_json(metadata), "f") == metadata


def test_json_has_the_layout_of_version_6():
    text = serialise_json(SAMPLE).decode()
    assert text.startswith('{\n  "partitionToWriteStats" : {\n    "p0" : [ {\n      "fileId" : "f1",\n')
    assert '"runtimeStats" : {\n        "totalScanTime" : 0,\n        "totalUpsertTime" : 0,' in text
    assert text.endswith(
        """    } ]
  },
  "compacted" : false,
  "extraMetadata" : {
    "schema" : "{\\"type\\":\\"record\\"}",
    "é" : ""
  },
  "operationType" : "UPSERT"
}"""
    )
    assert serialise_json(CommitMetadata()).decode() == (
        '{\n  "partitionToWriteStats" : { },\n  "compacted" : false,\n  "extraMetadata" : { },\n'
        '  "operationType" : null\n}'
    )


def test_the_partition_of_a_stat_is_the_one_it_is_filed_under():
    data = b'{"partitionToWriteStats":{"p":[{"fileId":"f"}]},"partitionToReplaceFileIds":null,"unknown":[1]}'
    assert parse_commit_metadata(data, "f").write_stats == (WriteStat("f", partition_path="p"),)


@pytest.mark.parametrize(("data", "kind"), [(b"", "empty"), (b"Obj\x01x", "avro"), (b"{}", "json"), (b" \n{", "json")])
def test_the_first_bytes_determine_the_format(data: bytes, kind: Any):
    assert content_kind(data, "f") == kind


BAD_JSON = [
    b"{",
    b'{"partitionToWriteStats":[]}',
    b'{"partitionToWriteStats":{"p":{}}}',
    b'{"partitionToWriteStats":{"p":[1]}}',
    b'{"partitionToWriteStats":{"p":[{"numWrites":"1"}]}}',
    b'{"partitionToWriteStats":{"p":[{"numWrites":true}]}}',
    b'{"partitionToWriteStats":{"p":[{"numWrites":1.5}]}}',
    b'{"extraMetadata":{"a":1}}',
    b'{"operationType":1}',
    b'{"a":"\xff"}',
    b'{"numWrites":' + b"9" * 5000 + b"}",
    b'{"a":' + b"[" * 100_000,
    b"{}x",
]


@pytest.mark.parametrize("data", [b"", b"x", b"[]", b"Obj", *BAD_JSON])
def test_a_commit_that_does_not_parse_is_refused(data: bytes):
    with pytest.raises(FormatError) as caught:
        parse_commit_metadata(data, ".hoodie/1.commit")
    assert caught.value.reason == Reason.TIMELINE_FILE_CORRUPT
    assert caught.value.file == ".hoodie/1.commit"


def test_another_record_than_a_commit_is_refused():
    plan = plans.serialise_compaction_plan(plans.CompactionPlan())
    with pytest.raises(FormatError, match="HoodieCompactionPlan"):
        parse_commit_metadata(plan, "f")
    with pytest.raises(FormatError, match="HoodieCommitMetadata"):
        plans.parse_compaction_plan(serialise_avro(SAMPLE), "f")


PLANS = [
    (
        plans.COMPACTION_PLAN,
        plans.CompactionPlan(
            (plans.CompactionOperation("1", (".f_1.log.1_0-0-0",), None, "f", "süd", {"m": 1.5}),),
            {"a": "b"},
            strategy=plans.CompactionStrategy("c", {"x": "y"}, 1),
            preserve_hoodie_metadata=True,
            missing_schedule_partitions=("p",),
        ),
    ),
    (
        plans.REQUESTED_REPLACE,
        plans.RequestedReplace(
            "CLUSTER",
            plans.ClusteringPlan(
                (plans.ClusteringGroup((plans.SliceInfo("file:/a", ("file:/b",), "f", "p"),), {"m": 2.0}),),
                plans.ClusteringStrategy("s", {}),
            ),
            {},
            1,
        ),
    ),
    (plans.REQUESTED_REPLACE, plans.RequestedReplace()),
    (
        plans.CLEANER_PLAN,
        plans.CleanerPlan(
            plans.ActionInstant("1", "commit", "COMPLETED"),
            "2",
            file_paths_to_be_deleted_per_partition={"p": (plans.CleanFileInfo("/a", False),)},
            partitions_to_be_deleted=("q",),
        ),
    ),
    (
        plans.CLEAN_METADATA,
        plans.CleanMetadata("1", 2, 3, "4", "5", {"p": plans.CleanPartition("p", success_delete_files=("a",))}),
    ),
    (
        plans.ROLLBACK_PLAN,
        plans.RollbackPlan(plans.InstantInfo("1", "commit"), (plans.RollbackRequest("p", "f", "1", ("a",), {"l": 9}),)),
    ),
    (
        plans.ROLLBACK_METADATA,
        plans.RollbackMetadata(
            "1", 2, 1, ("1",), {"p": plans.RollbackPartition("p", ("a",))}, 1, (plans.InstantInfo("1", "commit"),)
        ),
    ),
    (
        plans.SAVEPOINT_METADATA,
        plans.SavepointMetadata("me", 7, "why", {"p": plans.SavepointPartition("p", ("a", "b"))}),
    ),
    (plans.RESTORE_PLAN, plans.RestorePlan((plans.InstantInfo("2", "commit"),), 2, "1")),
    (
        plans.RESTORE_METADATA,
        plans.RestoreMetadata(
            "3",
            1,
            ("2", "1"),
            {"2": (plans.RollbackMetadata("2", instants_rollback=(plans.InstantInfo("2", "commit"),)),)},
            1,
            (plans.InstantInfo("2", "commit"),),
        ),
    ),
    (plans.INDEX_PLAN, plans.IndexPlan(1, (plans.IndexPartition(1, "column_stats", "1", {"a": "b"}),))),
    (plans.INDEX_COMMIT, plans.IndexCommit(1, None, (plans.IndexPartition(1, "column_stats", "1"),))),
]


@pytest.mark.parametrize(("form", "plan"), PLANS, ids=lambda value: type(value).__name__)
def test_every_plan_round_trips_to_the_same_bytes(form: plans.PlanForm[Any], plan: Any):
    data = form.serialise(plan)
    assert form.parse(data, "f") == plan
    assert form.serialise(form.parse(data, "f")) == data


@pytest.mark.parametrize("form", [form for form, _ in PLANS[:5]], ids=lambda form: form.kind.__name__)
@pytest.mark.parametrize("data", [b"", b"{}", b"Obj\x01"])
def test_a_plan_that_is_empty_or_no_container_is_refused(form: plans.PlanForm[Any], data: bytes):
    with pytest.raises(FormatError) as caught:
        form.parse(data, "f")
    assert caught.value.reason == Reason.TIMELINE_FILE_CORRUPT


def test_a_plan_is_read_by_the_schema_in_the_file():
    older = {
        "type": "record",
        "name": "HoodieCompactionPlan",
        "fields": [{"name": "version", "type": "int"}, {"name": "future", "type": "string"}],
    }
    data = write_container(older, [{"version": 1, "future": "x"}])
    assert plans.parse_compaction_plan(data, "f") == plans.CompactionPlan(version=1)


ROW = {"type": "record", "name": "row", "fields": [{"name": "x", "type": "long"}]}


@given(st.lists(LONGS, max_size=20), st.binary(min_size=16, max_size=16))
def test_containers_round_trip_with_any_sync_marker(values: Any, marker: bytes):
    records = [{"x": value} for value in values]
    data = write_container(ROW, records, marker)
    assert read_container(data, "f") == (ROW, records)
    assert data == write_container(ROW, records, marker)


def deflated(body: bytes, count: int):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(body) + packer.flush()
    plain = write_container(ROW, [])
    # The header's map holds one entry: put a second one before its end.
    head = plain[: -len(SYNC_MARKER) - 1].replace(b"Obj\x01\x02", b"Obj\x01\x04", 1)
    return (
        head
        + b"\x14avro.codec\x0edeflate\x00"
        + SYNC_MARKER
        + varint(count)
        + varint(len(packed))
        + packed
        + SYNC_MARKER
    )


def varint(value: Any):
    value, encoded = value << 1, b""
    while value > 0x7F:
        encoded += bytes([value & 0x7F | 0x80])
        value >>= 7
    return encoded + bytes([value])


def test_deflated_blocks_are_read():
    assert read_container(deflated(b"\x02\x04", 2), "f")[1] == [{"x": 1}, {"x": 2}]


def test_a_bomb_is_refused_before_it_is_unpacked():
    with pytest.raises(FormatError) as caught:
        read_container(deflated(bytes(300 * 1024 * 1024), 1), "f")
    assert caught.value.reason == Reason.LIMIT_EXCEEDED


def test_a_legal_codec_that_is_not_read_is_named():
    data = deflated(b"\x02", 1).replace(b"\x0edeflate", b"\x0csnappy", 1)
    with pytest.raises(UnsupportedFormat) as caught:
        read_container(data, "f")
    assert caught.value.feature == "avro-codec-snappy"


@pytest.mark.parametrize("count", [b"\x00", b"\x04", b"\x01", b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01"])
def test_a_block_that_declares_another_number_of_records_is_refused(count: bytes):
    data = write_container(ROW, [{"x": 1}])
    body = data.rindex(b"\x02\x02\x02" + SYNC_MARKER)
    with pytest.raises(FormatError) as caught:
        read_container(data[:body] + count + data[body + 1 :], "f")
    assert caught.value.offset is not None
