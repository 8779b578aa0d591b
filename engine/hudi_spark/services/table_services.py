"""`TableServices`: the services of one table, as its writer's options have them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hudi_spark.concurrency import with_failures
from hudi_spark.errors import boundary
from hudi_spark.services import running
from hudi_spark.services.archiving import archive
from hudi_spark.services.cleaning import clean
from hudi_spark.services.recovery import Recovered, RecoveryHints, recover
from hudi_spark.services.restore import delete_savepoint, restore, savepoint
from hudi_spark.services.rollback import policy_of, roll_back, roll_back_failed_writes
from hudi_spark.services.time_to_live import DAYS_KEY, drop_old_partitions
from hudi_spark.services.upgrade import change_version
from hudi_spark.table_state import InstantLike, instant_digits
from hudi_spark.write import Outcome, TableWriter, shown

Configs = Mapping[str, str] | None


@dataclass(frozen=True, slots=True)
class TableServices:
    """Services by a writer's options; `configs` of a call add to them.

    Clauses: LK-004, CP-001.
    """

    writer: TableWriter

    def __repr__(self) -> str:
        return f"<TableServices {self.writer.storage.base}: {', '.join(running.SERVICES)}>"

    def schedule(self, service: str, configs: Configs = None, **params: Any) -> str | None:
        """The time of a plan that a service makes now; None where there is nothing to do.

        Raises:
            HudiError: LOCK_UNAVAILABLE; what the service refuses.
            UnsupportedFeature: a service that there is not.

        """
        with boundary(self.writer.storage.base):
            return running.schedule(self.writer.work(configs), service, params)

    @with_failures
    def execute(self, requested: InstantLike, configs: Configs = None) -> Outcome:
        """What a plan requests is done.

        Raises:
            HudiError: INSTANT_NOT_FOUND when no plan of this time waits; WRITE_CONFLICT.

        """
        with boundary(self.writer.storage.base), shown("execute"):
            return running.execute(self.writer.work(configs), self._named(requested))

    @with_failures
    def run(self, service: str, configs: Configs = None, **params: Any) -> Outcome | None:
        """Execute the plans of a service that wait, then one that it makes now; None where there is nothing to do.

        Raises:
            HudiError: as `schedule` and `execute`.
            UnsupportedFeature: a service that there is not.

        """
        with boundary(self.writer.storage.base), shown(service):
            return running.run(self.writer.work(configs), service, params)

    @with_failures
    def cluster(
        self,
        sort: str | Sequence[str] = (),
        layout: str = "",
        partitions: Sequence[str] = (),
        configs: Configs = None,
    ) -> Outcome | None:
        """Carry out the clusterings that wait, then put the rows of small files into large ones; None for none of them.

        Raises:
            HudiError: CONFIG_INVALID for columns that rows cannot be sorted by; WRITE_CONFLICT.
            UnsupportedFeature: an index of buckets, a strategy of one's own.

        Clauses: CL-001, CL-004, CL-006, CL-009, CL-010.

        """
        with boundary(self.writer.storage.base), shown("clustering"):
            given = running.clustering_configs(sort, layout, partitions)
            return running.run(self.writer.work(given, configs), "clustering")

    @with_failures
    def drop_old_partitions(self, days: int | None = None, configs: Configs = None) -> Outcome | None:
        """Delete the partitions that are older than so many days; None where there are none.

        Raises:
            HudiError: WRITE_CONFLICT where somebody wrote to one of them meanwhile.
            UnsupportedFeature: a strategy of one's own.

        Clauses: OW-018.

        """
        with boundary(self.writer.storage.base), shown("drop old partitions"):
            given = {} if days is None else {DAYS_KEY: str(days)}
            return drop_old_partitions(self.writer.work(given, configs))

    @with_failures
    def clean(self, configs: Configs = None) -> Outcome | None:
        """Carry out the cleans that wait, then delete the files that nobody retained needs; None where there are none.

        What writers left that died while they put a file goes, too, when it is an hour old.

        Raises:
            HudiError: CONFIG_INVALID; LOCK_UNAVAILABLE.

        Clauses: CN-001, CN-006, CN-012.

        """
        with boundary(self.writer.storage.base), shown("clean"):
            work = self.writer.work(configs)
            done = clean(work)
            if done is None:
                work.effects.sweep()
            return done

    def archive(self, configs: Configs = None) -> tuple[str, ...]:
        """Move the oldest completed actions to the history where there are too many; answers their requested times.

        Raises:
            HudiError: CONFIG_INVALID; LOCK_UNAVAILABLE; TIMELINE_FILE_CORRUPT for a broken history.

        Clauses: AR-001, AR-002.

        """
        with boundary(self.writer.storage.base), shown("archive"):
            return archive(self.writer.work(configs))

    def upgrade(self, to: int = 9, configs: Configs = None) -> bool:
        """Bring the table to a higher version, 8 or 9; False where it had it.

        Raises:
            HudiError: CONFIG_INVALID where that is no upgrade; WRITE_CONFLICT while another writer is at work.

        Clauses: VR-004, VR-005, VR-006.

        """
        with boundary(self.writer.storage.base), shown("upgrade"):
            return change_version(self.writer.work(configs), to, upgrade=True)

    def downgrade(self, to: int, configs: Configs = None) -> bool:
        """Bring the table to a lower version, 6 or 8; False where it had it.

        Raises:
            HudiError: CONFIG_INVALID where that is no downgrade, or for what the version cannot say; WRITE_CONFLICT
                while another writer is at work.

        Clauses: VR-004, VR-005, VR-006, VR-009.

        """
        with boundary(self.writer.storage.base), shown("downgrade"):
            return change_version(self.writer.work(configs), to, upgrade=False)

    @with_failures
    def rollback(self, instant: InstantLike, configs: Configs = None, *, unschedule: bool = False) -> Outcome:
        """Take back an action that has not completed; of a table service its attempt, or with `unschedule` its plan.

        Raises:
            HudiError: INSTANT_NOT_FOUND; CONFIG_INVALID for what has completed, or is under way.

        Clauses: RB-003, RB-005, RB-008.

        """
        with boundary(self.writer.storage.base), shown("rollback"):
            return roll_back(self.writer.work(configs), self._named(instant), unschedule=unschedule)

    def roll_back_failed_writes(self, configs: Configs = None) -> tuple[Outcome, ...]:
        """Roll back what failed writers left, unless the policy of failed writes says that nobody is to.

        Raises:
            HudiError: LOCK_UNAVAILABLE, LOCK_LOST.

        Clauses: RB-001, RB-002, RB-004.

        """
        work = self.writer.work(configs)
        with boundary(self.writer.storage.base), shown("rollback"):
            return roll_back_failed_writes(work, policy_of(work.options))

    @with_failures
    def savepoint(self, instant: InstantLike | None = None, comment: str = "", configs: Configs = None) -> Outcome:
        """Keep what the table was at a completed write, the newest one where none is named.

        Raises:
            HudiError: INSTANT_NOT_FOUND; RANGE_NOT_RETAINED where a clean may have removed files; CONFIG_INVALID.

        Clauses: SR-001, SR-002.

        """
        with boundary(self.writer.storage.base), shown("savepoint"):
            named = None if instant is None else self._named(instant)
            return savepoint(self.writer.work(configs), named, comment)

    @with_failures
    def delete_savepoint(self, instant: InstantLike, configs: Configs = None) -> Outcome:
        """End a savepoint.

        Raises:
            HudiError: INSTANT_NOT_FOUND.

        Clauses: SR-003.

        """
        with boundary(self.writer.storage.base):
            return delete_savepoint(self.writer.work(configs), self._named(instant))

    @with_failures
    def restore(self, to: InstantLike, configs: Configs = None, *, saved: bool = False) -> Outcome:
        """Bring the table back to what it was at a completed write; `saved`: one that has a savepoint.

        Raises:
            HudiError: INSTANT_NOT_FOUND, CONFIG_INVALID, RANGE_NOT_RETAINED where there is no way back.

        Clauses: SR-004, SR-009.

        """
        with boundary(self.writer.storage.base), shown("restore"):
            return restore(self.writer.work(configs), self._named(to), saved=saved)

    def has_completed(self, instant: InstantLike) -> bool:
        """Whether an action stands, by its requested time: completed, on the active timeline or in the history.

        One that is not seen to stand is looked for again under the lock: what its process had claimed when it ended is
        there then.

        Raises:
            HudiError: LOCK_UNAVAILABLE; TIMELINE_FILE_CORRUPT for a broken history.

        Clauses: OW-010, LK-002.

        """
        with boundary(self.writer.storage.base):
            return running.has_completed(self.writer.work(), self._named(instant))

    def recover(self, known: RecoveryHints | None = None, configs: Configs = None) -> Recovered:
        """Build a table again that lost its properties, its timeline, or both; what cannot be known is in the answer.

        Raises:
            HudiError: CONFIG_INVALID where nothing is lost, or where a guess might be wrong.

        Clauses: SL-001, SL-002, TL-018.

        """
        with boundary(self.writer.storage.base), shown("recover"):
            return recover(self.writer.work(configs), known or RecoveryHints())

    def _named(self, instant: InstantLike) -> str:
        """The requested time that names an action, which is compared digit by digit."""
        return instant_digits(instant, lambda: self.writer.storage)
