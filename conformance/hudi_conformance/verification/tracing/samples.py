"""Traces written by hand: some that keep every rule, and for each rule those that break it and no other."""

from collections.abc import Callable, Iterator

from hudi_model.time import tick

from hudi_conformance.corpus.traces import Line, schema
from hudi_conformance.verification.tracing.modules import INSTANTS, Trace

Lines = list[Line]

# Process, effect, parameters as the vocabulary orders them; numbers stand for instants.
SERVED = """
w put_properties hoodie.properties
w take_lock w, w generate_time 1, w write_heartbeat 1, w create_instant commit REQUESTED 1, w release_lock w
w create_instant commit INFLIGHT 1, w put_partition_metafile 1 d1
w put_marker 1 d1 a CREATE, w put_base_file 1 d1 a
w take_lock w, w commit_metadata_table 1, w generate_time 2, w create_instant commit COMPLETED 1 2, w release_lock w
w delete_markers 1
k take_lock k, k generate_time 3, k create_instant clean REQUESTED 3, k release_lock k
k create_instant clean INFLIGHT 3, k delete_data_file 3 d1 z
k take_lock k, k commit_metadata_table 3, k generate_time 4, k create_instant clean COMPLETED 3 4, k release_lock k
v take_lock v, v generate_time 5, v release_lock v, v create_instant commit REQUESTED 5
v create_instant commit INFLIGHT 5, v put_marker 5 d1 b CREATE, v put_base_file 5 d1 b
k take_lock k, k generate_time 7, k create_instant rollback REQUESTED 7, k release_lock k
k create_instant rollback INFLIGHT 7, k delete_data_file 7 d1 b
k delete_instant commit INFLIGHT 5, k delete_instant commit REQUESTED 5
k take_lock k, k commit_metadata_table 7, k generate_time 8
k create_instant rollback COMPLETED 7 8, k release_lock k, k delete_markers 5
s take_lock s, s generate_time 9, s create_instant savepoint INFLIGHT 1, s create_instant savepoint COMPLETED 1 9
s release_lock s, r pick_snapshot 9, r read_slice d1 a 1
s delete_instant savepoint COMPLETED 1, s delete_instant savepoint INFLIGHT 1
k take_lock k, k generate_time 10, k create_instant compaction REQUESTED 10, k release_lock k
k create_instant compaction INFLIGHT 10, k put_marker 10 d1 c CREATE, k put_base_file 10 d1 c
k take_lock k, k commit_metadata_table 10, k generate_time 11, k create_instant commit COMPLETED 10 11, k release_lock k
w take_lock w, w put_history_file 1_3 0, w put_manifest 1, w swap_version 1
w delete_instant commit REQUESTED 1, w delete_instant commit INFLIGHT 1
w delete_instant clean REQUESTED 3, w delete_instant clean INFLIGHT 3
w delete_instant commit COMPLETED 1, w delete_instant clean COMPLETED 3
w put_history_file 1_8 1, w put_manifest 2, w swap_version 2, w delete_history_file old, w release_lock w
"""
OLD = """
w take_lock w, w generate_time 1, w create_instant deltacommit REQUESTED 1, w release_lock w
w create_instant deltacommit INFLIGHT 1, w put_marker 1 d1 a APPEND, w put_log_file 1 d1 a
w take_lock w, w generate_time 2, w create_instant deltacommit COMPLETED 1, w release_lock w, w delete_markers 1
w append_archived_log 1, w delete_instant deltacommit REQUESTED 1, w delete_instant deltacommit INFLIGHT 1
w delete_instant deltacommit COMPLETED 1
"""
RESTORED = """
w take_lock w, w generate_time 1, w create_instant commit REQUESTED 1, w create_instant commit INFLIGHT 1
w commit_metadata_table 1, w generate_time 2, w create_instant commit COMPLETED 1 2, w release_lock w
s take_lock s, s generate_time 3, s create_instant savepoint INFLIGHT 1, s create_instant savepoint COMPLETED 1 3
s release_lock s
w take_lock w, w generate_time 4, w create_instant commit REQUESTED 4, w create_instant commit INFLIGHT 4
w commit_metadata_table 4, w generate_time 5, w create_instant commit COMPLETED 4 5
w generate_time 6, w create_instant commit REQUESTED 6, w release_lock w
k take_lock k, k generate_time 7, k create_instant rollback REQUESTED 7, k create_instant rollback INFLIGHT 7
k delete_instant commit REQUESTED 6
k commit_metadata_table 7, k generate_time 8, k create_instant rollback COMPLETED 7 8, k release_lock k
k take_lock k, k generate_time 9, k create_instant restore REQUESTED 9, k release_lock k
k create_instant restore INFLIGHT 9
k delete_instant commit COMPLETED 4, k delete_instant commit INFLIGHT 4, k delete_instant commit REQUESTED 4
k take_lock k, k generate_time 10, k create_instant restore COMPLETED 9 10, k release_lock k
k delete_instant rollback COMPLETED 7, k delete_instant rollback INFLIGHT 7, k delete_instant rollback REQUESTED 7
w take_lock w, w generate_time 11, w create_instant commit REQUESTED 11, w create_instant commit INFLIGHT 11
w generate_time 12, w create_instant commit COMPLETED 11 12
w generate_time 13, w create_instant compaction REQUESTED 13, w release_lock w, w create_instant compaction INFLIGHT 13
x delete_instant compaction INFLIGHT 13, x create_instant compaction INFLIGHT 13, x delete_markers 13
"""


