"""How far a process has come, in the words of the TLA+ modules: the last thing that it did, or what it does next."""

from collections.abc import Mapping, Sequence

from hudi_model.actions import State
from hudi_model.effects import CreateInstant
from hudi_model_tools.programs import Act
from hudi_model_tools.protocol import Process

from hudi_conformance.corpus.traces import effect_name

WITHDRAWAL: Mapping[str, str] = {
    "delete_data_file": "refused",
    "delete_markers": "files gone",
    "delete_instant": "withdrawing",
    "write_heartbeat": "withdrawn",
    "": "gone",
}
EXECUTION: Mapping[tuple[int, str], str] = {
    # Behind each step of an executor, by the effect that comes next.
    (1, "delete_data_file"): "removing",
    (1, "delete_instant"): "taking back",
    (1, "put_marker"): "marking",
    (1, "put_base_file"): "writing",
    (1, "put_log_file"): "writing",
    (1, "put_properties"): "announcing",
    (1, ""): "prepared",
    (2, ""): "locked to finish",
    (3, ""): "finishing",
    (4, "delete_data_file"): "removing",
    (4, "delete_instant"): "taking back",
    (4, "commit_metadata_table"): "metadata next",
    (4, "put_properties"): "switching on",
    (4, "create_instant"): "metadata committed",
    (4, "delete_markers"): "completed",
    (4, "write_heartbeat"): "unmarked",
    (4, ""): "finished",
    (5, ""): "done",
}
STEPS: Mapping[tuple[str, int, str], str] = {
    ("writer", 0, ""): "idle",
    ("writer", 1, ""): "locked",
    ("writer", 2, ""): "timed",
    ("writer", 3, "create_instant"): "beating",
    ("writer", 3, ""): "requested",
    ("writer", 4, ""): "begun",
    ("writer", 5, "put_marker"): "inflight",
    ("writer", 5, "put_base_file"): "marked",
    ("writer", 5, "put_log_file"): "marked",
    ("writer", 5, ""): "staged",
    ("writer", 6, ""): "locked to finish",
    ("writer", 7, ""): "finishing",
    ("writer", 8, "commit_metadata_table"): "metadata next",
    ("writer", 8, "create_instant"): "metadata committed",
    ("writer", 8, "delete_markers"): "completed",
    ("writer", 8, "write_heartbeat"): "unmarked",
    ("writer", 8, ""): "finished",
    ("writer", 9, ""): "done",
    ("refused", 1, ""): "refused",
    **{("refused", 2, effect): name for effect, name in WITHDRAWAL.items()},
    **{("abort", 1, effect): name for effect, name in WITHDRAWAL.items()},
    ("service", 0, ""): "idle",
    ("service", 2, ""): "locked",
    ("service", 3, ""): "timed",
    ("service", 4, ""): "requested",
    ("service", 5, ""): "planned",
    ("idle", 1, ""): "done",
    **{("executor", step, effect): name for (step, effect), name in EXECUTION.items()},
    **{("service", step + 5, effect): name for (step, effect), name in EXECUTION.items()},
    ("archiver", 0, ""): "idle",
    ("archiver", 1, ""): "locked",
    ("archiver", 2, "delete_markers"): "unmarking",
    ("archiver", 2, "put_history_file"): "writing",
    ("archiver", 2, "put_manifest"): "written",
    ("archiver", 2, "swap_version"): "listed",
    ("archiver", 2, "delete_instant"): "switched",
    ("archiver", 2, "delete_history_file"): "cleaning",
    ("archiver", 2, ""): "finished",
    ("archiver", 3, ""): "done",
    ("savepointer", 0, ""): "idle",
    ("savepointer", 1, ""): "locked",
    ("savepointer", 2, ""): "timed",
    ("savepointer", 3, "create_instant"): "inflight",
    ("savepointer", 3, ""): "finished",
    ("savepointer", 4, ""): "done",
    ("reader", 0, ""): "idle",
    ("reader", 1, "read_slice"): "reading",
    ("reader", 1, ""): "done",
}


def is_completing(following: Sequence[Act]) -> bool:
    """Whether a process that has looked at the table completes next."""
    return any(isinstance(one, CreateInstant) and one.entry.state is State.COMPLETED for one in following)


def step_of(process: Process) -> str:
    """The step of a process.

    Raises:
        KeyError: the model's programs stand where no TLA+ module has a word for it.

    """
    local = process.local.value
    if not process.is_alive:
        return "crashed"
    if process.program == "reader" and local.refused:
        return "missed"
    following: tuple[Act, ...] = local.todo[:1]
    if process.is_slow and (process.program, process.step) == ("writer", 8) and is_completing(following):
        return "finishing"
    return STEPS[process.program, process.step, "".join(map(effect_name, following))]
