"""Two records of the metadata table under one key become one, the later after the earlier.

lists of files   name by name; a name that the later marks as deleted is gone, sizes only grow
statistics       the later, where either is deleted or the later is a tight bound; else both ranges together
everything else  the later
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hudi_format.metadata.records import ColumnStats, FileEntry, FileList, MetadataRecord
from hudi_format.metadata.wrapped_values import Wrapped, plain_value


def combined(earlier: MetadataRecord | None, later: MetadataRecord, *, marks_stay: bool = False) -> MetadataRecord:
    """The record that counts after both.

    `marks_stay`: of a list of files also marks of names that the earlier record has, for what lies below both.

    Clauses: MT-008, MT-018.
    """
    if earlier is None or earlier.type is not later.type:
        return later
    before, after = earlier.content, later.content
    if isinstance(before, FileList) and isinstance(after, FileList):
        return replace(later, content=_combined_files(before, after, marks_stay=marks_stay))
    if isinstance(before, ColumnStats) and isinstance(after, ColumnStats):
        return replace(later, content=_combined_stats(before, after))
    return later


def is_live(record: MetadataRecord) -> bool:
    """Whether a record says that something is there."""
    return isinstance(record.content, FileList) or not getattr(record.content, "is_deleted", False)


def _combined_files(before: FileList, after: FileList, *, marks_stay: bool) -> FileList:
    """Clauses: MT-008, MT-010."""
    entries = dict(before.entries)
    for name, entry in after.entries.items():
        known = entries.get(name)
        if entry.is_deleted and known is not None and not (known.is_deleted or marks_stay):
            del entries[name]
        elif known is None or entry.is_deleted:
            # The mark of a name that is not there yet meets it in the base file.
            entries[name] = entry
        else:
            entries[name] = FileEntry(max(known.size, entry.size))
    return FileList(entries)


def _combined_stats(before: ColumnStats, after: ColumnStats) -> ColumnStats:
    """Clauses: MT-018."""
    if before.is_deleted or after.is_deleted or after.is_tight_bound:
        return after
    return replace(
        after,
        minimum=_chosen(min, before, after, before.minimum, after.minimum),
        maximum=_chosen(max, before, after, before.maximum, after.maximum),
        value_type=before.value_type if after.minimum is None else after.value_type,
        value_count=_sum(before.value_count, after.value_count),
        null_count=_sum(before.null_count, after.null_count),
        total_size=_sum(before.total_size, after.total_size),
        total_uncompressed_size=_sum(before.total_uncompressed_size, after.total_uncompressed_size),
    )


def _sum(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else before + after


def _chosen(
    choose: Callable[..., tuple[Any, Wrapped]],
    before: ColumnStats,
    after: ColumnStats,
    earlier: Wrapped | None,
    later: Wrapped | None,
) -> Wrapped | None:
    if earlier is None or later is None:
        return later if earlier is None else earlier
    pairs = ((plain_value(earlier, before.value_type), earlier), (plain_value(later, after.value_type), later))
    try:
        return choose(pairs, key=lambda pair: pair[0])[1]
    except TypeError:
        # Bounds that do not compare bound nothing together.
        return None
