"""Who may write at the same time: one process without a shared lock, any number with one; heartbeats, and times."""

import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hudi_format.storage import LocalStorage, open_storage
from hudi_spark import HudiError, read_arrow
from hudi_spark.testing import Effects, SystemClock, WriteRequest, is_alive, resolve
from lock_processes import Task, writing
from object_endpoint import BUCKET, upload
from s3_server import aws
from written_tables import Written, rows

FILE_LOCK = {
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.time.generator.max_expected_clock_skew_ms": "5",
}
AGAIN = {"hoodie.write.num.retries.on.conflict.failures": "20"}
OPTIONS = resolve({})
BEATS = ".hoodie/.heartbeat"


def instant_text(moment: datetime) -> str:
    """A moment as an instant, to the millisecond."""
    return f"{moment:%Y%m%d%H%M%S}{moment.microsecond // 1000:03d}"


def new_table(tmp_path: Path, **more: Any) -> Written:
    """A table with two rows and a clock that goes."""
    table = Written(tmp_path / "table", **more)
    table.clock = SystemClock()  # type: ignore[assignment]
    table.write("upsert", rows([1, 2]))
    return table


def stop_before(folder: Path, table: Written, name: str, **more: Any) -> Task:
    """A task that stops before its first effect of a name."""
    with writing(Task(str(table.path), folder / "quiet", table.configs, [9], 1.0)) as quiet:
        assert "requested" in quiet.last_answer()
    names = [json.loads(line)[0] for line in (folder / "quiet.effects").read_text().splitlines()]
    return Task(str(table.path), folder / "first", table.configs, [1], 5.0, stop=names.index(name), **more)


@pytest.mark.slow
def test_a_second_process_without_a_lock_is_refused_and_a_killed_one_is_not_waited_for(tmp_path: Path):
    """The refusal names the provider's key and leaves nothing; once the first one has ended the next writes at once."""
    table = new_table(tmp_path)
    with writing(stop_before(tmp_path, table, "put_base_file")) as first:
        assert first.wait_until_stopped()
        before = table.files()
        with pytest.raises(HudiError, match=r"give all writers the same hoodie\.write\.lock\.provider") as caught:
            table.write("upsert", rows([2], 3, 3.0))
        assert (caught.value.reason, caught.value.clause) == ("LOCK_UNAVAILABLE", "LK-006")
        assert table.files() == before
        killed = next(one for one in before if one.startswith(BEATS)).rpartition("/")[2]
        assert is_alive(LocalStorage(table.path), OPTIONS, killed)
        first.kill()
        assert not is_alive(LocalStorage(table.path), OPTIONS, killed)
        table.write("upsert", rows([2], 3, 3.0))
    assert dict(table.found())["k2"] == 3.0


@pytest.mark.slow
def test_processes_that_name_different_locks_are_refused(tmp_path: Path):
    """A lock that only some of them use is none."""
    table = new_table(tmp_path, configs=FILE_LOCK)
    with writing(stop_before(tmp_path, table, "put_base_file")) as first:
        assert first.wait_until_stopped()
        alone = Written.writer(table)
        lacking = {"hoodie.write.lock.provider": "InProcessLockProvider"}
        with pytest.raises(HudiError, match="LK-006"):
            alone.write(WriteRequest("upsert", rows([2], 3, 3.0), configs=lacking))
        table.write("upsert", rows([2], 3, 3.0))
        first.go_on()
        assert "requested" in first.last_answer()
    assert dict(table.found()) == {"k1": 5.0, "k2": 3.0, "k9": 1.0}


