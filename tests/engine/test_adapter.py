"""The engine behind the protocol, without Spark."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from engine_tables import TableBuilder, row, tick
from hudi_adapter.rows import read_rows
from hudi_adapter.serving import serve
from hudi_conformance.runner.messages import check_message, check_value
from hudi_format.log.deletes import DeleteRecord
from hudi_spark.testing import readings_named
from hudi_spark_adapter.adapter import FEATURES, adapter_of
from hudi_spark_adapter.executors import InProcess


class Conversation:
    """Requests to an adapter that runs in this process, each answer held against the protocol's schemas."""

    def __init__(self, folder: Path) -> None:
        self.out_dir = folder / "out"
        self.table = folder / "table"
        self.out_dir.mkdir()

    def request(self, op: str, reading: str = "released", **params: Any) -> dict[str, Any]:
        run = {"cmd": "run", "seq": 7, "op": op, "table": str(self.table), "params": params, "limit_s": 60}
        lines = [{"cmd": "start", "protocol": 1}, {**run, "out_dir": str(self.out_dir)}, {"cmd": "stop"}]
        answers = io.StringIO()
        requests = io.StringIO("".join(json.dumps(line) + "\n" for line in lines))
        serve(adapter_of(InProcess(), readings_named(reading)), requests, answers)  # type: ignore[arg-type]
        started, answer = (json.loads(line) for line in answers.getvalue().splitlines())
        check_message("started", started)
        check_message("answer", answer)
        assert answer.pop("seq") == 7
        return dict(answer)

    def value(self, op: str, **params: Any) -> Any:
        value = self.request(op, **params)["result"]["value"]
        check_value(op, value)
        return value

    def rows(self, op: str, **params: Any) -> list[dict[str, Any]]:
        answer = self.request(op, **params)
        return list(read_rows(self.out_dir / answer["result"]["rows_file"]).mappings())


@pytest.fixture
def adapter(tmp_path: Path) -> Conversation:
    conversation = Conversation(tmp_path)
    builder = TableBuilder(conversation.table)
    builder.commit(10, [builder.base_file(10, [row("a", 1, "base"), row("b", 1, "base")])])
    log = [builder.data(20, [row("a", 2, "log")]), builder.data(20, [])[:-3]]
    builder.commit(20, [builder.log_file(20, log)])
    builder.pending(30)
    return conversation


def test_the_snapshot_is_rows_with_the_warnings_of_damaged_logs(adapter: Conversation):
    answer = adapter.request("read_snapshot")
    assert [warning["clause"] for warning in answer["warnings"]] == ["LF-010"]
    notes = {one["id"]: one["note"] for one in adapter.rows("read_snapshot")}
    assert notes == {"a": "log", "b": "base"}


def test_columns_filter_and_meta_columns(adapter: Conversation):
    found = adapter.rows("read_snapshot", columns=["id"], filter=["note", "=", "log"], meta_columns=True)
    assert [(one["id"], one["_hoodie_commit_time"]) for one in found] == [("a", tick(20))]


def test_time_travel_and_read_optimized(adapter: Conversation):
    assert {one["note"] for one in adapter.rows("read_as_of", instant=tick(15))} == {"base"}
    assert {one["note"] for one in adapter.rows("read_optimized")} == {"base"}
    assert adapter.rows("read_optimized", as_of=tick(5)) == []


def test_the_timeline_is_listed_by_requested_time(adapter: Conversation):
    assert adapter.value("list_timeline") == [
        {"requested": tick(10), "completed": tick(11), "action": "deltacommit", "state": "COMPLETED"},
        {"requested": tick(20), "completed": tick(21), "action": "deltacommit", "state": "COMPLETED"},
        {"requested": tick(30), "completed": None, "action": "deltacommit", "state": "INFLIGHT"},
    ]


