"""Log compaction and clustering change no row, nor does any service that is done twice or beside another."""

from dataclasses import replace
from itertools import permutations

from hudi_model.effects import perform
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import Operation
from hudi_model.services import clustering, log_compaction, plans
from hudi_model.tables import Reading, Readings, Table
from hudi_model.time import tick
from hypothesis import given
from hypothesis import strategies as st

from hudi_conformance.verification.properties.histories import (
    EVENT_TIME,
    Row,
    Shape,
    Step,
    Story,
    played,
    shapes,
    steps,
    stories,
)
from hudi_conformance.verification.properties.registry import Counterexample, model_property, property_check
from hudi_conformance.verification.properties.service_checks import (
    DONE,
    EAGER,
    LAST,
    LATE,
    MERGE_ON_READ,
    PLAN,
    POLICIES,
    SOON,
    WRITES,
    all_keys,
    busy,
    busy_of_both_types,
    keeps_the_table,
    module_of,
    prefixes,
    ready,
    refuse_change,
    rows_and_origins,
    try_write,
)

ALL_SERVICES = ("compaction", "log_compaction", "clustering", "cleaning")


@model_property(
    "PO-201",
    "Log compaction never changes the table, nor which write a row comes from",
    "LC-001 LC-003 LC-004 LC-007",
    broken_by="log-compaction-drops-deletes log-compaction-rewrites-commit-time plan-skips-a-log",
)
@property_check
@given(story=busy(MERGE_ON_READ, "log_compaction", "compaction"))
def _log_compaction_keeps_the_table(story: Story) -> None:
    keeps_the_table(story, "log_compaction")


@model_property(
    "PO-202",
    "Clustering never changes the table",
    "CL-004 CL-006 CL-007",
    broken_by="clustering-reads-base-files-only clustering-replaces-nothing",
)
@property_check
@given(story=busy_of_both_types("compaction", "clustering"))
def _clustering_keeps_the_table(story: Story) -> None:
    keeps_the_table(story, "clustering")


PARTIAL = (Operation.UPSERT, *(Operation.PARTIAL_UPDATE,) * 4, Operation.DELETE)


def with_gaps(step: Step) -> Step:
    """A step whose partial updates leave out a column in every other row."""
    if step.operation is not Operation.PARTIAL_UPDATE:
        return step
    rows = ({key: row[key] for key in row if key != "note" or number % 2} for number, row in enumerate(step.rows))
    return replace(step, rows=tuple(rows))


@model_property(
    "PO-227",
    "Compaction, log compaction and clustering keep what partial updates say, with and without a base file below",
    "CP-004 LC-004 CL-004 MG-021",
    assumptions="versions 8 and 9",
    broken_by="log-compaction-fills-partial-rows compaction-reads-logs-only",
)
@property_check
@given(
    shape=shapes((8, 9), ("MERGE_ON_READ",)),
    later_steps=st.lists(steps(PARTIAL, ("compaction",)).map(with_gaps), min_size=3, max_size=10),
    service=st.sampled_from(("log_compaction", "log_compaction", "compaction", "clustering")),
    index=st.sampled_from(("SIMPLE", "BUCKET")),
)
def _services_keep_partial_updates(shape: Shape, later_steps: list[Step], service: str, index: str) -> None:
    story = Story(shape, (Step(Operation.UPSERT, all_keys("d1")), *later_steps))
    keeps_the_table(story, service, {**EAGER, "hoodie.index.type": index})


@model_property(
    "PO-208",
    "A plan that is executed twice, or again after a crash, leaves the table that executing it once leaves",
    "CP-010 LC-005 CL-006 CN-012",
    broken_by="retry-keeps-what-failed",
)
@property_check
@given(story=busy(MERGE_ON_READ, "compaction"), service=st.sampled_from(ALL_SERVICES))
def _a_plan_may_be_executed_again(story: Story, service: str) -> None:
    table, planned = ready(story, service)
    if not planned:
        return
    waiting = perform(table, planned)
    effects = module_of(service).execute(waiting, PLAN, DONE)
    expected = contents_of(perform(waiting, effects))
    for left in prefixes(waiting, effects):
        again = perform(left, module_of(service).execute(left, PLAN, DONE))
        if contents_of(again) != expected and plans.is_completed(left, PLAN) <= (not left.markers):
            raise Counterexample(f"{service} tried again leaves another table", again, story.lines())


def contents_of(table: Table) -> tuple[list[str], ...]:
    """Everything in a table, in an order of its own."""
    return tuple(sorted(map(repr, part)) for part in (table.timeline, table.base_files, table.log_files))


@model_property(
    "PO-215",
    "Any two services may be planned one after the other and executed in either order, and change nothing",
    "CP-003 LC-002 CL-002 CN-006",
    broken_by="plans-share-groups",
)
@property_check
@given(
    story=busy(MERGE_ON_READ),
    pair=st.sampled_from(sorted(permutations(ALL_SERVICES, 2))),
    policy=st.sampled_from(POLICIES),
    swapped=st.booleans(),
)
def _services_run_beside_each_other(story: Story, pair: tuple[str, str], policy: str, *, swapped: bool) -> None:
    table, settings = played(story, EAGER), {**EAGER, "hoodie.clean.policy": policy}
    expected, planned = rows_and_origins(table), []
    for number, service in enumerate(pair):
        effects = module_of(service).schedule(table, tick(SOON + number), settings)
        planned += [(service, tick(SOON + number))] if effects else []
        table = perform(table, effects)
    for number, (service, requested) in enumerate(reversed(planned) if swapped else planned):
        try:
            table = perform(table, module_of(service).execute(table, requested, tick(LAST + number)))
        except Rejection as rejection:
            raise Counterexample(f"{service} beside {pair}: {rejection}", table, story.lines()) from rejection
        refuse_change(table, expected, story, f"{service} of {pair}")


@model_property(
    "PO-216",
    "Clustering loses no update that came after its plan: it gives up instead",
    "CL-005",
    broken_by="clustering-over-updates",
)
@property_check
@given(story=busy_of_both_types("compaction"), row=LATE)
def _clustering_gives_up_for_updates(story: Story, row: Row) -> None:
    table, planned = ready(story, "clustering")
    if not planned:
        return
    allowed = {"hoodie.clustering.updates.strategy": "SparkAllowUpdateStrategy"}
    table = try_write(perform(table, planned), (row,), SOON, allowed)
    expected = rows_and_origins(table)
    try:
        table = perform(table, clustering.execute(table, PLAN, DONE))
    except Rejection as rejection:
        if rejection.reason is not Reason.WRITE_CONFLICT:
            raise Counterexample(f"clustering after an update: {rejection}", table, story.lines()) from rejection
    refuse_change(table, expected, story, "clustering after an update")


@model_property(
    "PO-221",
    "Log compaction never changes the table where each change meets what the ones before it left",
    "LC-004 MG-013",
    assumptions="deletes without ordering value as the text has them",
    refuted=True,
    holds_instead="PO-201",
)
@property_check
@given(story=stories(shapes((9,), ("MERGE_ON_READ",), (EVENT_TIME,), (True,)), WRITES, longest=8))
def _log_compaction_forgets_deletes(story: Story) -> None:
    readings = Readings(delete_without_ordering=Reading.TEXT)
    table = played(story)
    expected = rows_and_origins(table, readings)
    planned = log_compaction.schedule(table, PLAN, EAGER, readings)
    table = perform(table, planned)
    if planned:
        table = perform(table, log_compaction.execute(table, PLAN, DONE, readings))
    refuse_change(table, expected, story, "log compaction", readings)
