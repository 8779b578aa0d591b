"""The `hoodie.*` keys that a read takes: honoured, accepted without effect, or refused."""

import difflib
from collections.abc import Mapping
from typing import Final

from hudi_adapter.reasons import Reason

from hudi_spark.errors import HudiError
from hudi_spark.pruning.means import PRUNING_OPTIONS

BY_POSITIONS: Final = "hoodie.merge.use.record.positions"
HONOURED: Final = PRUNING_OPTIONS | frozenset(
    {
        BY_POSITIONS,
        "hoodie.payload.delete.field",
        "hoodie.payload.delete.marker",
        "hoodie.write.record.merge.custom.implementation.classes",
        "hoodie.datasource.write.record.merger.impls",
    }
)
# They steer how other readers find the same answer.
WITHOUT_EFFECT: Final = frozenset(
    {
        "hoodie.file.group.reader.enabled",
        "hoodie.schema.on.read.enable",
        "hoodie.datasource.read.file.index.listing.mode",
        "hoodie.datasource.read.use.new.parquet.file.format",
        "hoodie.datasource.read.extract.partition.values.from.path",
        "hoodie.optimized.log.blocks.scan.enable",
        "hoodie.memory.merge.max.size",
        "hoodie.memory.spillable.map.path",
        "hoodie.common.spillable.diskmap.type",
    }
)


def check_configs(configs: Mapping[str, str]) -> None:
    """Nothing when every key is known.

    Raises:
        HudiError: CONFIG_INVALID for a key that is neither honoured nor known to have no effect.

    Clauses: RD-001.

    """
    known = sorted(HONOURED | WITHOUT_EFFECT)
    for key in configs:
        if key not in known:
            nearest = difflib.get_close_matches(key, known, 1)
            hint = f"did you mean {nearest[0]}?" if nearest else f"reads take {', '.join(sorted(HONOURED))}"
            raise HudiError(Reason.CONFIG_INVALID, "RD-001", f"{key} is no option of a read", hint=hint)
