"""Every durable effect of a writer is reported, in the words that model, specs and tests share."""

import json
import os
import time
from importlib.resources import files
from pathlib import Path

import hudi_adapter
import pytest
from hudi_spark import services_arrow
from hudi_spark.testing import Effect, TraceFile, WriteRequest
from jsonschema import Draft202012Validator
from written_tables import Written, rows

SCHEMA = json.loads((files(hudi_adapter) / "schemas" / "trace_line.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("version", "table_type"), [(6, "MERGE_ON_READ"), (9, "COPY_ON_WRITE"), (9, "MERGE_ON_READ")])
def test_a_trace_has_a_line_for_each_effect(tmp_path: Path, version: int, table_type: str):
    """Each in the form of the protocol's schema; what the metadata table does inside is one of them."""
    table = Written(tmp_path / "table", table_type, version)
    trace = tmp_path / "trace.ndjson"
    for given in (rows([1, 2]), rows([1], 2)):
        table.writer(hook=TraceFile(str(trace))).write(WriteRequest("upsert", given))
    lines = [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]
    validator = Draft202012Validator(SCHEMA)
    assert [error.message for line in lines for error in validator.iter_errors(line)] == []
    assert [line["effect"] for line in lines].count("commit_metadata_table") == 2
    assert _files_after_completion(lines) == []


def _files_after_completion(lines: list[dict[str, str]]) -> list[dict[str, str]]:
    """Data files that appear after their action has completed."""
    done: set[str] = set()
    late = []
    for line in lines:
        if line["effect"] == "create_instant" and line["state"] == "COMPLETED":
            done.add(line["requested"])
        if line["effect"] in ("put_base_file", "put_log_file") and line["requested"] in done:
            late.append(line)
    return late


class Stopped(Exception):  # noqa: N818 - the writer is stopped, nothing is wrong
    """A test stops a writer here."""


class StopAt:
    """Stops a writer before the effect of a number."""

    def __init__(self, number: int) -> None:
        self.left = number

    def before(self, effect: Effect) -> None:
        del effect
        if self.left == 0:
            raise Stopped
        self.left -= 1

    def after(self, effect: Effect) -> None:
        """Nothing."""


def test_a_writer_can_be_stopped_between_any_two_effects(tmp_path: Path):
    """Wherever it stops, a reader finds the table before the write or after it, and never something between."""
    before, after = [("k1", 1.0), ("k2", 1.0)], [("k1", 2.0), ("k2", 1.0), ("k3", 2.0)]
    stopped = True
    number = 0
    while stopped:
        table = Written(tmp_path / str(number), "MERGE_ON_READ")
        table.write("upsert", rows([1, 2]))
        try:
            table.writer(hook=StopAt(number)).write(WriteRequest("upsert", rows([1, 3], 2, 2.0)))
            stopped = False
        except Stopped:
            assert table.found() in (before, after)
        number += 4
    assert number > 4 * 3


@pytest.mark.parametrize("version", [6, 9])
def test_a_clean_removes_leftovers_of_failed_puts(version: int, tmp_path: Path):
    """In the partitions and below .hoodie, when it is an hour old; also where no file is due to go."""
    table = Written(tmp_path, version=version)
    table.write("upsert", rows([1]))
    for folder in (tmp_path, tmp_path / ".hoodie" / "metadata"):
        (folder / ".hudi-put-dead").write_bytes(b"half")
        os.utime(folder / ".hudi-put-dead", (time.time() - 4000,) * 2)
    assert services_arrow(tmp_path).clean() is None
    assert list(tmp_path.rglob(".hudi-put-*")) == []
