"""Rules of the draft of version 10, broken."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from hudi_format.errors import FormatError, Reason
from hudi_format.log.blocks import HeaderKey
from hudi_format.log.native import RECORD_KEY, native_rows
from hudi_model.actions import RollbackPlan
from hudi_model.effects import Effects, PutMarker
from hudi_model.files import DataBlock, LogFile
from hudi_model.services.savepoints import dropped_metadata
from hudi_model.staging import Staged
from hudi_model.tables import Table, View
from hudi_model.time import InstantTime
from hudi_model.upgrades import settle

from hudi_conformance.corpus.mutants.registry import Function, mutant

_NATIVE = "hudi_format.log.native"


@mutant(
    "native-logs-are-foreign", "NL-001", "No name is that of a native log.", "hudi_format.names.parse_native_log_name"
)
def _native_logs_are_foreign(_: Function) -> Function:
    return lambda _name: None


@mutant("native-logs-change-nothing", "NL-002", "Native logs are no logs of a slice.", "slicing.data_logs")
def _native_logs_change_nothing(original: Function) -> Function:
    def of_blocks(view: View) -> tuple[LogFile, ...]:
        return tuple(log for log in original(view) if not log.native)

    return of_blocks


@mutant("native-log-without-schema-read", "NL-003", "A native log needs no schema in its footer.", f"{_NATIVE}._header")
def _native_log_without_schema_read(original: Function) -> Function:
    return lambda data, file: {HeaderKey.SCHEMA: "", **original(data, file)}


@mutant("native-logs-are-whole-rows", "NL-003", "No footer says that rows are partial.", f"{_NATIVE}._header")
def _native_logs_are_whole_rows(original: Function) -> Function:
    def without_flag(data: bytes, file: str) -> Mapping[HeaderKey, str]:
        return {key: text for key, text in original(data, file).items() if key is not HeaderKey.IS_PARTIAL}

    return without_flag


@mutant("native-instant-required", "NL-003", "The footer of a native log has to say its instant.", f"{_NATIVE}._header")
def _native_instant_required(original: Function) -> Function:
    def stated(data: bytes, file: str) -> Mapping[HeaderKey, str]:
        header: Mapping[HeaderKey, str] = original(data, file)
        if HeaderKey.INSTANT_TIME not in header:
            raise FormatError(Reason.LOG_CONTENT_CORRUPT, "NL-003", file, None, "no instant")
        return header

    return stated


@mutant(
    "native-deletes-without-ordering", "NL-004", "No native delete has an ordering value.", f"{_NATIVE}.native_deletes"
)
def _native_deletes_without_ordering(original: Function) -> Function:
    def bare(block: Any, ordering: Any, file: str) -> pa.Table:
        rows: pa.Table = original(block, ordering, file)
        return _nulled(rows, rows.column_names[1:])

    return bare


def _nulled(rows: pa.Table, names: Collection[str]) -> pa.Table:
    """The rows with null in some columns."""
    for place, name in enumerate(rows.column_names):
        if name in names:
            rows = rows.set_column(place, name, pa.nulls(rows.num_rows, rows.column(name).type))
    return rows


@mutant(
    "native-deletes-lack-columns",
    "NL-004",
    "An ordering field that a log of deletes lacks is null.",
    f"{_NATIVE}.native_deletes",
)
def _native_deletes_lack_columns(original: Function) -> Function:
    def filled(block: Any, ordering: tuple[str, ...], file: str) -> pa.Table:
        try:
            return original(block, ordering, file)
        except FormatError:
            keys: pa.Table = original(block, (), file)
            for name in ordering:
                keys = keys.append_column(name, pa.nulls(keys.num_rows, pa.int64()))
            return keys

    return filled


@mutant("native-deletes-of-no-key", "NL-004", "A native delete without a key is none.", f"{_NATIVE}.native_deletes")
def _native_deletes_of_no_key(original: Function) -> Function:
    def keyed(block: Any, ordering: tuple[str, ...], file: str) -> pa.Table:
        rows = native_rows(block, file)
        if RECORD_KEY not in rows.column_names or not rows.column(RECORD_KEY).null_count:
            return original(block, ordering, file)
        return rows.filter(pc.is_valid(rows.column(RECORD_KEY))).select([RECORD_KEY, *ordering])

    return keyed


@mutant(
    "native-deletes-have-versions",
    "NL-005",
    "Deletes have the version after that of the rows.",
    "staging.native_logs_of",
)
def _native_deletes_have_versions(original: Function) -> Function:
    def apart(configuration: Any, staged: Staged) -> tuple[Staged, ...]:
        made: tuple[Staged, ...] = original(configuration, staged)
        if len(made) == 1:
            return made
        return tuple(_of_version(one, number) for number, one in enumerate(made, start=1))

    return apart


def _of_version(staged: Staged, version: int) -> Staged:
    if not isinstance(staged.file, LogFile):
        return staged
    log = staged.file
    name = log.name.replace(f"_{log.version}.", f"_{version}.")
    path = (staged.stat.path or "").replace(log.name, name)
    return replace(staged, file=replace(log, version=version, name=name), stat=replace(staged.stat, path=path))


@mutant(
    "native-deletes-before-rows", "NL-006", "Of one version deletes are merged before rows.", "slicing.requested_order"
)
def _native_deletes_before_rows(original: Function) -> Function:
    def reversed_kinds(log: LogFile) -> tuple[Any, ...]:
        *before, kind = original(log)
        return (*before, -kind)

    return reversed_kinds


@mutant("inline-logs-left-behind", "NL-006", "A table of version 10 has native logs only.", "slicing.data_logs")
def _inline_logs_left_behind(original: Function) -> Function:
    def of_version(view: View) -> tuple[LogFile, ...]:
        native = view.configuration.rules.native_logs
        return tuple(log for log in original(view) if log.native or not native)

    return of_version


@mutant("torn-native-log-skipped", "NL-007", "A native log that does not parse holds nothing.", "blocks.blocks_of")
def _torn_native_log_skipped(original: Function) -> Function:
    return lambda log: () if log.native and not isinstance(log.blocks, tuple) else original(log)


@mutant(
    "later-native-format-read", "NL-008", "Any version of the native log format is read.", f"{_NATIVE}._refuse_later"
)
def _later_native_format_read(_: Function) -> Function:
    return lambda _version, _file: None


@mutant("blocks-in-version-10", "NL-009", "Version 10 writes logs of blocks.", "staging.writes_native_logs")
def _blocks_in_version_10(_: Function) -> Function:
    return lambda _configuration: False


@mutant(
    "native-log-compaction-drops-deletes",
    "NL-010",
    "A log compaction makes native logs of its rows only.",
    "staging.native_logs_of",
)
def _native_log_compaction_drops_deletes(original: Function) -> Function:
    def rows_only(configuration: Any, staged: Staged) -> tuple[Staged, ...]:
        made: tuple[Staged, ...] = original(configuration, staged)
        return tuple(one for one in made if not _is_compacted_delete(one))

    return rows_only


def _is_compacted_delete(staged: Staged) -> bool:
    log = staged.file
    if not isinstance(log, LogFile) or log.native != "deletes" or not isinstance(log.blocks, tuple):
        return False
    return any(not isinstance(block, DataBlock) and getattr(block, "compacted_instants", ()) for block in log.blocks)


@mutant("native-changes-lose-images", "NL-011", "Native change logs keep no rows before.", f"{_NATIVE}.native_changes")
def _native_changes_lose_images(original: Function) -> Function:
    return lambda block, file: _nulled(original(block, file), {"before", "after"})


@mutant(
    "rollback-leaves-native-deletes",
    "NL-012",
    "A rollback removes no native log of deletes.",
    "services.rollback.plan_for",
)
def _rollback_leaves_native_deletes(original: Function) -> Function:
    def rows_only(*args: Any, **named: Any) -> RollbackPlan:
        plan: RollbackPlan = original(*args, **named)
        return replace(plan, files=frozenset(one for one in plan.files if ".deletes." not in one[1]))

    return rows_only


@mutant("native-deletes-without-marker", "NL-013", "Rows and deletes of an append have one marker.", "staging.placing")
def _native_deletes_without_marker(original: Function) -> Function:
    def unannounced(table: Table, requested: InstantTime, staged: Staged) -> Effects:
        placed: Effects = original(table, requested, staged)
        is_deletes = isinstance(staged.file, LogFile) and staged.file.native == "deletes"
        return tuple(one for one in placed if not (is_deletes and isinstance(one, PutMarker)))

    return unannounced


@mutant("meta-fields-mode-ignored", "NL-015", "The switch of meta fields decides.", "configuration.with_meta_fields")
def _meta_fields_mode_ignored(_: Function) -> Function:
    return lambda properties: properties


@mutant("upgrade-to-10-compacts", "NL-020", "The upgrade to 10 compacts all logs.", "upgrades.before_change")
def _upgrade_to_10_compacts(_: Function) -> Function:
    return lambda table, version, to, now: settle(table, now) if to != version else ()


@mutant("downgrade-keeps-native-logs", "NL-021", "The downgrade to 9 compacts nothing.", "upgrades.before_change")
def _downgrade_keeps_native_logs(_: Function) -> Function:
    return lambda table, _version, _to, _now: dropped_metadata(table)


@mutant("native-feed-goes-along", "NL-022", "A native change feed is no obstacle.", "upgrades.refuse_native_feed")
def _native_feed_goes_along(_: Function) -> Function:
    return lambda _table, _to: None
