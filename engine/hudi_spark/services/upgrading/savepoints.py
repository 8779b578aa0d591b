"""What savepoints keep that version 6 would read otherwise.

Clauses: VR-005, VR-009, SR-001.
"""

from hudi_adapter.reasons import Reason
from hudi_format.names import LogFileName, parse_data_file_name
from hudi_format.storage import Storage
from hudi_format.timeline.plans import parse_savepoint_metadata

from hudi_spark.errors import HudiError
from hudi_spark.state.slicing import list_file_groups
from hudi_spark.state.timeline import Timeline


def refuse_saved_logs(storage: Storage, timeline: Timeline) -> None:
    """Nothing where no savepoint keeps a log that is named after its write and follows a base file.

    Version 6 takes such a log for a slice of its own: a restore to the savepoint would lose the rows below it.

    Raises:
        HudiError: CONFIG_INVALID naming the savepoint.

    Clauses: VR-009, SL-005, RD-004.

    """
    groups = list_file_groups(storage)
    for one in timeline.completed("savepoint"):
        saved = parse_savepoint_metadata(storage.read(one.file), one.file)
        for partition, kept in saved.partition_metadata.items():
            for name in kept.savepoint_data_file:
                log = parse_data_file_name(name)
                if not isinstance(log, LogFileName) or log.cdc or (partition, log.file_id) not in groups:
                    continue
                bases = [base.name.instant for base in groups[partition, log.file_id].base_files]
                if log.instant not in bases and any(base < log.instant for base in bases):
                    message = f"the savepoint {one.requested} keeps logs, which version 6 would read without their rows"
                    hint = "delete the savepoint, or make one of the newest write after compacting the table"
                    raise HudiError(Reason.CONFIG_INVALID, "VR-009", message, one.file, hint=hint)
