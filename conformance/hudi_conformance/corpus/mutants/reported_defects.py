"""Defects that users of other implementations have reported, put into the model; see specs/known-bugs.toml."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from hudi_model.actions import Action, CommitMetadata, IndexDefinition, Instant, State
from hudi_model.blocks import Change, blocks_of
from hudi_model.files import GroupId, LogFile
from hudi_model.requests import Write
from hudi_model.services.cleaning import files_of
from hudi_model.slicing import file_groups
from hudi_model.tables import Table, View
from hudi_model.tagging import Place
from hudi_model.time import InstantTime
from hudi_model.timeline import WRITE_ACTIONS

from hudi_conformance.corpus.mutants.registry import Function, mutant

FileKey = tuple[str, str]


@mutant(
    "what-a-gap-took-is-uncommitted",
    "TL-018 AR-006",
    "A saved write that stands alone before a gap is taken for the first write of the timeline.",
    "timeline.start_of",
)
def _what_a_gap_took_is_uncommitted(original: Function) -> Function:
    def from_the_first(instants: Iterable[Instant]) -> InstantTime | None:
        found: InstantTime | None = original([one for one in instants if one.action is not Action.SAVEPOINT])
        return found

    return from_the_first


@mutant(
    "clean-overtakes-pending-writes",
    "CN-002",
    "What a clean retains does not depend on writes that are pending.",
    "services.cleaning.earliest_to_retain",
)
def _clean_overtakes_pending_writes(original: Function) -> Function:
    def overtaking(view: View, now: InstantTime, settings: Mapping[str, str]) -> InstantTime | None:
        writes = view.timeline.instants
        done = tuple(one for one in writes if one.action not in WRITE_ACTIONS or one.state is State.COMPLETED)
        seen = replace(view, timeline=replace(view.timeline, instants=done))
        found: InstantTime | None = original(seen, now, settings)
        return found

    return overtaking


@mutant(
    "overwrites-pass-pending-clusterings",
    "OW-011",
    "What a write replaces is not compared with what a pending clustering is about to replace.",
    "conflicts.refuse_pending_clustering",
)
def _overwrites_pass_pending_clusterings(original: Function) -> Function:
    def of_written_groups(table: Table, write: Write) -> None:
        made = None if write.metadata is None else replace(write.metadata, replaced=frozenset())
        original(table, replace(write, metadata=made))

    return of_written_groups


@mutant(
    "any-replacecommit-counts-as-a-clustering",
    "CL-008",
    "Commits count since the last replacecommit, whether it is of a clustering or of an overwrite.",
    "services.clustering.is_clustering",
)
def _any_replacecommit_counts_as_a_clustering(original: Function) -> Function:
    def replaces(content: object) -> bool:
        return bool(original(content)) or (isinstance(content, CommitMetadata) and bool(content.replaced))

    return replaces


@mutant(
    "null-dates-lie-in-the-default-partition",
    "DM-033",
    "A missing date or moment lies in the partition of nulls.",
    "partitions.date_text",
)
def _null_dates_lie_in_the_default_partition(original: Function) -> Function:
    return lambda value, *rest: "__HIVE_DEFAULT_PARTITION__" if value is None else original(value, *rest)


@mutant(
    "greatest-keys-are-not-found",
    "OW-020",
    "The greatest key of each file group is new to a writer.",
    "tagging.known_rows",
)
def _greatest_keys_are_not_found(original: Function) -> Function:
    def all_but_the_greatest(view: View, kind: str) -> dict[tuple[str, str], Sequence[Place]]:
        found: dict[tuple[str, str], Sequence[Place]] = original(view, kind)
        greatest: dict[GroupId, str] = {}
        for (_, key), places in found.items():
            for group, _ in places:
                greatest[group] = max(key, greatest.get(group, ""))
        for (partition, key), places in tuple(found.items()):
            if all(greatest[group] == key for group, _ in places):
                del found[partition, key]
        return found

    return all_but_the_greatest


@mutant(
    "hours-keep-nothing-from-before",
    "CN-002 CN-003",
    "A clean by hours keeps no slice from before the first write of those hours but a group's newest.",
    "services.cleaning.removable_files",
)
def _hours_keep_nothing_from_before(original: Function) -> Function:
    def of_these_hours(view: View, earliest: InstantTime | None, settings: Mapping[str, str]) -> frozenset[FileKey]:
        found: frozenset[FileKey] = original(view, earliest, settings)
        if settings.get("hoodie.clean.policy") != "KEEP_LATEST_BY_HOURS":
            return found
        slices = (one for group in file_groups(view) for one in group.slices[:-1])
        return found.union(*(files_of(view, one) for one in slices if one.base_instant < (earliest or "")))

    return of_these_hours


@mutant(
    "deleted-keys-have-one-place",
    "OW-020",
    "Of several file groups in which logs deleted a key the first one is its place.",
    "tagging.known_rows",
)
def _deleted_keys_have_one_place(original: Function) -> Function:
    def first_of_deleted(view: View, kind: str) -> dict[tuple[str, str], Sequence[Place]]:
        found: dict[tuple[str, str], Sequence[Place]] = original(view, kind)
        return {key: places if any(row for _, row in places) else places[:1] for key, places in found.items()}

    return first_of_deleted


@mutant(
    "blocks-behind-unseen-ones-are-lost",
    "LF-016",
    "Nothing is read behind a block of a write that is not seen.",
    "blocks.effective_blocks",
)
def _blocks_behind_unseen_ones_are_lost(original: Function) -> Function:
    def up_to_unseen(logs: Iterable[LogFile], counts: Callable[[InstantTime], bool]) -> tuple[Change, ...]:
        kept: list[LogFile] = []
        for log in logs:
            blocks = blocks_of(log)
            times = [getattr(one, "instant", None) for one in blocks]
            unseen = [at for at, one in enumerate(times) if one is None or not counts(one)]
            kept.append(replace(log, blocks=blocks[: unseen[0]]) if unseen else log)
            if unseen:
                break
        found: tuple[Change, ...] = original(kept, counts)
        return found

    return up_to_unseen


@mutant(
    "negative-decimals-above-all-others",
    "MT-011 MT-023",
    "Decimals are bounded by their bytes, so that those below zero come after all others.",
    "indexes.statistics",
)
def _negative_decimals_above_all_others(original: Function) -> Function:
    def by_bytes(values: Sequence[object]) -> list[object] | None:
        known = [one for one in values if isinstance(one, Decimal)]
        if not known:
            found: list[object] | None = original(values)
            return found
        ordered = sorted(known, key=lambda one: (one < 0, one))
        return [ordered[0], ordered[-1], len(values) - len(known), len(values)]

    return by_bytes


@mutant(
    "all-secondary-indexes-are-of-one-column",
    "IX-030 IX-031",
    "Changes of the first secondary index are logged to every secondary index of the table.",
    "metadata.logged_to",
)
def _all_secondary_indexes_are_of_one_column(original: Function) -> Function:
    def of_the_first(table: Table, metadata: Table) -> tuple[IndexDefinition, ...]:
        found: tuple[IndexDefinition, ...] = original(table, metadata)
        sources = [one.sources for one in found if one.kind == "secondary_index"][:1]
        return tuple(replace(one, sources=sources[0]) if one.kind == "secondary_index" else one for one in found)

    return of_the_first


@mutant(
    "unknown-statistics-have-no-nulls",
    "MT-013 IX-053",
    "A slice whose statistics of a column are unknown has no null in it.",
    "indexes.slice_statistics",
)
def _unknown_statistics_have_no_nulls(original: Function) -> Function:
    return lambda *given: original(*given) or [None, None, 0, 1]
