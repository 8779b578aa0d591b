"""Why a file that was planned with is not there when it is read."""

from hudi_adapter.reasons import Reason
from hudi_format.errors import FormatError
from hudi_format.storage import Storage

from hudi_spark.errors import HudiError
from hudi_spark.state.removals import is_cleaned, planned_paths
from hudi_spark.state.snapshots import load_table


def why_lost(storage: Storage, error: HudiError) -> HudiError:
    """The refusal of a file that is missing: RANGE_NOT_RETAINED where the timeline says now that a clean took it.

    Clauses: RD-014.
    """
    if error.reason not in {Reason.BASE_FILE_MISSING, Reason.LOG_FILE_MISSING}:
        return error
    try:
        _, timeline = load_table(storage)
        cleaned = is_cleaned(storage, timeline, error.file) or error.file in planned_paths(storage, timeline)
    except (HudiError, FormatError, OSError):
        return error
    if not cleaned:
        return error
    message = "a clean deleted the file after the slice was planned to be read"
    hint = "ask again; where it happens often let cleans retain more (hoodie.clean.commits.retained)"
    return HudiError(Reason.RANGE_NOT_RETAINED, "RD-014", message, error.file, hint=hint)
