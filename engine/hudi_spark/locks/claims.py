"""Numbered claims: what makes a lock that may be lost safe.

A lease can end while its holder is paused, at any instruction, also between its last look at the lock and the put of a
completed file. No look can prevent that; a number can. Below `.hoodie/.locks/claims` lies a sequence of files, each put
only if absent, so that of all who want a number one has it:

entry     who takes the lock puts the next number, before it reads the timeline that its checks go by; and who lets go
          of it puts one above a request, which it may withdraw from now on
claim     who puts a timeline file that others rely on (a completed file, a plan) puts the next number first, with the
          name and the content of the file

A holder's next number is the one after its own last. Where somebody else has taken the lock meanwhile, that number is
gone, and the late holder is told LOCK_LOST before anything of it counts. Whoever enters first carries out the claim
that it finds on top, so a claim is the moment at which an action counts: a holder that is paused after it finds its
file put already, with the same content, and one that died there has completed.

Only the greatest number says anything, since nobody puts a number without having carried out what lay below. Numbers
far below the greatest are removed. A holder paused for so long that its next number was used and removed again may put
it once more: it sees greater ones then, and knows; others never look at it.

What a late holder may still do is the one effect that it was about to have. Data and log files carry its instant, which
does not complete; instants, markers and files that it was rolling back are those of dead writes, which the next holder
rolls back as well. Its metadata table's deltacommit needs a claim to complete. Three late effects are not fenced by
numbers: a replaced file (properties, the history's version) is the older one until the next replacement; a metadata
table that was about to be dropped goes, and is made anew; and a completed file comes back whose action somebody rolled
back or archived between its holder's last look at the numbers and its put.

Clauses: LK-002, OW-004.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from hudi_format.errors import FormatError
from hudi_format.names import TimelineLayout, parse_timeline_file_name
from hudi_format.storage import Storage

from hudi_spark.effects.helper import Effects
from hudi_spark.locks.providers.interface import malformed, read_lock_object

CLAIMS_FOLDER: Final = ".hoodie/.locks/claims"
_DIGITS: Final = 20
_GREATEST: Final = 10**_DIGITS - 1
_NAME: Final = re.compile(f"[0-9]{{{_DIGITS}}}")
_KEPT: Final = 32
_TRIES: Final = 100
_FIELDS: Final = ("holder", "path", "folder", "told")
# Completion times are in the names of the second layout only.
_LAYOUTS: Final[Mapping[bool, tuple[TimelineLayout, ...]]] = {False: (1,), True: (2,)}


@dataclass(frozen=True, slots=True)
class Claim:
    """One number: an entry has no path; `told` are the parameters of the effect, `folder` whose timeline it is."""

    holder: str
    path: str = ""
    folder: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    content: bytes = field(default=b"", repr=False)

    def encoded(self) -> bytes:
        """A line of JSON, then the content of the file."""
        head = {"holder": self.holder, "path": self.path, "folder": self.folder, "told": dict(self.told)}
        return json.dumps(head, ensure_ascii=False).encode() + b"\n" + self.content


def parse_claim(data: bytes, file: str) -> Claim:
    """The claim that a file holds.

    Raises:
        HudiError: LOCK_UNAVAILABLE where it is none, or claims what is no file of the timeline it names.

    Clauses: LK-002.

    """
    head, _, content = data.partition(b"\n")
    form = read_lock_object(head, file)
    holder, path, folder, told = (form.get(name) for name in _FIELDS)
    if not (isinstance(holder, str) and isinstance(path, str) and isinstance(folder, str) and isinstance(told, dict)):
        raise malformed(file, f"holder, path, folder and told are {holder!r:.40}, {path!r:.40}, {folder!r:.40}, ...")
    claim = Claim(holder, path, folder, told, content)
    if path and not _claims_an_instant(claim):
        raise malformed(file, f"it claims {path[:200]!r}, no file of a timeline")
    return claim


def _claims_an_instant(claim: Claim) -> bool:
    """Whether a claim is of a file that its effect creates: one of the timeline of the table, or of one inside it."""
    told = claim.told
    within, _, name = claim.path.rpartition("/")
    try:
        named = [parse_timeline_file_name(name, layout, name) for layout in _LAYOUTS[name.count("_") > 0]]
    except FormatError:
        return False
    same = any(one and (one.requested, one.state) == (told.get("requested"), told.get("state")) for one in named)
    inside = f"{within}/".startswith(f"{claim.folder}/.hoodie/" if claim.folder else ".hoodie/")
    return same and inside and all(isinstance(one, str) for one in told.values())


def numbers(storage: Storage) -> list[int]:
    """The numbers that are taken, in order; files of other names are no claims."""
    names = (status.path.rpartition("/")[2] for status in storage.list_files(CLAIMS_FOLDER, recursive=False))
    return sorted(int(name) for name in names if _NAME.fullmatch(name))


def enter(effects: Effects, holder: str) -> int:
    """The number of a new holder; what the one before it claimed and did not put is there then.

    Called with the lock, before anything is read that its checks go by.

    Raises:
        HudiError: LOCK_UNAVAILABLE where the claim on top is none, or no number above it can be had.

    Clauses: LK-002.

    """
    storage = effects.storage
    for _ in range(_TRIES):
        taken = numbers(storage)
        number = taken[-1] + 1 if taken else 1
        with suppress(FileNotFoundError):
            if taken:
                path = _path(taken[-1])
                _carry_out(effects, parse_claim(storage.read(path), path))
            if number <= _GREATEST and put(storage, number, Claim(holder)):
                _forget(storage, taken)
                return number
    raise malformed(_path(number), "the next number cannot be had")


def put(storage: Storage, number: int, claim: Claim) -> bool:
    """Whether the number is this holder's now, and nobody has gone on beyond it.

    Clauses: LK-002, SA-001.
    """
    return storage.put_if_absent(_path(number), claim.encoded()) and numbers(storage)[-1:] == [number]


def is_put(storage: Storage, number: int, claim: Claim) -> bool:
    """Whether the number is taken by this very claim, of whose put an error was reported."""
    return storage.exists(_path(number)) and storage.read(_path(number)) == claim.encoded()


def was_carried_out(effects: Effects, claim: Claim) -> bool:
    """Whether the file of a claim is there with its content: somebody has put it for its holder."""
    try:
        return effects.storage.read(claim.path) == claim.content
    except FileNotFoundError:
        return False


def _carry_out(effects: Effects, claim: Claim) -> None:
    """The file of a claim appears, unless its action was taken off the timeline."""
    storage = effects.storage
    if not claim.path or storage.exists(claim.path):
        return
    if claim.told["state"] == "COMPLETED" and not _is_pending(storage, claim):
        return
    there = effects.inside(claim.folder) if claim.folder else effects
    there.finish_instant(claim.path.removeprefix(f"{claim.folder}/"), claim.content, claim.told)


def _is_pending(storage: Storage, claim: Claim) -> bool:
    """Whether files of the action's earlier states are there."""
    folder = claim.path.rpartition("/")[0]
    names = (status.path.rpartition("/")[2] for status in storage.list_files(folder, recursive=False))
    requested = claim.told["requested"]
    return any(name.startswith(f"{requested}.") and name.endswith((".inflight", ".requested")) for name in names)


def _forget(storage: Storage, taken: list[int]) -> None:
    for number in taken[:-_KEPT]:
        storage.delete(_path(number))


def _path(number: int) -> str:
    return f"{CLAIMS_FOLDER}/{number:0{_DIGITS}d}"
