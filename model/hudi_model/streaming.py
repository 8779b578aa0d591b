"""Non-blocking writers: all log to the same file groups at once, and readers and compaction merge what they wrote."""

from hudi_model.configuration import Configuration
from hudi_model.merge_modes import write_mode
from hudi_model.merge_rules import MergeMode
from hudi_model.readings import RELEASED
from hudi_model.rejection import Reason, Rejection
from hudi_model.requests import REPLACES, Operation, Request
from hudi_model.settings import setting
from hudi_model.tagging import NON_BLOCKING, index_kind

MODES = ("SINGLE_WRITER", "OPTIMISTIC_CONCURRENCY_CONTROL", NON_BLOCKING)


def checks_conflicts(request: Request) -> bool:
    """Whether a write compares itself with those beside it: not where it is alone, nor where it only logs.

    Clauses: OW-026, SW-003, SW-004, SW-005.
    """
    mode = setting(request.settings, "hoodie.write.concurrency.mode").upper()
    logs_only = mode == NON_BLOCKING and request.operation not in (Operation.BULK_INSERT, Operation.DELETE_PARTITION)
    return mode != "SINGLE_WRITER" and not logs_only


def refuse_mode(configuration: Configuration, request: Request) -> None:
    """Nothing, unless the table or the operation does not go with the way a writer asks to work.

    Raises: CONFIG_INVALID.

    Clauses: MG-010, OW-025, OW-026, SW-001, SW-004.
    """
    asked = request.settings.get("hoodie.write.record.merge.mode", "").upper()
    write_mode(configuration, MergeMode.__members__.get(asked), RELEASED)
    mode = setting(request.settings, "hoodie.write.concurrency.mode").upper()
    kind, operation, rules = index_kind(request.settings), request.operation, configuration.rules
    overwrites = operation in REPLACES - {Operation.DELETE_PARTITION}
    deterministic = configuration.merge_on_read and kind == "BUCKET" and not rules.logs_name_their_slice
    detail = "non-blocking writers log to bucketed merge-on-read tables from version 8 on and overwrite nothing"
    faults = {
        ("OW-026", f"{mode!r} is no mode"): mode not in MODES,
        ("MG-010", f"{asked!r} is no merge mode"): bool(asked) and asked not in MergeMode.__members__,
        ("SW-001", detail): mode == NON_BLOCKING and (overwrites or not deterministic),
        ("OW-025", "partial updates need version 8"): operation is Operation.PARTIAL_UPDATE and rules.version < 8,
    }
    for clause, text in (fault for fault, is_wrong in faults.items() if is_wrong):
        raise Rejection(Reason.CONFIG_INVALID, clause, f"the {operation}", text)
