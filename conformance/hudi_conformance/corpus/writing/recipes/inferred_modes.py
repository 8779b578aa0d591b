"""New tables that state no merge mode: it follows from strategy id, payload class and ordering fields."""

from typing import Final

from hudi_model.creation import PACKAGE
from hudi_model.merge_rules import STRATEGY_OF_MODE, MergeMode
from hudi_model.merging import COUNTER

from hudi_conformance.corpus.golden.rides import ride, rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import COW, MOR, shapes
from hudi_conformance.corpus.writing.steps import WritingCase

_STRATEGY, _PAYLOAD = "hoodie.record.merge.strategy.id", "hoodie.compaction.payload.class"
_LATEST: Final = {_PAYLOAD: f"{PACKAGE}OverwriteWithLatestAvroPayload"}
_BY_EVENT_TIME: Final = {_PAYLOAD: f"{PACKAGE}EventTimeAvroPayload"}
_EVENT_TIME: Final = {_STRATEGY: STRATEGY_OF_MODE[MergeMode.EVENT_TIME_ORDERING]}
_COMMIT_TIME: Final = {_STRATEGY: STRATEGY_OF_MODE[MergeMode.COMMIT_TIME_ORDERING]}
_KILLS = "new-modes-by-ordering-alone"


def _late_row(case: WritingCase) -> None:
    """A ride, then a row of it that is late by its ordering value."""
    case.create()
    case.info()
    case.write("upsert", rides(10, ("r01", "r11")))
    case.write("upsert", [ride("r01", 5, rider="late")])
    case.snapshot()


@writing("tables/mode_of_strategy", shapes(merge_mode=None, properties=_COMMIT_TIME), "MG-015 MG-002", _KILLS)
def mode_of_strategy(case: WritingCase) -> None:
    """A new table without a mode merges as its strategy id says.

    Given no table.
    When one with an ordering field is made that states the strategy id of commit time and no mode.
    Then it merges by commit time: a later write of a late row wins.
    """
    _late_row(case)


@writing("tables/mode_of_payload", shapes(merge_mode=None, properties=_LATEST), "MG-015 MG-002", _KILLS)
@writing(
    "tables/mode_of_payload",
    shapes((8,), merge_mode=None, properties=_BY_EVENT_TIME, label="event_time"),
    "MG-015 MG-003 PL-005",
    "event-time-payload-is-custom",
)
def mode_of_payload(case: WritingCase) -> None:
    """A new table without mode and strategy id merges as its payload class says.

    Given no table.
    When one with an ordering field is made that states the payload class which overwrites, or that of event time, and
    no mode.
    Then it merges by commit time, where a later write of a late row wins, or by event time, where it loses.
    """
    _late_row(case)


@writing(
    "tables/mode_of_event_time_strategy",
    shapes(merge_mode=None, ordering=(), properties=_EVENT_TIME),
    "MG-015",
    _KILLS,
)
def mode_of_event_time_strategy(case: WritingCase) -> None:
    """A strategy id goes before the want of ordering fields.

    Given no table.
    When one without ordering fields is made that states the strategy id of event time.
    Then it says that it merges by event time.
    """
    case.create()
    case.info()


@writing(
    "tables/mode_of_payload_before_strategy",
    shapes((6,), merge_mode=None, properties={**_LATEST, **_EVENT_TIME}),
    "MG-015 MG-009 MG-002",
    _KILLS + " strategy-first-in-every-version",
)
def mode_of_payload_before_strategy(case: WritingCase) -> None:
    """Before version 8 the payload class goes before the strategy id.

    Given no table.
    When one of version 6 is made that states the payload class of commit time and the strategy id of event time.
    Then it merges by commit time.
    """
    _late_row(case)


@writing(
    "tables/mode_of_strategy_before_payload",
    shapes((8, 9), merge_mode=None, properties={**_LATEST, _STRATEGY: COUNTER.strategy}),
    "MG-015",
    _KILLS + " payload-first-in-every-version",
)
def mode_of_strategy_before_payload(case: WritingCase) -> None:
    """From version 8 on the strategy id goes before the payload class.

    Given no table.
    When one is made that states the payload class of commit time and the strategy id of a merger.
    Then its merging is custom.
    """
    case.create()
    case.info()


@writing("tables/mode_of_neither", shapes((6, 8, 9), merge_mode=None), "MG-015 MG-003", "new-modes-by-commit-time")
def mode_of_neither(case: WritingCase) -> None:
    """A new table that says nothing of merging, and has an ordering field, merges by event time.

    Given no table.
    When one with an ordering field is made that states no mode, strategy id or payload class.
    Then it merges by event time: the late row loses.
    """
    _late_row(case)


@writing("tables/mode_without_ordering", shapes(merge_mode=None, ordering=()), "MG-015", "new-modes-by-event-time")
def mode_without_ordering(case: WritingCase) -> None:
    """A new table that says nothing of merging, and has no ordering field, merges by commit time.

    Given no table.
    When one without ordering fields is made that states no mode, strategy id or payload class.
    Then it merges by commit time: the later row wins.
    """
    _late_row(case)


@writing(
    "tables/two_modes", shapes((8, 9), (COW, MOR), merge_mode=None), "MG-015 MG-016", "new-tables-contradict-themselves"
)
def two_modes(case: WritingCase) -> None:
    """Strategy id and payload class of two modes make no table.

    Given no table.
    When one is made whose strategy id is that of event time and whose payload class is that of commit time.
    Then it is refused, and so is one whose mode is not its strategy id's; one whose strategy id decides alone is made.
    """
    case.create(properties={**_LATEST, **_EVENT_TIME}, reject="CONFIG_INVALID")
    case.create(merge_mode="COMMIT_TIME_ORDERING", properties=_EVENT_TIME, reject="CONFIG_INVALID")
    case.create(properties=_COMMIT_TIME)
    case.info()


@writing("tables/custom_of_nothing", shapes((6,)), "MG-016", "new-tables-contradict-themselves")
def custom_of_nothing(case: WritingCase) -> None:
    """Custom merging that names neither payload class nor merger makes no table.

    Given no table.
    When one is made that merges by itself and does not say how, and then one whose mode is not its payload class's.
    Then both are refused, and one that merges by event time is made.
    """
    case.create(merge_mode="CUSTOM", reject="CONFIG_INVALID")
    case.create(
        merge_mode="COMMIT_TIME_ORDERING",
        properties={_PAYLOAD: f"{PACKAGE}DefaultHoodieRecordPayload"},
        reject="CONFIG_INVALID",
    )
    case.create()
    case.info()


@writing(
    "tables/mode_beside_its_payload",
    shapes((9,), (COW, MOR), properties={_PAYLOAD: f"{PACKAGE}PartialUpdateAvroPayload"}),
    "MG-016 PL-010",
    "given-up-payloads-contradict-their-modes",
)
def mode_beside_its_payload(case: WritingCase) -> None:
    """The mode that version 9 makes of a payload class may stand beside it.

    Given no table.
    When one is made that states the payload class of partial updates and to merge by event time.
    Then it merges by event time, and a column without a value keeps the one it had.
    """
    case.create()
    case.info()
    case.write("upsert", rides(10, ("r01", "r11")))
    case.write("upsert", [ride("r01", 12, rider=None)])
    case.snapshot()
