"""What a table's files say of its timeline: names of files, and where they stand. Clauses: TL-001 to TL-012, PR-007."""

import re
from pathlib import Path
from typing import TypedDict

from hudi_adapter import Reason, Rejected

TABLE_VERSIONS = (4, 5, 6, 8, 9)
ACTIONS = (
    *("commit", "deltacommit", "replacecommit", "clean", "compaction", "logcompaction"),
    *("clustering", "indexing", "rollback", "savepoint", "restore"),
)
STATES = ("requested", "inflight", "completed")
NAME = re.compile(
    r"(?P<requested>[0-9]+)(_(?P<completed>[0-9]+))?\.(?P<action>[a-z]+)(\.(?P<state>requested|inflight))?"
)


class Instant(TypedDict):
    """An action as the protocol states it."""

    requested: str
    completed: str | None
    action: str
    state: str


def list_instants(table: Path) -> list[Instant]:
    """Every action in its highest state, by requested time."""
    properties = read_properties(table)
    layout = layout_of(properties)
    folder = table / ".hoodie"
    if layout == 2:
        folder /= properties.get("hoodie.timeline.path", "timeline")
    files = [path.name for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    return collapse([one for one in map(parse, files) if one and in_layout(one, layout)])


def collapse(entries: list[Instant]) -> list[Instant]:
    """Each action once. A savepoint, or a clean of an old release, has the instant of a write and is another action."""
    found: dict[tuple[str, str], Instant] = {}
    for entry in entries:
        key = (entry["requested"], entry["action"] if entry["action"] in ("clean", "savepoint") else "")
        other = found.get(key)
        if other and other["state"] == entry["state"] == "COMPLETED":
            raise Rejected(Reason.INSTANT_MALFORMED, f"{entry['requested']} completed twice")
        if other is None or rank(entry) > rank(other):
            found[key] = entry
    return [found[key] for key in sorted(found)]


def rank(entry: Instant) -> int:
    """Where a state stands among the three."""
    return STATES.index(entry["state"].lower())


def in_layout(entry: Instant, layout: int) -> bool:
    """Whether an entry counts: an upgrade that stopped leaves completed files of the other layout behind."""
    return entry["state"] != "COMPLETED" or (entry["completed"] is None) == (layout == 1)


def parse(name: str) -> Instant | None:
    """A file's name as an entry; None where it is no part of the timeline."""
    if not name[:1].isdigit() and name.rpartition(".")[2] not in (*ACTIONS, *STATES):
        return None
    match = NAME.fullmatch(name)
    if match is None:
        raise Rejected(Reason.INSTANT_MALFORMED, f"{name} is no instant")
    requested, completed, action, state = match.group("requested", "completed", "action", "state")
    if action == "inflight" and state is None:
        # An inflight commit has a name without its action.
        action, state = "commit", "inflight"
    if action not in ACTIONS or (completed and state):
        raise Rejected(Reason.INSTANT_MALFORMED, f"{name} is no instant")
    return Instant(requested=requested, completed=completed, action=action, state=(state or "completed").upper())


def layout_of(properties: dict[str, str]) -> int:
    """1: the timeline's files stand in `.hoodie`; 2: in a folder below it."""
    version = properties.get("hoodie.table.version", "")
    if not version.isdecimal():
        raise Rejected(Reason.PROPERTIES_INVALID, f"hoodie.table.version is {version!r}")
    if int(version) not in TABLE_VERSIONS:
        raise Rejected(Reason.TABLE_VERSION_UNSUPPORTED, f"table version {version}")
    layout = properties.get("hoodie.timeline.layout.version", "1" if int(version) <= 6 else "2")
    if layout not in ("1", "2"):
        raise Rejected(Reason.PROPERTIES_INVALID, f"timeline layout {layout!r}")
    return int(layout)


def read_properties(table: Path) -> dict[str, str]:
    """`hoodie.properties`, or its backup where it is absent. A whole reader needs the escapes of Java as well."""
    for name in ("hoodie.properties", "hoodie.properties.backup"):
        path = table / ".hoodie" / name
        if path.is_file():
            lines = [line.strip() for line in path.read_text(encoding="iso-8859-1").splitlines()]
            pairs = [line.partition("=") for line in lines if line and line[0] not in "#!"]
            return {key.strip(): value.strip() for key, _, value in pairs}
    raise Rejected(Reason.NOT_A_TABLE, f"{table} has no hoodie.properties")
