"""Recipes of real tables, their questions, fingerprints and the list of known differences, without any JVM."""

import functools
import sys
from pathlib import Path

import pytest
from hudi_adapter.rows import Rows, write_rows
from hudi_conformance.corpus.recipes_apache.catalogue import Question, Recipe
from hudi_conformance.interop.real_tables import cache, catalogue, fingerprints
from hudi_conformance.interop.real_tables.cache import Place
from hudi_conformance.interop.real_tables.catalogue import recipes
from hudi_conformance.interop.real_tables.comparing import Verdict, compare
from hudi_conformance.interop.real_tables.known import KnownDifference, KnownDifferencesError, load_known
from hudi_conformance.interop.real_tables.questions import all_questions
from hudi_conformance.interop.real_tables.results import load_results, save_results
from hudi_conformance.interop.real_tables.sampling import sample_of
from hudi_conformance.runner.adapters_config import AdapterConfig
from hudi_conformance.runner.recorded_results import save_recorded

ALL = recipes()


def _steps(text: str, table: object) -> None:
    del text, table


def _recipe(**changed: object) -> Recipe:
    usual = {
        "id": "a/b-mor-1.1.1-v9",
        "bundle": "1.1.1",
        "version": 9,
        "type": "MERGE_ON_READ",
        "features": ("mor",),
        "steps": _steps,
    }
    return Recipe(**{**usual, **changed})


def _write(number: int, action: str = "deltacommit", state: str = "COMPLETED") -> dict[str, str]:
    return {"requested": f"{number}0", "completed": f"{number}5", "action": action, "state": state}


def _table(tmp_path: Path, properties: str = "") -> Path:
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / "hoodie.properties").write_text(properties)
    return tmp_path


def test_every_release_and_table_version_has_recipes():
    made = {(one.bundle, one.version) for one in ALL}
    assert made >= {("0.15.0", 6), ("1.0.2", 8), ("1.1.1", 6), ("1.1.1", 8), ("1.1.1", 9), ("1.2.0", 9)}


def test_every_recipe_says_what_it_does_and_begins_with_a_table_that_another_makes():
    identifiers = {one.id for one in ALL}
    assert [one.id for one in ALL if not (one.steps.__doc__ or "").strip()] == []
    assert [one.id for one in ALL if one.begins_with and one.begins_with not in identifiers] == []


def test_tables_are_chosen_by_beginning_glob_and_release():
    assert recipes(["basics/"])
    assert all(one.bundle == "1.0.2" for one in recipes(["*-v8"], "1.0.2"))
    assert recipes(["nothing"]) == ()


def test_a_recipe_is_made_again_when_what_it_uses_changes():
    first, second = (fingerprints.written(_recipe(steps=functools.partial(_steps, text))) for text in ("a", "b"))
    assert first != second
    assert first == fingerprints.written(_recipe(steps=functools.partial(_steps, "a")))


def test_answers_are_collected_again_when_the_questions_change():
    assert fingerprints.of_questions(_recipe()) != fingerprints.of_questions(
        _recipe(questions=(Question("x", "table_info"),))
    )
    assert fingerprints.of_questions(_recipe(bundle="1.2.0")) != fingerprints.of_questions(
        _recipe(bundle="1.2.0", oracle="own")
    )


def test_times_in_questions_are_those_of_completed_writes_in_order_of_completion(tmp_path: Path):
    timeline = [_write(1), _write(2, "clean"), _write(3), _write(4, state="INFLIGHT"), _write(5, "replacecommit")]
    own = (Question("own", "read_incremental", {"begin": "$0.completed", "end": "$-1.requested"}),)
    questions = {one.name: one.params for one in all_questions(_recipe(questions=own), _table(tmp_path), timeline)}
    assert questions["own"] == {"begin": "15", "end": "50"}
    assert questions["as_of_middle"] == {"instant": "30"}
    assert "changes_all" not in questions


def test_before_version_8_the_instant_stands_for_the_completion(tmp_path: Path):
    timeline = [{**_write(1), "completed": None}, {**_write(2), "completed": None}]
    questions = {one.name: one.params for one in all_questions(_recipe(), _table(tmp_path), timeline)}
    assert questions["incremental_later"] == {"begin": "10"}


