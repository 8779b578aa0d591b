"""What `HudiTable` takes back: dead actions, all that came after a write, and what keeps a write for that."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

from hudi_spark.committing.outcome import Outcome
from hudi_spark.services.table_services import TableServices


class UndoneTable(ABC):
    """Rollback, savepoint and restore of one table.

    Clauses: RB-003, SR-001, SR-004.
    """

    @abstractmethod
    def _services(self) -> TableServices:
        """The services of the table."""

    def rollback(self, instant: str, configs: Mapping[str, str] | None = None, *, unschedule: bool = False) -> Outcome:
        """Take back an action that has not completed, and whose writer is gone.

        Of a table service the attempt is taken back and its plan stays; with `unschedule` the plan goes as well. What
        has completed is undone by `restore`.

        Raises:
            HudiError: INSTANT_NOT_FOUND; CONFIG_INVALID for what has completed, or is under way.

        Clauses: RB-003, RB-005, RB-008.

        """
        return self._services().rollback(instant, configs, unschedule=unschedule)

    def savepoint(
        self, instant: str | None = None, comment: str = "", configs: Mapping[str, str] | None = None
    ) -> Outcome:
        """Keep what the table was at a completed write, at the newest one where none is named, until it is deleted.

        Raises:
            HudiError: INSTANT_NOT_FOUND; RANGE_NOT_RETAINED where a clean may have removed files; CONFIG_INVALID for a
                write that is saved already.

        Clauses: SR-001, SR-002.

        """
        return self._services().savepoint(instant, comment, configs)

    def delete_savepoint(self, instant: str, configs: Mapping[str, str] | None = None) -> Outcome:
        """End a savepoint: what it kept is cleaned like other files.

        Raises:
            HudiError: INSTANT_NOT_FOUND.

        Clauses: SR-003.

        """
        return self._services().delete_savepoint(instant, configs)

    def restore(self, to: str, configs: Mapping[str, str] | None = None) -> Outcome:
        """Bring the table back to what it was when a write, best one that is saved, had completed.

        Everything that came after is gone for good. Nobody else should be writing.

        Raises:
            HudiError: INSTANT_NOT_FOUND; CONFIG_INVALID where a savepoint would lose its write; RANGE_NOT_RETAINED
                where files that are needed were cleaned, or later writes archived. Nothing is changed then.

        Clauses: SR-004, SR-009.

        """
        return self._services().restore(to, configs)
