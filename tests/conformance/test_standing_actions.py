"""An action that stands is not reported as failed, whatever fails after it; what may stand has its own error."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from faulty_storage import Fault, FaultyStorage
from hudi_format.errors import FormatError
from hudi_format.storage import LocalStorage
from hudi_spark import HudiError, OutcomeUnknownError, services_arrow, write_arrow
from hudi_spark.testing import (
    Effect,
    IndexRequest,
    Outcome,
    TableActions,
    TableServices,
    TableWriter,
    WriteRequest,
    changes_of,
    load_table,
    write_id_of,
)
from table_programs import COW, DUE, MOR, OPTIONS, Program, answers, made, rows_of, writer_of

pytestmark = [pytest.mark.crashes, pytest.mark.filterwarnings("ignore::hudi_spark.ServiceWarning")]

LOCKED: Mapping[str, str] = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.StorageBasedLockProvider",
    "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL",
    # A process that cannot let go of the lock leaves it for as long.
    "hoodie.write.lock.storage.validity.timeout.secs": "2",
    "hoodie.write.lock.storage.renew.interval.secs": "1",
    "hoodie.time.generator.max_expected_clock_skew_ms": "1",
}
SERVED: Mapping[str, str] = {
    **DUE,
    "hoodie.compact.inline": "true",
    "hoodie.clustering.inline": "true",
    "hoodie.log.compaction.inline": "true",
}
# How many effects of an action fail; others for each of them.
FEW = 10
NEW = [("n1", "oslo", 1, 1.0), ("ñ2", "bergen", 1, 1.0)]
Act = Callable[[TableWriter], Outcome | None]


def written(operation: str, **more: Any) -> Act:
    rows = None if operation == "delete_partition" else rows_of([*NEW])
    return lambda writer: writer.write(WriteRequest(operation, rows, **more))


def served(name: str, *given: Any, **more: Any) -> Act:
    return lambda writer: getattr(TableServices(writer), name)(*given, **more)


def restored(writer: TableWriter) -> Outcome:
    done = load_table(writer.storage)[1].completed_data()
    return TableServices(writer).restore(done[-2].requested)


def left(writer: TableWriter) -> Outcome:
    """A write that somebody left is rolled back."""
    started = replace(writer_of(writer.storage)).begin(WriteRequest("insert", rows_of(NEW)))
    started.write.silence()
    return TableServices(writer).rollback(started.requested)


ACTIONS: Mapping[str, tuple[str, Act]] = {
    "insert": (COW, written("insert")),
    "upsert": (MOR, written("upsert", configs=SERVED)),
    "insert_overwrite": (COW, written("insert_overwrite")),
    "delete_partition": (MOR, written("delete_partition", partitions=("oslo",))),
    "compaction": (MOR, served("run", "compaction", DUE)),
    "logcompaction": (MOR, served("run", "logcompaction", DUE)),
    "clustering": (COW, served("run", "clustering", DUE)),
    "clean": (MOR, served("run", "clean", DUE)),
    "indexing": (COW, served("run", "indexing", DUE)),
    "savepoint": (COW, served("savepoint")),
    "restore": (MOR, restored),
    "rollback": (COW, left),
    "alter_schema": (
        MOR,
        lambda writer: TableActions(writer).alter_schema(changes_of([{"change": "doc", "column": "fare", "doc": "€"}])),
    ),
    "create_index": (
        COW,
        lambda writer: TableActions(writer).create_index(
            IndexRequest("dear", kind="column_stats", columns=["id"], function="upper")
        ),
    ),
}
ERRORS: tuple[Callable[[], Exception], ...] = (
    lambda: HudiError("LOCK_LOST", "LK-002", "another process has taken it", hint="write again"),
    lambda: OSError(28, "No space left on device"),
    lambda: FormatError("TIMELINE_FILE_CORRUPT", "TL-014", "a.clean", 0, "the file does not begin with Obj"),
    lambda: ZeroDivisionError("a defect"),
)


def is_completion(effect: Effect) -> bool:
    """Whether an effect completes an action of the data table."""
    return (effect.name, effect.folder, effect.parameters.get("state")) == ("create_instant", "", "COMPLETED")


@dataclass
class Raising:
    """Raises before or after the effect of a number, counted from 0 at a completion; `seen` are the effects from there.

    `completion`: which one, counted from 0, of those of the data table. Heartbeats follow the clock, and do not count.
    """

    completion: int = 0
    number: int = -1
    late: bool = False
    error: Exception = field(default_factory=ERRORS[0])
    completions: list[Effect] = field(default_factory=list)
    seen: list[Effect] = field(default_factory=list)
    raised: bool = False

    def before(self, effect: Effect) -> None:
        if is_completion(effect):
            self.completions.append(effect)
        if effect.name != "write_heartbeat" and len(self.completions) > self.completion:
            self.seen.append(effect)
            self._at(effect, late=False)

    def after(self, effect: Effect) -> None:
        self._at(effect, late=True)

    def _at(self, effect: Effect, *, late: bool) -> None:
        if 0 <= self.number == len(self.seen) - 1 and effect is self.seen[-1] and late == self.late:
            self.raised = True
            raise self.error


@pytest.mark.parametrize("configs", [{}, LOCKED], ids=["alone", "locked"])
@pytest.mark.parametrize("version", [6, 9])
@pytest.mark.parametrize("name", ACTIONS)
def test_no_effect_after_the_completion_fails_an_action(
    tmp_path: Path, name: str, version: int, configs: Mapping[str, str]
):
    """Effects after it, one after the other, fail with one error or another."""
    if name == "create_index" and version == 6:
        pytest.skip("version 6 has no such index")
    kind, act = ACTIONS[name]
    options = {**OPTIONS, **configs}
    made(tmp_path / "table", Program(version, kind, name, lambda _: None))
    shutil.copytree(tmp_path / "table", tmp_path / "whole")
    hook = Raising()
    whole = act(writer_of(LocalStorage(tmp_path / "whole"), hook, options))
    assert whole is not None
    assert whole.failures == ()
    own = [one.parameters["requested"] for one in hook.completions].index(whole.requested)
    after, count = answers(tmp_path / "whole"), hook.seen[::-1].index(hook.completions[own]) + 1
    points = [(0, True), *((number, late) for number in range(1, count) for late in (False, True))]
    failed = 0
    for index, (number, late) in enumerate(points[:: max(1, len(points) // FEW)]):
        copy = tmp_path / f"{number}-{late}"
        shutil.copytree(tmp_path / "table", copy)
        hook = Raising(own, number, late, ERRORS[index % len(ERRORS)]())
        outcome = act(writer_of(LocalStorage(copy), hook, options))
        assert outcome is not None
        failed += hook.raised
        point = f"{hook.seen[-1]}, {late=}"
        assert not hook.raised or any(str(hook.error) in one.message for one in outcome.failures), point
        assert (services_arrow(copy).has_completed(outcome.requested), answers(copy)) == (True, after), point
        shutil.rmtree(copy)
    # One within another one is not the last any more when the outer one is over.
    assert failed > 2


class FailedStorage(FaultyStorage):
    """Nothing works any more from its fault on."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"read", "exists", "list_files", "list_folders", "size", "read_range"}:
            fault = object.__getattribute__(self, "_fault")
            if fault.seen > fault.number:
                raise OSError(112, "Host is down")
        return object.__getattribute__(self, name)

    def _before(self) -> bool:
        if self._fault.seen > self._fault.number:
            raise OSError(112, "Host is down")
        return super()._before()


