"""What lies beside data and timeline: markers, heartbeats, versions of the schema, sources, what decides buckets."""

import datetime as dt
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Any, Final, Literal

from hudi_format.errors import FormatError
from hudi_format.errors import Reason as FormatReason
from hudi_format.json_text import pretty_json, read_json
from hudi_format.names import SCHEMA_COMMIT, TimelineFileName, parse_schema_commit_name, timeline_file_name
from hudi_format.storage import FileStatus, Storage, open_storage
from hudi_format.table import hash_ring
from hudi_format.table.bootstrap_index import FILE_INDEX_FOLDER, BootstrappedFile, parse_bootstrap_index
from hudi_format.table.internal_schema import parse_schema_history, schema_history_text
from hudi_model.files import Damaged, Marker, SchemaVersion, SourceFile
from hudi_model.rejection import Reason
from hudi_model.tables import BucketRules, HashRing, SchemaFile
from hudi_model.tagging import FIRST_RING
from hudi_model.time import InstantTime, instant_of

from hudi_conformance.bridge.damage import decoded, decoded_or_damaged
from hudi_conformance.bridge.file_contents import base_content
from hudi_conformance.bridge.schemas import internal_version, schema_version

MARKERS = ".hoodie/.temp"
HEARTBEATS = ".hoodie/.heartbeat"
SCHEMAS = ".hoodie/.schema"
BUCKET_RULES = ".hoodie/.bucket_index/partition_bucket_index_meta/configs"
_KINDS = ("CREATE", "MERGE", "APPEND")
_LOCAL: Final = "file:"
_RULES_FILE: Final = ".hashing_config"
_DAMAGE: Final = ("DM-020", Reason.SCHEMA_INCOMPATIBLE)


def marker_path(marker: Marker) -> str:
    """Where a marker lies, relative to the table."""
    return "/".join(filter(None, (MARKERS, marker.instant, marker.partition, f"{marker.name}.marker.{marker.kind}")))


def load_markers(storage: Storage) -> frozenset[Marker]:
    """The markers of all writes. Those that a timeline server keeps in `MARKERS<n>` files are read too."""
    found: set[Marker] = set()
    for status in _listed(storage, MARKERS):
        _, _, *folders, name = PurePosixPath(status.path).parts
        if not folders:
            continue  # a stray file: markers lie in a folder of their write
        instant, *folders = folders
        if name.startswith("MARKERS") and not folders and name != "MARKERS.type":
            lines = storage.read(status.path).decode(errors="replace").split()
            found |= {marker for line in lines if (marker := _marker(instant, line))}
        elif marker := _marker(instant, "/".join((*folders, name))):
            found.add(marker)
    return frozenset(found)


def _marker(instant: str, path: str) -> Marker | None:
    file, _, kind = path.rpartition(".marker.")
    partition, _, name = file.rpartition("/")
    return Marker(InstantTime(instant), partition, name, kind) if name and kind in _KINDS else None


def load_heartbeats(storage: Storage) -> frozenset[tuple[InstantTime, InstantTime]]:
    """The writes that update their heartbeats, and when each did last: the file's modification time."""
    statuses = _listed(storage, HEARTBEATS)
    named = ((PurePosixPath(status.path).name, status) for status in statuses)
    return frozenset((InstantTime(name), _moment(status)) for name, status in named if name.isdigit())


def load_schema_files(storage: Storage, layout: Literal[1, 2]) -> tuple[SchemaFile, ...]:
    """The files that hold the versions of the schema; those that are named otherwise are none."""
    named = ((_schema_file_name(status, layout), status.path) for status in _listed(storage, SCHEMAS))
    return tuple(
        SchemaFile(InstantTime(name.requested), decoded_or_damaged(partial(_versions, storage, path), *_DAMAGE))
        for name, path in named
        if name and name.state == "COMPLETED"
    )


def schema_files(file: SchemaFile, layout: int) -> Iterator[tuple[str, bytes]]:
    """The files of a history of the columns; it completes with its commit, at the same instant where names say when."""
    versions = file.versions if not isinstance(file.versions, Damaged) else ()
    text = schema_history_text([internal_version(one) for one in versions])
    names = (
        TimelineFileName(file.instant, SCHEMA_COMMIT, "REQUESTED"),
        TimelineFileName(file.instant, SCHEMA_COMMIT, "INFLIGHT"),
        TimelineFileName(file.instant, SCHEMA_COMMIT, "COMPLETED", file.instant if layout > 1 else None),
    )
    for name in names:
        data = text.encode() if name.state == "COMPLETED" else b""
        yield f"{SCHEMAS}/{timeline_file_name(name, 2 if layout > 1 else 1)}", data


def _schema_file_name(status: FileStatus, layout: Literal[1, 2]) -> TimelineFileName | None:
    try:
        return parse_schema_commit_name(PurePosixPath(status.path).name, layout, status.path)
    except FormatError:
        return None


def load_rings(storage: Storage) -> tuple[HashRing, ...]:
    """The rings of all partitions; the sign of a resize lies beside its ring, or in the data partition."""
    found, signs = list[tuple[str, str, str]](), set[tuple[str, str]]()
    for status in _listed(storage, hash_ring.RINGS_FOLDER):
        folder, _, text = status.path.rpartition("/")
        partition, name = folder.removeprefix(hash_ring.RINGS_FOLDER).lstrip("/"), hash_ring.parse_ring_file_name(text)
        if name and name.is_commit_sign:
            signs.add((partition, name.instant))
        elif name:
            found.append((partition, name.instant, status.path))
    return tuple(_ring(storage, *one, is_signed=one[:2] in signs or _is_signed(storage, *one[:2])) for one in found)


