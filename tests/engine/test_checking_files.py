"""Files and rows of tables that the engine wrote, each with one damage, and none where nothing is damaged."""

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from checked_reference import assert_alike, of_engine, of_model
from checked_tables import (
    BASE,
    LOG,
    LOGS,
    PLAIN,
    SOON,
    Damage,
    Damages,
    archived,
    archived_6,
    clauses,
    copied,
    cow,
    cut,
    edited_rows,
    emptied,
    in_buckets,
    in_ring,
    indexed,
    instant_of,
    mor,
    mor_6,
    one_byte_short,
    planned,
    replaced,
    served,
    set_properties,
    some,
    timeline_of,
    with_byte,
    without_column,
)
from hudi_format.log.blocks import BlockType, HeaderKey, read_blocks
from hudi_format.log.content import data_block, decode_records
from hudi_spark import HudiError, check_table, read_arrow, services_arrow
from written_tables import Written, rows

DAMAGED = Damages()
Make = Callable[[Path], None]
RINGS, RULES = ".hoodie/.bucket_index/*/north/*.hashing_meta", ".hoodie/.bucket_index/*/configs/*"
breaks = DAMAGED.breaks


@breaks("RD-011", of=cow)
def a_base_file_is_gone(table: Path) -> None:
    some(table, BASE, 1).unlink()


@breaks(of=cow)
def an_old_base_file_is_gone(table: Path) -> None:
    some(table, BASE, 0).unlink()


@breaks("RD-018", of=mor)
def a_log_is_gone(table: Path) -> None:
    some(table, LOG).unlink()


@breaks("RD-018", of=mor_6)
def a_log_of_version_6_is_gone(table: Path) -> None:
    some(table, LOG).unlink()


@breaks("SL-002", of=mor)
def a_partition_is_not_marked(table: Path) -> None:
    (table / "north/.hoodie_partition_metadata").unlink()


@breaks("SL-002", of=mor)
def a_mark_that_says_nothing(table: Path) -> None:
    emptied(table / "north/.hoodie_partition_metadata")


@breaks("SL-002", of=mor)
def a_partition_deeper_than_it_is(table: Path) -> None:
    replaced(table / "north/.hoodie_partition_metadata", b"Depth=1", b"Depth=2")


@breaks("TL-022", of=cow)
def the_timeline_is_gone(table: Path) -> None:
    for one in table.glob(".hoodie/timeline/2025*"):
        one.unlink()


@breaks("SL-007", of=cow)
def a_path_that_leaves_the_table(table: Path) -> None:
    replaced(timeline_of(table, "*_*.commit", 1), b"north/", b"/orth/")


@breaks("TT-001", of=mor)
def logs_of_rows_in_a_copy_on_write_table(table: Path) -> None:
    set_properties(table, table__type="COPY_ON_WRITE")


@breaks("BF-004", of=cow)
def a_base_file_is_cut(table: Path) -> None:
    cut(some(table, BASE, 1))


@breaks("BF-001", "SA-001", of=cow)
def a_base_file_without_meta_fields(table: Path) -> None:
    without_column(some(table, BASE, 1), "_hoodie_commit_time")


@breaks("SL-021", "SA-001", of=cow)
def a_base_file_without_its_partition_column(table: Path) -> None:
    without_column(some(table, BASE, 1), "region")


@breaks("SA-001", of=mor)
def a_log_without_its_bytes(table: Path) -> None:
    """A log that a writer died in may be empty; this one a commit counts."""
    emptied(some(table, LOG))


@breaks("LF-014", of=mor)
def a_block_of_an_unknown_type(table: Path) -> None:
    with_byte(some(table, LOG), 21, 9)


@breaks("LF-014", of=mor)
def an_unknown_format_version(table: Path) -> None:
    with_byte(some(table, LOG), 17, 9)


@breaks("LF-006", of=mor)
def an_unknown_header_key(table: Path) -> None:
    with_byte(some(table, LOG), 29, 77)


@breaks("LF-021", of=mor)
def a_block_without_instant(table: Path) -> None:
    with_byte(some(table, LOG), 29, 6)


@breaks("MT-010", "LF-010", of=indexed)
def a_listed_file_is_shorter(table: Path) -> None:
    one_byte_short(some(table, LOG))