def samples() -> tuple[Trace, ...]:
    """The sound ones, one for each rule, called after it, then more: a rule, and how they break it."""
    sound = {"a table and its services": SERVED, "an old table": OLD, "a restored table": RESTORED}
    accepted = (Trace(name, tuple(lines_of(text))) for name, text in sound.items())
    spoilt = (Trace(rule, tuple(spoil(list(lines_of(SERVED)))), (), rule) for rule, spoil in SPOILT.items())
    more = (
        Trace(f"{rule}: {how}", tuple(spoil(list(lines_of(text)))), (), rule) for rule, how, text, spoil in MORE_SPOILT
    )
    return (*accepted, *spoilt, *more)


def lines_of(text: str) -> Iterator[Line]:
    """The lines that a text stands for."""
    for part in text.replace("\n", ",").split(","):
        if words := part.split():
            yield line_of(*words)


def line_of(process: str, effect: str, *values: str) -> Line:
    """One of them."""
    form = next(one for one in schema()["oneOf"] if one["title"] == effect)
    names = [name for name in form["properties"] if name not in {"process", "effect"}]
    fields = dict(zip(names, values, strict=False))
    for name in INSTANTS:
        fields |= {name: tick(int(fields[name]))} if name in fields else {}
    if effect == "put_history_file":
        first, last = fields["file"].split("_")
        fields["file"] = f"{tick(int(first))}_{tick(int(last))}_{fields['level']}.parquet"
    return {"process": process, "effect": effect, **fields}


def without(*texts: str) -> Callable[[Lines], Lines]:
    """A trace that lacks lines."""
    gone = [line_of(*one.split()) for one in texts]
    return lambda lines: [one for one in lines if one not in gone]


def before(other: str, *texts: str) -> Callable[[Lines], Lines]:
    """A trace in which lines come before another, where they stand or as they are new."""
    moved, place = [line_of(*one.split()) for one in texts], line_of(*other.split())

    def spoilt(lines: Lines) -> Lines:
        kept = [one for one in lines if one not in moved]
        at = kept.index(place)
        return [*kept[:at], *moved, *kept[at:]]

    return spoilt


def with_other(old: str, new: str, *texts: str) -> Callable[[Lines], Lines]:
    """A trace in which a word is another one in some lines."""
    changed = {old_line: old_line.replace(f" {old}", f" {new}") for old_line in texts}
    made = {str(line_of(*one.split())): line_of(*other.split()) for one, other in changed.items()}
    return lambda lines: [made.get(str(one), one) for one in lines]


def then(text: str) -> Callable[[Lines], Lines]:
    """A trace that goes on."""
    return lambda lines: [*lines, *lines_of(text)]


def both(first: Callable[[Lines], Lines], second: Callable[[Lines], Lines]) -> Callable[[Lines], Lines]:
    """One change after another."""
    return lambda lines: second(first(lines))


