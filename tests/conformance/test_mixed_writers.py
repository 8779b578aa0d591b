"""Turns of two writers on one table: drawn, played, made small; with Apache Hudi where a bundle is at hand."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hudi_adapter.rows import Rows, read_rows, write_rows
from hudi_conformance.interop.fuzzing.seeds import case_of_seed, smallest_failing
from hudi_conformance.interop.mixed_writers.cases import ENGINE, MixedRun, has_metadata_table, mixed_runs
from hudi_conformance.interop.mixed_writers.checking import Result, Table, check, played_once
from hudi_conformance.interop.mixed_writers.page import page
from hudi_conformance.interop.mixed_writers.running import Adapters, run_case
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.runner.session import Reply, Response

PEER = "1.1.1"


@dataclass
class Pretended:
    """A writer that keeps the first column of its rows in memory; `fails` makes it fail to delete."""

    keys: dict[str, None]
    fails: bool = False

    def request(self, op: str, _table: Path, params: Mapping[str, Any], out_dir: Path, _limit_s: float) -> Response:
        if op == "read_snapshot":
            write_rows(out_dir / "rows.jsonl", Rows((("key", "string"),), tuple((key,) for key in self.keys)))
            return Reply({"result": {"rows_file": "rows.jsonl"}})
        if op == "write" and params["operation"] == "delete" and self.fails:
            return Reply({"errored": {"message": "lost"}})
        if op == "write" and "input" in params:
            self.keys.update((str(row[0]), None) for row in read_rows(Path(params["input"])).rows)
        return Reply({"result": {"value": {}}})


def pretended(*, fails: bool = False) -> Adapters:
    keys: dict[str, None] = {}
    return Adapters(Pretended(keys), Pretended(keys, fails))  # type: ignore[arg-type]


def draw(seed: int, peers: tuple[str, ...]) -> MixedRun:
    return case_of_seed(mixed_runs(peers), seed)


def deleting_seed() -> tuple[int, MixedRun]:
    """A seed in which the peer deletes."""
    for seed in range(200):
        drawn = draw(seed, (PEER,))
        rounds = zip(drawn.rounds[1:], drawn.case.steps, strict=True)
        if any(who == PEER and step.operation == "delete" for who, step in rounds):
            return seed, drawn
    raise AssertionError("no seed deletes")


def test_a_seed_always_draws_the_same_turns():
    """A sequence is its seed; both writers have a turn, and a record index has its metadata table."""
    for seed in range(40):
        drawn = draw(seed, (PEER, "0.15.0"))
        assert drawn == draw(seed, (PEER, "0.15.0"))
        assert set(drawn.rounds[1:]) == {ENGINE, drawn.peer} or len(drawn.case.steps) == 1
        assert len(drawn.rounds) == len(drawn.case.steps) + 1
        assert drawn.peer == PEER or (drawn.case.shape.version, drawn.rounds[0]) == (6, ENGINE)
        if drawn.case.shape.configs.get("hoodie.index.type") == "RECORD_INDEX":
            assert has_metadata_table(drawn.case)
        assert MixedRun.from_json(drawn.to_json()) == drawn


def test_readers_that_agree_and_writers_that_do_their_turn_pass(tmp_path: Path):
    """Every turn is taken, and every answer counted."""
    drawn = draw(1, (PEER,))
    played = run_case(drawn, pretended(), tmp_path)
    assert played.failure is None
    assert (played.rounds, played.unsupported) == (len(drawn.case.steps), ())
    assert played.agreed == played.rounds * (3 if has_metadata_table(drawn.case) else 1)


@pytest.mark.slow
def test_a_failing_sequence_is_shrunk():
    """Of a writer that fails to delete a row and its deletion are left, and the line that repeats it is reported."""
    seed, drawn = deleting_seed()
    adapters = pretended(fails=True)
    played = played_once(drawn, adapters)
    assert played.failure is not None
    assert played.failure.question == "write delete"
    small, _ = smallest_failing(
        mixed_runs((PEER,)), seed, played.failure, lambda one: played_once(one, adapters).failure, 500
    )
    assert [step.operation for step in small.case.steps][1:] == ["delete"]
    assert small.rounds[1:] == (ENGINE, PEER)
    text = Result(seed, drawn, played, 0.0, small).describe()
    assert "hudi-conformance mixed-writers repeat CASE.json" in text
    assert MixedRun.from_json(text[text.index('{"peer"') : text.index("# saved")]) == small


def test_the_page_lists_failures_and_unsupported_features():
    """Numbers by kind of table, and every failing sequence whole."""
    seed, drawn = deleting_seed()
    played = played_once(drawn, pretended(fails=True))
    text = page(
        [
            Result(seed, drawn, played, 0.0, drawn),
            Result(1, draw(1, (PEER,)), played_once(draw(1, (PEER,)), pretended()), 0.0),
        ]
    )
    assert "2 sequences" in text
    assert "1 sequences failed" in text
    assert f"## Seed {seed}" in text


@pytest.mark.slow
def test_the_engine_and_the_model_take_turns():
    """Two writers that share no code but the format's go on with each other's tables."""
    with Table("engine-in-process", suite_root(), None) as table:
        results = list(check(mixed_runs(("model",)), (1, 6), table, seconds=60.0, attempts=0))
    assert [one.describe() for one in results if one.failure or one.played.unsupported] == []
    assert len(results) == 2


@pytest.mark.peers
@pytest.mark.timeout(280)
def test_the_engine_and_apache_hudi_take_turns():
    """Four sequences: after every turn both read the same rows, no matter who wrote them."""
    with Table("engine-in-process", suite_root(), None) as table:
        results = list(check(mixed_runs((PEER,)), SEEDS, table, seconds=200.0, attempts=0))
    assert [one.describe() for one in results if one.failure] == []
    assert sum(one.played.rounds for one in results) >= len(SEEDS)


SEEDS = (2, 8, 11, 13)