def test_the_history_counts_and_one_that_names_no_manifest_is_refused(adapter: Conversation):
    assert len(adapter.value("list_timeline", include_history=True)) == 3
    history = adapter.table / ".hoodie" / "timeline" / "history"
    history.mkdir()
    (history / "_version_").write_text("1")
    assert adapter.request("list_timeline", include_history=True)["rejected"]["reason"] == "TIMELINE_FILE_CORRUPT"


def test_file_slices_are_listed_by_name(adapter: Conversation):
    (found,) = adapter.value("list_file_slices")
    assert found == {
        "partition": "north",
        "file_id": "f1",
        "base_instant": tick(10),
        "base_file": f"f1_0-1-0_{tick(10)}.parquet",
        "log_files": [f".f1_{tick(20)}.log.1_0-1-0"],
    }
    (found,) = adapter.value("list_file_slices", as_of=tick(15))
    assert found["log_files"] == []


def test_table_info_says_what_the_table_is(adapter: Conversation):
    info = adapter.value("table_info")
    assert info["merge_mode"] == "EVENT_TIME_ORDERING"
    assert (info["record_key"], info["partition_by"], info["ordering"]) == (["id"], ["region"], ["ts"])
    assert info["schema"][2] == {"name": "ts", "type": "int64"}


def test_a_refused_table_is_rejected_with_its_reason(adapter: Conversation):
    (adapter.table / ".hoodie" / "hoodie.properties").unlink()
    assert adapter.request("read_snapshot")["rejected"]["reason"] == "NOT_A_TABLE"
    assert adapter.request("table_info")["rejected"]["reason"] == "NOT_A_TABLE"


@pytest.mark.parametrize("instant", [None, 5, "soon"])
def test_an_instant_that_is_none_is_rejected(adapter: Conversation, instant: Any):
    assert adapter.request("read_as_of", instant=instant)["rejected"]["reason"] == "INSTANT_MALFORMED"


def test_changed_rows_come_with_the_requested_columns_and_filter(adapter: Conversation):
    changed = adapter.rows("read_incremental", begin=tick(11), columns=["id"], filter=["id", "!=", "none"])
    assert all(set(one) == {"id"} for one in changed)
    assert len(adapter.rows("read_incremental", begin="0")) == len(adapter.rows("read_snapshot"))
    assert adapter.request("read_changes", begin="0")["rejected"]["reason"] == "CONFIG_INVALID"
    assert adapter.request("read_incremental", begin="today")["rejected"]["reason"] == "INSTANT_MALFORMED"


def test_a_check_answers_with_clauses_and_files(adapter: Conversation):
    found = adapter.request("check_table")["result"]["value"]
    assert all(set(one) == {"clause", "severity", "where", "message"} for one in found)
    assert {(one["clause"], one["severity"]) for one in found} == {("LF-010", "warning")}
    assert all((adapter.table / one["where"]).is_file() for one in found)


def test_what_is_not_built_is_unsupported(adapter: Conversation):
    assert adapter.request("defragment") == {"unsupported": {"feature": "defragment"}}


def test_the_reading_of_the_text_is_an_option(tmp_path: Path):
    conversation = Conversation(tmp_path)
    builder = TableBuilder(conversation.table, properties={"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"})
    builder.commit(10, [builder.base_file(10, [row("a", 1, "base")])])
    builder.commit(20, [builder.log_file(20, [builder.deletes(20, DeleteRecord("a", "north"))])], completed=60)
    builder.commit(30, [builder.log_file(30, [builder.data(30, [row("a", 1, "log")])])], completed=50)
    assert [one["note"] for one in conversation.rows("read_snapshot")] == ["log"]
    assert conversation.rows("read_snapshot", reading="text") == []


def test_features_are_named_once():
    assert len(set(FEATURES)) == len(FEATURES)


def test_the_command_starts_the_adapter():
    start = json.dumps({"cmd": "start", "protocol": 1}) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "hudi_spark_adapter", "--in-process"],
        input=start,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert json.loads(done.stdout.splitlines()[0])["protocol"] == 1, done.stderr
