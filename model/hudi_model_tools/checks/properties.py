"""What the properties file may get wrong, alone and against what only some table versions have."""

from collections.abc import Iterator
from functools import partial

from hudi_model.configuration import Configuration, properties_fault, property_names, property_value
from hudi_model.creation import refuse_contradiction
from hudi_model.merge_modes import merge_mode, partial_update_mode
from hudi_model.merge_rules import MergeMode, payload_name
from hudi_model.metadata import BUILDING, BUILT, FILES
from hudi_model.rejection import Rejection
from hudi_model.tables import Table

from hudi_model_tools.checks.finding import Severity, Violation, error, refusals, violation_of, warning

PROPERTIES, BACKUP = "hoodie.properties", "hoodie.properties.backup"
LOGGING_MODE = "hoodie.table.cdc.supplemental.logging.mode"
BASE_FORMAT, BASE_FORMATS = "hoodie.table.base.file.format", ("PARQUET", "ORC", "HFILE")
LOGGING_MODES = ("OP_KEY_ONLY", "DATA_BEFORE", "DATA_BEFORE_AFTER")
SINCE_8 = ("partition_stats", "secondary_index_", "expr_index_", "func_index_")
"""[New in v8] Indexes, by how their names begin."""


def property_violations(table: Table) -> tuple[Violation, ...]:
    """A broken properties file, a warning where a sound backup stands in for it; and the backup, an update's leftover.

    A table that has its backup alone is one: that nothing but the backup is there breaks no other rule.

    Clauses: PR-002, PR-003, PR-004, PR-008, SL-001.
    """
    fault, stood_in = properties_fault(table.properties), properties_fault(table.backup_properties) is None
    is_recorded = fault and not (stood_in and table.properties is None)
    recorded_of_it = (
        (violation_of(fault, Severity.WARNING if stood_in else Severity.ERROR),) if fault and is_recorded else ()
    )
    unfinished = warning("PR-008", BACKUP, "an update of the properties did not finish")
    return (*recorded_of_it, *(() if table.backup_properties is None else (unfinished,)))


def configuration_violations(configuration: Configuration) -> Iterator[Violation]:
    """Properties that each are sound and that together are none of a table's.

    Clauses: BF-010, MG-012, MG-016, MG-026, CD-008, IG-005, MT-002, MT-007.
    """
    properties = configuration.properties
    yield from refusals(partial(merge_mode, configuration), partial(partial_update_mode, properties))
    yield from contradictions(configuration)
    if (mode := property_value(properties, LOGGING_MODE).upper()) not in ("", *LOGGING_MODES):
        yield error("CD-008", PROPERTIES, f"logging mode {mode!r} is none of {', '.join(LOGGING_MODES)}")
    if (form := property_value(properties, BASE_FORMAT).upper()) not in ("", *BASE_FORMATS):
        yield error("BF-010", PROPERTIES, f"base file format {form!r} is none of {', '.join(BASE_FORMATS)}")
    names = property_names(properties, BUILT)
    if names and FILES.name not in names:
        yield error("MT-007", PROPERTIES, f"{BUILT} has {', '.join(names)} and not the list of files")
    building = property_names(properties, BUILDING)
    for name in sorted({*names} & {*building}):
        yield error("IG-005", PROPERTIES, f"the index {name} is whole and being built")
    for name in (*names, *building):
        if not configuration.rules.mode_is_persisted and name.startswith(SINCE_8):
            yield error("MT-002", PROPERTIES, f"table version {configuration.rules.version} has no index {name}")


def contradictions(configuration: Configuration) -> Iterator[Violation]:
    """A mode that is not the one of the payload class or of the strategy id beside it.

    Clauses: MG-016, PL-005.
    """
    # Whatever mode stands beside this class, it means event time.
    if payload_name(configuration.properties) == "EventTimeAvroPayload":
        return
    try:
        refuse_contradiction(configuration)
    except Rejection as found:
        # An unknown mode is reported on its own.
        stated = configuration.properties.get("hoodie.record.merge.mode", "").strip()
        if found.clause == "MG-016" and (not stated or stated in MergeMode.__members__):
            yield error(found.clause, PROPERTIES, found.detail)
