"""The command that explains a clause, and ids as people type them."""

import json
from pathlib import Path

import pytest
from hudi_conformance.cli import app
from hudi_conformance.runner.clauses import load_clauses
from hudi_conformance.runner.identifiers import nearest_numbers, normal_number
from hudi_conformance.runner.resources import suite_root
from tiny_corpus import Params, TinyCorpus
from typer.testing import CliRunner

RUNNER = CliRunner()


@pytest.mark.parametrize("typed", ["TL-004", "TL-4", "tl-004", "TL4", "TL004", "tl_04", " tl 4 "])
def test_an_id_may_be_typed_in_any_form(typed: str):
    """Case, dash and leading zeros do not matter."""
    assert normal_number(typed) == "TL-004"


@pytest.mark.parametrize("text", ["merging", "TL", "404", "TL-x", ""])
def test_other_texts_stay_as_they_are(text: str):
    """They are no ids, and are reported as they were typed."""
    assert normal_number(text) == text


def test_the_nearest_ids_have_the_same_letters():
    """Of the same letters the nearest number is meant, of unknown letters the nearest spelling."""
    known = ["TL-001", "TL-014", "TL-020", "TM-014"]

    assert nearest_numbers("tl15", known) == ("TL-014", "TL-020", "TL-001")
    assert nearest_numbers("TN-014", known)[0] == "TM-014"


def test_a_clause_has_everything_that_cites_it():
    """Text, sources, functions, cases and the command that runs one, mutants, properties, TLA+, known defects."""
    done = RUNNER.invoke(app, ["clause", "MG-003"])

    assert done.exit_code == 0, done.output
    first, *_ = done.output.splitlines()
    assert first == "MG-003  Event time: the greater ordering value wins"
    for part in (
        "level must, table versions 6, 8, 9",
        "Under event time ordering the version with the greater ordering value wins",
        'section "EVENT_TIME_ORDERING"',
        "hudi_model.merging.merge_by_event_time",
        "conformance::v6/apache_mor_event_time::snapshot",
        "hudi-conformance repro conformance::v6/apache_mor_event_time::snapshot --adapter NAME",
        "hudi-conformance list --clause MG-003",
        "event-time-ignores-ordering",
        "PO-122",
        "hudi-conformance prove PO-122",
        "StreamedTable!RowsOf",
        "A late deletion wins in a copy-on-write table",
    ):
        assert part in done.output, part
    assert "specs/" not in done.output


def test_readings_are_named():
    """Where text and releases disagree, both readings stand."""
    assert "either of text and released" in RUNNER.invoke(app, ["clause", "rd7"]).output


def test_the_lists_can_be_had_in_full():
    """By default a few of each are shown."""
    short, whole = (RUNNER.invoke(app, ["clause", "MG-003", *more]).output for more in ([], ["--all"]))

    assert "more:  hudi-conformance list --clause MG-003" in short
    assert "more:" not in whole
    assert whole.count("conformance::") > short.count("conformance::")


def test_several_clauses_are_one_json_object_a_line():
    """Programs get what the terminal shows, in full; a clause that is named twice stands once."""
    done = RUNNER.invoke(app, ["clause", "tl4", "RD-007", "TL-004", "--json"])

    one, two = map(json.loads, done.output.splitlines())
    assert (one["id"], two["id"]) == ("TL-004", "RD-007")
    assert two["readings"] == ["text", "released"]
    assert {"name", "says"} == set(one["functions"][0])
    assert all(case["id"].startswith("conformance::") for case in one["cases"])
    assert one["sources"][0]["section"] == "State Transitions"


def test_unknown_ids_are_one_error_with_suggestions():
    """Nothing is shown of the known ones: the whole command is to be typed again."""
    done = RUNNER.invoke(app, ["clause", "TL-004", "tl404", "snapshot", "zz-1"])

    assert done.exit_code == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: there is no clause 'TL-404'; did you mean TL-")
    assert "RD-001 Snapshot read time" in line
    assert "there is no clause 'ZZ-001'" in line


@pytest.mark.slow
def test_every_clause_can_be_shown():
    """No clause has a form that the command does not know."""
    ids = [one.id for one in load_clauses(suite_root() / "specs" / "clauses")]

    shown = RUNNER.invoke(app, ["clause", *ids])
    lines = RUNNER.invoke(app, ["clause", "--json", *ids]).output.splitlines()

    assert shown.exit_code == 0
    assert [json.loads(line)["id"] for line in lines] == ids
    stated = [one for one in map(json.loads, lines) if one["level"] == "must"]
    assert all(one["functions"] for one in stated)


def test_a_corpus_of_its_own_needs_no_registries(tiny: TinyCorpus, passing: Params):
    """Only clauses and cases are there."""
    tiny.case("one", passing)

    done = RUNNER.invoke(app, ["clause", "rd1"])

    assert done.exit_code == 0, done.output
    assert "conformance::v9/tiny::one" in done.output


def test_list_takes_ids_as_they_are_typed(tiny: TinyCorpus, passing: Params):
    """As `clause` does; one that no case cites is an error that names the nearest."""
    tiny.case("one", passing)
    tiny.case("two", passing, clauses=("RD-007",))

    found = RUNNER.invoke(app, ["list", "--clause", "rd7"])
    missing = RUNNER.invoke(app, ["list", "--clause", "rd8"])

    assert found.output.split()[0] == "conformance::v9/tiny::two"
    assert missing.exit_code == 2
    assert "clause 'RD-008'; did you mean RD-007 or RD-001?" in missing.stderr


def test_cases_are_listed_for_programs(tiny: TinyCorpus, tmp_path: Path, passing: Params):
    """One object a line: id, area, clauses, operations, table."""
    case_id = tiny.case("one", passing)

    (line,) = RUNNER.invoke(app, ["list", "--json"]).output.splitlines()

    assert json.loads(line) == {
        "id": case_id,
        "title": "The case one",
        "area": "reading",
        "clauses": ["RD-001"],
        "operations": ["read_snapshot"],
        "table": "v9/tiny",
        "table_version": 9,
        "features": ["table-version-9"],
        "writes": False,
    }
    assert json.loads(RUNNER.invoke(app, ["list", "--adapters", "--json"]).output) == {"name": "fake"}


def test_prove_takes_ids_as_they_are_typed():
    """A property's id is normalised too, and an unknown one has suggestions."""
    assert "PO-271 holds" in RUNNER.invoke(app, ["prove", "po271"]).output
    done = RUNNER.invoke(app, ["prove", "PO-999", "--mutant", "tie-to-oldest"])

    assert done.exit_code == 2
    assert "there is no property 'PO-999'; did you mean PO-" in done.output
    assert "there is no mutant 'tie-to-oldest'; did you mean tie-to-older?" in done.output.replace("\n", " ")
