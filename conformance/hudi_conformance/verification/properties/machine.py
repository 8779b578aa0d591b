"""Whole tables driven at random: writes, services, deaths, savepoints and restores, beside a plain dict.

The dict remembers what each completed write left. It shares no code with the model.
"""

from hudi_model.effects import Effects, perform
from hudi_model.queries import read_as_of
from hudi_model.rejection import Rejection
from hudi_model.requests import Operation
from hudi_model.services import rollback, savepoints
from hudi_model.tables import TEXT, Table
from hudi_model.time import InstantTime, tick
from hudi_model.timeline import WRITE_ACTIONS
from hudi_model.writers import begin, commit, stage
from hudi_model_tools.violations import Severity, violations
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from hudi_conformance.verification.properties.histories import (
    DAYS,
    Place,
    Row,
    Shape,
    Step,
    Story,
    deletes_are_plain,
    new_table,
    place_of,
    played,
    remember,
    remembered,
    request_of,
    rows,
    rows_of,
    served,
    shapes,
    stories,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check

SETTINGS = {
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.log.compaction.blocks.threshold": "2",
    "hoodie.clustering.inline.max.commits": "1",
    "hoodie.clean.commits.retained": "2",
    "hoodie.client.heartbeat.interval_in_ms": "0",
}
OPERATIONS = (
    *(Operation.UPSERT,) * 6,
    Operation.DELETE,
    Operation.INSERT_OVERWRITE,
    Operation.INSERT_OVERWRITE_TABLE,
    Operation.DELETE_PARTITION,
)
EVERY_SERVICE = ("compaction", "log_compaction", "clustering", "cleaning")


class WholeTable(RuleBasedStateMachine):
    """One table, the rows that its completed writes make, and the rows as of each of them."""

    def __init__(self) -> None:
        super().__init__()
        self.ticks = 0
        self.shape = Shape()
        self.table = new_table(self.shape)
        self.held: dict[Place, Row] = {}
        self.past: dict[InstantTime, dict[Place, Row]] = {}
        self.saved: dict[InstantTime, dict[Place, Row]] = {}
        self.steps_done: list[str] = []

    def next_time(self) -> InstantTime:
        """A time after all before it."""
        self.ticks += 1
        return tick(self.ticks)

    @initialize(shape=shapes(versions=(6, 8, 9)))
    def create(self, shape: Shape) -> None:
        """A table of some kind."""
        self.shape, self.table = shape, new_table(shape)
        self.steps_done.append(str(shape))

    @rule(operation=st.sampled_from(OPERATIONS), written=rows(), day=st.sampled_from(DAYS))
    def write(self, operation: Operation, written: tuple[Row, ...], day: str) -> None:
        """A write that completes."""
        step = step_of(self.shape, operation, written, day)
        self.steps_done.append(str(step))
        started, effects = begin(self.table, request_of(step), self.next_time())
        staged, more = stage(self.do(effects), started)
        self.do(more)
        done = self.next_time()
        self.do(commit(self.table, staged, done))
        remember(self.held, step, self.shape)
        self.past[done if self.shape.version >= 8 else started.requested] = dict(self.held)
        self.check()

    @rule(operation=st.sampled_from(OPERATIONS), written=rows(), day=st.sampled_from(DAYS), many=st.integers(1, 9))
    def die(self, operation: Operation, written: tuple[Row, ...], day: str, many: int) -> None:
        """A write that dies after some of its effects, and its rollback.

        Raises:
            Counterexample: something of it is left.

        """
        step = step_of(self.shape, operation, written, day)
        self.steps_done.append(f"{step} dies after {many} effects, and is rolled back")
        started, effects = begin(self.table, request_of(step), self.next_time())
        _, more = stage(perform(self.table, effects), started)
        self.do((*effects, *more)[:many])
        self.check()
        self.do(rollback.schedule(self.table, self.next_time(), SETTINGS))
        for target in rollback.failed_writes(self.table, self.next_time(), SETTINGS):
            pending = rollback.pending_rollback(self.table, target)
            self.do(rollback.execute(self.table, pending, self.next_time()) if pending else ())
        self.check()
        files = (one for many in (self.table.base_files, self.table.log_files) for one in many)
        left = [one.name for one in files if one.instant == started.requested]
        if left:
            raise Counterexample(
                f"{left[0]} is left of a write that was rolled back", self.table, tuple(self.steps_done)
            )

    @rule(name=st.sampled_from(EVERY_SERVICE))
    def serve(self, name: str) -> None:
        """A service that plans and carries its plan out."""
        if name == "cleaning":
            self.past = {}
        if self.shape.table_type == "COPY_ON_WRITE" and name in ("compaction", "log_compaction"):
            return
        self.steps_done.append(name)
        self.table = served(self.table, name, self.ticks + 1, SETTINGS)
        self.ticks += 9
        self.check()

    @precondition(lambda self: self.past and not self.saved)
    @rule()
    def save(self) -> None:
        """A savepoint of the newest write."""
        newest = max(one.requested for one in self.table.timeline if one.action in WRITE_ACTIONS)
        try:
            effects = savepoints.savepoint(self.table, newest, self.next_time())
        except Rejection:
            return
        self.steps_done.append("savepoint")
        self.do(effects)
        self.saved[newest] = dict(self.held)
        self.check()

    @precondition(lambda self: self.saved)
    @rule()
    def restore(self) -> None:
        """Back to the savepoint."""
        ((savepoint, kept),) = self.saved.items()
        requested = self.next_time()
        self.steps_done.append("restore")
        self.do(savepoints.schedule(self.table, requested, SETTINGS, savepoint))
        self.do(savepoints.execute(self.table, requested, self.next_time()))
        self.held, self.past = dict(kept), {}
        self.check()

    def do(self, effects: Effects) -> Table:
        """Effects become durable."""
        self.table = perform(self.table, effects)
        return self.table

    def check(self) -> None:
        """The table holds what the dict holds, now and as of each completed write, and breaks no rule.

        Raises:
            Counterexample: with the steps so far.

        """
        self.expect(rows_of(self.table), self.held, "now")
        for moment, rows_then in self.past.items():
            answered = [dict(one) for one in read_as_of(self.table, moment, TEXT).rows]
            found = {place_of(one, partitioned=self.shape.partitioned): one for one in answered}
            self.expect(found, rows_then, f"as of {moment}")
        wrong = [one for one in violations(self.table) if one.severity is Severity.ERROR]
        if wrong:
            raise Counterexample(
                f"{wrong[0].clause} {wrong[0].where}: {wrong[0].message}", self.table, tuple(self.steps_done)
            )

    def expect(self, found: dict[Place, Row], expected: dict[Place, Row], when: str) -> None:
        """Nothing, unless two sets of rows differ."""
        if found != expected:
            raise Counterexample(f"{when} the table holds {found}, not {expected}", self.table, tuple(self.steps_done))


def step_of(shape: Shape, operation: Operation, written: tuple[Row, ...], day: str) -> Step:
    """A write of the machine; an upsert for a delete where a plain dict does not tell what that does."""
    if operation is Operation.DELETE and not deletes_are_plain(shape):
        return Step(Operation.UPSERT, written)
    if operation is Operation.DELETE_PARTITION:
        return Step(operation, (), (day,))
    return Step(operation, written)


def run_machine() -> None:
    """The machine, the same way each time."""
    tuned = settings(
        max_examples=120,
        stateful_step_count=10,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    run_state_machine_as_test(WholeTable, settings=tuned)


@model_property(
    "PO-284",
    "Through writes, services, deaths, savepoints and restores a table holds what a plain dict holds, then and later",
    "OW-001 RB-009 SR-009 RD-001 RD-010",
    broken_by="rollback-leaves-base-files clustering-replaces-nothing tagging-sees-nothing",
    assumptions="a sample; time travel by completion time; one process at a time; no deletes in logs under event time",
)
def _whole_tables() -> None:
    run_machine()


@model_property(
    "PO-285",
    "A service changes no row, whatever was written before and after",
    "CP-001 LC-001 CL-001 CN-001 OW-015 OW-016",
    broken_by="plan-skips-a-log clustering-replaces-nothing clean-takes-the-newest-slice",
    assumptions="a sample; services with small thresholds; no deletes in logs under event time",
)
@property_check
@given(
    story=stories(
        operations=(Operation.UPSERT, Operation.UPSERT, Operation.DELETE), services=EVERY_SERVICE, shortest=4, longest=9
    )
)
def _services_change_nothing(story: Story) -> None:
    kept = tuple(one for one in story.steps if is_served(story.shape, one))
    story_of_table = Story(story.shape, kept)
    table = played(story_of_table, SETTINGS)
    if rows_of(table) != remembered(story_of_table):
        raise Counterexample(
            f"the table holds {rows_of(table)}, not {remembered(story_of_table)}", table, story_of_table.lines()
        )


def is_served(shape: Shape, step: Step) -> bool:
    """Whether a table of this shape takes a step, and a plain dict states what it does."""
    if step.operation is Operation.DELETE and not deletes_are_plain(shape):
        return False
    return shape.table_type == "MERGE_ON_READ" or step.service not in ("compaction", "log_compaction")
