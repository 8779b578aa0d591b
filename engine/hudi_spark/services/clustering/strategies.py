"""The strategies of Apache Hudi that are known here, by the names of their classes.

Clauses: CL-001.
"""

from dataclasses import dataclass
from typing import Final

from hudi_spark.errors import UnsupportedFeature
from hudi_spark.options.resolving import Options

PLAN_KEY: Final = "hoodie.clustering.plan.strategy.class"
EXECUTION_KEY: Final = "hoodie.clustering.execution.strategy.class"
_FILE_BY_FILE: Final = "SparkSingleFileSortExecutionStrategy"
_EXECUTIONS: Final = (
    "SparkSortAndSizeExecutionStrategy",
    "JavaSortAndSizeExecutionStrategy",
    _FILE_BY_FILE,
)


@dataclass(frozen=True, slots=True)
class PlanStrategy:
    """How a plan is made.

    `mode`: the filter of partitions that goes with the strategy, empty for the one that the options name.
    `file_by_file`: each file is rewritten for itself.
    """

    mode: str = ""
    file_by_file: bool = False


_PLANS: Final = {
    "SparkSizeBasedClusteringPlanStrategy": PlanStrategy(),
    "JavaSizeBasedClusteringPlanStrategy": PlanStrategy(),
    "FlinkSizeBasedClusteringPlanStrategy": PlanStrategy(),
    "SparkRecentDaysClusteringPlanStrategy": PlanStrategy("RECENT_DAYS"),
    "JavaRecentDaysClusteringPlanStrategy": PlanStrategy("RECENT_DAYS"),
    "SparkSelectedPartitionsClusteringPlanStrategy": PlanStrategy("SELECTED_PARTITIONS"),
    "SparkSingleFileSortPlanStrategy": PlanStrategy(file_by_file=True),
}


def plan_strategy(options: Options) -> PlanStrategy:
    """The strategy that the options name.

    Raises:
        UnsupportedFeature: one that is not built.

    """
    name = _short(options.text(PLAN_KEY))
    if name not in _PLANS:
        raise UnsupportedFeature(f"clustering-plan-{name}", f"{PLAN_KEY} may be one of {', '.join(_PLANS)}")
    return _PLANS[name]


def is_file_by_file(execution: str) -> bool:
    """Whether the strategy that a plan names writes one file for each group, however large.

    Raises:
        UnsupportedFeature: one that is not built.

    """
    name = _short(execution)
    if name not in _EXECUTIONS:
        raise UnsupportedFeature(f"clustering-{name}", f"{EXECUTION_KEY} may be one of {', '.join(_EXECUTIONS)}")
    return name == _FILE_BY_FILE


def _short(class_name: str) -> str:
    return class_name.rpartition(".")[2]
