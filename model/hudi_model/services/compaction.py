"""Compaction: the logs of a file slice become part of a new base file, planned first and executed later."""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from hudi_model.actions import Action, CompactionPlan, State, WriteStat
from hudi_model.effects import FIRST_ATTEMPT, Effects, base_file_name
from hudi_model.files import BaseFile, FileSlice
from hudi_model.reading import read_slice
from hudi_model.rejection import Reason, Rejection, Unsupported
from hudi_model.requests import number, setting
from hudi_model.schemas import table_schema
from hudi_model.services import plans
from hudi_model.slicing import path_of, snapshot_slices
from hudi_model.staging import Staged, base_extension, in_file
from hudi_model.tables import RELEASED, Readings, Table, View, visible_commits
from hudi_model.time import InstantTime, moment_of
from hudi_model.timeline import DATA_ACTIONS, completion


def schedule(table: Table, requested: InstantTime, settings: plans.Settings, readings: Readings = RELEASED) -> Effects:
    """A plan of the slices with logs that nobody else rewrites and strategies leave; none before one is due.

    Raises: CONFIG_INVALID for a copy-on-write table, an unknown trigger, a strategy that does not fit.

    Clauses: CP-001, CP-002, CP-003, CP-005, CP-008, CP-009, CP-013.
    """
    view = plans.view_before(table, requested, readings)
    if not view.configuration.merge_on_read:
        raise Rejection(Reason.CONFIG_INVALID, "CP-001", "hoodie.table.type", "only merge-on-read tables have logs")
    if not is_due(view, requested, settings):
        return ()
    logged = tuple(one for one in plans.free_slices(view, Action.COMPACTION) if one.log_files)
    found = tuple(plans.operation_on(one) for one in chosen(view, logged, settings))
    if not found or waits_for_writers(view):
        return ()
    return plans.request(table, requested, Action.COMPACTION, CompactionPlan(found))


TRIGGERS: Mapping[str, Callable[[bool, bool], bool]] = {
    "NUM_COMMITS": lambda many, _: many,
    "NUM_COMMITS_AFTER_LAST_REQUEST": lambda many, _: many,
    "TIME_ELAPSED": lambda _, late: late,
    "NUM_AND_TIME": lambda many, late: many and late,
    "NUM_OR_TIME": lambda many, late: many or late,
}
"""When a compaction is due, given whether enough was written and whether enough time has gone by."""


def is_due(view: View, requested: InstantTime, settings: plans.Settings) -> bool:
    """Whether enough happened since the last compaction that completed was requested, or since the first deltacommit.

    Raises: CONFIG_INVALID for an unknown trigger.

    Clauses: CP-008.
    """
    name = setting(settings, "hoodie.compact.inline.trigger.strategy").upper()
    if name not in TRIGGERS:
        raise Rejection(Reason.CONFIG_INVALID, "CP-008", "hoodie.compact.inline.trigger.strategy", name)
    commits = visible_commits(view)
    last = [one.requested for one in commits if one.action is Action.COMMIT]
    if name == "NUM_COMMITS_AFTER_LAST_REQUEST":
        last += [one.requested for one in view.timeline.instants if one.action is Action.COMPACTION]
    deltas = (one for one in commits if one.action is Action.DELTA_COMMIT)
    since = [one.requested for one in deltas if not last or completion(one) > max(last)]
    many = len(since) >= number(settings, "hoodie.compact.inline.max.delta.commits")
    patience = dt.timedelta(seconds=number(settings, "hoodie.compact.inline.max.delta.seconds"))
    begin = max(last) if last else min(since, default=requested)
    # The first instant of a metadata table is no date.
    return TRIGGERS[name](many, "TIME" in name and moment_of(requested) - moment_of(begin) >= patience)


Slices: TypeAlias = tuple[FileSlice, ...]
Strategy: TypeAlias = Callable[[Slices, frozenset[str], plans.Settings], Slices]
"""What is left of slices, given the table's partitions and the settings."""


def with_many_logs(slices: Slices, _: frozenset[str], settings: plans.Settings) -> Slices:
    """Those with so many log files."""
    least = number(settings, "hoodie.compaction.logfile.num.threshold")
    return tuple(one for one in slices if len(one.log_files) >= least)


