"""Traces of plans, markers, rollbacks and archival."""

from hudi_conformance.verification.trace_cases.building import trace_case
from hudi_conformance.verification.trace_cases.recipes.phrases import left, requested, staged, written


@trace_case(
    "plan_made_once",
    "A plan is put a second time under its request",
    "TL-025 TL-003",
    "trace-check-ignores-states",
    "a plan does not change, however often the action is begun anew",
    8,
)
def plan_made_once() -> str:
    """A compaction that was planned and begun. When its request is put anew."""
    return (
        requested("c", 1, "compaction")
        + "c create_instant compaction INFLIGHT 1, c put_marker 1 d1 a CREATE\n"
        + "c take_lock c, c create_instant compaction REQUESTED 1\n"
    )


@trace_case(
    "marker_before_file",
    "Each file of a write comes after its marker",
    "MK-001 TL-026",
    "trace-check-requires-files-under-the-lock",
    "what the write left would be found without listing the table",
)
def marker_before_file() -> str:
    """A write of two files. When it makes them."""
    return requested("w", 1) + staged("w", 1, "a") + "w put_marker 1 d2 b CREATE, w put_base_file 1 d2 b\n"


@trace_case(
    "file_before_marker",
    "A file comes before its marker",
    "MK-001",
    "trace-check-needs-no-marker",
    "nothing announces the file",
    6,
)
def file_before_marker() -> str:
    """A write that goes inflight. When its file appears first."""
    return (
        requested("w", 1) + "w create_instant commit INFLIGHT 1, w put_base_file 1 d1 a, w put_marker 1 d1 a CREATE\n"
    )


@trace_case(
    "markers_of_a_pending_write_go",
    "The markers of a write go before its completed file",
    "MK-004",
    "trace-check-accepts-lost-markers",
    "markers are removed after the completed file is there, or after the write was undone",
    8,
)
def markers_of_a_pending_write_go() -> str:
    """A write that has made its file, and dies. When another process cleans up markers."""
    return requested("w", 1) + staged("w", 1, "a") + "v delete_markers 1\n"


@trace_case(
    "completed_while_files_come",
    "A clean deletes a file after it has completed",
    "TL-026",
    "trace-check-accepts-late-files",
    "everything is in storage, or out of it, before the action completes",
    9,
)
def completed_while_files_come() -> str:
    """A clean that has completed. When it deletes one more of its files."""
    return (
        requested("k", 1, "clean")
        + "k create_instant clean INFLIGHT 1, k take_lock k, k generate_time 2, k create_instant clean COMPLETED 1 2\n"
        + "k delete_data_file 1 d1 a\n"
    )


@trace_case(
    "highest_state_goes_first",
    "A rollback removes the request of a write before its inflight file",
    "RB-009",
    "trace-check-accepts-lower-states-first",
    "the highest state goes first, so that the write is never anything that it has not been",
    14,
)
def highest_state_goes_first() -> str:
    """A writer that died, and its rollback. When the rollback removes the entries."""
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + requested("r", 2, "rollback")
        + "r create_instant rollback INFLIGHT 2, r delete_data_file 2 d1 a, r delete_instant commit REQUESTED 1\n"
    )


@trace_case(
    "entries_go_without_rollback",
    "Somebody removes the entries of another's pending write",
    "RB-009",
    "trace-check-accepts-removed-pending-writes",
    "a pending write leaves the timeline by its rollback or its own abort",
    5,
)
def entries_go_without_rollback() -> str:
    """A writer that died once its write was requested. When another removes the request without a rollback."""
    return requested("w", 1) + "v delete_instant commit REQUESTED 1\n"


