"""`check_table`: every clause that a table at rest breaks."""

from hudi_format.storage import Storage
from hudi_format.table.table_properties import holds_table

from hudi_spark.fsck.data_files import check_files, check_rows
from hudi_spark.fsck.metadata import (
    check_beside,
    check_building,
    check_groups,
    check_indexes,
    check_unkept,
    is_kept,
    of_indexes,
)
from hudi_spark.fsck.missing import check_stored
from hudi_spark.fsck.plans import check_carried_out, check_plans, check_results
from hudi_spark.fsck.properties import check_definition, check_properties
from hudi_spark.fsck.stored import TableState, table_state
from hudi_spark.fsck.timeline import check_contents, check_history, check_names
from hudi_spark.fsck.violations import Violation, Violations
from hudi_spark.metadata import indexes_of
from hudi_spark.read import Executor
from hudi_spark.table_state import METADATA_FOLDER, read_anew, subfolder


@read_anew
def check_table(storage: Storage, executor: Executor, *, deep: bool = False) -> tuple[Violation, ...]:
    """Every clause that a table breaks, errors first; nothing is written, and what one file lacks hides no other.

    Of base files the footers are read, logs whole, in tasks of the executor; `deep` reads the rows too. Leftovers of
    failed writes that the format tolerates are none.

    Raises:
        HudiError: NOT_A_TABLE.
        StorageError: an object store did not answer or refused.

    Clauses: SL-001, TL-014, RD-011, RD-018, BF-004, LF-013, MT-005.

    """
    violations = Violations()
    state = check_layers(storage, executor, violations)
    if state is not None:
        check_definition(state, violations)
    if state is not None and not is_kept(state):
        check_unkept(state, violations)
    if state is not None and is_kept(state):
        own = check_metadata(state, executor, violations)
        check_beside(state, own, violations)
        check_building(state, violations)
        if deep:
            check_indexes(state, executor, violations)
    if state is not None and deep:
        check_rows(state, executor, violations)
        check_results(state, executor, violations)
    return violations.all()


def check_metadata(state: TableState, executor: Executor, violations: Violations) -> TableState | None:
    """The metadata table as a table of its own, its indexes in use; None where its properties say too little.

    Clauses: MT-001, MT-007, MT-017.
    """
    found, own, storage = Violations(), None, subfolder(state.storage, METADATA_FOLDER)
    if holds_table(storage):
        indexes = indexes_of(state.configuration.properties)
        own = check_layers(storage, executor, found, frozenset(indexes))
        if own is not None:
            check_groups(own, found)
    violations.below(METADATA_FOLDER, found)
    return own


def check_layers(
    storage: Storage, executor: Executor, violations: Violations, indexes: frozenset[str] | None = None
) -> TableState | None:
    """Properties, timeline, history, plans and files of one table; None where its properties say too little.

    Of a metadata table only the files of `indexes` are looked at.
    """
    configuration = check_properties(storage, violations)
    if configuration is None:
        return None
    timeline = check_names(storage, configuration, violations)
    contents = check_contents(storage, timeline, violations)
    # What a metadata table's services did is judged whole: its indexes come and go, its files are cleaned.
    check_carried_out(contents, violations)
    history = check_history(storage, configuration, timeline, violations)
    state = table_state(storage, configuration, contents, history, violations)
    if indexes is not None:
        state = of_indexes(state, indexes)
    check_plans(state, violations)
    check_stored(state, violations)
    check_files(state, executor, violations)
    return state
