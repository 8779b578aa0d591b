"""What a plan names, found in the table of today; a plan whose groups were written since cannot be carried out.

Clauses: CL-005.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hudi_adapter.reasons import Reason
from hudi_format.timeline.plan_values import ClusteringPlan, SliceInfo

from hudi_spark.errors import HudiError
from hudi_spark.state.commits import GroupId
from hudi_spark.state.slicing import FileSlice
from hudi_spark.state.snapshots import Snapshot


@dataclass(frozen=True, slots=True)
class Input:
    """The slices of a clustering group, and into how many files they go."""

    slices: tuple[FileSlice, ...]
    files: int


def inputs_of(plan: ClusteringPlan, snapshot: Snapshot, requested: str) -> tuple[Input, ...]:
    """The groups of a plan by partition, each slice as a snapshot reads it now.

    Raises:
        HudiError: WRITE_CONFLICT where a slice is not what the plan names.

    Clauses: CL-005.

    """
    known = _Known(snapshot, requested)
    return tuple(
        Input(tuple(slices), group.num_output_file_groups or 1)
        for group in plan.input_groups
        for slices in _by_partition(group.slices, known)
    )


def _by_partition(infos: tuple[SliceInfo, ...], known: "_Known") -> Iterator[list[FileSlice]]:
    found: dict[str, list[FileSlice]] = {}
    for info in infos:
        one = known.planned(info)
        found.setdefault(one.partition, []).append(one)
    yield from found.values()


class _Known:
    """The table of today, as a plan's slices are looked up in it."""

    def __init__(self, snapshot: Snapshot, requested: str) -> None:
        self._requested = requested
        self._slices = {(one.partition, one.file_id): one for one in snapshot.slices}
        newer = (one for one in snapshot.commits if one.instant.requested > requested)
        self._written = frozenset(group for commit in newer for group in commit.groups())
        self._logs = frozenset(path for commit in snapshot.commits for _, path, _ in commit.log_files())

    def planned(self, info: SliceInfo) -> FileSlice:
        """The slice, which nobody has written to since it was planned.

        Clauses: CL-005.
        """
        group = (info.partition_path or "", info.file_id or "")
        one = self._slices.get(group)
        if one is None or group in self._written or not self._is_planned(one, info):
            raise _changed(group, self._requested)
        return one

    def _is_planned(self, one: FileSlice, info: SliceInfo) -> bool:
        """Logs that no write names are those of rollbacks, and change no row; logs of failed writes may be gone."""
        named = {_name(path) for path in info.delta_file_paths}
        return _name(one.base_file or "") == _name(info.data_file_path or "") and all(
            _name(path) in named for path in one.log_files if path in self._logs
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _changed(group: GroupId, requested: str) -> HudiError:
    where = "/".join(part for part in group if part)
    message = f"the clustering {requested} cannot be carried out: file group {where} was written since it was planned"
    return HudiError(Reason.WRITE_CONFLICT, "CL-005", message, hint="the plan is given up: plan a clustering anew")