def test_two_that_begin_at_once_see_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Each has put its heartbeat before it looks: the one that looks last is refused, whoever began first."""
    table = new_table(tmp_path)
    first, second = table.writer(), table.writer()
    put = Effects.write_heartbeat
    other = json.dumps({"process": "elsewhere|1|2", "lock": ""}).encode()

    def both(effects: Effects, requested: str, content: bytes = b"") -> None:
        put(effects, requested, content)
        LocalStorage(table.path).put(f"{BEATS}/20991231000000000", other)

    monkeypatch.setattr(Effects, "write_heartbeat", both)
    with pytest.raises(HudiError, match="elsewhere 1 2"):
        first.write(WriteRequest("upsert", rows([1], 2, 2.0)))
    monkeypatch.undo()
    LocalStorage(table.path).delete(f"{BEATS}/20991231000000000")
    second.write(WriteRequest("upsert", rows([1], 3, 3.0)))
    assert [one for one in table.files() if one.startswith(BEATS)] == []


def test_heartbeats_of_other_hosts_expire_by_their_age(tmp_path: Path):
    """So do those of Apache Hudi, which are empty; one that has missed too many beats has failed."""
    table = new_table(tmp_path)
    storage = LocalStorage(table.path)
    options = resolve(
        {"hoodie.client.heartbeat.interval_in_ms": "200", "hoodie.client.heartbeat.tolerable.misses": "1"}
    )
    for content in (b"", json.dumps({"process": "elsewhere|1|2", "lock": ""}).encode()):
        storage.put(f"{BEATS}/20250101000000000", content)
        assert is_alive(storage, options, "20250101000000000")
        time.sleep(0.5)
        assert not is_alive(storage, options, "20250101000000000")
    assert not is_alive(storage, options, "20250101000000001")


def test_a_write_in_progress_beats_and_an_ended_one_does_not(tmp_path: Path):
    """Each interval, from a thread, until it has completed or was given up; another end stops its heartbeat."""
    table = new_table(tmp_path, configs={"hoodie.client.heartbeat.interval_in_ms": "50"})
    storage = LocalStorage(table.path)
    started = table.writer().begin(WriteRequest("upsert", rows([1], 2, 2.0)))
    beat = f"{BEATS}/{started.requested}"
    first = (table.path / beat).stat().st_mtime_ns
    time.sleep(0.5)
    assert (table.path / beat).stat().st_mtime_ns > first
    assert is_alive(storage, OPTIONS, started.requested)
    started.abort()
    time.sleep(0.2)
    assert not storage.exists(beat)

    class Failing:
        """The storage fails under the commit."""

        def before(self, effect: Any) -> None:
            if effect.name == "commit_metadata_table":
                raise OSError("no space left")

        def after(self, effect: Any) -> None:
            """Nothing."""

    with pytest.raises(OSError, match="no space"):
        table.writer(hook=Failing()).write(WriteRequest("upsert", rows([1], 3, 3.0)))
    left = [one.rpartition("/")[2] for one in table.files() if one.startswith(BEATS)]
    assert [one for one in left if is_alive(storage, OPTIONS, one)] == []


@pytest.mark.slow
def test_no_two_processes_generate_one_time_and_all_grow(tmp_path: Path):
    """Four processes write at once under a shared lock: all commit, and their times grow in the order of the lock."""
    table = new_table(tmp_path, configs={**FILE_LOCK, **AGAIN})
    tasks = [Task(str(table.path), tmp_path / f"p{n}", table.configs, [n, n + 2], float(n)) for n in range(3, 7)]
    running = [writing(task) for task in tasks]
    answers = [one.__enter__() for one in running]
    answered = [one.last_answer() for one in answers]
    for one in running:
        one.__exit__(None, None, None)
    assert [one for one in answered if "requested" not in one] == []
    times = [time_of for one in answered for time_of in (one["requested"], one["completed"])]
    assert len(set(times)) == len(times)
    assert {one["requested"] < one["completed"] for one in answered} == {True}
    assert table.ids() == sorted(f"k{n}" for n in range(1, 9))


def test_a_clock_that_goes_back_is_waited_for_or_reported():
    """Up to a bound it is waited for; further back is an error that says by how much."""
    moments = [datetime(2025, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=each) for each in (10, 8, 10.5, 0, 0)]
    slept: list[float] = []
    clock = SystemClock(now=lambda: moments.pop(0), sleep=slept.append)
    assert clock.instant() == "20250101000010000"
    assert clock.instant() == "20250101000010500"
    assert slept == [2.0]
    with pytest.raises(HudiError, match=r"10\.5 s less than this process") as caught:
        clock.instant()
    assert (caught.value.reason, caught.value.clause) == ("CONFIG_INVALID", "TM-004")


def test_the_timeline_of_others_is_waited_for(tmp_path: Path):
    """Under a lock that processes share a clock that is behind the timeline waits, or its writer is refused."""
    table = new_table(tmp_path, configs=FILE_LOCK)
    now = datetime.now(timezone.utc)
    slow = SystemClock(now=lambda: now - timedelta(hours=1))
    table.clock = slow  # type: ignore[assignment]
    before = table.files()
    with pytest.raises(HudiError, match="less than the timeline's newest instant"):
        table.write("upsert", rows([1], 2, 2.0))
    assert table.files() == before
    slept: list[float] = []
    newest = instant_text(now + timedelta(seconds=1))
    near = SystemClock(now=lambda: now, sleep=slept.append)
    near.wait_past(newest)
    assert 0.9 < slept[0] < 1.1


def test_a_timeline_far_ahead_is_not_followed_in_silence(tmp_path: Path):
    """One wrong clock moves no other writer into its future: it is refused with nothing changed, unless it is asked."""
    table = new_table(tmp_path)
    right, ahead = table.clock, datetime(2106, 1, 1, tzinfo=timezone.utc)
    table.clock = SystemClock(now=lambda: ahead)  # type: ignore[assignment]
    assert table.write("upsert", rows([1], 2, 2.0)).requested.startswith("2106")
    table.clock, before = right, table.files()
    for act in (lambda: table.write("upsert", rows([1], 3, 3.0)), lambda: table.write("delete", rows([1]))):
        with pytest.raises(HudiError, match=r"21060101\d+, is \d+\.\d s after the clock") as caught:
            act()
        assert (caught.value.reason, caught.value.clause) == ("CONFIG_INVALID", "TM-008")
        assert "hoodie.time.generator.max_timeline_ahead_ms" in caught.value.hint
        assert table.files() == before
    for lock in ({}, FILE_LOCK):
        settings = {**lock, "hoodie.time.generator.max_timeline_ahead_ms": str(10**13)}
        written = table.write("upsert", rows([1], 3, 3.0), configs=settings)
        assert written.requested.startswith("2106")


@pytest.mark.parametrize(("seconds", "follows"), [(-10, True), (59, True), (61, False)])
def test_the_bound_of_a_timeline_ahead_is_exact(seconds: int, follows: bool):
    now = datetime(2025, 1, 1, tzinfo=timezone.utc)
    clock = SystemClock(now=lambda: now)
    newest = instant_text(now + timedelta(seconds=seconds))
    if follows:
        clock.refuse_far_ahead(newest, 60.0)
        assert clock.instant(newest) > newest
    else:
        with pytest.raises(HudiError, match="TM-008"):
            clock.refuse_far_ahead(newest, 60.0)


@pytest.mark.parametrize("instant", ["99999999999999999", "99991231235959999"])
def test_an_instant_that_nothing_follows_is_refused(instant: str):
    with pytest.raises(HudiError, match="INSTANT_MALFORMED"):
        SystemClock().instant(instant)


@pytest.fixture
def local_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Puts this computer into a time zone."""

    def put(zone: str) -> None:
        monkeypatch.setenv("TZ", zone)
        time.tzset()

    yield put
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
@pytest.mark.parametrize(("stated", "lock"), [("LOCAL", {}), ("LOCAL", FILE_LOCK), ("UTC", {}), ("UTC", FILE_LOCK)])
def test_instants_are_of_the_time_zone_that_the_table_states(
    tmp_path: Path, local_zone: Callable[[str], None], zone: str, stated: str, lock: dict[str, str]
):
    """A write, a savepoint and an index show the moment of the stated zone, in the metadata table too."""
    local_zone(zone)
    settings = {**lock, "hoodie.metadata.enable": "true"}
    began = datetime.now(timezone.utc if stated == "UTC" else None).replace(tzinfo=None)
    table = new_table(tmp_path, properties={"hoodie.table.timeline.timezone": stated}, configs=settings)
    saved = table.services().savepoint(table.write("upsert", rows([1], 2, 2.0)).requested, "by hand", {})
    table.write("upsert", rows([1], 3, 3.0))
    ended = datetime.now(timezone.utc if stated == "UTC" else None).replace(tzinfo=None)
    paths = sorted((table.path / ".hoodie").rglob("timeline/*"))
    times = [text for path in paths for text in re.findall(r"\d{17}", path.name) if text > "1970"]
    assert len(times) > 8
    assert min(times) >= instant_text(began), paths
    assert max(times) <= instant_text(ended + timedelta(seconds=1)), paths
    assert saved is not None


