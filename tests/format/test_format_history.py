"""History files, manifests, the version file, and the archived log of version 6."""

import json

import pytest
from format_strategies import TEXT
from hudi_format.avro.values import to_record
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import BlockType, HeaderKey, encode_block
from hudi_format.log.content import encode_avro_records
from hudi_format.timeline import plans
from hudi_format.timeline.archived_log import (
    ArchivedState,
    Content,
    is_archived_log,
    read_archived_log,
    write_archived_log,
)
from hudi_format.timeline.commit_metadata import CommitMetadata, WriteStat
from hudi_format.timeline.history import (
    HistoryFileName,
    HistoryRow,
    ManifestEntry,
    manifest_number,
    parse_history_name,
    parse_manifest,
    parse_version,
    read_history_file,
    serialise_manifest,
    write_history_file,
)
from hudi_format.timeline.timeline_schemas import CLEANER_PLAN
from hypothesis import given
from hypothesis import strategies as st

INSTANTS = st.integers(0, 10**17 - 1).map(lambda number: f"{number:017d}")
ROWS = st.builds(
    HistoryRow,
    INSTANTS,
    st.none() | INSTANTS,
    st.sampled_from(["commit", "deltacommit", "clean"]),
    st.none() | st.binary(max_size=8),
    st.none() | st.binary(max_size=8),
)
NAMES = st.from_regex(r"[0-9]{17}_[0-9]{17}_[0-9]\.parquet", fullmatch=True)
ARCHIVED = {
    "type": "record",
    "name": "HoodieArchivedMetaEntry",
    "namespace": "org.apache.hudi.avro.model",
    "fields": [
        *({"name": name, "type": ["null", "string"], "default": None} for name in ("commitTime", "actionType")),
        {"name": "hoodieCleanerPlan", "type": ["null", CLEANER_PLAN], "default": None},
        {"name": "actionState", "type": ["null", "string"], "default": None},
        {"name": "stateTransitionTime", "type": ["null", "string"], "default": None},
    ],
}


@given(st.lists(ROWS, max_size=4).map(tuple))
def test_history_files_round_trip(rows: tuple[HistoryRow, ...]):
    """What an action's files held comes back byte for byte, and the same rows give the same file."""
    written = write_history_file(rows)

    assert read_history_file(written, "f") == rows
    assert write_history_file(rows) == written


@given(INSTANTS, INSTANTS, st.integers(0, 9))
def test_history_names_round_trip(first: str, last: str, level: int):
    """A name is its first and last instant and one digit of level."""
    name = HistoryFileName(first, last, level)

    assert parse_history_name(str(name)) == name


@given(st.lists(st.builds(ManifestEntry, NAMES, st.integers(0, 2**40)), max_size=3).map(tuple))
def test_manifests_round_trip(entries: tuple[ManifestEntry, ...]):
    """A manifest names its files in their order."""
    assert parse_manifest(serialise_manifest(entries), "manifest_1") == entries


def test_a_manifest_is_spaced_as_apache_hudi_spaces_it():
    """The bytes that Apache Hudi 1.1.1 wrote."""
    entry = ManifestEntry("20261121132734122_20261121132750159_0.parquet", 6685)
    written = (
        b'{\n  "files" : [ {\n    "fileName" : "20261121132734122_20261121132750159_0.parquet",\n'
        b'    "fileLen" : 6685\n  } ]\n}'
    )

    assert serialise_manifest((entry,)) == written


@pytest.mark.parametrize("name", ["manifest_114.5f2c", "manifest_", "manifest_x", "_version_", "manifest_1 "])
def test_leftovers_are_no_manifests(name: str):
    """A temporary file beside the manifests must not stop a reader."""
    assert manifest_number(name) is None
    assert manifest_number("manifest_114") == 114


@pytest.mark.parametrize("data", [b"", b"x", b"-1", b"1.5", b"9" * 40, b"\xff"])
def test_a_version_file_holds_a_number_or_is_refused(data: bytes):
    """A reader must not guess which manifest is current."""
    with pytest.raises(FormatError) as refusal:
        parse_version(data, "_version_")

    assert refusal.value.reason == Reason.TIMELINE_FILE_CORRUPT
    assert parse_version(b"12", "_version_") == 12


@pytest.mark.parametrize("name", ["../x.parquet", "a/b.parquet", "..", ""])
def test_a_manifest_may_not_lead_out_of_its_folder(name: str):
    """Names with slashes are refused before anything is opened."""
    with pytest.raises(FormatError) as refusal:
        parse_manifest(serialise_manifest([ManifestEntry(name, 1)]), "manifest_1")

    assert refusal.value.reason == Reason.PATH_ESCAPES_TABLE


@given(data=st.binary(max_size=80) | TEXT.map(str.encode))
def test_garbage_is_refused_with_the_typed_error(data: bytes):
    """No other exception leaves the parsers."""
    for parse in (parse_manifest, parse_version, read_history_file, read_archived_log):
        try:
            parse(data, "f")
        except FormatError as error:
            assert error.reason in {Reason.TIMELINE_FILE_CORRUPT, Reason.PATH_ESCAPES_TABLE}  # noqa: PT017


CONTENTS = [
    None,
    CommitMetadata("UPSERT", write_stats=(WriteStat("f1", "p/f1.parquet", partition_path="p", num_writes=2),)),
    CommitMetadata("CLUSTER", replaced_file_ids={"p": ("f1",)}),
    plans.CleanMetadata("1", partition_metadata={"p": plans.CleanPartition("p", success_delete_files=("x",))}),
    plans.CompactionPlan((plans.CompactionOperation("1", ("l",), None, "f1", "p", {}),)),
    plans.RollbackMetadata("1", commits_rollback=("0",)),
    plans.SavepointMetadata("me", 1, "before the move"),
    plans.IndexCommit(index_partition_infos=(plans.IndexPartition(metadata_partition_path="files"),)),
]


@given(st.lists(st.tuples(INSTANTS, st.sampled_from(CONTENTS)), min_size=1, max_size=3))
def test_archived_logs_round_trip(states: list[tuple[str, Content | None]]):
    """Each kind of content keeps its place in the record of its action."""
    written = tuple(
        ArchivedState(
            instant,
            "replacecommit" if getattr(content, "replaced_file_ids", None) else "commit",
            "COMPLETED",
            None,
            content,
        )
        for instant, content in states
    )

    assert read_archived_log(write_archived_log(written), "f") == written


def test_an_archived_log_gives_each_state_with_its_content():
    """The typed field of a record says what the action planned."""
    plan = plans.CleanerPlan(policy="KEEP_LATEST_FILE_VERSIONS")
    records = [
        {"commitTime": "1", "actionType": "clean", "actionState": "REQUESTED", "hoodieCleanerPlan": to_record(plan)},
        {"commitTime": "1", "actionType": "clean", "actionState": "INFLIGHT", "stateTransitionTime": "2"},
    ]
    content = encode_avro_records(records, ARCHIVED)
    data = encode_block(BlockType.AVRO_DATA, {HeaderKey.SCHEMA: json.dumps(ARCHIVED)}, content)

    assert is_archived_log(".commits_.archive.1_1-0-1")
    assert not is_archived_log("..commits_.archive.1_1-0-1.crc")
    assert read_archived_log(data, "f") == (
        ArchivedState("1", "clean", "REQUESTED", None, plan),
        ArchivedState("1", "clean", "INFLIGHT", "2", None),
    )
