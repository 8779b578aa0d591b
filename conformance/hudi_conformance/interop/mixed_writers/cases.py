"""A sequence of turns as a value: whose turn each write is, drawn by Hypothesis, written down as JSON."""

import json
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from hudi_conformance.corpus.table_shapes import WriteCase
from hudi_conformance.interop.fuzzing.seeds import Choices
from hudi_conformance.interop.fuzzing.strategies import Limits, write_cases

ENGINE = "engine"
INDEXES = ("", "SIMPLE", "BLOOM", "GLOBAL_SIMPLE", "GLOBAL_BLOOM", "BUCKET", "RECORD_INDEX")
_VERSIONS = {"0.15.0": (6,)}
_METADATA = "hoodie.metadata.enable"
_LIKELY_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class MixedRun:
    """Writes to one table, and who does each: `engine`, or the peer that takes the other turns.

    `peer`: a release of Apache Hudi, or the name of another adapter.
    `turns`: who makes the table, then the writer of each step.
    """

    peer: str
    case: WriteCase
    rounds: tuple[str, ...]

    def to_json(self) -> str:
        """The case as `writes` writes it down, with the turns before it."""
        rounds = json.dumps({"peer": self.peer, "turns": self.rounds})
        return f"{rounds[:-1]},\n {self.case.to_json().lstrip('{')}"

    @classmethod
    def from_json(cls, text: str) -> "MixedRun":
        """What `to_json` wrote down."""
        entry = json.loads(text)
        return cls(entry["peer"], WriteCase.from_json(text), tuple(entry["turns"]))


@st.composite
def mixed_runs(draw: st.DrawFn, peers: tuple[str, ...]) -> MixedRun:
    """Sequences of turns with one of these peers.

    Both writers have a turn, if there are two; a release without `create_table` finds a table that the engine made.
    """
    choices = Choices(draw)
    peer = choices.one(peers)
    limits = Limits(
        versions=_VERSIONS.get(peer, (6, 8, 9)), indexes=INDEXES, refusals=False, likely_steps=_LIKELY_ROUNDS
    )
    case = _with_record_index(draw(write_cases(limits).filter(lambda one: _is_common(one, peer))))
    writers = [choices.one((ENGINE, peer)) for _ in case.steps]
    if len(writers) > 1 and len(set(writers)) == 1:
        writers[choices.number(1, len(writers) - 1)] = peer if writers[0] == ENGINE else ENGINE
    maker = ENGINE if peer.startswith("0.") else choices.one((ENGINE, peer))
    return MixedRun(peer, case, (maker, *writers))


def _is_common(case: WriteCase, peer: str) -> bool:
    """Whether both can do all of it.

    A record index needs meta fields. 1.0.2 fails to read its own logs without meta fields; 1.1.1 to update a table
    through a global index after its own partial update, and to read a bucket of logs alone whose keys stand in no meta
    field but in a column of the partition path; 0.15.0 to go on with a bucket index after its own second bulk insert,
    which opens a bucket again, and to read its own changes of numbered keys without meta fields.
    """
    shape, later = case.shape, {step.operation for step in case.steps[1:]}
    index, old = shape.configs.get("hoodie.index.type", ""), peer.startswith("0.")
    bare = shape.properties.get("hoodie.populate.meta.fields") == "false"
    impossible = (
        index == "RECORD_INDEX" and bare,
        index.startswith("GLOBAL") and "partial_update" in later,
        index == "BUCKET" and "bulk_insert" in later and old,
        index == "BUCKET" and bare and not {*shape.record_key}.isdisjoint(shape.partition_by) and peer == "1.1.1",
        bare and shape.table_type == "MERGE_ON_READ" and peer == "1.0.2",
        bare and "number" in shape.record_key and not later.isdisjoint(("delete", "upsert")) and old,
    )
    return not any(impossible)


def _with_record_index(case: WriteCase) -> WriteCase:
    """A record index lies in the metadata table, which it needs."""
    if case.shape.configs.get("hoodie.index.type") != "RECORD_INDEX":
        return case
    needed: dict[str, Any] = {_METADATA: "true", "hoodie.metadata.record.index.enable": "true"}
    return replace(case, shape=replace(case.shape, configs={**case.shape.configs, **needed}))


def has_metadata_table(case: WriteCase) -> bool:
    """Whether writers keep the metadata table."""
    return case.shape.configs.get(_METADATA) == "true"
