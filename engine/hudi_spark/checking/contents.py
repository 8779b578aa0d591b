"""What the files of a timeline hold: commits, plans and results, each looked at by itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hudi_format.avro.files import read_container
from hudi_format.errors import FormatError, Reason
from hudi_format.json_text import read_json
from hudi_format.storage import Storage
from hudi_format.timeline import plans
from hudi_format.timeline.commit_metadata import WriteStat, content_kind, parse_commit_metadata

from hudi_spark.checking.names import without
from hudi_spark.checking.violations import Violations
from hudi_spark.errors import HudiError
from hudi_spark.state.commits import Commit, completed_bytes, refuse_escape
from hudi_spark.state.timeline import DATA_ACTIONS, Instant, Timeline

_Parse = Callable[[bytes, str], Any]

_PLANS: Final[Mapping[str, _Parse]] = {
    "compaction": plans.parse_compaction_plan,
    "logcompaction": plans.parse_compaction_plan,
    "clustering": plans.parse_requested_replace,
    "replacecommit": plans.parse_requested_replace,
    "clean": plans.parse_cleaner_plan,
    "rollback": plans.parse_rollback_plan,
    "restore": plans.parse_restore_plan,
    "indexing": plans.parse_index_plan,
}
_RESULTS: Final[Mapping[str, _Parse]] = {
    "clean": plans.parse_clean_metadata,
    "rollback": plans.parse_rollback_metadata,
    "restore": plans.parse_restore_metadata,
    "savepoint": plans.parse_savepoint_metadata,
    "indexing": plans.parse_index_commit,
}
# What the inflight file of a commit, which has a bare name, begins with is the state.
_WITH_COMMITS: Final = (*DATA_ACTIONS, "inflight")
# A write that replaces groups may be requested without a plan.
_PLAN_OR_NOTHING: Final = ("replacecommit",)


@dataclass(slots=True)
class Contents:
    """What could be read of a timeline.

    `commits`: completed data actions, by completion, without stats whose paths leave the table. `plans` and `results`
    are by action. `broken`: actions of which a file could not be read.
    """

    timeline: Timeline
    commits: tuple[Commit, ...] = ()
    plans: dict[Instant, Any] = field(default_factory=dict)
    results: dict[Instant, Any] = field(default_factory=dict)
    broken: list[Instant] = field(default_factory=list)

    @property
    def readable(self) -> Timeline:
        """The timeline without the services whose files could not be read."""
        return without(self.timeline, (one for one in self.broken if one.action not in DATA_ACTIONS))

    def pending(self, *kinds: type) -> dict[Instant, Any]:
        """The plans of some kinds that wait to be carried out."""
        return {one: plan for one, plan in self.plans.items() if not one.is_completed and isinstance(plan, kinds)}


def check_contents(storage: Storage, timeline: Timeline, violations: Violations) -> Contents:
    """What the timeline's files hold.

    Clauses: TL-014, TL-015, TL-019, TL-020, TL-033, SL-007, SL-008, RD-008.
    """
    contents = Contents(timeline)
    for instant in timeline.instants:
        for state, path in instant.files.items():
            if state == "REQUESTED":
                _check_requested(storage, instant, path, contents, violations)
            elif state == "INFLIGHT":
                _check_inflight(storage.read(path), path, violations)
            elif instant.action in _RESULTS:
                _check_result(storage, instant, path, contents, violations)
    contents.commits = check_commits(storage, timeline, violations)
    return contents


def check_commits(storage: Storage, timeline: Timeline, violations: Violations) -> tuple[Commit, ...]:
    """The completed data actions of a timeline that can be read, by completion.

    Clauses: TL-015, TL-019, TL-020, SL-007, SL-008.
    """
    found: list[Commit] = []
    for instant in timeline.completed_data():
        with violations.noting(instant.file):
            data = completed_bytes(storage, instant)
            if not data:
                raise HudiError(Reason.TIMELINE_FILE_CORRUPT, "TL-015", "the completed action is empty", instant.file)
            metadata = parse_commit_metadata(data, instant.file)
            kept = [one for one in metadata.write_stats if _stays_inside(storage, one, instant, violations)]
            found.append(Commit(instant, replace(metadata, write_stats=tuple(kept))))
    return tuple(found)


def _stays_inside(storage: Storage, stat: WriteStat, instant: Instant, violations: Violations) -> bool:
    """Clauses: SL-007, SL-008."""
    paths = (stat.path or "", *(stat.cdc_stats or {}))
    try:
        for path in paths:
            refuse_escape(storage, path)
    except FormatError as error:
        violations.error("SL-007", instant.file, f"names {error.file}: {error.message}")
        return False
    partition = (stat.partition_path or "").strip("/")
    if stat.path is None:
        violations.error("SL-008", instant.file, f"a write stat of {stat.file_id} names no file")
    elif partition != stat.path.rpartition("/")[0]:
        violations.error("SL-008", instant.file, f"{stat.path} is filed under the partition {partition!r}")
    return True


def _check_requested(storage: Storage, instant: Instant, path: str, contents: Contents, violations: Violations) -> None:
    """Clauses: RD-008, TL-014, TL-033."""
    data, action = storage.read(path), _action_of(path)
    parse = _PLANS.get(action)
    if parse is None:
        # A downgrade leaves metadata there, which nobody reads.
        _ = violations.reading(_content, data, path) if data else None
        return
    if not data and action in _PLAN_OR_NOTHING:
        return
    if not data:
        unknown = action == "compaction" and not instant.is_completed
        violations.error("RD-008" if unknown else "TL-033", path, "the plan is empty")
    _note(contents.plans, instant, violations.reading(parse, data, path) if data else None, contents)


def _action_of(path: str) -> str:
    return path.rpartition("/")[2].split(".")[1]


def _check_result(storage: Storage, instant: Instant, path: str, contents: Contents, violations: Violations) -> None:
    """Clauses: TL-014, TL-033."""
    data = storage.read(path)
    if not data:
        violations.error("TL-033", path, f"the completed {instant.action} is empty")
    result = violations.reading(_RESULTS[instant.action], data, path) if data else None
    _note(contents.results, instant, result, contents)


def _note(known: dict[Instant, Any], instant: Instant, value: Any, contents: Contents) -> None:
    if value is None:
        contents.broken.append(instant)
    else:
        known[instant] = value


def _check_inflight(data: bytes, path: str, violations: Violations) -> None:
    """No reader opens what an inflight file holds: to be warned of it is enough.

    Clauses: TL-014, TL-019, TL-020, TL-033.
    """
    found = Violations()
    if data and _action_of(path) in _WITH_COMMITS:
        found.reading(parse_commit_metadata, data, path)
    elif data:
        found.reading(_content, data, path)
    for one in found.found:
        violations.warning(one.clause, one.where, one.message)


def _content(data: bytes, path: str) -> Any:
    """A JSON value, or the one record of a container.

    Clauses: TL-014.
    """
    if content_kind(data, path) == "json":
        return read_json(data, path, Reason.TIMELINE_FILE_CORRUPT, "TL-014")
    _, records = read_container(data, path)
    if len(records) != 1:
        message = f"the file holds {len(records)} records instead of one"
        raise FormatError(Reason.TIMELINE_FILE_CORRUPT, "TL-014", path, None, message)
    return records[0]
