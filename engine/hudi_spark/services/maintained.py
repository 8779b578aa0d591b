"""What `HudiTable` does to keep itself in order: its table services."""

from collections.abc import Mapping, Sequence

from hudi_spark.committing.outcome import Outcome
from hudi_spark.services.compaction.triggers import ALWAYS
from hudi_spark.services.undoing import UndoneTable


class MaintainedTable(UndoneTable):
    """Compaction, clustering, cleaning, archival and changes of version of one table.

    Clauses: CP-001, LK-004.
    """

    def has_completed(self, instant: str) -> bool:
        """Whether an action stands, by its requested time; what an OutcomeUnknownError leaves open.

        Raises:
            HudiError: LOCK_UNAVAILABLE.

        Clauses: OW-010.

        """
        return self._services().has_completed(instant)

    def schedule(self, service: str, configs: Mapping[str, str] | None = None) -> str | None:
        """Plan a table service, for whoever executes it: compaction, logcompaction, clustering, clean or indexing.

        The time that the plan is known by; None where there is nothing to do, or where the options' trigger says that
        it is not due.

        Raises:
            HudiError: CONFIG_INVALID for a table that the service is not for; LOCK_UNAVAILABLE.

        Clauses: CP-001, CP-002, LK-004.

        """
        return self._services().schedule(service, configs)

    def execute(self, instant: str, configs: Mapping[str, str] | None = None) -> Outcome:
        """Carry out a plan, by the time that `schedule` answered, whoever made it.

        Raises:
            HudiError: INSTANT_NOT_FOUND where no plan of this time waits; WRITE_CONFLICT.

        Clauses: CP-002, CP-010.

        """
        return self._services().execute(instant, configs)

    def compact(self, configs: Mapping[str, str] | None = None) -> Outcome | None:
        """Make base files of the slices that have logs, now; None where there are none.

        However few deltacommits there were, or none since a compaction that left some; which slices, is for the
        options' strategy to say.

        Raises:
            HudiError: CONFIG_INVALID for a copy-on-write table; BASE_FILE_MISSING, LOG_FILE_MISSING.

        Clauses: CP-001, CP-004, CP-006.

        """
        return self._services().run("compaction", {**ALWAYS, **(configs or {})})

    def cluster(
        self,
        sort: str | Sequence[str] = (),
        layout: str = "",
        partitions: Sequence[str] = (),
        configs: Mapping[str, str] | None = None,
    ) -> Outcome | None:
        """Put the rows of small files into large ones, now; None where there are none.

        `sort`: columns that rows are sorted by; `layout`: by these in turn (`linear`), or along a curve through them
        (`z-order`, `hilbert`). Clusterings that were planned before are carried out first.

        Raises:
            HudiError: CONFIG_INVALID for columns that rows cannot be sorted by; WRITE_CONFLICT.
            UnsupportedFeature: an index of buckets.

        Clauses: CL-001, CL-004, CL-006, CL-009, CL-010.

        """
        return self._services().cluster(sort, layout, partitions, configs)

    def drop_old_partitions(self, days: int | None = None, configs: Mapping[str, str] | None = None) -> Outcome | None:
        """Delete the partitions to which nothing was written for so many days, now; None where there are none.

        Raises:
            HudiError: WRITE_CONFLICT where somebody wrote to one of them meanwhile.

        Clauses: OW-018.

        """
        return self._services().drop_old_partitions(days, configs)

    def clean(self, configs: Mapping[str, str] | None = None) -> Outcome | None:
        """Delete the files of old versions that the options' policy does not keep, now; None where there are none.

        Cleans that were planned before are carried out first.

        Raises:
            HudiError: CONFIG_INVALID; LOCK_UNAVAILABLE.

        Clauses: CN-001, CN-006, CN-012.

        """
        return self._services().clean(configs)

    def archive(self, configs: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Move old actions from the active timeline to the history, where there are too many; answers their times.

        Raises:
            HudiError: CONFIG_INVALID; LOCK_UNAVAILABLE; TIMELINE_FILE_CORRUPT for a broken history.

        Clauses: AR-001, AR-002.

        """
        return self._services().archive(configs)

    def upgrade(self, to: int = 9, configs: Mapping[str, str] | None = None) -> bool:
        """Bring the table to version 8 or 9; False where it has it.

        Failed writes are rolled back first, plans carried out, and all logs compacted. What stopped is done by the next
        call; until then the table is the old one.

        Raises:
            HudiError: CONFIG_INVALID where that is no upgrade; WRITE_CONFLICT while another writer is at work.

        Clauses: VR-004, VR-005, VR-006.

        """
        return self._services().upgrade(to, configs)

    def downgrade(self, to: int, configs: Mapping[str, str] | None = None) -> bool:
        """Bring the table to version 8 or 6, for older writers and readers; False where it has it.

        Raises:
            HudiError: CONFIG_INVALID where that is no downgrade, and for what the version cannot say, before any
                change; WRITE_CONFLICT while another writer is at work.

        Clauses: VR-004, VR-005, VR-006, VR-009.

        """
        return self._services().downgrade(to, configs)
