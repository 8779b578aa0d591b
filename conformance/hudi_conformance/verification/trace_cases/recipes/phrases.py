"""What processes do, in short form: `process effect value ...`; numbers stand for instants, a comma ends a line."""


def requested(who: str, at: int, action: str = "commit") -> str:
    """An action is requested: a time and its file, inside the lock."""
    line = f"{who} create_instant {action} REQUESTED {at}"
    return f"{who} take_lock {who}, {who} generate_time {at}, {line}, {who} release_lock {who}\n"


def staged(who: str, at: int, file: str, action: str = "commit") -> str:
    """An action goes inflight and makes one file, after its marker."""
    put = f"{who} put_marker {at} d1 {file} CREATE, {who} put_base_file {at} d1 {file}"
    return f"{who} create_instant {action} INFLIGHT {at}, {put}\n"


def completed(who: str, at: int, done: int, action: str = "commit") -> str:
    """An action completes, inside the lock; its markers go."""
    ended = f"{who} generate_time {done}, {who} create_instant {action} COMPLETED {at} {done}"
    return f"{who} take_lock {who}, {ended}, {who} release_lock {who}, {who} delete_markers {at}\n"


def written(who: str, at: int, done: int, file: str) -> str:
    """A whole write."""
    return requested(who, at) + staged(who, at, file) + completed(who, at, done)


def rolled_back(who: str, at: int, done: int, of: int, file: str) -> str:
    """A whole rollback of a write that had gone inflight."""
    return (
        requested(who, at, "rollback")
        + f"{who} create_instant rollback INFLIGHT {at}, {who} delete_data_file {at} d1 {file}\n"
        + f"{who} delete_instant commit INFLIGHT {of}, {who} delete_instant commit REQUESTED {of}\n"
        + f"{who} take_lock {who}, {who} generate_time {done}, {who} create_instant rollback COMPLETED {at} {done}\n"
        + f"{who} release_lock {who}, {who} delete_markers {of}\n"
    )


def archived(who: str, at: int, first: int, last: int, version: int) -> str:
    """What archival writes, before anything leaves the active timeline."""
    tree = f"{who} put_history_file {first}_{last} 0, {who} put_manifest {version}, {who} swap_version {version}"
    return f"{who} take_lock {who}, {tree}\n{left(who, at)}, {who} release_lock {who}\n"


def left(who: str, at: int) -> str:
    """An archived commit leaves the active timeline, its completed file last."""
    states = ("REQUESTED", "INFLIGHT", "COMPLETED")
    return ", ".join(f"{who} delete_instant commit {state} {at}" for state in states)
