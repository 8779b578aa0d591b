"""Traces of what storage promises, and of how times are generated."""

from hudi_conformance.verification.trace_cases.building import trace_case
from hudi_conformance.verification.trace_cases.recipes.phrases import (
    archived,
    completed,
    requested,
    rolled_back,
    staged,
    written,
)


@trace_case(
    "one_of_two_puts_succeeds",
    "Two processes carry out one plan, one of them completes it",
    "SA-001 TL-003",
    "trace-check-requires-one-executor trace-check-requires-one-attempt",
    "the second gets the error that the name is taken, and stops",
)
def one_of_two_puts_succeeds() -> str:
    """A clustering that s has requested. When s and t carry it out at once, and both come to complete it."""
    return (
        requested("s", 1, "clustering")
        + staged("s", 1, "a", "clustering")
        + staged("t", 1, "b", "clustering")
        + completed("s", 1, 2, "replacecommit")
        + "t take_lock t, t release_lock t"
    )


@trace_case(
    "two_puts_of_one_name",
    "Two processes put the completed file of one action",
    "SA-001 TL-003",
    "trace-check-ignores-states",
    "the second put is refused: the content is that of the first",
    16,
)
def two_puts_of_one_name() -> str:
    """A clustering that s has requested and that s and t carry out. When t completes it after s has."""
    return (
        requested("s", 1, "clustering")
        + staged("s", 1, "a", "clustering")
        + staged("t", 1, "b", "clustering")
        + "s take_lock s, s generate_time 2, s create_instant replacecommit COMPLETED 1 2, s release_lock s\n"
        + "t take_lock t, t create_instant replacecommit COMPLETED 1\n"
    )


@trace_case(
    "listed_after_the_put",
    "Who comes second builds on what the first has put",
    "SA-002 AR-010",
    "trace-check-requires-one-executor trace-check-requires-one-archiver",
    "the plan of another is found and carried out, the next manifest has the next number",
)
def listed_after_the_put() -> str:
    """A write; a plan that s requested; a history that a has begun. When t carries the plan out, and b archives."""
    return (
        written("w", 1, 2, "a")
        + written("w", 3, 4, "b")
        + requested("s", 5, "clustering")
        + staged("t", 5, "c", "clustering")
        + completed("t", 5, 6, "replacecommit")
        + archived("a", 1, 1, 1, 1)
        + archived("b", 3, 3, 3, 2)
    )


@trace_case(
    "stale_listing_of_manifests",
    "An archival that has not seen the last manifest",
    "SA-002 HS-003",
    "trace-check-ignores-manifest-numbers",
    "the number is taken: a listing after the put shows the manifest",
    35,
)
def stale_listing_of_manifests() -> str:
    """Two writes; an archival of the first by a. When b archives the second and puts manifest 1 once more."""
    return (
        written("w", 1, 2, "a")
        + written("w", 3, 4, "b")
        + archived("a", 1, 1, 1, 1)
        + "b take_lock b, b put_history_file 3_3 0, b put_manifest 1\n"
    )


@trace_case(
    "a_crash_leaves_a_prefix",
    "A writer dies between two files, a rollback finds what it left",
    "SA-003 LK-002 RB-009",
    "trace-check-refuses-unused-markers",
    "the first so many of its effects are there, in their order, and are taken back",
)
def a_crash_leaves_a_prefix() -> str:
    """A writer that has announced two files and put one. When it dies, and r rolls its write back."""
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + "w put_marker 1 d1 b CREATE\n"
        + rolled_back("r", 2, 3, 1, "a")
        + written("w2", 4, 5, "c")
    )


@trace_case(
    "no_effect_after_the_end",
    "A file of a write appears after the write has completed",
    "SA-003 TL-026",
    "trace-check-accepts-late-files",
    "the file is refused: effects come in their order, and everything is in storage before the action completes",
    13,
)
def no_effect_after_the_end() -> str:
    """A whole write. When its second file appears."""
    return written("w", 1, 2, "a") + "w put_base_file 1 d1 b\n"