@breaks("MT-007", of=indexed)
def no_metadata_table(table: Path) -> None:
    (table / ".hoodie/metadata/.hoodie/hoodie.properties").unlink()


@breaks("MT-003", "MT-010", of=indexed)
def an_action_that_the_metadata_table_lacks(table: Path) -> None:
    for one in table.glob(f".hoodie/metadata/.hoodie/timeline/{instant_of(table, 1)}*"):
        one.unlink()


@breaks("MT-001", "IX-004", of=indexed)
def another_version_beside(table: Path) -> None:
    set_properties(table, table__version="8")


@pytest.mark.parametrize("one", DAMAGED.cases, ids=str)
def test_a_damage_is_named_by_its_clause_alone_and_as_the_model_names_it(one: Damage, tmp_path: Path):
    table = copied(one.make, tmp_path)
    one.break_(table)
    assert {clause for clause, _ in clauses(table)} == one.clauses
    assert_alike(str(one), table)


def test_every_damage_is_reported_and_not_only_the_first(tmp_path: Path):
    """Properties, timeline, a base file, a log and a plan: one check names them all, with their files."""
    table = copied(planned, tmp_path)
    set_properties(table, record__merge__mode="ANY")
    commit, base, log = timeline_of(table, "*_*.deltacommit", 2), some(table, "süd/*.parquet"), some(table, LOG)
    emptied(commit)
    cut(base)
    with_byte(log, 21, 9)
    found = {(one.clause, one.where) for one in check_table(table)}
    assert found == {
        ("MG-012", ".hoodie/hoodie.properties"),
        ("TL-015", f".hoodie/timeline/{commit.name}"),
        ("BF-004", f"süd/{base.name}"),
        ("LF-014", f"north/{log.name}"),
    }


@pytest.mark.parametrize(
    ("make", "pattern", "edit", "found"),
    [
        (in_ring, RINGS, lambda text: text.replace('"value" : 715827883', '"value" : 7'), {("OW-034", "error")}),
        (in_ring, RINGS, lambda text: re.sub(r'Prefix" : "\w{4}', 'Prefix" : "beef', text), {("OW-034", "warning")}),
        (in_ring, RINGS, lambda text: text[:-9], {("OW-034", "error")}),
        (in_buckets, RULES, lambda text: text.replace("nor,2", "nor,3"), {("OW-036", "error")}),
        (in_buckets, RULES, lambda text: text.replace("nor,2", "nor"), {("OW-036", "error")}),
        (in_buckets, RULES, lambda text: text.replace("3", "true"), {("OW-036", "error")}),
    ],
)
def test_keys_lie_where_their_hash_says(
    tmp_path: Path, make: Make, pattern: str, edit: Callable[[str], str], found: set[tuple[str, str]]
):
    """What a table keeps of its rings and buckets is compared with its rows, as the model does it."""
    table = copied(make, tmp_path)
    for file in table.glob(pattern):
        file.write_text(edit(file.read_text()))
    assert clauses(table, deep=True) == found
    assert_alike(pattern, table)


@pytest.mark.parametrize("make", [mor, mor_6, cow, indexed, planned, served, archived, archived_6, in_ring, in_buckets])
def test_what_the_engine_wrote_is_valid(make: Callable[[Path], None], tmp_path: Path):
    assert clauses(copied(make, tmp_path), deep=True) == set()


@pytest.mark.parametrize(
    ("column", "value", "clause", "severity"),
    [
        ("_hoodie_record_key", None, "DM-001", "error"),
        ("_hoodie_record_key", "zz", "BF-002", "warning"),
        ("_hoodie_commit_time", "20990101000000000", "MF-010", "error"),
        ("_hoodie_partition_path", "süd", "MF-012", "error"),
        ("_hoodie_partition_path", None, "MF-012", "error"),
        ("_hoodie_file_name", "another.parquet", "MF-013", "warning"),
        ("_hoodie_commit_seqno", "1_0_0", "MF-011", "warning"),
    ],
)
def test_rows_are_checked_by_their_meta_fields(tmp_path: Path, column: str, value: str, clause: str, severity: str):
    table = copied(cow, tmp_path)
    edited_rows(some(table, BASE, 1), column, value)
    assert clauses(table) <= {("SA-001", "error")}
    assert (clause, severity) in clauses(table, deep=True)