OF_V = (
    "v create_instant commit REQUESTED 5",
    "v create_instant commit INFLIGHT 5",
    "v put_marker 5 d1 b CREATE",
    "v put_base_file 5 d1 b",
    "k delete_instant commit INFLIGHT 5",
    "k delete_instant commit REQUESTED 5",
    "k delete_markers 5",
)
OF_SAVEPOINT = (
    "s create_instant savepoint INFLIGHT 1",
    "s create_instant savepoint COMPLETED 1 9",
    "s delete_instant savepoint COMPLETED 1",
    "s delete_instant savepoint INFLIGHT 1",
)
COMPLETION, UNTIMED = "k create_instant commit COMPLETED 10 11", "k create_instant commit COMPLETED 10"
SPOILT: dict[str, Callable[[Lines], Lines]] = {
    "one process holds the lock": lambda lines: [*lines[:5], *lines[6:]],
    "times increase": with_other("2", "1", "w generate_time 2", "w create_instant commit COMPLETED 1 2"),
    "a request bears the time just generated": with_other("5", "6", *OF_V),
    "no state is skipped": without("k create_instant compaction INFLIGHT 10"),
    "completed type follows the request": with_other("commit", "deltacommit", COMPLETION),
    "completed writes are saved": with_other("1", "3", *OF_SAVEPOINT),
    "plans are made under the lock": before("k take_lock k", "k generate_time 3", "k create_instant clean REQUESTED 3"),
    "finished under the lock": both(with_other("11", "", COMPLETION), before("w put_history_file 1_3 0", UNTIMED)),
    "completion time under the lock": before("k create_instant compaction INFLIGHT 10", "k generate_time 11"),
    "marker before file": without("k put_marker 10 d1 c CREATE"),
    "markers stay with their write": before("w generate_time 2", "k delete_markers 1"),
    "everything before completion": before("v generate_time 5", "k delete_data_file 3 d1 z"),
    "metadata before completion": without("k commit_metadata_table 10"),
    "undone before it leaves": before(
        "k generate_time 7", "k delete_instant commit INFLIGHT 5", "k delete_instant commit REQUESTED 5"
    ),
    "highest state first": before("k delete_instant commit INFLIGHT 5", "k delete_instant commit REQUESTED 5"),
    "history before it leaves": without("w put_history_file 1_3 0"),
    "completed file last": before(
        "w delete_instant commit REQUESTED 1",
        "w delete_instant commit COMPLETED 1",
        "w delete_instant commit INFLIGHT 1",
    ),
    "manifests are numbered": with_other("2", "5", "w put_manifest 2", "w swap_version 2"),
    "manifest before version": without("w put_manifest 2"),
    "only a rollback finds files gone": before("v generate_time 5", "w delete_instant commit INFLIGHT 5"),
    "snapshot before slices": without("r pick_snapshot 9"),
}
"""By the rule that each breaks."""
TWO_WRITES = """
u take_lock u, u generate_time 12, u create_instant commit REQUESTED 12, u create_instant commit INFLIGHT 12
u generate_time 13, u create_instant commit REQUESTED 13, u create_instant commit INFLIGHT 13
u commit_metadata_table 12, u commit_metadata_table 13, u generate_time 14
u create_instant commit COMPLETED 12 14, u create_instant commit COMPLETED 13 14
"""
REQUESTED_AGAIN = """
u generate_time 12, u create_instant commit REQUESTED 12, u create_instant commit INFLIGHT 12
u create_instant commit REQUESTED 12
"""
LOGGED_ONCE = """
w take_lock w, w generate_time 3, w create_instant deltacommit REQUESTED 3, w create_instant deltacommit INFLIGHT 3
w create_instant deltacommit COMPLETED 3, w delete_instant deltacommit REQUESTED 3
"""
LEFT_TWICE = OLD.replace("delete_instant deltacommit INFLIGHT 1", "delete_instant deltacommit REQUESTED 1")
MORE_SPOILT: tuple[tuple[str, str, str, Callable[[Lines], Lines]], ...] = (
    ("one process holds the lock", "taken for another", SERVED, then("u take_lock k")),
    ("one process holds the lock", "released by who has it not", SERVED, then("u release_lock u")),
    ("one process holds the lock", "released for another", SERVED, then("u take_lock u, u release_lock k")),
    (
        "a request bears the time just generated",
        "that of a completion",
        SERVED,
        before("w delete_markers 1", "w create_instant commit REQUESTED 2"),
    ),
    ("no state is skipped", "requested again", SERVED, then(REQUESTED_AGAIN)),
    (
        "completed writes are saved",
        "a pending one",
        SERVED,
        before("k generate_time 7", "s create_instant savepoint INFLIGHT 5"),
    ),
    (
        "finished under the lock",
        "the metadata",
        SERVED,
        before("k put_marker 10 d1 c CREATE", "k commit_metadata_table 10"),
    ),
    ("completion time under the lock", "of two writes", SERVED, then(TWO_WRITES)),
    ("marker before file", "it is gone", SERVED, before("w put_base_file 1 d1 a", "w delete_markers 1")),
    ("everything before completion", "a marker", SERVED, before("v generate_time 5", "w put_marker 1 d1 b CREATE")),
    ("everything before completion", "a file", SERVED, before("w delete_markers 1", "w put_base_file 1 d1 a")),
    (
        "everything before completion",
        "a partition",
        SERVED,
        before("v generate_time 5", "w put_partition_metafile 1 d2"),
    ),
    (
        "everything before completion",
        "the metadata",
        SERVED,
        before("k create_instant clean REQUESTED 3", "k commit_metadata_table 1"),
    ),
    (
        "undone before it leaves",
        "by a rollback that has completed",
        SERVED,
        then("u generate_time 12, u create_instant commit REQUESTED 12, k delete_instant commit REQUESTED 12"),
    ),
    ("history before it leaves", "of later actions", SERVED, then("w delete_instant compaction REQUESTED 10")),
    (
        "history before it leaves",
        "of earlier actions",
        SERVED,
        with_other("1_3", "3_3", "w put_history_file 1_3 0"),
    ),
    (
        "history before it leaves",
        "a rollback without a restore",
        SERVED,
        before("k generate_time 10", "k delete_instant rollback REQUESTED 7"),
    ),
    ("history before it leaves", "after a restore", RESTORED, then("k delete_instant commit REQUESTED 1")),
    ("history before it leaves", "more than were logged", OLD, then(LOGGED_ONCE)),
    ("only a rollback finds files gone", "one that has left", LEFT_TWICE, then("")),
    ("manifest before version", "swapped again", SERVED, then("w swap_version 2")),
)
"""More ways to break rules: the rule, the way, the trace that is sound without it. Each kills mutants of Effects."""