@trace_case(
    "deleted_twice",
    "Two processes carry out one rollback",
    "SA-004 RB-009",
    "trace-check-refuses-second-deletes trace-check-requires-one-executor trace-check-requires-one-attempt",
    "deletes of what is gone already change nothing and succeed",
)
def deleted_twice() -> str:
    """A writer that died; its rollback, requested by r, which dies too. When q takes the rollback up."""
    undone = "delete_data_file 2 d1 a, {0} delete_instant commit INFLIGHT 1, {0} delete_instant commit REQUESTED 1"
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + requested("r", 2, "rollback")
        + f"r create_instant rollback INFLIGHT 2, r {undone.format('r')}\n"
        + f"q create_instant rollback INFLIGHT 2, q {undone.format('q')}\n"
        + "q take_lock q, q generate_time 3, q create_instant rollback COMPLETED 2 3, q release_lock q\n"
        + "q delete_markers 1, r delete_markers 1\n"
    )


@trace_case(
    "an_error_after_the_put",
    "A writer gets an error for its completed file, and looks",
    "SA-005 MK-004",
    "trace-check-requires-completions-in-turn",
    "the file is there, so the write has completed: only its markers go",
)
def an_error_after_the_put() -> str:
    """A pending plan, and a write whose completed file was put. When its writer gets an error."""
    return requested("s", 1, "clustering") + written("w", 2, 3, "a")


@trace_case(
    "taken_back_after_an_error",
    "A writer gets an error for its completed file, and takes the write back",
    "SA-005 TL-003",
    "trace-check-accepts-late-files",
    "nothing of a completed action is taken back",
    11,
)
def taken_back_after_an_error() -> str:
    """A write whose completed file was put. When its writer gets an error and deletes its file."""
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + "w take_lock w, w generate_time 2, w create_instant commit COMPLETED 1 2\n"
        + "w delete_data_file 1 d1 a, w delete_instant commit COMPLETED 1\n"
    )


@trace_case(
    "times_in_turn",
    "Two processes generate their times in one lock that both share",
    "TM-003 TM-005 TM-004 TL-024",
    "trace-check-requires-completions-in-turn",
    "every time is greater than all before, whichever process generated them; the writes may overlap",
)
def times_in_turn() -> str:
    """Two writers; the clock of v is behind that of w. When each waits under the lock until both clocks have passed."""
    return (
        requested("w", 10)
        + requested("v", 15)
        + staged("w", 10, "a")
        + staged("v", 15, "b")
        + completed("v", 15, 20)
        + completed("w", 10, 25)
    )


@trace_case(
    "lock_let_go_too_early",
    "The lock is let go before the uncertainty of the clocks has passed",
    "TM-004 TM-003",
    "trace-check-accepts-any-time",
    "the next process has a slower clock and generates an earlier time",
    6,
)
def lock_let_go_too_early() -> str:
    """A writer with a fast clock that lets go of the lock at once. When one with a slow clock takes it."""
    return requested("w", 10) + requested("v", 7)


@trace_case(
    "times_without_the_lock",
    "Two processes read their clocks at once",
    "TM-005 TM-003",
    "trace-check-accepts-any-time",
    "both get one time",
    3,
)
def times_without_the_lock() -> str:
    """Two writers. When v generates a time while w holds the lock and does so."""
    return "w take_lock w, w generate_time 5, v generate_time 5, w create_instant commit REQUESTED 5\n"


@trace_case(
    "completion_time_of_the_waiting",
    "A completion time that was generated before the lock was taken",
    "TL-024 LK-003",
    "trace-check-accepts-any-completion-time",
    "the time is refused: another has completed since, and the order of completions would be another one",
    19,
)
def completion_time_of_the_waiting() -> str:
    """Two writers; w generates its completion time, then waits for the lock. When v completes first, and w then."""
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + requested("v", 2)
        + "w generate_time 3, v create_instant commit INFLIGHT 2\n"
        + "v take_lock v, v generate_time 4, v create_instant commit COMPLETED 2 4\n"
        + "v release_lock v, w take_lock w, w create_instant commit COMPLETED 1 3\n"
    )


@trace_case(
    "request_of_another_time",
    "A request bears a time that its process did not generate last",
    "TL-024 TM-003",
    "trace-check-ignores-request-times",
    "requests and completions come from one generator: the time is refused",
    3,
)
def request_of_another_time() -> str:
    """A writer that has generated a time. When its request bears another one."""
    return "w take_lock w, w generate_time 5, w create_instant commit REQUESTED 7, w release_lock w"