class Counting(FaultyStorage):
    """Notes what each change was of."""

    def __init__(self, storage: LocalStorage) -> None:
        super().__init__(storage, Fault(1_000_000, "before"))
        self.paths: list[str] = []

    def put_if_absent(self, path: str, data: bytes) -> bool:
        self.paths.append(path)
        return super().put_if_absent(path, data)

    def put(self, path: str, data: bytes) -> None:
        self.paths.append(path)
        super().put(path, data)

    def delete(self, path: str) -> None:
        self.paths.append(path)
        super().delete(path)

    def delete_folder(self, folder: str) -> None:
        self.paths.append(folder)
        super().delete_folder(folder)


def last_put(table: Path, configs: Mapping[str, str], where: str) -> int:
    """The number of the change that completes an insert, or claims to."""
    copy = table.with_name("counted")
    shutil.copytree(table, copy)
    storage = Counting(LocalStorage(copy))
    writer_of(storage, configs=configs).write(WriteRequest("insert", rows_of(NEW)))
    if where == "claim":
        return max(
            number for number, path in enumerate(storage.paths) if "/claims/" in path and _is_completion(copy, path)
        )
    return max(
        number for number, path in enumerate(storage.paths) if path.endswith("commit") and "/metadata/" not in path
    )


def _is_completion(table: Path, path: str) -> bool:
    found = table / path
    return found.exists() and b'"COMPLETED"' in found.read_bytes()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(("configs", "where"), [({}, "put"), (LOCKED, "put"), (LOCKED, "claim")])
@pytest.mark.parametrize("version", [6, 9])
def test_what_may_stand_has_an_error_of_its_own(
    tmp_path: Path, version: int, configs: Mapping[str, str], where: str, when: Any
):
    """The storage is gone at the put: the instant is named, it can be asked for, and a repetition writes once."""
    table = tmp_path / "table"
    made(table, Program(version, COW, "insert", lambda _: None))
    options = {**OPTIONS, **configs}
    storage = FailedStorage(LocalStorage(table), Fault(last_put(table, options, where), when))
    once = {"write_id": "night-17", "configs": options}
    before = answers(table)
    request = WriteRequest("insert", rows_of(NEW), once=write_id_of("night-17"))
    with pytest.raises(OutcomeUnknownError, match="may stand") as caught:
        writer_of(storage, configs=options).write(request)
    stands = when == "after" or (where == "put" and bool(configs))
    services = services_arrow(table, configs=options)
    assert services.has_completed(caught.value.requested) == stands
    assert answers(table) == (sorted([*before, *NEW]) if stands else before)
    outcome = write_arrow(table, rows_of(NEW), "insert", **once)
    assert outcome.repeated == stands
    assert (outcome.requested == caught.value.requested) == stands
    assert answers(table) == sorted([*before, *NEW])
