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
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hudi_format.storage import Storage

from hudi_spark.effects.helper import Effects

CLAIMS_FOLDER: Final = ".hoodie/.locks/claims"
_DIGITS: Final = 20
_KEPT: Final = 32


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


def parse_claim(data: bytes) -> Claim:
    """The claim that a file holds."""
    head, _, content = data.partition(b"\n")
    return Claim(**json.loads(head), content=content)


def numbers(storage: Storage) -> list[int]:
    """The numbers that are taken, in order."""
    names = (status.path.rpartition("/")[2] for status in storage.list_files(CLAIMS_FOLDER))
    return sorted(int(name) for name in names if name.isdigit())


def enter(effects: Effects, holder: str) -> int:
    """The number of a new holder; what the one before it claimed and did not put is there then.

    Called with the lock, before anything is read that its checks go by.

    Clauses: LK-002.
    """
    storage = effects.storage
    while True:
        taken = numbers(storage)
        if taken:
            _carry_out(effects, parse_claim(storage.read(_path(taken[-1]))))
        number = taken[-1] + 1 if taken else 1
        if put(storage, number, Claim(holder)):
            _forget(storage, taken)
            return number


def put(storage: Storage, number: int, claim: Claim) -> bool:
    """Whether the number is this holder's now, and nobody has gone on beyond it.

    Clauses: LK-002, SA-001.
    """
    return storage.put_if_absent(_path(number), claim.encoded()) and numbers(storage)[-1] == number


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
