"""What the times that writing ops answer must be: new ones later than all before, a request before its completion."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_BEGINS = ("write", "begin_write", "schedule")
_CHANGES_VERSION = ("upgrade", "downgrade")
_GOES_ON = ("stage_write", "commit_write", "abort_write")
_ENDS = "delete_savepoint"
"""A service that completes nothing: what had completed goes."""


@dataclass(slots=True)
class TimeRules:
    """The times of a play so far: the latest of them, and the request of each write in phases."""

    version: int
    latest: str = ""
    requests: dict[str, str] = field(default_factory=dict)

    def broken(self, op: str, params: Mapping[str, Any], answer: Mapping[str, Any]) -> tuple[str, ...]:
        """What is wrong with the times of an answer; the answer is noted.

        Clauses: TM-003, TL-009, OW-001.
        """
        if op == "service" and params.get("name") in _CHANGES_VERSION:
            self.version = int(params["to"])
        completed = () if params.get("name") == _ENDS else self._completed(op, answer)
        found = (*self._requested(op, params, answer), *completed)
        self.latest = max(
            [self.latest, *(str(answer[form]) for form in ("requested", "completed") if answer.get(form))]
        )
        return found

    def _requested(self, op: str, params: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
        requested, txn = str(answer.get("requested") or ""), str(params.get("txn"))
        if op in _BEGINS:
            if requested and requested <= self.latest:
                yield f"requested {requested} is not later than {self.latest}, which was given out before"
            self.requests[txn] = requested
        elif op in _GOES_ON and requested != self.requests.get(txn):
            yield f"requested {requested}: the write began as {self.requests.get(txn)}"
        elif op == "execute" and requested != str(params.get("requested")):
            yield f"requested {requested}: the plan is that of {params.get('requested')}"

    def _completed(self, op: str, answer: Mapping[str, Any]) -> Iterator[str]:
        """Before version 8 a completion has no time of its own."""
        requested, completed = answer.get("requested"), answer.get("completed")
        if self.version < 8 or not answer.get("action") or op in {"begin_write", "stage_write", "abort_write"}:
            return
        if not completed:
            yield f"{answer['action']} of {requested} has completed without a time"
        elif not str(requested) < str(completed):
            yield f"completed {completed} is not later than requested {requested}"
        elif str(completed) <= self.latest:
            yield f"completed {completed} is not later than {self.latest}, which was given out before"