def test_a_property_with_two_values_is_reported(tmp_path: Path):
    """The last holds, as in Java; the same value twice says nothing else than once."""
    table = copied(cow, tmp_path)
    file = table / ".hoodie/hoodie.properties"
    for line in ("hoodie.table.recordkey.fields=ts", "hoodie.table.recordkey.fields=id", "hoodie.table.version=9"):
        file.write_text(f"{file.read_text()}{line}\n")
    found = [(one.severity, one.clause, one.where, one.message) for one in check_table(table)]
    message = "hoodie.table.recordkey.fields is there 3 times, as 'id', 'ts', 'id': the last holds"
    assert found == [("warning", "PR-001", ".hoodie/hoodie.properties", message)]


def test_rows_of_logs_have_keys(tmp_path: Path):
    """A check with rows says so, though no query can be answered."""
    table = copied(mor, tmp_path)
    log = some(table, LOG)
    (block,) = read_blocks(log.read_bytes(), log.name)
    held = [{**row, "_hoodie_record_key": None} for row in decode_records(block, log.name)]
    schema = json.loads(block.header[HeaderKey.SCHEMA])
    log.write_bytes(log.read_bytes() + data_block(block.header[HeaderKey.INSTANT_TIME], held, schema))
    assert clauses(table) == set()
    where = str(log.relative_to(table))
    assert {(one.clause, one.severity, one.where) for one in check_table(table, deep=True)} == {
        ("DM-001", "error", where)
    }
    assert_alike("rows of logs without keys", table)


def test_a_block_of_another_type_or_of_another_write_is_reported(tmp_path: Path):
    """Its rows belong to the log's own write; a query refuses what it would leave out by its type."""
    table = copied(mor, tmp_path)
    log = some(table, LOG)
    where, data, own = str(log.relative_to(table)), log.read_bytes(), log.name.split("_")[1].partition(".")[0]
    with_byte(log, 21, BlockType.CDC_DATA)
    assert ("LF-018", "error", where) in {(one.clause, one.severity, one.where) for one in check_table(table)}
    with pytest.raises(HudiError, match=f"LOG_CONTENT_CORRUPT in .*{log.name} at byte 0: .*change feed.*LF-018"):
        read_arrow(table)
    log.write_bytes(data.replace(own.encode(), str(int(own) + 1).encode(), 1))
    found = {(one.clause, one.severity, one.where) for one in check_table(table)}
    assert found == {("LF-021", "error", where)}


@pytest.mark.parametrize("partitions", [False, True])
def test_logs_that_changed_places_are_reported(tmp_path: Path, partitions: bool):
    """They have the sizes that their commit states: nothing else says that rows meet those of another file group."""
    table = Written(tmp_path, "MERGE_ON_READ", configs=LOGS)
    numbers = [1, 2] if partitions else [1, 3]
    for number in numbers:
        table.write("insert", rows([number]))
    table.write("upsert", rows(numbers, ts=2, price=2.0))
    first, second = sorted(tmp_path.glob("*/.*.log.*"))
    kept = first.read_bytes(), second.read_bytes()
    first.write_bytes(kept[1])
    second.write_bytes(kept[0])
    found = {(one.clause, one.severity, one.where) for one in check_table(tmp_path)}
    wanted = [("MF-013", "warning"), *([("MF-012", "error")] if partitions else [])]
    assert found >= {(*one, str(log.relative_to(tmp_path))) for log in (first, second) for one in wanted}
    assert partitions or len(found) == len(wanted) * 2
    assert of_engine(tmp_path, deep=False) == of_model(tmp_path, deep=False)


def test_a_damaged_page_is_a_finding_and_the_check_goes_on(tmp_path: Path):
    """The page of any column: whichever part of the check meets it first, BF-004 names the file, and others, too."""
    table = copied(indexed, tmp_path)
    some(table, LOG).unlink()
    path = some(table, BASE, 0)
    original, group = path.read_bytes(), pq.read_metadata(path).row_group(0)
    for column in range(group.num_columns):
        data, at = bytearray(original), group.column(column).data_page_offset
        data[at : at + 8] = b"\xff" * 8
        path.write_bytes(data)
        found = check_table(table, deep=True)
        assert {one.where for one in found if one.clause == "BF-004"} == {str(path.relative_to(table))}
        assert "RD-018" in {one.clause for one in found}


