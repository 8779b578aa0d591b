"""Rules of writers and tagging, broken."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from hudi_model.actions import Content, State
from hudi_model.effects import (
    SHARED_TAIL,
    CreateInstant,
    DeleteDataFile,
    Effects,
    PutBaseFile,
    PutLogFile,
    PutMarker,
    new_file_id,
)
from hudi_model.files import Block, DeleteBlock, GroupId, Schema, valid_records
from hudi_model.keys import key_of
from hudi_model.reading import base_rows
from hudi_model.requests import ADDS, Operation, Write
from hudi_model.schemas import table_schema
from hudi_model.slicing import group_of, present_groups, snapshot_slices
from hudi_model.staging import Change, Staged
from hudi_model.tables import BucketRules, HashRing, Table, View
from hudi_model.tagging import FIRST_RING, Incoming, Place, committed_groups, place_of
from hudi_model.time import InstantTime

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("files-count-when-staged", "OW-001 OW-010", "A write counts from its inflight file on.", "writers.enter")
def _files_count_when_staged(original: Function) -> Function:
    def completed_at_once(
        table: Table, write: Write, state: State, content: Content = None, completed: InstantTime | None = None
    ) -> CreateInstant:
        if state is State.INFLIGHT:
            moment = InstantTime(str(int(write.requested) + 1))
            started: CreateInstant = original(table, write, State.COMPLETED, write.metadata, moment)
            return started
        entered: CreateInstant = original(table, write, state, content, completed)
        return entered

    return completed_at_once


@mutant(
    "filled-rows-keep-their-time",
    "MF-010",
    "A row of a base file whose columns a late one fills keeps its commit time.",
    "staging.with_own_time",
)
def _filled_rows_keep_their_time(_: Function) -> Function:
    return lambda row, *_rest: row


@mutant("completed-without-files", "OW-001", "A write completes without the files it names.", "staging.placing")
def _completed_without_files(original: Function) -> Function:
    def announced_only(table: Table, requested: InstantTime, staged: Staged) -> Effects:
        return tuple(one for one in original(table, requested, staged) if not isinstance(one, PutBaseFile | PutLogFile))

    return announced_only


@mutant("marker-after-file", "MK-001", "A marker follows the file that it announces.", "staging.placing")
def _marker_after_file(original: Function) -> Function:
    def announced_late(table: Table, requested: InstantTime, staged: Staged) -> Effects:
        effects: Effects = original(table, requested, staged)
        return tuple(sorted(effects, key=lambda one: isinstance(one, PutMarker)))

    return announced_late


@mutant("abort-forgets-files", "OW-009 MK-003", "An aborted write leaves its files.", "writers.abort")
def _abort_forgets_files(original: Function) -> Function:
    def leaving(table: Table, write: Write) -> Effects:
        return tuple(one for one in original(table, write) if not isinstance(one, DeleteDataFile))

    return leaving


@mutant(
    "inserts-replace", "OW-018 OW-028", "An insert replaces what it finds, as an overwrite does.", "writers.replaced"
)
def _inserts_replace(original: Function) -> Function:
    def replacing(view: View, write: Write) -> frozenset[GroupId]:
        if write.request.operation in ADDS:
            return frozenset(map(group_of, present_groups(view)))
        found: frozenset[GroupId] = original(view, write)
        return found

    return replacing


@mutant(
    "overwrite-keeps-old-groups", "OW-018 TL-027", "An overwrite adds its rows to what is there.", "writers.replaced"
)
def _overwrite_keeps_old_groups(_: Function) -> Function:
    return lambda _view, _write: frozenset()


@mutant("tagging-sees-nothing", "OW-003 OW-020", "Every key is new to a writer.", "tagging.known_rows")
def _tagging_sees_nothing(_: Function) -> Function:
    return lambda _view, _kind: {}


@mutant("global-index-by-partition", "OW-021", "A global index looks in one partition.", "tagging.place_of")
def _global_index_by_partition(_: Function) -> Function:
    return lambda partition, key, _kind: (partition, key)


@mutant(
    "moved-row-stays-too",
    "OW-021 OW-024",
    "A row that changes its partition stays in the old one too.",
    "tagging.tags_of",
)
def _moved_row_stays_too(original: Function) -> Function:
    def without_delete(view: View, write: Write, row: Incoming, there: object) -> Iterable[object]:
        tags = list(original(view, write, row, there))
        return tags[1:] if len(tags) > 1 else tags

    return without_delete


@mutant("new-bucket-group-each-time", "OW-023 SW-002", "Each write opens its bucket anew.", "tagging.bucket_group")
def _new_bucket_group_each_time(original: Function) -> Function:
    def opened_anew(view: View, write: Write, partition: str, key: str) -> GroupId:
        _, file_id = original(view, write, partition, key)
        return partition, file_id[:8] + new_file_id(write.requested, partition)[8:]

    return opened_anew


@mutant(
    "replaced-buckets-are-opened-again",
    "SW-002 OW-018",
    "A non-blocking writer opens a bucket under its first file id, though that was replaced.",
    "tagging.shared_file_id",
)
def _replaced_buckets_are_opened_again(_: Function) -> Function:
    return lambda _view, _partition, prefix: f"{prefix}{SHARED_TAIL}0"


@mutant(
    "archived-resizes-are-lost",
    "OW-034",
    "A ring holds while its resize is on the timeline.",
    "tagging.holds",
)
def _archived_resizes_are_lost(original: Function) -> Function:
    def on_timeline(view: View, ring: HashRing) -> bool:
        known = {one.requested for one in view.timeline.instants}
        is_known = ring.is_signed or ring.instant in {*known, FIRST_RING}
        return is_known and bool(original(view, ring))

    return on_timeline


@mutant("pending-rings-hold", "OW-034", "A ring holds before its resize has completed.", "tagging.holds")
def _pending_rings_hold(_: Function) -> Function:
    return lambda _view, _ring: True


@mutant(
    "nothing-behind-the-last-node",
    "OW-034",
    "A hash behind the last node of a ring belongs to that one.",
    "tagging.group_of_hash",
)
def _nothing_behind_the_last_node(original: Function) -> Function:
    def of_last(ring: HashRing, place: int) -> str:
        last = max(value for value, _ in valid_records(ring.nodes))
        found: str = original(ring, min(place, last))
        return found

    return of_last


@mutant("each-writer-has-its-ring", "OW-034", "A writer begins a ring with nodes of its own.", "tagging.first_ring")
def _each_writer_has_its_ring(original: Function) -> Function:
    return lambda partition, buckets: original(partition, buckets + 1)


@mutant(
    "rings-have-deleted-groups",
    "OW-034 OW-018",
    "Rows go to the groups of a ring though these were replaced.",
    "tagging.replaced_groups",
)
def _rings_have_deleted_groups(_: Function) -> Function:
    return lambda _view: frozenset()


@mutant(
    "rings-on-copy-on-write",
    "OW-034",
    "A copy-on-write table may have rings.",
    "tagging.ring_group",
)
def _rings_on_copy_on_write(original: Function) -> Function:
    def of_any_table(view: View, write: Write, partition: str, key: str) -> GroupId:
        configuration = replace(view.configuration, table_type="MERGE_ON_READ")
        found: GroupId = original(
            replace(view, table=replace(view.table, configuration=configuration)), write, partition, key
        )
        return found

    return of_any_table


@mutant("kept-rules-unread", "OW-036", "The rules of buckets that a table keeps are not read.", "tagging.kept_rules")
def _kept_rules_unread(_: Function) -> Function:
    return lambda _view: None


@mutant(
    "default-buckets-everywhere",
    "OW-036",
    "Every partition has the default number of buckets.",
    "tagging.bucket_count",
)
def _default_buckets_everywhere(original: Function) -> Function:
    return lambda rules, partition: original(replace(rules, expressions=""), partition)


@mutant(
    "last-rule-counts",
    "OW-036",
    "The number of buckets is that of the last rule whose pattern is found.",
    "tagging.bucket_count",
)
def _last_rule_counts(original: Function) -> Function:
    def last(rules: BucketRules, partition: str) -> int:
        found: int = original(replace(rules, expressions=";".join(reversed(rules.expressions.split(";")))), partition)
        return found

    return last


@mutant("bucket-hash-keeps-its-sign", "OW-022", "The bucket's hash is taken as it is.", "tagging.bucket_of")
def _bucket_hash_keeps_its_sign(_: Function) -> Function:
    def of_characters(values: Iterable[str], buckets: int) -> int:
        return sum(ord(one) for value in values for one in value) % buckets

    return of_characters


@mutant(
    "composite-keys-end-at-commas",
    "OW-022",
    "Every comma in a composite key begins a field.",
    "tagging.hashed_texts",
)
def _composite_keys_end_at_commas(_: Function) -> Function:
    def split(key: str, fields: Iterable[str]) -> tuple[str, ...]:
        parts = dict(part.split(":", 1) for part in key.split(",") if ":" in part)
        return tuple(parts[one] for one in fields if one in parts) or (key,)

    return split


@mutant("null-key-parts-hashed-as-words", "OW-022", "Null in a key is hashed as its word.", "tagging.hashed_texts")
def _null_key_parts_hashed_as_words(original: Function) -> Function:
    words = {None: "__null__", "": "__empty__"}
    return lambda key, fields: tuple(words.get(one, one) for one in original(key, fields))


@mutant("combine-keeps-the-first", "OW-019 MG-017", "Of rows of one key the first is written.", "tagging.combined")
def _combine_keeps_the_first(_: Function) -> Function:
    return lambda _view, many: many[0]


@mutant(
    "places-after-the-first-unseen",
    "OW-020 DM-001",
    "Of the file groups that have a key a write changes one.",
    "tagging.known_rows",
)
def _places_after_the_first_unseen(original: Function) -> Function:
    return lambda view, kind: {place: found[:1] for place, found in original(view, kind).items()}


@mutant("deleted-keys-are-found", "OW-020 DM-001", "A deleted key has its old place too.", "tagging.known_rows")
def _deleted_keys_are_found(original: Function) -> Function:
    def by_base_rows(view: View, kind: str) -> dict[tuple[str, str], Sequence[Place]]:
        places = {place: dict(found) for place, found in original(view, kind).items()}
        for one in snapshot_slices(view):
            for row in base_rows(view, one, table_schema(view)):
                key = key_of(row, view.configuration, one.file_id)
                places[place_of(one.partition, key, kind)].setdefault(group_of(one))
        return {place: tuple(found.items()) for place, found in places.items()}

    return by_base_rows


@mutant("groups-with-logs-are-filled", "OW-012", "New keys go to groups with logs too.", "tagging.groups_with_room")
def _groups_with_logs_are_filled(_: Function) -> Function:
    return committed_groups


@mutant(
    "clustered-groups-are-filled",
    "OW-012 OW-011",
    "New keys go to groups that a clustering is to replace.",
    "tagging.groups_with_room",
)
def _clustered_groups_are_filled(_: Function) -> Function:
    def with_room(view: View) -> tuple[GroupId, ...]:
        logged = {group_of(one) for one in snapshot_slices(view) if one.log_files}
        return tuple(one for one in committed_groups(view) if one not in logged)

    return with_room


@mutant("filled-groups-are-logged", "OW-012", "New keys of a small file go to a log.", "writers.takes_new_keys")
def _filled_groups_are_logged(_: Function) -> Function:
    return lambda _view, change: not change.found


@mutant("inserts-always-repeat-keys", "OW-015", "An insert never merges with a small file.", "writers.merges_inserts")
def _inserts_always_repeat_keys(_: Function) -> Function:
    return lambda _write, _found: False


@mutant("bulk-inserts-fill-small-files", "OW-012", "A bulk insert fills small files.", "tagging.insert_group")
def _bulk_inserts_fill_small_files(original: Function) -> Function:
    def filling(view: View, write: Write, partition: str) -> GroupId:
        request = replace(write.request, operation=Operation.INSERT)
        bulk = write.request.operation is Operation.BULK_INSERT
        filled: GroupId = original(view, replace(write, request=request) if bulk else write, partition)
        return filled

    return filling


@mutant("insert-groups-by-partition", "OW-012 OW-028", "All inserts share one group.", "tagging.insert_group")
def _insert_groups_by_partition(_: Function) -> Function:
    return lambda _view, _write, partition: (partition, new_file_id(partition))


@mutant("copy-on-write-forgets-old-rows", "OW-015", "A rewritten base file holds new rows only.", "staging.base_file")
def _copy_on_write_forgets_old_rows(original: Function) -> Function:
    def anew(view: View, change: Change, schema: Schema, requested: InstantTime) -> Staged | None:
        made: Staged | None = original(view, replace(change, found=None), schema, requested)
        return made

    return anew


@mutant("delete-writes-nothing", "OW-013 OW-016", "Deletes leave no block in a log.", "staging.blocks_of_change")
def _delete_writes_nothing(original: Function) -> Function:
    def rows_only(*given: object) -> tuple[Block, ...]:
        return tuple(one for one in original(*given) if not isinstance(one, DeleteBlock))

    return rows_only


@mutant(
    "marked-rows-lose-their-ordering",
    "LF-017 MG-006",
    "A row that is marked as deleted is logged as a delete without ordering values.",
    "staging.tombstone",
)
def _marked_rows_lose_their_ordering(original: Function) -> Function:
    return lambda version, *given: original(replace(version, ordering=None), *given)


@mutant(
    "zeroes-of-deletes-are-none",
    "LF-017",
    "A delete whose ordering value is zero is logged as one without.",
    "staging.tombstone",
)
def _zeroes_of_deletes_are_none(original: Function) -> Function:
    return lambda *given: replace(original(*given), zero_is_value=False)


@mutant("carried-row-gets-new-time", "MF-010", "A carried-over row takes the new time.", "staging.in_file")
def _carried_row_gets_new_time(original: Function) -> Function:
    def stamped(record: object, name: str) -> object:
        row = original(record, name)
        instant = name.rpartition(".")[0].rpartition("_")[2]
        return replace(row, values={**row.values, "_hoodie_commit_time": instant}) if instant else row

    return stamped


@mutant("abort-without-looking", "SA-005", "A writer withdraws what was reported as failed.", "writers.has_completed")
def _abort_without_looking(original: Function) -> Function:
    del original
    return lambda _table, _write: False