@trace_case(
    "metadata_before_the_rollback",
    "A table with a metadata table: each action commits there first",
    "RB-011",
    "trace-check-requires-one-executor",
    "the rollback is in the metadata table before it completes",
)
def metadata_before_the_rollback() -> str:
    """A write that the metadata table knows; a writer that died after its commit there. When r and q roll it back."""
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + "w take_lock w, w commit_metadata_table 1, w generate_time 2, w create_instant commit COMPLETED 1 2\n"
        + "w release_lock w\n"
        + requested("v", 3)
        + staged("v", 3, "b")
        + "v take_lock v, v commit_metadata_table 3, v release_lock v\n"
        + requested("r", 4, "rollback")
        + "q create_instant rollback INFLIGHT 4, q delete_data_file 4 d1 b\n"
        + "q take_lock q, q commit_metadata_table 4\n"
        + "q delete_instant commit INFLIGHT 3, q delete_instant commit REQUESTED 3\n"
        + "q generate_time 5, q create_instant rollback COMPLETED 4 5, q release_lock q\n"
    )


@trace_case(
    "rollback_unknown_to_the_metadata",
    "A rollback completes before the metadata table knows it",
    "RB-011",
    "trace-check-ignores-the-metadata-table",
    "the metadata table would still list the files",
    24,
)
def rollback_unknown_to_the_metadata() -> str:
    """A write that the metadata table knows, and one that died. When its rollback completes without that table."""
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + "w take_lock w, w commit_metadata_table 1, w generate_time 2, w create_instant commit COMPLETED 1 2\n"
        + "w release_lock w\n"
        + requested("v", 3)
        + requested("r", 4, "rollback")
        + "r create_instant rollback INFLIGHT 4, r take_lock r\n"
        + "r generate_time 5, r create_instant rollback COMPLETED 4 5, r release_lock r\n"
    )


@trace_case(
    "history_first",
    "An archival that stopped is finished by another process",
    "AR-010 AR-011",
    "trace-check-requires-one-archiver",
    "the history has the action first; then its files leave, the completed one last",
)
def history_first() -> str:
    """Two writes; an archival of the first that died when one file had left. When b finishes it."""
    return (
        written("w", 1, 2, "a")
        + written("w", 3, 4, "b")
        + "a take_lock a, a put_history_file 1_1 0, a put_manifest 1, a swap_version 1\n"
        + "a delete_instant commit REQUESTED 1, a release_lock a\n"
        + "b take_lock b, b delete_instant commit INFLIGHT 1, b delete_instant commit COMPLETED 1, b release_lock b\n"
    )


@trace_case(
    "left_before_the_history",
    "An action leaves before a manifest names its file of the history",
    "AR-010",
    "trace-check-accepts-archival-before-history",
    "who reads at that moment would see the action nowhere",
    15,
)
def left_before_the_history() -> str:
    """A write whose row of the history is written. When its files leave before the manifest is put."""
    return written("w", 1, 2, "a") + "a take_lock a, a put_history_file 1_1 0, " + left("a", 1)


@trace_case(
    "completed_file_first",
    "The completed file of an archived action goes first",
    "AR-011",
    "trace-check-accepts-completed-files-first",
    "the action would seem to be pending again",
    17,
)
def completed_file_first() -> str:
    """A write that the history holds. When its completed file leaves before its others."""
    tree = "a put_history_file 1_1 0, a put_manifest 1, a swap_version 1"
    return written("w", 1, 2, "a") + f"a take_lock a, {tree}, a delete_instant commit COMPLETED 1\n"


@trace_case(
    "completes_under_another_name",
    "A compaction completes as a deltacommit",
    "TL-006 CP-006",
    "trace-check-accepts-any-completed-action",
    "a compaction completes as a commit",
    10,
)
def completes_under_another_name() -> str:
    """A compaction that has made its file. When it completes under the name of a log compaction."""
    return (
        requested("c", 1, "compaction")
        + staged("c", 1, "a", "compaction")
        + "c take_lock c, c generate_time 2, c create_instant deltacommit COMPLETED 1 2\n"
    )


@trace_case(
    "saved_before_it_completed",
    "A write is saved before it has completed",
    "SR-001",
    "trace-check-accepts-any-savepoint",
    "only completed writes are saved",
    10,
)
def saved_before_it_completed() -> str:
    """A write that has made its file. When a savepoint of it begins."""
    return (
        requested("w", 1)
        + staged("w", 1, "a")
        + "s take_lock s, s generate_time 2, s create_instant savepoint INFLIGHT 1"
    )
