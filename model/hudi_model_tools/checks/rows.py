"""What rows may get wrong: meta fields against the file that holds them, keys against the footer, whole slices."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations

from hudi_model.configuration import is_true
from hudi_model.files import BaseFile, FileSlice, GroupId, Record
from hudi_model.indexes import held_files, live_rows
from hudi_model.origins import DROPPED
from hudi_model.partitions import key_generator, partition_path
from hudi_model.reading import read_slice
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.schemas import table_schema
from hudi_model.slicing import path_of
from hudi_model.tables import BucketRules, Evidence, HashRing, View
from hudi_model.tagging import (
    bucket_count,
    bucket_of,
    group_of_hash,
    groups_of_ring,
    hashed_texts,
    kept_rules,
    ring_hash,
    ring_of,
)

from hudi_model_tools.checks.files import BOOTSTRAPPED, partition_columns
from hudi_model_tools.checks.finding import Violation, error, violation_of, warning

GENERATORS = ("SIMPLE", "COMPLEX", "CUSTOM", "TIMESTAMP")
"""Those that make paths of columns."""


def row_violations(view: View, slices: tuple[FileSlice, ...], evidence: Evidence) -> Iterator[Violation]:
    """Every fault of rows: the slices that a snapshot cannot merge, and rows that do not belong where they are.

    Clauses: DM-001, DM-004, MF-001, MF-010, MF-012, MF-013, IX-012, OW-034, OW-036.
    """
    for found in slices:
        yield from slice_violations(view, found)
    if is_true(view.configuration.properties, "hoodie.populate.meta.fields"):
        yield from doubled_keys(view)
        yield from bucket_violations(view)
        for file in held_files(view):
            if isinstance(file, BaseFile) and isinstance(file.records, tuple):
                yield from base_row_violations(file, file.records, evidence)
                yield from place_violations(view, file, file.records)


def doubled_keys(view: View) -> Iterator[Violation]:
    """Keys whose rows stand in two file groups of a partition; within one group an insert may repeat a key.

    An insert looks for no key, so that one that was there may have come into another group: that is worth a look.

    Clauses: DM-001.
    """
    groups = defaultdict[tuple[str, str], set[str]](set)
    try:
        for (partition, file_id), key, _ in live_rows(view):
            groups[partition, key].add(file_id)
    except (Rejection, Unsupported):
        # What keeps a slice from being read is reported on its own.
        return
    for (partition, key), file_ids in groups.items():
        if len(file_ids) > 1:
            yield warning("DM-001", partition or ".", f"the key {key!r} stands in {len(file_ids)} file groups")


def bucket_violations(view: View) -> Iterator[Violation]:
    """Keys in another file group than their hash says, where the table keeps what decides: a ring, rules of buckets.

    Clauses: OW-022, OW-034, OW-036.
    """
    try:
        yield from misplaced_keys(view)
    except Rejection as refusal:
        # What else keeps a slice from being read is reported on its own.
        if refusal.clause in ("OW-034", "OW-036"):
            yield violation_of(refusal)
    except Unsupported:
        return


def misplaced_keys(view: View) -> list[Violation]:
    """A key of each file group that has keys of others; no table keeps its hash fields, so the likeliest choice counts.

    Raises: PROPERTIES_INVALID, CONFIG_INVALID, and every reason of a slice.

    Clauses: OW-022, OW-034, OW-036.
    """
    rings = {one: ring for one in view.table.state.partitions if (ring := ring_of(view, one))}
    rules, fields = kept_rules(view), view.configuration.record_key
    rows = [(group, key) for group, key, _ in live_rows(view)] if rings or rules else []
    choices = [some for length in range(len(fields)) for some in combinations(fields, length + 1)]
    ways = [[misplaced(rings.get(one[0][0]), rules, *one, fields=some) for one in rows] for some in choices]
    likeliest = min(([one for one in way if one] for way in ways), key=len, default=[])
    return list({one.where: one for one in likeliest}.values())


def misplaced(
    ring: HashRing | None, rules: BucketRules | None, group: GroupId, key: str, *, fields: tuple[str, ...]
) -> Violation | None:
    """What is wrong with a key in a file group; writers that use a ring miss what lies in groups that it lacks.

    Clauses: OW-022, OW-034, OW-036.
    """
    (partition, file_id), texts = group, hashed_texts(key, fields)
    where, number = f"{partition}/{file_id}".lstrip("/"), file_id[:8]
    if ring and file_id not in groups_of_ring(ring):
        return warning("OW-034", where, f"the ring of the partition lacks the group of the key {key!r}")
    if ring and (owner := group_of_hash(ring, ring_hash(texts))) != file_id:
        return error("OW-034", where, f"the key {key!r} belongs to {owner}")
    if rules and not ring and number.isdecimal():
        bucket = bucket_of(texts, bucket_count(rules, partition))
        return error("OW-036", where, f"the key {key!r} belongs to bucket {bucket}") if bucket != int(number) else None
    return None


def slice_violations(view: View, found: FileSlice) -> Iterator[Violation]:
    """What keeps a slice from being read; a merger that this reader lacks is no fault of the table.

    Clauses: DM-001, DM-004, LF-013, BF-004.
    """
    try:
        schema = table_schema(view)
    except (Rejection, Unsupported):
        # The schema's own refusal is reported elsewhere.
        return
    try:
        read_slice(view, found, schema)
    except Rejection as refusal:
        if refusal.reason is not Reason.MERGER_UNKNOWN:
            yield violation_of(refusal)
    except Unsupported:
        # What the model does not hold is no fault of the table.
        return


def base_row_violations(file: BaseFile, records: tuple[Record, ...], evidence: Evidence) -> Iterator[Violation]:
    """The first row of a base file with each kind of wrong meta field, and keys outside the footer's range.

    Clauses: MF-001, MF-010, MF-012, MF-013, IX-012.
    """
    where, footer = path_of(file), evidence.footers.get(path_of(file))
    wrong = dict[str, Violation]()
    for row in records:
        for found in meta_violations(file, row, where):
            wrong.setdefault(found.clause, found)
        key = row.values.get("_hoodie_record_key")
        if footer and isinstance(key, str) and footer.least_key is not None and footer.greatest_key is not None:
            ends = utf16(footer.least_key), utf16(footer.greatest_key)
            if not ends[0] <= utf16(key) <= ends[1]:
                wrong.setdefault("IX-012", error("IX-012", where, f"the key {key!r} is outside the footer's range"))
    yield from wrong.values()


def place_violations(view: View, file: BaseFile, records: tuple[Record, ...]) -> Iterator[Violation]:
    """The first row whose partition columns have the path of another folder.

    A writer whose index finds a key in another partition may leave the row there: it is worth a look, and no error.
    Rows of a table that drops its partition columns say nothing of their place.

    Clauses: DM-022, DM-031.
    """
    if key_generator(view.configuration) not in GENERATORS or is_true(view.configuration.properties, DROPPED):
        return
    # A file that lacks a column places no row; that it is lacking is reported on its own.
    placed = (row for row in records if set(partition_columns(view.table)) <= row.values.keys())
    for row in placed:
        try:
            path = partition_path(row, view.configuration)
        except Unsupported:
            return
        if path != file.partition and file.instant != BOOTSTRAPPED:
            yield warning("DM-031", path_of(file), f"the columns of a row say the partition {path!r}")
            return


def meta_violations(file: BaseFile, row: Record, where: str) -> Iterator[Violation]:
    """Meta fields that are not those of a row in this file; an empty one may have been left out.

    Clauses: MF-010, MF-012, MF-013, MF-014, DM-001.
    """
    time, key, folder, name = (
        row.values.get(f"_hoodie_{one}") for one in ("commit_time", "record_key", "partition_path", "file_name")
    )
    if isinstance(time, str) and time > file.instant:
        yield error("MF-010", where, f"a row is of the write {time}, which is later than the file")
    if key is None and file.instant != BOOTSTRAPPED:
        yield error("DM-001", where, "a row has no record key")
    if folder and folder != file.partition:
        yield error("MF-012", where, f"a row is of the partition {folder!r}")
    if folder is None and "_hoodie_partition_path" in row.values and file.instant != BOOTSTRAPPED:
        yield error("MF-012", where, "a row has no partition path")
    if name and name != file.name and file.instant != BOOTSTRAPPED:
        yield warning("MF-013", where, f"a row names the file {name!r}")


def utf16(text: str) -> bytes:
    """A text so that comparing compares UTF-16 units, as the footer's bounds do."""
    return text.encode("utf-16-be", "surrogatepass")
