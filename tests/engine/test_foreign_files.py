"""Files beside the data that other processes leave: locks, claims, heartbeats, markers, plans.

Whatever stands in them, or bears their names, reads, writes and services end in time: done, or refused with a reason.
"""

import json
import shutil
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest
from hudi_spark import (
    HudiError,
    TableDefinition,
    UnsupportedFeature,
    check_table,
    create_arrow,
    read_arrow,
    services_arrow,
    write_arrow,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rollback_tables import SOAK

SCHEMA: Final = pa.schema([("id", pa.string()), ("city", pa.string()), ("ts", pa.int64())])
ROWS: Final = pa.table({"id": ["a"], "city": ["oslo"], "ts": [1]}, schema=SCHEMA)
INSTANT: Final = "20200101000000000"
SECONDS: Final = 60
_LOCK: Final = "hoodie.write.lock."
_QUICK: Final = {
    f"{_LOCK}wait_time_ms": "100",
    f"{_LOCK}client.num_retries": "1",
    f"{_LOCK}client.wait_time_ms_between_retry": "20",
    f"{_LOCK}wait_time_ms_between_retry": "20",
    "hoodie.time.generator.max_expected_clock_skew_ms": "1",
    "hoodie.client.heartbeat.interval_in_ms": "1000",
    "hoodie.compact.inline.max.delta.commits": "1",
}
_SHARED: Final = {**_QUICK, "hoodie.write.concurrency.mode": "OPTIMISTIC_CONCURRENCY_CONTROL"}
CONFIGS: Final = (
    _QUICK,
    {**_SHARED, f"{_LOCK}provider": "FileSystemBasedLockProvider"},
    {**_SHARED, f"{_LOCK}provider": "StorageBasedLockProvider"},
)


def _below(folder: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names)


_NUMBERS: Final = ("1", "0" * 20, "0" * 19 + "1", "0" * 18 + "99", "9" * 20, "9" * 21, "٣" * 20, "²", "x", ".hidden")
_PLANS: Final = ("clean", "rollback", "restore", "compaction", "logcompaction", "clustering", "replacecommit")
PLACES: Final = (
    *_below(".hoodie/.locks/table_lock", *_NUMBERS, *(f"{one}.json" for one in _NUMBERS)),
    *_below(".hoodie/.locks/claims", *_NUMBERS),
    *_below(".hoodie", "lock", "os.lock", ".locks/table_lock.json", ".locks/x"),
    *_below(".hoodie/.heartbeat", INSTANT, f".{INSTANT}.crc", "9" * 17, "²", "x"),
    *_below(f".hoodie/.temp/{INSTANT}", "MARKERS.type", "MARKERS0", "MARKERS٣", "oslo/x.marker.CREATE", "x"),
    *_below(f".hoodie/.temp/{INSTANT}", ".hoodie/hoodie.properties.marker.CREATE", "a\\b/x.marker.MERGE"),
    *_below(".hoodie/.temp", "x", "x/y", INSTANT),
    *_below(".hoodie/timeline", *(f"{INSTANT}.{one}.requested" for one in _PLANS), f"{INSTANT}.rollback.inflight"),
    *_below(".hoodie/timeline", f"{INSTANT}.deltacommit.requested", f"{INSTANT}.deltacommit.inflight"),
)
_VALUES: Final = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "a|²|b", "COMPLETED", "../x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
_FIELDS: Final = (
    "holder",
    "path",
    "folder",
    "parameters",
    "owner",
    "validUntil",
    "expired",
    "lock",
    "process",
    "other",
)
_OBJECTS: Final = st.fixed_dictionaries({}, optional=dict.fromkeys(_FIELDS, _VALUES))
_BYTES: Final = st.one_of(
    st.binary(max_size=12),
    st.sampled_from([b"[]", b"{}", b"[" * 100_000, b'{"validUntil": 1e999}', b"1" * 5000, b"null", b"\0"]),
    (_VALUES | _OBJECTS).map(lambda value: json.dumps(value).encode()),
    st.sampled_from([b"../x.marker.CREATE\n", b"a\\b/x.marker.CREATE", b".hoodie/x.marker.MERGE\nfoo"]),
)
CONTENTS: Final = _BYTES | st.none()
"""The bytes of a file; None for a folder in its place."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with an instant that can be compacted."""
    path = tmp_path_factory.mktemp("foreign") / "table"
    keys: Mapping[str, Any] = {"record_key": ("id",), "partition_by": ("city",), "ordering": ("ts",)}
    create_arrow(str(path), TableDefinition("t", SCHEMA, table_type="MERGE_ON_READ", **keys))
    write_arrow(str(path), ROWS, "upsert")
    write_arrow(str(path), ROWS, "upsert")
    return path


def _put(table: Path, place: str, content: bytes | None) -> None:
    target = table / place
    target.parent.mkdir(parents=True, exist_ok=True)
    if content is None:
        target.mkdir(exist_ok=True)
    else:
        target.write_bytes(content)


def _ends(action: Callable[[], object]) -> str:
    """What came of an action: empty where it was done or refused with a reason; it must end."""
    found: list[str] = []

    def run() -> None:
        try:
            action()
        except (HudiError, UnsupportedFeature):
            found.append("")
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is what the test is about
            found.append(f"{type(error).__name__}: {error}")
        else:
            found.append("")

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(SECONDS)
    return found[0] if found else f"does not end in {SECONDS} s"


def _actions(path: str, configs: Mapping[str, str]) -> dict[str, Callable[[], object]]:
    services = services_arrow(path, configs=configs)
    return {
        "write": partial(write_arrow, path, ROWS, "upsert", configs=configs),
        "rollback": services.roll_back_failed_writes,
        "clean": services.clean,
        "compact": partial(services.run, "compaction"),
        "restore": partial(services.restore, INSTANT),
        "archive": services.archive,
        "check": partial(check_table, path),
        "read": partial(read_arrow, path),
        "write again": partial(write_arrow, path, ROWS, "upsert", configs=configs),
    }


@pytest.mark.slow
@settings(max_examples=300 if SOAK else 25, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(place=st.sampled_from(PLACES), content=CONTENTS, configs=st.sampled_from(CONFIGS), several=st.booleans())
def test_what_others_left_ends_no_call_without_a_reason(
    template: Path, place: str, content: bytes | None, configs: dict[str, str], several: bool
):
    """Nothing but a HudiError, nothing that lasts, and the table's properties stay."""
    table = template.parent / "copy"
    shutil.rmtree(table, ignore_errors=True)
    shutil.copytree(template, table)
    _put(table, place, content)
    if several:
        (table / ".hoodie/.temp" / INSTANT / "oslo").mkdir(parents=True, exist_ok=True)
    came = {name: _ends(action) for name, action in _actions(str(table), configs).items()}
    assert {name: one for name, one in came.items() if one} == {}
    assert (table / ".hoodie/hoodie.properties").is_file()
