"""File groups just before and just after a write: which slice they were, and whether it can still be read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from hudi_adapter.reasons import Reason
from hudi_format.names import BaseFileName, LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.commit_metadata import NO_PREVIOUS_COMMIT, WriteStat

from hudi_spark.errors import HudiError
from hudi_spark.state.commits import Commit, GroupId
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.pending_plans import pending_compactions
from hudi_spark.state.slicing import FileGroup, FileSlice, LogFile, SlicingRules, latest_slice
from hudi_spark.state.timeline import Timeline, Visibility


@dataclass(frozen=True, slots=True)
class Moment:
    """A state of the table: how many commits had completed, and what a reader then saw.

    Clauses: CD-005.
    """

    count: int
    visibility: Visibility
    pending: Mapping[GroupId, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A data file that the commit at a position wrote."""

    position: int
    path: str
    name: BaseFileName | LogFileName


def written_files(commits: Sequence[Commit]) -> dict[GroupId, list[WrittenFile]]:
    """The base files and logs of data that commits name, by file group.

    Clauses: SL-008.
    """
    found: dict[GroupId, list[WrittenFile]] = {}
    for position, commit in enumerate(commits):
        for group, path, name in commit.data_files():
            if isinstance(name, BaseFileName) or not name.cdc:
                found.setdefault(group, []).append(WrittenFile(position, path, name))
    return found


@dataclass(frozen=True, slots=True)
class Moments:
    """Finds the states around each write; `commits` are all up to the end of the range, in completion order.

    `groups` are all file groups in storage, replaced ones among them; `written` is what the commits name of them.

    Clauses: CD-005, RD-010.
    """

    storage: Storage
    configuration: TableConfiguration
    timeline: Timeline
    commits: tuple[Commit, ...]
    groups: Mapping[GroupId, FileGroup]
    written: Mapping[GroupId, Sequence[WrittenFile]]
    completions: Mapping[str, str]
    whole: Visibility
    text_order: bool

    def around(self, position: int) -> tuple[Moment, Moment]:
        """The states just before and just after the commit at a position.

        Clauses: CD-005.
        """
        time = self.commits[position].instant.at("completed")
        pending = pending_compactions(self.storage, self.timeline, time)
        return self._moment(position, time, pending), self._moment(position + 1, time, pending)

    def _moment(self, count: int, time: str, pending: Mapping[GroupId, tuple[str, ...]]) -> Moment:
        visible = frozenset(commit.instant.requested for commit in self.commits[:count])
        return Moment(count, replace(self.whole, visible=visible, limit=time), pending)

    def slice(self, id_: GroupId, moment: Moment) -> FileSlice | None:
        """The slice of a file group at a moment, lost log files included; None where it held nothing.

        Clauses: RD-004, RD-008, RD-018.
        """
        group = self.groups.get(id_, FileGroup([], []))
        present = {log.path for log in group.log_files}
        logs = {one.path: one.name for one in self._named(id_, moment) if isinstance(one.name, LogFileName)}
        lost = [LogFile(path, name) for path, name in logs.items() if path not in present]
        rules = SlicingRules(
            visibility=moment.visibility,
            limit=moment.visibility.limit,
            named=frozenset(one.path for one in self._named(id_, moment) if isinstance(one.name, BaseFileName)),
            completions=self.completions,
            logs_by_completion=self.configuration.has_completion_times,
            text_order=self.text_order,
        )
        whole = FileGroup(group.base_files, [*group.log_files, *lost])
        return latest_slice(id_, whole, moment.pending.get(id_, ()), rules)

    def _named(self, id_: GroupId, moment: Moment) -> list[WrittenFile]:
        return [one for one in self.written.get(id_, ()) if one.position < moment.count]

    def knows_nothing_of(self, id_: GroupId) -> bool:
        """Whether no commit that is known wrote a group, and no file of it is left: what it held cannot be told.

        Clauses: CD-006.
        """
        return not self.written.get(id_) and id_ not in self.groups

    def refusal(self, id_: GroupId, moment: Moment, found: FileSlice | None, stats: Sequence[WriteStat]) -> str | None:
        """The file, or the instant, without which the state of a group cannot be told; None where it is whole.

        `stats` are those of the write that found the group in this state; none for the state after it.

        Clauses: CD-006, RD-011, RD-018.
        """
        group = self.groups.get(id_, FileGroup([], []))
        bases = [one for one in self._named(id_, moment) if isinstance(one.name, BaseFileName)]
        base = max(bases, key=lambda one: one.name.instant).path if bases else None
        reached = found.base_instant if found is not None else ""
        if base is not None and all(one.path != base for one in group.base_files) and reached <= _instant_of(base):
            return base
        present = {log.path for log in group.log_files}
        for path in found.log_files if found is not None else ():
            if path not in present:
                return path
        return next((name for stat in stats if (name := _missing_before(stat, moment, found)) is not None), None)


def _missing_before(stat: WriteStat, moment: Moment, found: FileSlice | None) -> str | None:
    """The instant of the slice that a write found, where storage no longer has that slice."""
    previous = stat.prev_commit
    if previous in (None, "", NO_PREVIOUS_COMMIT) or not moment.visibility.sees(previous):
        return None
    rewrites = isinstance(parse_data_file_name((stat.path or "").rpartition("/")[2]), BaseFileName)
    gone = found is None or (rewrites and found.base_instant < previous)
    return f"the slice of {previous}" if gone else None


def not_retained(range_: object, what: str, *, cleaned: bool) -> HudiError:
    """The refusal of a range whose changes can no longer be told.

    Clauses: CD-006.
    """
    message = f"the changes of {range_} need rows that {'a clean removed' if cleaned else 'storage lacks'}"
    reason = Reason.RANGE_NOT_RETAINED if cleaned else Reason.BASE_FILE_MISSING
    return HudiError(reason, "CD-006" if cleaned else "RD-011", message, what, hint="ask for a later begin")


def _instant_of(path: str) -> str:
    name = parse_data_file_name(path.rpartition("/")[2])
    return name.instant if name is not None else ""
