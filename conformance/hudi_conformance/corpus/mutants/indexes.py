"""Rules of reading indexes and of what they hold, broken."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hudi_model.actions import IndexDefinition
from hudi_model.files import BaseFile, DeleteBlock, FileSlice, LogFile, Schema, Value
from hudi_model.filters import IDENTITY
from hudi_model.filters import Function as Called
from hudi_model.indexes import EVERY_PARTITION, rows_in
from hudi_model.merge_rules import MergeRule, Version
from hudi_model.metadata import SCHEMA
from hudi_model.pruning import Facts, Known
from hudi_model.slicing import snapshot_slices
from hudi_model.tables import Table, View

from hudi_conformance.corpus.mutants.registry import Function, mutant

# What the metadata table holds, and what readers may use of it


@mutant("any-index-of-the-folder-is-used", "MT-007", "Every index that lies there is used.", "metadata.built")
def _any_index_of_the_folder_is_used(_: Function) -> Function:
    def names(table: Table) -> frozenset[str]:
        return frozenset(one.name for one in table.metadata.indexes) if table.metadata else frozenset()

    return names


@mutant(
    "indexes-used-without-the-list", "MT-007", "Indexes are used though the list of files is not.", "metadata.built"
)
def _indexes_used_without_the_list(original: Function) -> Function:
    def names(table: Table) -> frozenset[str]:
        properties = table.properties if isinstance(table.properties, Mapping) else {}
        listed = properties.get("hoodie.table.metadata.partitions", "")
        return original(table) or frozenset(filter(None, listed.split(",")) if table.metadata else ())

    return names


@mutant(
    "metadata-logs-unread", "MT-001 MT-002", "Only base files of the metadata table are read.", "reading.read_slice"
)
def _metadata_logs_unread(original: Function) -> Function:
    return _of_metadata(original, lambda found: replace(found, log_files=()))


@mutant("metadata-base-files-unread", "MT-015", "Only logs of the metadata table are read.", "reading.read_slice")
def _metadata_base_files_unread(original: Function) -> Function:
    return _of_metadata(original, lambda found: replace(found, base_file=None))


@mutant("first-file-group-only", "MT-017", "Of each index the first file group is read.", "reading.read_slice")
def _first_file_group_only(original: Function) -> Function:
    empty: dict[str, Any] = {"base_file": None, "log_files": ()}
    return _of_metadata(original, lambda found: found if "-0000" in found.file_id else replace(found, **empty))


@mutant("metadata-deletes-ignored", "MT-008 IX-021", "Tombstones of entries are passed over.", "reading.read_slice")
def _metadata_deletes_ignored(original: Function) -> Function:
    def undeleted(log: LogFile) -> LogFile:
        blocks = log.blocks if isinstance(log.blocks, tuple) else ()
        return replace(log, blocks=tuple(one for one in blocks if not isinstance(one, DeleteBlock)))

    return _of_metadata(original, lambda found: replace(found, log_files=tuple(map(undeleted, found.log_files))))


def _of_metadata(original: Function, changed: Callable[[FileSlice], FileSlice]) -> Function:
    """Slices of metadata tables are read otherwise."""

    def read(view: View, found: FileSlice, schema: Schema) -> Any:
        return original(view, changed(found) if schema == SCHEMA else found, schema)

    return read


@mutant(
    "lists-are-replaced", "MT-008", "A newer list of files takes the place of the older.", "merging.merged_by_strategy"
)
def _lists_are_replaced(original: Function) -> Function:
    def replaced(rule: MergeRule, older: Version, newer: Version) -> Version:
        found: Version = newer if rule.strategy == "HoodieMetadataPayload" else original(rule, older, newer)
        return found

    return replaced


# What indexes hold


@mutant("newest-slices-listed", "MT-010 MT-009", "Only files of current slices are listed.", "indexes.held_files")
def _newest_slices_listed(_: Function) -> Function:
    def current(view: View) -> tuple[BaseFile | LogFile, ...]:
        found = snapshot_slices(view)
        return (*(one.base_file for one in found if one.base_file), *(log for one in found for log in one.log_files))

    return current


@mutant("lists-without-sizes", "MT-010", "The list of files says no sizes.", "indexes.file_listing")
def _lists_without_sizes(original: Function) -> Function:
    return lambda view: {key: dict.fromkeys(names, 0) for key, names in original(view).items()}


@mutant("partitions-unlisted", "MT-010 MT-002", "There is no list of all partitions.", "indexes.file_listing")
def _partitions_unlisted(original: Function) -> Function:
    return lambda view: {key: names for key, names in original(view).items() if key != EVERY_PARTITION}


@mutant("nulls-uncounted", "MT-011", "Nulls are values of which there are none.", "indexes.statistics")
def _nulls_uncounted(original: Function) -> Function:
    return lambda values: original([one for one in values if one is not None])


@mutant("bounds-in-order-of-length", "MT-011", "Texts are ordered by their length.", "indexes.statistics")
def _bounds_in_order_of_length(original: Function) -> Function:
    def ordered(values: Sequence[Value]) -> list[Value] | None:
        found: list[Value] | None = original(values)
        texts = [one for one in values if isinstance(one, str)]
        return found and [min(texts, key=len), max(texts, key=len), *found[2:]] if texts else found

    return ordered


@mutant("filters-of-logs", "IX-010", "Log files have bloom filters too.", "indexes.filter_of_file")
def _filters_of_logs(original: Function) -> Function:
    def of_any(index: IndexDefinition, view: View, file: BaseFile | LogFile) -> Iterator[tuple[str, Any]]:
        if isinstance(file, BaseFile):
            yield from original(index, view, file)
        elif rows_in(file):
            own = BaseFile(file.partition, file.file_id, "", file.instant, "", file.name, rows_in(file))
            yield from original(index, view, own)

    return of_any


@mutant("filters-of-the-first-key", "IX-010 IX-011", "A bloom filter knows one key.", "indexes.filter_of_file")
def _filters_of_the_first_key(original: Function) -> Function:
    def of_first(index: IndexDefinition, view: View, file: BaseFile | LogFile) -> Iterator[tuple[str, Any]]:
        yield from ((key, values[:1]) for key, values in original(index, view, file))

    return of_first


@mutant("record-index-of-partitions", "IX-020", "A key is found in a partition only.", "indexes.joined")
def _record_index_of_partitions(original: Function) -> Function:
    return lambda *parts: original("", *parts) if len(parts) == 1 else original(*parts)


@mutant("record-index-over-partitions", "IX-022", "A key has one place in the table.", "indexes.joined")
def _record_index_over_partitions(original: Function) -> Function:
    return lambda *parts: original(parts[-1]) if len(parts) == 2 else original(*parts)


@mutant("nulls-unindexed", "IX-030", "Rows without a value have no entry.", "indexes.live_rows")
def _nulls_unindexed(original: Function) -> Function:
    return lambda view: (one for one in original(view) if one[2].values.get("rider", one[2].values.get("note")))


@mutant("secondary-keys-unescaped", "IX-030 IX-033", "Keys are put together as they are.", "indexes.secondary_key")
def _secondary_keys_unescaped(original: Function) -> Function:
    return lambda value, key: original(value, key).replace("\\", "")


# What may be skipped


@mutant("ends-excluded", "IX-053", "The least and the greatest value count as outside.", "pruning.within")
def _ends_excluded(original: Function) -> Function:
    def inside(bounds: list[Any], word: str, value: Sequence[Any], kind: str) -> frozenset[bool | None]:
        found: frozenset[bool | None] = original(bounds, word, value, kind)
        at_end = word in ("=", "<=", ">=") and any(
            end is not None and original([end, end, 0, 1], "=", value, kind) == frozenset({True}) for end in bounds[:2]
        )
        return found - {True} if at_end else found

    return inside


@mutant("zeros-are-bounds", "IX-053 MT-023", "Two bounds of 0 are taken for bounds of floats.", "pruning.within")
def _zeros_are_bounds(original: Function) -> Function:
    def inside(bounds: list[Any], word: str, value: Sequence[Any], kind: str) -> frozenset[bool | None]:
        are_zeros = bounds[0] is not None and bounds[0] == bounds[1] == 0
        found: frozenset[bool | None] = original(
            [0.0, math.ulp(0.0), *bounds[2:]] if are_zeros else bounds, word, value, kind
        )
        return found

    return inside


@mutant("nulls-skipped", "IX-053", "Files are skipped where no value can match, nulls or not.", "pruning.within")
def _nulls_skipped(original: Function) -> Function:
    def inside(bounds: list[Any], word: str, value: Sequence[Any], kind: str) -> frozenset[bool | None]:
        return (
            frozenset({False}) if word == "is_null" and bounds[0] is not None else original(bounds, word, value, kind)
        )

    return inside


@mutant("negation-of-bounds", "IX-052 IX-053", "What not all rows are, none is.", "pruning.possible")
def _negation_of_bounds(original: Function) -> Function:
    def possible(form: Any, *known: Any) -> frozenset[bool | None]:
        found: frozenset[bool | None] = original(form, *known)
        return found - {True} if form[0] == "not" and False in found else found

    return possible


@mutant("slices-pruned-by-base-file", "IX-054 IX-058", "A slice is pruned by its base file.", "pruning.facts_of")
def _slices_pruned_by_base_file(original: Function) -> Function:
    return lambda view, found, known: original(view, replace(found, log_files=()) if found.base_file else found, known)


@mutant("slices-pruned-by-logs", "IX-054", "A slice with logs is pruned by them.", "pruning.facts_of")
def _slices_pruned_by_logs(original: Function) -> Function:
    return lambda view, found, known: original(
        view, replace(found, base_file=None) if found.log_files else found, known
    )


@mutant(
    "expressions-taken-for-columns",
    "IX-040 IX-042",
    "An index of a function answers for the column.",
    "pruning.facts_of",
)
def _expressions_taken_for_columns(original: Function) -> Function:
    def of_columns(view: View, found: FileSlice, known: Known) -> Facts:
        plain = {name: (replace(one, function="identity"), rows) for name, (one, rows) in known.items()}
        facts: Facts = original(view, found, plain)
        return facts

    return of_columns


@mutant("secondary-index-of-one-row", "IX-057", "A value has one row.", "pruning.facts_of")
def _secondary_index_of_one_row(original: Function) -> Function:
    def of_one(view: View, found: FileSlice, known: Known) -> Facts:
        few = {
            name: (one, dict(_first_of_each(rows)) if one.kind == "secondary_index" else rows)
            for name, (one, rows) in known.items()
        }
        facts: Facts = original(view, found, few)
        return facts

    return of_one


def _first_of_each(rows: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    seen = set()
    for key in sorted(rows):
        value = key.rpartition("$")[0]
        if value not in seen:
            seen.add(value)
            yield key, rows[key]


@mutant("record-index-finds-nothing", "IX-055 IX-020", "No key is where it is looked up.", "pruning.key_of_value")
def _record_index_finds_nothing(original: Function) -> Function:
    def reversed_key(*arguments: Any) -> str | None:
        found: str | None = original(*arguments)
        return found and f"{found} "

    return reversed_key


@mutant("secondary-index-of-nothing", "IX-057", "A value that is looked up has no row.", "pruning.secondary_key")
def _secondary_index_of_nothing(original: Function) -> Function:
    return lambda value, key: original(f"{value} ", key)


@mutant("expressions-never-match", "IX-040", "Results are compared with the column's values.", "pruning.facts_of")
def _expressions_never_match(original: Function) -> Function:
    def of_columns(view: View, found: FileSlice, known: Known) -> Facts:
        facts: Facts = original(view, found, known)
        return Facts(
            lambda function, column: facts.ranges(IDENTITY, column) or facts.ranges(function, column),
            facts.lacks,
        )

    return of_columns


@mutant("arguments-of-functions-ignored", "IX-041", "A function takes its column alone.", "filters.applied")
def _arguments_of_functions_ignored(original: Function) -> Function:
    return lambda function, value: original(Called(function.name, usual_arguments(function)), value)


def usual_arguments(function: Called) -> tuple[Any, ...]:
    """What a function that cannot be without arguments takes by default."""
    usual = {"date_format": ("yyyy",), "date_add": (0,), "date_sub": (0,), "regexp_replace": ("", "")}
    return usual.get(function.name, ("",) if function.name == "regexp_extract" else ())


@mutant("days-are-numbered-by-month", "IX-041", "The day of a date is its month.", "filters.day_of")
def _days_are_numbered_by_month(original: Function) -> Function:
    def by_month(value: Any, pattern: str = "") -> Any:
        found = original(value, pattern)
        return found and found.replace(day=found.month)

    return by_month


@mutant(
    "any-index-of-the-folder-is-checked",
    "MT-007",
    "Violations are reported of indexes that no reader uses.",
    "hudi_model_tools.checks.metadata.property_names",
)
def _any_index_of_the_folder_is_checked(original: Function) -> Function:
    every = ("files", "column_stats", "record_index", "bloom_filters")

    def names(properties: Mapping[str, str], key: str) -> Any:
        found = original(properties, key)
        return (*found, *every) if key.endswith("metadata.partitions") and found else found

    return names


@mutant(
    "entries-unchecked",
    "MT-005",
    "What indexes hold is not looked at.",
    "hudi_model_tools.checks.metadata.index_violations",
)
def _entries_unchecked(_: Function) -> Function:
    return lambda *_: ()


@mutant(
    "entries-not-compared",
    "MT-011 MT-014 IX-010 IX-040",
    "That there is an entry is enough.",
    "hudi_model_tools.checks.metadata.agrees",
)
def _entries_not_compared(_: Function) -> Function:
    return lambda *_: True


@mutant(
    "metadata-actions-unchecked",
    "MT-003",
    "Actions without a commit to the metadata table are not missed.",
    "hudi_model_tools.checks.metadata.actions_not_logged",
)
def _metadata_actions_unchecked(_: Function) -> Function:
    return lambda *_: ()


@mutant(
    "metadata-version-unchecked",
    "MT-001",
    "A metadata table may be of any version.",
    "hudi_model_tools.checks.metadata.partition_violations",
)
def _metadata_version_unchecked(_: Function) -> Function:
    return lambda *_: ()
