"""Whether somebody is at a write: its heartbeat tells."""

import time
from typing import Final

from hudi_format.table.markers import HEARTBEATS_FOLDER

from hudi_spark.effects.helper import Effects
from hudi_spark.options.resolving import Options

_INTERVAL: Final = "hoodie.client.heartbeat.interval_in_ms"
_MISSES: Final = "hoodie.client.heartbeat.tolerable.misses"


def is_alive(effects: Effects, options: Options, requested: str) -> bool:
    """Whether the heartbeat of a write is younger than what may be missed.

    Clauses: RB-002, MK-005.
    """
    oldest = time.time() * 1000 - options.number(_INTERVAL) * options.number(_MISSES)
    beats = effects.storage.list_files(HEARTBEATS_FOLDER, recursive=False)
    return any(one.path.rpartition("/")[2] == requested and one.modified_ms >= oldest for one in beats)