def test_the_hour_that_a_time_zone_has_twice_goes_on_after_its_last_instant(local_zone: Callable[[str], None]):
    """Where the wall clock goes back from 03:00 to 02:00, instants follow one another by milliseconds."""
    local_zone("Europe/Berlin")
    began = datetime(2025, 10, 26, 0, 59, 59, tzinfo=timezone.utc)
    moments = [began]
    clock = SystemClock(now=lambda: moments[-1]).in_zone(lambda: None)
    assert clock.instant() == "20251026025959000"
    moments.append(began + timedelta(seconds=2))
    assert [clock.instant(), clock.instant()] == ["20251026025959001", "20251026025959002"]
    after = SystemClock(now=lambda: began + timedelta(seconds=2)).in_zone(lambda: None)
    after.refuse_far_ahead("20251026025959000", 60.0)
    after.wait_past("20251026025959000")


@pytest.mark.slow
def test_processes_write_to_one_table_of_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The storage-based lock on S3: both commit, whatever they conflict in."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    table = new_table(tmp_path)
    with aws(tmp_path) as there:
        base = f"s3a://{BUCKET}/table"
        upload(table.path, open_storage(base, there.options))
        lock = {"hoodie.write.lock.provider": "StorageBasedLockProvider"}
        configs = {**there.options, **lock, **AGAIN, "hoodie.write.lock.wait_time_ms_between_retry": "50"}
        tasks = [Task(base, tmp_path / f"p{n}", configs, [1, n], float(n)) for n in (3, 4)]
        with writing(tasks[0]) as first, writing(tasks[1]) as second:
            answered = [first.last_answer(), second.last_answer()]
        assert [one for one in answered if "requested" not in one] == []
        found = read_arrow(base, columns=["id", "price"], storage_options=there.options).to_pylist()
    last = max(answered, key=lambda one: one["completed"])
    prices = {one["id"]: one["price"] for one in found}
    assert prices == {"k1": 3.0 if last is answered[0] else 4.0, "k2": 1.0, "k3": 3.0, "k4": 4.0}


@pytest.mark.slow
def test_a_stopped_process_keeps_a_file_lock_and_a_killed_one_does_not(tmp_path: Path):
    """The operating system holds it: who waits is refused in its time, and is served once the holder has died."""
    table = new_table(tmp_path, configs={**FILE_LOCK, "hoodie.write.lock.wait_time_ms": "300"})
    with writing(stop_before(tmp_path, table, "commit_metadata_table")) as first:
        assert first.wait_until_stopped()
        with pytest.raises(HudiError, match="LOCK_UNAVAILABLE"):
            table.write("upsert", rows([2], 3, 3.0))
        assert table.found() == [("k1", 1.0), ("k2", 1.0), ("k9", 1.0)]
        first.kill()
        table.write("upsert", rows([2], 3, 3.0))
    assert table.found() == [("k1", 1.0), ("k2", 3.0), ("k9", 1.0)]