def of_newest_days(slices: Slices, places: frozenset[str], settings: plans.Settings) -> Slices:
    """Those in so many of the table's newest days.

    Raises: CONFIG_INVALID where the path of a partition is no day, its parts after slashes, perhaps named.
    """
    try:
        days = sorted(places, key=lambda at: dt.datetime.strptime(re.sub("[^/]*=", "", at), "%Y/%m/%d"))  # noqa: DTZ007
    except ValueError as error:
        raise Rejection(Reason.CONFIG_INVALID, "CP-013", "the partitions", str(error)) from None
    newest = days[::-1][: number(settings, "hoodie.compaction.daybased.target.partitions")]
    return tuple(one for one in slices if one.partition in newest)


def of_pattern(slices: Slices, _: frozenset[str], settings: plans.Settings) -> Slices:
    """Those in partitions in whose paths a pattern is found."""
    pattern = setting(settings, "hoodie.compaction.partition.path.regex")
    return tuple(one for one in slices if re.search(pattern, one.partition))


STRATEGIES: Mapping[str, Strategy] = {
    "LogFileSizeBasedCompactionStrategy": lambda slices, *_: slices,
    "UnBoundedCompactionStrategy": lambda slices, *_: slices,
    "LogFileNumBasedCompactionStrategy": with_many_logs,
    "DayBasedCompactionStrategy": of_newest_days,
    "PartitionRegexBasedCompactionStrategy": of_pattern,
}
"""What strategies leave of slices, by their names; sizes of files bound none of them in the model."""


def chosen(view: View, slices: Slices, settings: plans.Settings) -> Slices:
    """The slices that all strategies leave, each of what the one before it left.

    Raises: CONFIG_INVALID where a strategy goes by days and a partition is none.

    Clauses: CP-013.
    """
    partitions = frozenset(one.partition for one in snapshot_slices(view))
    for named in setting(settings, "hoodie.compaction.strategy").split(","):
        name = named.strip().rpartition(".")[2]
        if name not in STRATEGIES:
            raise Unsupported("compaction-strategy")
        slices = STRATEGIES[name](slices, partitions, settings)
    return slices


def waits_for_writers(view: View) -> bool:
    """Whether a write that began earlier must end first. [Modified in v8] Its logs find their slice by themselves.

    Clauses: CP-009.
    """
    writing = any(one.state < State.COMPLETED and one.action in DATA_ACTIONS for one in view.timeline.instants)
    return writing and view.configuration.rules.logs_name_their_slice


def execute(table: Table, requested: InstantTime, completed: InstantTime, readings: Readings = RELEASED) -> Effects:
    """The planned slices as base files, and the commit that makes them count.

    Raises: INSTANT_NOT_FOUND, BASE_FILE_MISSING, LOG_FILE_MISSING, and every reason of the files read.

    Clauses: CP-002, CP-005, CP-006, CP-010, SL-007.
    """
    if plans.is_completed(table, requested):
        return ()
    view, plan = plans.view_before(table, requested, readings), plans.plan_of(table, requested, CompactionPlan)
    plans.refuse_foreign(plans.files_of_slices(plan.operations))
    staged = (compacted(view, plans.planned_slice(view, one), requested) for one in plan.operations)
    return plans.carry_out(view, Action.COMPACTION, requested, completed, staged)


def compacted(view: View, found: FileSlice, requested: InstantTime) -> Staged:
    """A slice as one base file: the rows that a snapshot reads, as they are; a file also where no row is left.

    Clauses: CP-004, CP-007, MG-012.
    """
    extension = base_extension(view.configuration)
    name = base_file_name(found.file_id, FIRST_ATTEMPT, requested, extension)
    rows = tuple(in_file(row, name) for row in read_slice(view, found, table_schema(view)))
    file = BaseFile(found.partition, found.file_id, FIRST_ATTEMPT, requested, extension, name, rows)
    stat = WriteStat(found.partition, found.file_id, path_of(file), found.base_instant, len(rows))
    return Staged(file, stat, "MERGE" if found.base_file else "CREATE")
