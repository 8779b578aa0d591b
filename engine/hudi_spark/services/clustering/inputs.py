"""What a plan names, found in the table of today; a plan whose groups were written since cannot be carried out.

Clauses: CL-005.
"""

from collections.abc import Iterator, Mapping
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
    known = {(one.partition, one.file_id): one for one in snapshot.slices}
    return tuple(
        Input(tuple(slices), group.num_output_file_groups or 1)
        for group in plan.input_groups
        for slices in _by_partition(group.slices, known, requested)
    )


def _by_partition(
    infos: tuple[SliceInfo, ...], known: Mapping[GroupId, FileSlice], requested: str
) -> Iterator[list[FileSlice]]:
    found: dict[str, list[FileSlice]] = {}
    for info in infos:
        group = (info.partition_path or "", info.file_id or "")
        one = known.get(group)
        if one is None or not _is_planned(one, info):
            raise _changed(group, requested)
        found.setdefault(one.partition, []).append(one)
    yield from found.values()


def _is_planned(one: FileSlice, info: SliceInfo) -> bool:
    """Whether a slice has only files that the plan names; logs of writes that failed since may be gone."""
    named = {_name(path) for path in info.delta_file_paths}
    return _name(one.base_file or "") == _name(info.data_file_path or "") and all(
        _name(path) in named for path in one.log_files
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _changed(group: GroupId, requested: str) -> HudiError:
    where = "/".join(part for part in group if part)
    message = f"the clustering {requested} cannot be carried out: file group {where} was written since it was planned"
    return HudiError(Reason.WRITE_CONFLICT, "CL-005", message, hint="the plan is given up: plan a clustering anew")
