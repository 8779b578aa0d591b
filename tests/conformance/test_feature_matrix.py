"""The table of features in the status page: cells follow from records, and none is blank."""

from dataclasses import replace

import pytest
from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.pages.feature_matrix import Facts, Feature, load_facts, load_features, matrix_rows
from hudi_conformance.runner.resources import suite_root

FEATURE = Feature("Deletes", "Log files", ("log-delete",), ("*_deletes",), ("read_snapshot",), (9,), {})
MADE = Recipe("a/b-mor-1.1.1-v9", "1.1.1", 9, "MERGE_ON_READ", ("log-delete",), lambda _: None)
RECORDED = {"queries": {"read_snapshot": ["snapshot", "filtered"], "table_info": ["info"]}}


@pytest.fixture(scope="module")
def facts() -> Facts:
    return load_facts(suite_root())


def _we_read(facts: Facts, recorded: dict[str, object], feature: Feature = FEATURE) -> str:
    results = {MADE.id: {"engine-in-process": {**RECORDED, **recorded}}}
    chosen = replace(facts, recipes=(MADE,), results=results, golden=())
    return next(iter(matrix_rows([feature], chosen)))[2]


def test_no_cell_is_blank_and_each_says_yes_or_why_not(facts: Facts):
    features = load_features(suite_root())
    rows = list(matrix_rows(features, facts))
    assert len(rows) == sum(len(feature.versions) for feature in features)
    assert [row for row in rows if not all(cell.startswith(("yes: ", "no: ", "not asked: ")) for cell in row[2:])] == []


def test_names_of_features_are_unique():
    names = [feature.name for feature in load_features(suite_root())]
    assert len(set(names)) == len(names)


def test_equal_answers_are_a_yes_and_only_the_questions_of_the_feature_count(facts: Facts):
    assert _we_read(facts, {"different": ["info"]}) == "yes: 1 table, 2 answers"


def test_a_difference_without_explanation_is_a_no(facts: Facts):
    assert _we_read(facts, {"different": ["filtered"]}) == "no: 1 of 2 answers differ"


def test_explained_differences_and_missing_features_are_reported(facts: Facts):
    assert "1 differ, [explained](real-tables.md)" in _we_read(facts, {"known": ["filtered"]})
    assert _we_read(facts, {"unsupported": {"cdc": ["filtered"]}}) == "yes: 1 table, 2 answers; 1 unsupported (cdc)"
    assert _we_read(facts, {"unsupported": {"cdc": ["filtered", "snapshot"]}}) == "no: unsupported (cdc)"


def test_a_version_without_tables_says_why(facts: Facts):
    assert _we_read(facts, {}, replace(FEATURE, versions=(6,), absent={"6": "because"})) == "no: because"


def test_what_the_peers_read_of_ours_is_what_they_were_recorded_to_answer(facts: Facts):
    row = next(iter(matrix_rows([FEATURE], facts)))
    assert row[3].startswith("yes: [tables of the array](#tables-that-the-engine-writes); the model: ")
    assert row[4].startswith("yes: ")
