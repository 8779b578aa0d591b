"""`TableServices`: the services of one table, as its writer's options have them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hudi_spark.committing.outcome import Outcome
from hudi_spark.errors import typed_errors
from hudi_spark.services import running
from hudi_spark.services.upgrading.changing import change_version
from hudi_spark.writing.progress import shown
from hudi_spark.writing.writer import TableWriter

Configs = Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class TableServices:
    """Services by a writer's options; `configs` of a call add to them.

    Clauses: LK-004, CP-001.
    """

    writer: TableWriter

    def schedule(self, service: str, configs: Configs = None, **asked: Any) -> str | None:
        """The time of a plan that a service makes now; None where there is nothing to do.

        Raises:
            HudiError: LOCK_UNAVAILABLE; what the service refuses.
            UnsupportedFeature: a service that there is not.

        """
        with typed_errors():
            return running.schedule(self.writer.work(configs), service, asked)

    def execute(self, requested: str, configs: Configs = None) -> Outcome:
        """What a plan asks for is done.

        Raises:
            HudiError: INSTANT_NOT_FOUND when no plan of this time waits; WRITE_CONFLICT.

        """
        with typed_errors(), shown("execute"):
            return running.execute(self.writer.work(configs), requested)

    def run(self, service: str, configs: Configs = None, **asked: Any) -> Outcome | None:
        """Schedule a service and execute its plan; None where there is nothing to do.

        Raises:
            HudiError: as `schedule` and `execute`.

        """
        requested = self.schedule(service, configs, **asked)
        return None if requested is None else self.execute(requested, configs)

    def upgrade(self, to: int = 9, configs: Configs = None) -> bool:
        """Bring the table to a higher version, 8 or 9; False where it had it.

        Raises:
            HudiError: CONFIG_INVALID where that is no upgrade; WRITE_CONFLICT while another writer is at work.

        Clauses: VR-004, VR-005, VR-006.

        """
        with typed_errors(), shown("upgrade"):
            return change_version(self.writer.work(configs), to, upgrade=True)

    def downgrade(self, to: int, configs: Configs = None) -> bool:
        """Bring the table to a lower version, 6 or 8; False where it had it.

        Raises:
            HudiError: CONFIG_INVALID where that is no downgrade, or for what the version cannot say; WRITE_CONFLICT
                while another writer is at work.

        Clauses: VR-004, VR-005, VR-006, VR-009.

        """
        with typed_errors(), shown("downgrade"):
            return change_version(self.writer.work(configs), to, upgrade=False)
