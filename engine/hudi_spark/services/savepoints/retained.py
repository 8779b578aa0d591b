"""From when on cleans have kept everything that a snapshot needs."""

from collections.abc import Iterator

from hudi_adapter.reasons import Reason
from hudi_format.storage import Storage
from hudi_format.timeline.plans import parse_clean_metadata, parse_cleaner_plan

from hudi_spark.errors import HudiError
from hudi_spark.state.timeline import Instant, Timeline


def refuse_cleaned_since(storage: Storage, timeline: Timeline, instant: str) -> None:
    """Nothing when no clean, done or pending, has been at files that a snapshot as of an instant needs.

    Raises:
        HudiError: RANGE_NOT_RETAINED.
        FormatError: TIMELINE_FILE_CORRUPT for a clean that does not parse.

    Clauses: SR-001.

    """
    for clean in timeline.instants:
        if clean.action == "clean":
            for earliest in _retained(storage, timeline, clean):
                if instant < earliest:
                    message = f"savepoint of a cleaned instant: the clean {clean.requested} keeps what {earliest} needs"
                    hint = f"take {earliest} or a later write"
                    raise HudiError(
                        Reason.RANGE_NOT_RETAINED, "SR-001", f"{message}, not {instant}", clean.file, hint=hint
                    )


def _retained(storage: Storage, timeline: Timeline, clean: Instant) -> Iterator[str]:
    """The earliest write that a clean keeps whole; one that counts versions keeps the last write before it."""
    earliest = _stated(storage, clean)
    if earliest is None:
        return
    if earliest:
        yield earliest
        return
    before = (one.requested for one in timeline.completed_data() if one.requested <= clean.requested)
    yield max(before, default=clean.requested)


def _stated(storage: Storage, clean: Instant) -> str | None:
    """What a clean says itself; empty where it counts versions, None where it says nothing."""
    if clean.is_completed:
        data = storage.read(clean.file)
        return parse_clean_metadata(data, clean.file).earliest_commit_to_retain or "" if data else None
    file = clean.files.get("REQUESTED")
    data = b"" if file is None else storage.read(file)
    if not data or file is None:
        return None
    earliest = parse_cleaner_plan(data, file).earliest_instant_to_retain
    return "" if earliest is None else earliest.timestamp
