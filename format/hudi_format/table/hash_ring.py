"""Consistent hashing: the ring of a partition, which states the file group of a key.

file     .hoodie/.bucket_index/consistent_hashing_metadata/<partition>/<instant>.hashing_meta
marker   <instant>.commit beside it, empty: the ring of a resize holds
content  JSON {version, partitionPath, instant, numBuckets, seqNo, nodes [{value, fileIdPrefix, tag}]}
"""

import re
import uuid
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any, Final

from hudi_format.errors import FormatError, Reason
from hudi_format.hashing import bucket_hash
from hudi_format.json_text import pretty_json, read_json

RINGS_FOLDER: Final = ".hoodie/.bucket_index/consistent_hashing_metadata"
FIRST_INSTANT: Final = "00000000000000"
NORMAL: Final = "NORMAL"
TAGS: Final = (NORMAL, "REPLACE", "DELETE")

_CLAUSE: Final = "OW-034"
_GREATEST: Final = 2**31 - 1
_FILE_NAME = re.compile(r"(?P<instant>[0-9]+)\.(?P<kind>hashing_meta|commit)")


@dataclass(frozen=True, slots=True)
class RingNode:
    """A file group and the greatest hash that belongs to it."""

    value: int
    file_id_prefix: str
    tag: str = NORMAL


@dataclass(frozen=True, slots=True)
class HashRing:
    """The nodes of a partition, by rising value; `buckets` is how many there were at first."""

    partition: str
    instant: str
    buckets: int
    sequence: int
    nodes: tuple[RingNode, ...]
    version: int = 0

    def node_of(self, key: str) -> RingNode:
        """The node of a hash key: the first whose value is not less than the hash, after the last the first again."""
        at = bisect_left(self.nodes, bucket_hash(key), key=lambda node: node.value)
        return self.nodes[at % len(self.nodes)]


@dataclass(frozen=True, slots=True)
class RingFileName:
    """A file in a partition's folder of rings: a ring, or the sign that it holds."""

    instant: str
    is_commit_sign: bool

    def __str__(self) -> str:
        return f"{self.instant}.{'commit' if self.is_commit_sign else 'hashing_meta'}"


def parse_ring_file_name(name: str) -> RingFileName | None:
    """A file name of such a folder, or None for another."""
    match = _FILE_NAME.fullmatch(name)
    return None if match is None else RingFileName(match["instant"], match["kind"] == "commit")


def parse_hash_ring(data: bytes, file: str) -> HashRing:
    """The ring in a file.

    Raises:
        FormatError: PROPERTIES_INVALID when it is no ring; LIMIT_EXCEEDED for a file over 512 MiB.

    Clauses: OW-034.

    """
    record = read_json(data, file, Reason.PROPERTIES_INVALID, _CLAUSE)
    if not isinstance(record, dict) or not isinstance(record.get("nodes"), list):
        raise _bad(file, "there are no nodes")
    nodes = tuple(_node(one, file) for one in record["nodes"])
    values = [node.value for node in nodes]
    if not values or values != sorted(set(values)):
        raise _bad(file, "the values of the nodes do not rise")
    numbers = [_number(record.get(name), file) for name in ("numBuckets", "seqNo", "version")]
    partition, instant = (_text(record.get(name), file) for name in ("partitionPath", "instant"))
    return HashRing(partition, instant, numbers[0], numbers[1], nodes, numbers[2])


def serialise_hash_ring(ring: HashRing) -> bytes:
    """The bytes of a ring's file."""
    nodes = [{"value": node.value, "fileIdPrefix": node.file_id_prefix, "tag": node.tag} for node in ring.nodes]
    head = {"version": ring.version, "partitionPath": ring.partition, "instant": ring.instant}
    return pretty_json({**head, "numBuckets": ring.buckets, "seqNo": ring.sequence, "nodes": nodes})


def first_ring(partition: str, buckets: int) -> HashRing:
    """The ring that every writer makes of a new partition, the same by itself.

    Raises:
        ValueError: fewer than one bucket.

    Clauses: OW-034.

    """
    if buckets < 1:
        raise ValueError(f"{buckets} buckets: at least one is needed")
    step = -(-_GREATEST // buckets)
    ends = [min(step * (index + 1), _GREATEST) for index in range(buckets)]
    starts = [0, *ends[:-1]]
    nodes = [RingNode(end, _prefix(partition, start, end)) for start, end in zip(starts, ends, strict=True)]
    return HashRing(partition, FIRST_INSTANT, buckets, 0, tuple(nodes))


def newest_ring(rings: Sequence[HashRing], committed: Sequence[str]) -> HashRing | None:
    """The ring that holds: of the first and those whose instants are committed, the one made last."""
    held = [ring for ring in rings if ring.instant == FIRST_INSTANT or ring.instant in committed]
    return max(held, key=lambda ring: ring.instant, default=None)


def _prefix(partition: str, start: int, end: int) -> str:
    """A name-based UUID, MD5, of the two values and the path."""
    name = start.to_bytes(8, "big") + end.to_bytes(8, "big") + partition.encode()
    return str(uuid.UUID(bytes=md5(name, usedforsecurity=False).digest(), version=3))


def _node(record: Any, file: str) -> RingNode:
    if not isinstance(record, dict):
        raise _bad(file, "a node is no object")
    tag = record.get("tag", NORMAL)
    if tag not in TAGS:
        raise _bad(file, f"the tag {str(tag)[:40]!r} is unknown")
    return RingNode(_number(record.get("value"), file), _text(record.get("fileIdPrefix"), file), tag)


def _number(value: Any, file: str) -> int:
    if type(value) is not int or not 0 <= value <= _GREATEST:
        raise _bad(file, f"{str(value)[:40]!r} is no number of a ring")
    return value


def _text(value: Any, file: str) -> str:
    if not isinstance(value, str):
        raise _bad(file, f"{str(value)[:40]!r} is no text")
    return value


def _bad(file: str, message: str) -> FormatError:
    return FormatError(Reason.PROPERTIES_INVALID, _CLAUSE, file, None, message)