def _is_signed(storage: Storage, partition: str, instant: str) -> bool:
    return storage.exists(
        "/".join(filter(None, (partition, str(hash_ring.RingFileName(instant, is_commit_sign=True)))))
    )


def _ring(storage: Storage, partition: str, instant: str, path: str, *, is_signed: bool) -> HashRing:
    nodes = decoded_or_damaged(lambda: _nodes(storage, path), "OW-034", Reason.PROPERTIES_INVALID)
    return HashRing(partition, InstantTime(instant), nodes, is_signed)


def _nodes(storage: Storage, path: str) -> tuple[tuple[int, str], ...]:
    ring = hash_ring.parse_hash_ring(storage.read(path), path)
    return tuple((node.value, node.file_id_prefix) for node in ring.nodes)


def ring_file(ring: HashRing) -> tuple[str, bytes]:
    """The file of a ring, by the number of whose nodes its partition began."""
    if isinstance(ring.nodes, Damaged):
        raise ValueError(f"{ring.partition}: a damaged ring has no bytes")  # noqa: TRY004 - the state, not the type
    nodes, resizes = tuple(hash_ring.RingNode(*node) for node in ring.nodes), int(ring.instant != FIRST_RING)
    name = hash_ring.RingFileName(ring.instant, is_commit_sign=False)
    path = "/".join(filter(None, (hash_ring.RINGS_FOLDER, ring.partition, str(name))))
    return path, hash_ring.serialise_hash_ring(
        hash_ring.HashRing(ring.partition, ring.instant, len(nodes), resizes, nodes)
    )


def load_bucket_rules(storage: Storage) -> tuple[BucketRules | Damaged, ...]:
    """The rules of buckets that the table keeps."""
    paths = (status.path for status in _listed(storage, BUCKET_RULES) if status.path.endswith(_RULES_FILE))
    damage = "OW-036", Reason.PROPERTIES_INVALID
    return tuple(decoded_or_damaged(partial(_bucket_rules, storage, path), *damage) for path in paths)


def _bucket_rules(storage: Storage, path: str) -> BucketRules:
    stated = read_json(storage.read(path), path, FormatReason.PROPERTIES_INVALID, "OW-036")
    if not isinstance(stated, dict) or type(stated.get("defaultBucketNumber")) is not int:
        raise FormatError(FormatReason.PROPERTIES_INVALID, "OW-036", path, None, "the file holds no rules of buckets")
    expressions, kind = str(stated.get("expressions") or ""), str(stated.get("rule") or "regex")
    instant = InstantTime(PurePosixPath(path).name.removesuffix(_RULES_FILE))
    return BucketRules(stated["defaultBucketNumber"], expressions, kind, instant)


def rules_file(rules: BucketRules | Damaged) -> tuple[str, bytes]:
    """The file of rules that a table keeps."""
    if isinstance(rules, Damaged):
        raise ValueError(f"{rules.where}: damaged rules have no bytes")  # noqa: TRY004 - the state, not the type
    stated = {"expressions": rules.expressions, "defaultBucketNumber": rules.default, "rule": rules.kind}
    data = pretty_json({**stated, "version": 1, "instant": rules.instant})
    return f"{BUCKET_RULES}/{rules.instant}{_RULES_FILE}", data


def load_sources(storage: Storage, base: str | None) -> tuple[SourceFile, ...] | Damaged:
    """The files outside of a bootstrapped table that the index names, those below the folder of its properties read."""
    if not base:
        return ()
    paths = [status.path for status in _listed(storage, FILE_INDEX_FOLDER) if status.path.endswith(".hfile")]
    entries = decoded_or_damaged(lambda: tuple(_bootstrapped(storage, paths)), "BF-012", Reason.BASE_FILE_CORRUPT)
    if isinstance(entries, Damaged):
        return entries
    outside = open_storage(_plain(base))
    return tuple(_source(outside, _plain(base).rstrip("/"), one) for one in entries)


def _bootstrapped(storage: Storage, paths: list[str]) -> Iterator[BootstrappedFile]:
    for path in paths:
        yield from parse_bootstrap_index(storage.read(path), path)


def _source(outside: Storage, base: str, entry: BootstrappedFile) -> SourceFile:
    path = _plain(entry.uri)
    if not path.startswith(f"{base}/"):
        detail = f"it is not below {base}"
        records: Any = Damaged(Reason.PATH_ESCAPES_TABLE, "SL-007", entry.uri, detail)
        return SourceFile(entry.partition, entry.file_id, entry.source_partition, path, records)
    inner = path.removeprefix(f"{base}/")
    found = decoded(lambda: base_content(outside, inner))
    records, schema = found if isinstance(found, tuple) else (found, None)
    return SourceFile(entry.partition, entry.file_id, entry.source_partition, path, records, schema)


def _plain(place: str) -> str:
    """A local place without its scheme, which writers spell with one slash or three."""
    return f"/{place.removeprefix(_LOCAL).lstrip('/')}" if place.startswith(_LOCAL) else place


def _versions(storage: Storage, path: str) -> tuple[SchemaVersion, ...]:
    return tuple(map(schema_version, parse_schema_history(storage.read(path), path)))


def _moment(status: FileStatus) -> InstantTime:
    return instant_of(dt.datetime.fromtimestamp(status.modified_ms / 1000, dt.timezone.utc))


def _listed(storage: Storage, folder: str) -> list[FileStatus]:
    try:
        return storage.list_files(folder)
    except FormatError:
        return []