@pytest.mark.parametrize("column", ["price", "_hoodie_record_key"])
def test_a_column_that_stands_in_a_file_twice_is_a_finding_and_the_check_goes_on(tmp_path: Path, column: str):
    """Also where statistics of the column are compared, and where its keys are looked at."""
    table = copied(indexed, tmp_path)
    path = some(table, BASE, 0)
    held = pq.read_table(path)
    pq.write_table(held.append_column(column, held.column(column)), path)
    some(table, LOG).unlink()
    found = check_table(table, deep=True)
    assert ("BF-001", str(path.relative_to(table))) in {(one.clause, one.where) for one in found}
    assert "RD-018" in {one.clause for one in found}


@pytest.mark.parametrize("inside", [False, True])
def test_a_link_in_the_place_of_a_file_is_named(tmp_path: Path, inside: bool):
    """One that leaves the table, and one that leads nowhere: no file is missing that a copy could bring back."""
    table = copied(cow, tmp_path / "table")
    lost = some(table, BASE, 1)
    lost.rename(tmp_path / "moved")
    target = Path("nowhere") if inside else tmp_path / "moved"
    lost.symlink_to(target)
    where = str(lost.relative_to(table))
    found = [one.message for one in check_table(table) if (one.clause, one.where) == ("RD-011", where)]
    assert any(f"storage has a symbolic link to {target}," in message for message in found)


@pytest.mark.parametrize("folder", [".temp", ".heartbeat", ".schema", "timeline/history"])
def test_a_file_in_the_place_of_a_folder_that_writes_need_is_reported(tmp_path: Path, folder: str):
    """Reads pass it by, and every write is refused until it is moved away."""
    table = tmp_path / "table"
    cow(table)
    place = table / ".hoodie" / folder
    if place.exists():
        shutil.rmtree(place)
    place.write_text("no folder")
    (found,) = check_table(table, deep=True)
    assert (found.clause, found.severity, found.where) == ("SL-022", "error", f".hoodie/{folder}")
    place.unlink()
    (table / ".hoodie/.heartbeat/20250101000000000").mkdir(parents=True)
    (found,) = check_table(table, deep=True)
    assert (found.clause, found.where) == ("MK-005", ".hoodie/.heartbeat/20250101000000000")


def test_a_folder_that_links_out_of_the_table_hides_no_finding(tmp_path: Path):
    """The files of other folders are there; what is damaged among them is reported."""
    table = copied(cow, tmp_path)
    for name, target in (("self", table), ("north/up", table), ("elsewhere", tmp_path)):
        (table / name).symlink_to(target)
    base = some(table, BASE, 1)
    cut(base)
    found = {(one.clause, one.where) for one in check_table(table)}
    links = {("SL-007", name) for name in ("self", "north/up", "elsewhere")}
    assert found == {*links, ("BF-004", str(base.relative_to(table)))}


def test_a_file_whose_name_is_no_text_breaks_nothing_and_can_be_named(tmp_path: Path):
    """Names on a file system are bytes; such a file belongs to no group, and what is wrong beside it is reported."""
    table = tmp_path / "table"
    cow(table)
    folder = some(table, BASE, 1).parent
    for name in (b"\xff\xfe_0-0-0_20250101000000000.parquet", b"\xff"):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).touch()
    assert check_table(table, deep=True) == ()
    inner = Path(os.fsdecode(os.fsencode(table) + b"/\xff"))
    inner.mkdir()
    (inner / ".hoodie_partition_metadata").write_text("")
    (found,) = check_table(table, deep=True)
    assert str(found).encode()
    assert "\\udcff" in str(found)


@pytest.mark.parametrize("version", [6, 9])
def test_a_file_of_an_archived_write_is_missed(tmp_path: Path, version: int):
    """No commit on the timeline names it any more, and a reader knows of its rows from nothing else."""
    table = Written(tmp_path, "COPY_ON_WRITE", version, configs=PLAIN)
    table.write("upsert", rows(range(4)))
    for number in range(5):
        table.write("upsert", rows([0, 2], ts=number))
    services_arrow(tmp_path, configs=PLAIN).archive(SOON)
    assert check_table(tmp_path) == ()
    lost = some(tmp_path, BASE)
    lost.unlink()
    assert [(one.clause, one.where) for one in check_table(tmp_path)] == [("RD-011", str(lost.relative_to(tmp_path)))]
