"""Rules of names: timeline files, data files, log files."""

from dataclasses import replace
from typing import Any

from hudi_format.errors import FormatError, Reason
from hudi_format.names import BaseFileName, LogFileName, TimelineFileName
from hudi_format.table.partition_metafile import MetafileForm, PartitionMetafile

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "completion-time-not-in-the-name",
    "TL-009",
    "The completion time in the name of a completed file is not read.",
    "hudi_format.names.parse_timeline_file_name",
)
def _no_completion(original: Function) -> Function:
    def replaced(*arguments: Any, **named: Any) -> Any:
        found = original(*arguments, **named)
        return replace(found, completed=None) if getattr(found, "completed", None) else found

    return replaced


@mutant(
    "times-of-the-name-swapped",
    "TL-008",
    "The completion time stands before the requested one.",
    "hudi_format.names.parse_timeline_file_name",
)
def _times_swapped(original: Function) -> Function:
    def swapped(*given: Any, **named: Any) -> Any:
        found = original(*given, **named)
        return replace(found, requested=found.completed, completed=found.requested) if has_completed(found) else found

    return swapped


def has_completed(found: TimelineFileName | None) -> bool:
    """Whether a name says when its action completed."""
    return found is not None and found.completed is not None


@mutant(
    "inflight-names-are-requested",
    "TL-007",
    "A name that ends in `.inflight` is that of a requested action.",
    "hudi_format.names.parse_timeline_file_name",
)
def _inflight_names_are_requested(original: Function) -> Function:
    def requested(*given: Any, **named: Any) -> Any:
        found = original(*given, **named)
        return replace(found, state="REQUESTED") if found and found.state == "INFLIGHT" else found

    return requested


@mutant(
    "foreign-names-on-the-timeline-refused",
    "TL-021",
    "A name of the timeline's folder that is no instant's is refused.",
    "hudi_format.names.parse_timeline_file_name",
)
def _foreign_names_refused(original: Function) -> Function:
    def strict(name: str, *given: Any) -> TimelineFileName:
        found: TimelineFileName | None = original(name, *given)
        if found is None:
            raise FormatError(Reason.INSTANT_MALFORMED, "TL-016", name, None, "this is no instant")
        return found

    return strict


@mutant(
    "ten-actions",
    "TL-001",
    "A log compaction is no action.",
    "hudi_format.names.parse_timeline_file_name",
)
def _ten_actions(original: Function) -> Function:
    def without_one(*given: Any) -> TimelineFileName | None:
        found: TimelineFileName | None = original(*given)
        if found is not None and found.action == "logcompaction":
            raise FormatError(Reason.INSTANT_MALFORMED, "TL-016", str(given[0]), None, "this is no action")
        return found

    return without_one


@mutant(
    "base-files-are-parquet",
    "SL-004",
    "A name is that of a base file where it ends in `.parquet`.",
    "hudi_format.names.parse_data_file_name",
)
def _base_files_are_parquet(original: Function) -> Function:
    def parquet(name: str) -> BaseFileName | LogFileName | None:
        found: BaseFileName | LogFileName | None = original(name)
        return None if isinstance(found, BaseFileName) and found.extension != "parquet" else found

    return parquet


@mutant(
    "log-versions-are-digits",
    "SL-005",
    "The version of a log is the first digit of what stands there.",
    "hudi_format.names.parse_data_file_name",
)
def _log_versions_are_digits(original: Function) -> Function:
    def digit(name: str) -> BaseFileName | LogFileName | None:
        found: BaseFileName | LogFileName | None = original(name)
        return replace(found, version=int(str(found.version)[0])) if isinstance(found, LogFileName) else found

    return digit


@mutant(
    "side-files-are-data",
    "SL-006",
    "A checksum side file is read for the file beside which it stands.",
    "hudi_format.names.parse_data_file_name",
)
def _side_files_are_data(original: Function) -> Function:
    def named(name: str) -> BaseFileName | LogFileName | None:
        found: BaseFileName | LogFileName | None = original(name[1:-4] if name.endswith(".crc") else name)
        return found

    return named


@mutant(
    "depth-counts-the-base-path",
    "SL-002",
    "The depth that a partition's metafile says counts the base path too.",
    "hudi_format.table.partition_metafile.parse_partition_metafile",
)
def _depth_counts_the_base_path(original: Function) -> Function:
    def deeper(data: bytes, form: MetafileForm, file: str) -> PartitionMetafile:
        found: PartitionMetafile = original(data, form, file)
        return replace(found, depth=found.depth - 1)

    return deeper
