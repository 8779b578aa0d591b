"""Answers normalized: the same from every implementation, whichever times and file names it gave out.

An instant is named after the step that it came of, `$2.requested`, `$2.completed`, or after a process. One that no step
answered is `?1`, `?2` in the order of time; older ones than all that a step answered came with the table, and stay as
they are, as do those that a question answered before any step did. Of names of files there is left what a writer is not
free to choose.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hudi_adapter.rows import Rows
from hudi_format.compat import Self
from hudi_format.errors import FormatError
from hudi_format.names import BaseFileName, LogFileName, NativeLogName, parse_data_file_name, parse_native_log_name

_STEP = re.compile(r"\$(\d+)\.(requested|completed)")
_FORMS = ("requested", "completed")
# What two writers may fill differently: names of files, numbers of rows in them.
_OWN = ("_hoodie_commit_seqno", "_hoodie_file_name")
_COMMIT_TIME = "_hoodie_commit_time"
_META = (_COMMIT_TIME, "_hoodie_record_key", "_hoodie_partition_path")
_BUCKET = re.compile(r"0{6}\d\d-")


class AbsentTimeError(LookupError):
    """A step is named that answered no such time."""


@dataclass(slots=True)
class InstantNames:
    """The instants of a run by name, and their names; steps count from 1."""

    names: dict[str, str] = field(default_factory=dict)
    instants: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_steps(cls, answers: Iterable[Mapping[str, Any]]) -> Self:
        """The names after what each step answered; a step without an instant answered an empty object."""
        found = cls()
        for number, answer in enumerate(answers, start=1):
            found.note(number, answer)
        return found

    def note(self, step: int, answer: Mapping[str, Any]) -> None:
        """What a writing op answered. An instant keeps its first name: a commit's request is that of its begin."""
        for form in _FORMS:
            if answer.get(form):
                self.add(str(answer[form]), f"${step}.{form}")

    def add(self, instant: str, name: str) -> None:
        """An instant under a name."""
        self.instants[name] = instant
        self.names.setdefault(instant, name)

    def name_of(self, instant: Any) -> Any:
        """The name of an instant; itself where it has none."""
        return self.names.get(instant, instant) if isinstance(instant, str) else instant

    def resolved(self, params: Any) -> Any:
        """Parameters with instants in place of the steps that they name.

        Raises:
            AbsentTimeError: a step is named that answered no such time.

        """
        if isinstance(params, Mapping):
            return {name: self.resolved(value) for name, value in params.items()}
        if isinstance(params, list | tuple):
            return [self.resolved(value) for value in params]
        if isinstance(params, str) and _STEP.fullmatch(params):
            if params not in self.instants:
                raise AbsentTimeError(f"{params}: no step answered this time")
            return self.instants[params]
        return params

    def normalized(self, op: str, answer: Any) -> Any:
        """An answer as every implementation gives it; a malformed one as it is."""
        if isinstance(answer, Rows):
            self._name_others(_commit_times(answer))
            return self.normalized_rows(answer)
        if op in {"list_timeline", "list_file_slices"} and isinstance(answer, list):
            entries = [dict(one) for one in answer if isinstance(one, Mapping)]
            return self._timeline(entries) if op == "list_timeline" else self._slices(entries)
        return answer

    def normalized_rows(self, rows: Rows) -> Rows:
        """Rows with the name of what wrote them in place of its time, without what two writers may fill differently.

        A meta field that is not filled may be null or an empty text. An instant without a name stays as it is.
        """
        kept = [index for index, (name, _) in enumerate(rows.schema) if name not in _OWN]
        timed = [rows.schema[index][0] == _COMMIT_TIME for index in kept]
        meta = [rows.schema[index][0] in _META for index in kept]
        normalized = (
            tuple(
                (self.name_of(row[index]) if is_time else row[index]) or ("" if is_meta else row[index])
                for index, is_time, is_meta in zip(kept, timed, meta, strict=True)
            )
            for row in rows.rows
        )
        return replace(rows, schema=tuple(rows.schema[index] for index in kept), rows=tuple(normalized))

    def _timeline(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        self._name_others(str(one[form]) for one in entries for form in _FORMS if one.get(form))
        return [{**one, **{form: self.name_of(one.get(form)) for form in _FORMS}} for one in entries]

    def _slices(self, entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """File groups are numbered in each partition, by what their slices hold."""
        self._name_others(str(one["base_instant"]) for one in entries if one.get("base_instant"))
        slices = ((self._slice(one), str(one.get("file_id"))) for one in entries)
        ordered = sorted(slices, key=lambda pair: repr(pair[0]))
        partitions = [one.get("partition") for one, _ in ordered]
        return [
            {**one, "file_id": _bucket(file_id) or f"group {partitions[:place].count(one.get('partition')) + 1}"}
            for place, (one, file_id) in enumerate(ordered)
        ]

    def _slice(self, one: dict[str, Any]) -> dict[str, Any]:
        return {
            "partition": one.get("partition"),
            "base_instant": self.name_of(one.get("base_instant")),
            "base_file": self._file(one.get("base_file")),
            "log_files": [self._file(name) for name in one.get("log_files") or ()],
        }

    def _file(self, name: Any) -> Any:
        match _parsed(name):
            case BaseFileName(instant=instant, extension=extension):
                return f"{self.name_of(instant)}.{extension}"
            case LogFileName(instant=instant, version=version):
                return f"{self.name_of(instant)}.log.{version}"
            case NativeLogName(instant=instant, version=version, kind=kind, format=extension):
                return f"{self.name_of(instant)}.{version}.{kind}.{extension}"
        return name

    def _name_others(self, instants: Iterable[str]) -> None:
        known = sum(name.startswith("?") for name in self.names.values())
        first = min(self.instants.values(), default=None)
        unnamed = set(instants) - self.names.keys()
        if first is None:
            # They came with the table: also a step that goes on with one of them does not give it its name.
            self.names.update((one, one) for one in unnamed)
            return
        others = {one for one in unnamed if one > first}
        for number, instant in enumerate(sorted(others), start=known + 1):
            self.names[instant] = f"?{number}"


def _commit_times(rows: Rows) -> Iterator[str]:
    """The times of the writes that brought the rows, where they say."""
    places = [index for index, (name, _) in enumerate(rows.schema) if name == _COMMIT_TIME]
    return (str(row[index]) for row in rows.rows for index in places if row[index])


def _parsed(name: Any) -> BaseFileName | LogFileName | NativeLogName | None:
    try:
        return (parse_data_file_name(name) or parse_native_log_name(name)) if isinstance(name, str) else None
    except FormatError:
        return None


def _bucket(file_id: str) -> str | None:
    """The bucket that a file id begins with, where it does: that much of an id is no writer's choice."""
    return f"bucket {int(file_id[:8])}" if _BUCKET.match(file_id) else None
