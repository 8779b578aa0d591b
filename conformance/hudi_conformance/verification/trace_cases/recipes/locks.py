"""Traces of processes that share a lock."""

from hudi_conformance.verification.trace_cases.building import trace_case
from hudi_conformance.verification.trace_cases.recipes.phrases import completed, requested, staged, written


@trace_case(
    "lock_in_turn",
    "Writers and a reader: the lock for the ends of writes, no lock for files and readers",
    "LK-001 LK-003",
    "trace-check-requires-files-under-the-lock trace-check-requires-locked-readers",
    "one holder at a time; files are made without the lock, and readers take none",
)
def lock_in_turn() -> str:
    """A write, a second one that makes its files. When a reader comes while a third process holds the lock."""
    return (
        written("w", 1, 2, "a")
        + requested("v", 3)
        + "x take_lock x\n"
        + staged("v", 3, "b")
        + "r pick_snapshot 2, r read_slice d1 a 1\n"
        + "x generate_time 4, x create_instant commit REQUESTED 4, x release_lock x\n"
        + completed("v", 3, 5)
    )


@trace_case(
    "two_holders",
    "A process takes the lock that another holds",
    "LK-001",
    "trace-check-accepts-a-held-lock",
    "it has to wait until the lock is released",
    4,
)
def two_holders() -> str:
    """A writer that holds the lock. When another takes it."""
    return "w take_lock w, w generate_time 1, w create_instant commit REQUESTED 1, v take_lock v\n"


@trace_case(
    "lease_of_a_failed_holder",
    "The lease of a process that died ends, others go on",
    "LK-002 LK-001 SA-003",
    "trace-check-requires-one-executor trace-check-requires-one-attempt",
    "the next takes the lock and completes what the failed process had begun",
)
def lease_of_a_failed_holder() -> str:
    """A clustering whose process died while it held the lock; its lease has ended. When t carries the plan out."""
    return (
        requested("s", 1, "clustering")
        + staged("s", 1, "a", "clustering")
        + "s take_lock s, s generate_time 2, s release_lock s\n"
        + "t create_instant clustering INFLIGHT 1, t delete_data_file 1 d1 a\n"
        + "t put_marker 1 d1 a CREATE, t put_base_file 1 d1 a\n"
        + completed("t", 1, 3, "replacecommit")
    )


@trace_case(
    "holder_after_its_lease",
    "A process completes its write after its lease has ended",
    "LK-002 LK-003",
    "trace-check-accepts-completion-without-lock",
    "it is no holder any more and must not complete anything",
    14,
)
def holder_after_its_lease() -> str:
    """A writer whose lease ended while it slept; another holds the lock. When the first wakes and completes."""
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + "w take_lock w, w generate_time 2, w release_lock w\n"
        + "v take_lock v, v generate_time 3, v create_instant commit REQUESTED 3, w create_instant commit COMPLETED 1\n"
    )


@trace_case(
    "completed_without_lock",
    "A writer completes without the lock",
    "LK-003",
    "trace-check-accepts-completion-without-lock",
    "from its checks until its completed file is there it has to hold the lock",
    8,
)
def completed_without_lock() -> str:
    """A writer that has made its files. When it completes without the lock."""
    return requested("w", 1) + staged("w", 1, "a") + "w create_instant commit COMPLETED 1\n"


@trace_case(
    "services_plan_and_finish_locked",
    "Two services plan and finish under the lock, and work without it",
    "LK-004 CP-012",
    "trace-check-requires-files-under-the-lock trace-check-requires-completions-in-turn",
    "the plans are made one after another, the work may overlap with each other and with a writer",
)
def services_plan_and_finish_locked() -> str:
    """A compaction and a clustering, each planned under the lock. When both and a writer work at once."""
    return (
        requested("c", 1, "compaction")
        + requested("k", 2, "clustering")
        + requested("w", 3)
        + staged("k", 2, "b", "clustering")
        + staged("c", 1, "a", "compaction")
        + staged("w", 3, "e")
        + completed("k", 2, 4, "replacecommit")
        + completed("w", 3, 5)
        + completed("c", 1, 6)
    )


@trace_case(
    "planned_without_lock",
    "Two services plan at once",
    "LK-004 CP-012",
    "trace-check-accepts-completion-without-lock",
    "the plan that is made without the lock is refused: it does not know the other",
    4,
)
def planned_without_lock() -> str:
    """A service that plans under the lock. When another plans meanwhile without it."""
    return (
        "c take_lock c, c generate_time 1, k generate_time 2, k create_instant clustering REQUESTED 2\n"
        "c create_instant compaction REQUESTED 1, c release_lock c\n"
    )


@trace_case(
    "service_finishes_without_lock",
    "A compaction completes without the lock",
    "LK-004 CP-012",
    "trace-check-accepts-completion-without-lock",
    "a service finishes under the lock that writers take",
    8,
)
def service_finishes_without_lock() -> str:
    """A compaction that has made its files. When it completes without the lock."""
    return requested("c", 1, "compaction") + staged("c", 1, "a", "compaction") + "c create_instant commit COMPLETED 1\n"
