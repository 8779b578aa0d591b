"""The history before version 8: files of a log, of which each archival writes the next one."""

import re
from collections.abc import Sequence
from typing import Final

from hudi_format.timeline.archived_log import ArchivedState, archived_log_name, is_archived_log, write_archived_log

from hudi_spark.effects.helper import Effects
from hudi_spark.state.configuration import TableConfiguration
from hudi_spark.state.history import archived_log_folder

_NUMBER: Final = re.compile(r"\.archive\.(\d+)")


def append_states(
    effects: Effects, configuration: TableConfiguration, states: Sequence[ArchivedState], batch: int
) -> None:
    """The log has more records, in blocks of `batch`; they appear at once, in a file of their own.

    Clauses: HS-010, TL-032.
    """
    folder = archived_log_folder(configuration)
    names = [status.path.rpartition("/")[2] for status in effects.storage.list_files(folder, recursive=False)]
    found = (_NUMBER.search(name) for name in names if is_archived_log(name))
    number = max((int(one[1]) for one in found if one), default=0) + 1
    size = max(batch, 1)
    starts = range(0, len(states), size)
    blocks = [write_archived_log(states[start : start + size], java_strings=True) for start in starts]
    actions = len({(state.instant, state.action == "savepoint") for state in states})
    effects.append_archived_log(f"{folder}/{archived_log_name(number)}", b"".join(blocks), actions)