def test_a_table_with_a_change_feed_is_queried_for_changes(tmp_path: Path):
    table = _table(tmp_path, "hoodie.table.cdc.enabled=true\n")
    assert "changes_all" in {one.name for one in all_questions(_recipe(), table, [_write(1)])}


def test_a_table_without_completed_writes_has_no_queries_by_time(tmp_path: Path):
    questions = [one.name for one in all_questions(_recipe(without=("info",)), _table(tmp_path), [])]
    assert questions == ["snapshot", "snapshot_meta", "timeline", "history", "slices", "optimized"]


@pytest.fixture
def answered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A table of no rows, with the answer that it has none."""
    monkeypatch.setattr(cache, "cache_root", lambda: tmp_path)
    place = cache.place_of("a/b-mor-1.1.1-v9")
    place.table.mkdir(parents=True)
    place.answers.mkdir()
    return place


def _verdicts(place: Place, question: dict[str, object], known: tuple[KnownDifference, ...] = ()) -> list[Verdict]:
    place.save_questions([{"name": "q", "op": "read_snapshot", "params": {}, **question}])
    config = AdapterConfig("null", (sys.executable, "-m", "hudi_conformance.adapters.null", "empty"))
    return [one.verdict for one in compare([_recipe()], config, known)]


def test_an_answer_is_equal_different_or_known_to_differ(answered: Place):
    write_rows(answered.answers / "some.parquet", Rows((("id", "int32"),), ((1,),)))
    listed = (KnownDifference(("a/*::q",), "null", "why", "evidence"),)
    assert _verdicts(answered, {"rows": "some.parquet"}) == [Verdict.DIFFERENT]
    assert _verdicts(answered, {"rows": "some.parquet"}, listed) == [Verdict.KNOWN]


def test_a_known_difference_that_no_longer_occurs_is_reported(answered: Place):
    write_rows(answered.answers / "none.parquet", Rows((), ()))
    listed = (KnownDifference(("a/*::q",), "n*", "why", "evidence"),)
    assert _verdicts(answered, {"rows": "none.parquet"}) == [Verdict.EQUAL]
    assert _verdicts(answered, {"rows": "none.parquet"}, listed) == [Verdict.NOT_DIFFERENT]


def test_an_answer_where_apache_hudi_failed_is_a_difference(answered: Place):
    assert _verdicts(answered, {"errored": "NullPointerException"}) == [Verdict.DIFFERENT]


def test_results_are_kept_beside_those_of_other_tables(
    answered: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(catalogue.RECIPES, "a/b-mor-1.1.1-v9", _recipe())
    kept = ALL[0].id
    save_recorded(tmp_path, "real-tables", {kept: {}, "gone/x-mor-1.1.1-v9": {}})
    answered.save_questions([{"name": "q", "op": "table_info", "params": {}, "errored": "x"}])
    config = AdapterConfig("null", (sys.executable, "-m", "hudi_conformance.adapters.null", "unsupported"))
    save_results(tmp_path, list(compare([_recipe()], config, ())))
    results = load_results(tmp_path)
    assert set(results) == {"a/b-mor-1.1.1-v9", kept}
    assert results["a/b-mor-1.1.1-v9"]["null"]["queries"] == {"table_info": ["q"]}
    assert list(results["a/b-mor-1.1.1-v9"]["null"]["unsupported"].values()) == [["q"]]


def test_a_list_of_known_differences_that_does_not_parse_is_refused(tmp_path: Path):
    folder = tmp_path / "conformance" / "real_tables"
    folder.mkdir(parents=True)
    (folder / "known_x.toml").write_text('[[difference]]\nquestions = ["a"]\n')
    with pytest.raises(KnownDifferencesError, match=r"known_x\.toml"):
        load_known(tmp_path)


def test_every_table_is_in_a_sample():
    seen = {one.id for number in range(366) for one in sample_of(ALL, number, 4)}
    assert seen == {one.id for one in ALL}
