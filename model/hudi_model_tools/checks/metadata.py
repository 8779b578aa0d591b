"""The metadata table against the table: which indexes there are, which actions, what each index holds."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from hudi_model.actions import Action, IndexDefinition, State
from hudi_model.configuration import property_names
from hudi_model.files import FileSlice
from hudi_model.history import full_timeline
from hudi_model.indexes import EVERY_PARTITION, NO_PARTITION, Contents, contents, held_files, joined
from hudi_model.keys import java_hash, key_of
from hudi_model.metadata import BUILT, FILES, FOLDER, SCHEMA, STATISTICS, built, is_own, rows_of, valid, view_of
from hudi_model.partitions import encoded
from hudi_model.reading import read_slice
from hudi_model.rejection import Rejection, Unsupported
from hudi_model.retention import named_files, refuse_missing, refuse_missing_logs
from hudi_model.schemas import table_schema
from hudi_model.slicing import data_files, snapshot_slices
from hudi_model.tables import RELEASED, Evidence, OpenTable, Readings, Table, View, open_table, view_at

from hudi_model_tools.checks.building import being_built, passed_by, since_opened
from hudi_model_tools.checks.finding import Violation, error, refusals
from hudi_model_tools.checks.timeline import undone_by

GROUP_DIGITS = 4
REMOVING = (Action.CLEAN, Action.ROLLBACK, Action.RESTORE)
LOGGED = frozenset({Action.COMMIT, Action.DELTA_COMMIT, Action.REPLACE_COMMIT, Action.CLEAN, Action.ROLLBACK})
"""The completed actions that commit to the metadata table."""
CLAUSES = {
    "column_stats": "MT-011",
    "partition_stats": "MT-014",
    "bloom_filters": "IX-010",
    "record_index": "IX-020",
    "secondary_index": "IX-031",
}
"""Which clause says what an index of a kind holds."""


def metadata_table_violations(view: View, evidence: Evidence) -> Iterator[Violation]:
    """Every fault of the metadata table, of those of its indexes that were read.

    Clauses: IG-003, MT-001, MT-003, MT-004, MT-006, MT-007, MT-010, MT-017, IX-001.
    """
    names, metadata = property_names(view.configuration.properties, BUILT), view.table.state.metadata
    if metadata is None:
        if names:
            yield error("MT-007", "hoodie.properties", f"{BUILT} has {', '.join(names)}, there is no metadata table")
        return
    try:
        counted = metadata_view(view.table.state, metadata)
        slices = snapshot_slices(counted)
    except Rejection as found:
        yield error(found.clause, f"{FOLDER}/{found.where}", found.detail)
        return
    yield from missing_files(counted, slices, names)
    yield from partition_violations(view, slices, counted.configuration.rules.version, evidence)
    yield from actions_not_logged(view.table, metadata)
    used = tuple(one for one in metadata.indexes if one.name in names and FILES.name in names)
    for index in (*used, *being_built(view, metadata)):
        try:
            stored = stored_rows(counted, slices, index.name)
        except Rejection as found:
            yield error(found.clause, f"{FOLDER}/{found.where}", found.detail)
            continue
        except Unsupported:
            # What the model does not hold of an index is no fault of the table.
            continue
        yield from entry_violations(index, counted, slices)
        compare = partial(index_violations, index, view, stored)
        other = partial(passed_by, index, view, metadata, stored)
        # What keeps the table's own rows from being read is reported on its own.
        with suppress(Rejection, Unsupported):
            yield from compare() if index in used else other()


def missing_files(counted: View, slices: tuple[FileSlice, ...], names: tuple[str, ...]) -> Iterator[Violation]:
    """Files that the metadata table's timeline names for an index that readers may use, and that are gone.

    Clauses: MT-007, MT-009, RD-011, RD-018.
    """
    counted = since_opened(counted)
    try:
        used = {group for _, group, _ in named_files(counted) if group[0] in names}
    except Rejection as found:
        yield error(found.clause, f"{FOLDER}/{found.where}", found.detail)
        return
    checks = (partial(check, counted, slices, used) for check in (refuse_missing, refuse_missing_logs))
    for refusal in refusals(*checks):
        yield replace(refusal, where=f"{FOLDER}/{refusal.where}")


def metadata_view(table: Table, metadata: Table) -> View:
    """The metadata table without the deltacommits of actions that have not completed on the data timeline.

    Raises: as `open_table` of either.

    Clauses: MT-006.
    """
    counts = {one.requested for one in full_timeline(table) if one.state is State.COMPLETED}
    counts |= {one.requested for one in metadata.timeline if one.action is not Action.DELTA_COMMIT}
    known = (one for one in metadata.timeline if one.requested in counts or is_own(one.requested))
    return view_at(open_table(replace(metadata, timeline=tuple(known))), None, RELEASED)


def stored_rows(view: View, slices: Iterable[FileSlice], partition: str) -> Contents:
    """What one partition of a metadata table holds, deletes done.

    Raises: LOG_CONTENT_CORRUPT, BASE_FILE_CORRUPT.

    Clauses: MT-002, MT-008.
    """
    rows = (row for one in slices if one.partition == partition for row in read_slice(view, one, SCHEMA))
    return {str(row.values["key"]): row.values["content"] for row in rows if row.values["content"] is not None}


def partition_violations(
    view: View, slices: Iterable[FileSlice], version: int, evidence: Evidence
) -> Iterator[Violation]:
    """Indexes that readers may use and that are not there, or not whole; a metadata table of another version.

    Clauses: MT-001, MT-007, MT-017, IX-001.
    """
    own, groups = view.configuration.rules.version, defaultdict[str, set[str]](set)
    if own != version:
        yield error("MT-001", FOLDER, f"the metadata table has version {version}, the table {own}")
    for one in slices:
        groups[one.partition].add(one.file_id)
    for name in property_names(view.configuration.properties, BUILT):
        if not groups[name]:
            yield error("MT-007", f"{FOLDER}/{name}", f"{BUILT} has it, and it holds no file group")
        yield from group_violations(name, groups[name])
        needs = name.startswith(("secondary_index_", "expr_index_"))
        if needs and evidence.definitions is not None and name not in {one.name for one in evidence.definitions}:
            yield error("IX-001", f"{FOLDER}/{name}", "no definition says what it indexes")


def group_violations(name: str, file_ids: Iterable[str]) -> Iterator[Violation]:
    """File groups of an index that are not numbered from 0 without a gap; those of a partitioned one in each partition.

    Clauses: MT-007, MT-017, IX-022.
    """
    numbers = defaultdict[str, list[int]](list)
    for file_id in sorted(file_ids):
        prefix, _, digits = file_id.removesuffix("-0").rpartition("-")
        if not (digits.isascii() and digits.isdigit() and len(digits) >= GROUP_DIGITS):
            yield error("MT-017", f"{FOLDER}/{name}", f"the file id {file_id!r} has no number of a group")
        else:
            numbers[prefix].append(int(digits))
    for prefix, found in numbers.items():
        if sorted(found) != list(range(len(found))):
            yield error("MT-017", f"{FOLDER}/{name}", f"of the groups {prefix}-0 to {max(found)} some are missing")
            yield error("MT-007", f"{FOLDER}/{name}", f"{BUILT} has it, and it is not whole")


def actions_not_logged(table: OpenTable, metadata: Table) -> Iterator[Violation]:
    """Actions that completed since the metadata table was made and that it does not have, or has too late.

    [New in v8] Before, nothing states what had completed when it was made.

    Clauses: MT-003, MT-004.
    """
    own = [one for one in full_timeline(metadata) if not is_own(one.requested)]
    known = {one.requested: one.completed for one in own}
    first = min((one.completed for one in own if one.completed and one.action is Action.DELTA_COMMIT), default=None)
    for one in table.timeline.instants:
        where, is_logged = f"{one.requested}.{one.action}", one.state is State.COMPLETED and one.action in LOGGED
        if not is_logged or one.completed is None or first is None or one.completed <= first:
            continue
        if one.requested not in known:
            # Of a write that did not come so far nothing is to be taken back.
            if one.action is Action.ROLLBACK and not known.keys() & {*undone_by(one)}:
                continue
            yield error("MT-003", where, "the action completed without a commit of its own to the metadata table")
        elif (known[one.requested] or "") > one.completed:
            yield error("MT-004", where, f"the metadata table had it at {known[one.requested]}, after it completed")


def entry_violations(index: IndexDefinition, view: View, slices: Iterable[FileSlice]) -> Iterator[Violation]:
    """Entries of a record index in other file groups than their keys' hashes say, where no reader looks for them.

    Clauses: IX-020, IX-022, MT-017.
    """
    own = [one for one in slices if one.partition == index.name and index.kind == "record_index"]
    for one in own:
        for row in read_slice(view, one, SCHEMA):
            key, place = str(row.values["key"]), row.values["content"]
            partition = str(place[0]) if index.is_partitioned and isinstance(place, list) else None
            key = key if partition is None else key.removeprefix(joined(partition, ""))
            if place and record_index_group(key, partition, (other.file_id for other in own)) != one.file_id:
                yield error("IX-020", f"{FOLDER}/{index.name}", f"{key!r} lies in the group {one.file_id}")
                break


def index_violations(index: IndexDefinition, view: View, stored: Contents) -> Iterator[Violation]:
    """Where an index does not hold what the table's files and rows have it hold.

    Statistics that are absent are unknown, and those of a partition may be wider than its rows. An index of a function
    that was made later has filters of the current slices alone.

    Clauses: MT-005, MT-010, MT-011, MT-013, MT-014, IX-010, IX-020, IX-031, IX-040.
    """
    held = contents(index, view)
    if index.kind == "files":
        yield from listing_violations(view, stored, held)
        return
    clause = "IX-040" if index.name.startswith("expr_index_") else CLAUSES.get(index.kind, "MT-005")
    is_statistic, is_partial = index.kind in STATISTICS, index.kind == "bloom_filters" and bool(index.sources)
    slices = snapshot_slices(view) if is_partial else ()
    current = {one.base_file.name for one in slices if one.base_file}
    for key in sorted({*stored, *held}):
        where = f"{FOLDER}/{index.name} {key}"
        if key not in stored:
            if not (is_statistic or (is_partial and key.split("|")[-1] not in current)):
                yield error(clause, where, "the index lacks it")
        elif key not in held:
            if not is_statistic or key.split("|")[-1] not in known_names(view, index):
                yield error(clause, where, "the index has it, and the table does not")
        elif not agrees(index, stored[key], held[key]) and not is_a_place(index, view, key, stored[key]):
            yield error(clause, where, f"the index has {stored[key]!r:.120}, the table {held[key]!r:.120}")


def is_a_place(index: IndexDefinition, view: View, key: str, stored: Any) -> bool:
    """Whether a record index names one of several places that inserts left a key in.

    Clauses: DM-001, IX-020.
    """
    named = (one for one in snapshot_slices(view) if [one.partition, one.file_id] == stored)
    return index.kind == "record_index" and any(key in keys_of(index, view, one) for one in named)


def keys_of(index: IndexDefinition, view: View, found: FileSlice) -> frozenset[str]:
    """The keys of a slice's rows, as a record index has them.

    Clauses: IX-020, IX-022.
    """
    rows = read_slice(view, found, table_schema(view))
    inside = [found.partition] if index.is_partitioned else []
    return frozenset(joined(*inside, key_of(row, view.configuration, found.file_id)) for row in rows)


def known_names(view: View, index: IndexDefinition) -> frozenset[str]:
    """The files, or the partitions, that statistics may be of."""
    files = held_files(view)
    if index.kind == "partition_stats":
        return frozenset(one.partition or NO_PARTITION for one in files)
    return frozenset(one.name for one in files)


def agrees(index: IndexDefinition, stored: Any, held: Any) -> bool:
    """Whether what an index has of a key is so. Bounds of nothing but nulls bound no value, and may be any.

    Clauses: MT-011, MT-013, MT-014, IX-010.
    """
    if index.kind == "bloom_filters" and isinstance(stored, list) and isinstance(held, list):
        return set(held) <= set(stored)
    if index.kind not in STATISTICS or not isinstance(stored, list) or not isinstance(held, list):
        return bool(stored == held)
    if index.kind == "column_stats":
        return stored[2] == held[2] if held[:2] == [None, None] else stored == held
    ends = [(stored[0], held[0]), (held[1], stored[1])]
    return all(None in pair or pair[0] <= pair[1] for pair in ends)


def listing_violations(view: View, stored: Contents, held: Contents) -> Iterator[Violation]:
    """Files that the list lacks, has although they are gone, or has with another length.

    While files are being removed the list may still have them.

    Clauses: MT-005, MT-010.
    """
    instants, state = view.table.timeline.instants, view.table.state
    removing = any(one.action in REMOVING and one.state is not State.COMPLETED for one in instants)
    there = {(one.partition or NO_PARTITION, one.name) for one in data_files(state)}
    for partition in sorted({*held, *stored} - {EVERY_PARTITION}):
        own, listed = held.get(partition, {}), sizes_of(stored.get(partition))
        for name in sorted({*own, *listed}):
            where = name if partition == NO_PARTITION else f"{partition}/{name}"
            if name not in listed:
                yield error("MT-010", where, "the list of files lacks it")
            elif name not in own and not removing and where not in state.evidence.unplaced:
                what = "its write has not completed" if (partition, name) in there else "storage lacks it"
                yield error("MT-010", where, f"the list of files has it, and {what}")
            elif own.get(name) and own[name] != listed[name]:
                yield error("MT-010", where, f"the list of files has {listed[name]} bytes, storage {own[name]}")
    missing = held.get(EVERY_PARTITION, {}).keys() - sizes_of(stored.get(EVERY_PARTITION)).keys()
    for partition in sorted(missing):
        yield error("MT-010", partition, "the list of partitions lacks it")


def sizes_of(content: object) -> Mapping[str, int]:
    """The names that an entry lists, without those that are gone."""
    return {name: size for name, size in content.items() if size is not None} if isinstance(content, dict) else {}


def metadata_differences(table: Table, readings: Readings = RELEASED) -> tuple[tuple[str, str], ...]:
    """Where an index that readers may use does not hold what the table's files and rows have it hold: index and key.

    Clauses: MT-005.
    """
    metadata, names, found = valid(table), built(table), list[tuple[str, str]]()
    for index in (one for one in metadata.indexes if one.name in names):
        stored, held = rows_of(view_of(metadata, readings)).get(index.name, {}), contents(index, view_of(table))
        found += ((index.name, key) for key in {**stored, **held} if stored.get(key) != held.get(key))
    return tuple(found)


def record_index_group(key: str, partition: str | None, file_ids: Iterable[str]) -> str | None:
    """The file group of a record index that has a key, by its hash; None where the index has no groups for it.

    A partitioned index has a series of groups for each partition of the table.

    Clauses: MT-017, IX-022.
    """
    prefix = "record-index" if partition is None else f"record-index-{encoded(partition)}"
    own = sorted(one for one in file_ids if re.fullmatch(rf"{re.escape(prefix)}-\d{{4,}}-0", one))
    signed = java_hash(key) - (java_hash(key) >> 31 << 32)
    return own[abs(signed) % len(own)] if own else None
