"""A clustering that is asked for by arguments, as the options that say the same.

Clauses: CL-009, CL-010.
"""

from collections.abc import Sequence
from typing import Final

# Who asks for a clustering wants it now, however few commits there were.
_NOW: Final = {
    "hoodie.clustering.inline": "false",
    "hoodie.clustering.schedule.inline": "false",
    "hoodie.clustering.async.enabled": "false",
}


def clustering_configs(sort: str | Sequence[str], layout: str, partitions: Sequence[str]) -> dict[str, str]:
    """Columns to sort by, `linear`, `z-order` or `hilbert`, and partitions; what is empty is left to the options."""
    columns = sort if isinstance(sort, str) else ",".join(sort)
    stated = {
        "hoodie.clustering.plan.strategy.sort.columns": columns,
        "hoodie.layout.optimize.strategy": layout,
        "hoodie.clustering.plan.strategy.partition.selected": ",".join(partitions),
    }
    return {**_NOW, **{key: value for key, value in stated.items() if value}}
