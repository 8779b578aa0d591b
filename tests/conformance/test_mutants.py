"""Mutants break one rule each, put everything back, and none of them is beyond the corpus."""

from pathlib import Path

import hudi_model.configuration
import pytest
from hudi_conformance.bridge.checking import load_for
from hudi_conformance.corpus.golden.answers import expected, killed, verdict
from hudi_conformance.corpus.mutants import MUTANTS, mutated
from hudi_conformance.corpus.mutants.registry import Mutant
from hudi_conformance.runner.archive import unpacked
from hudi_conformance.runner.cases import Case, load_golden_cases
from hudi_conformance.verification.mutation_matrix.columns import every_case, killed_by, question_of
from hudi_conformance.verification.mutation_matrix.matrix import kept_matrix
from hudi_conformance.verification.mutation_matrix.page import page
from hudi_conformance.verification.properties import MODEL_PROPERTIES
from hudi_model.queries import CHOICE_OF_CLAUSE, with_reading
from hudi_model.tables import RELEASED, Reading

ROOT = Path(__file__).parents[2]
CASES = load_golden_cases(ROOT)
EVERY = {case.id: case for case in every_case(ROOT)}
KEPT = {row.mutant: row for row in kept_matrix(ROOT).rows}
NAMED: dict[str, dict[str, set[str]]] = {}
"""By table, and there by case: the mutants for which the case is kept."""
for _row in KEPT.values():
    for _identifier in _row.cases:
        NAMED.setdefault(_identifier.rpartition("::")[0], {}).setdefault(_identifier, set()).add(_row.mutant)
STEP = max(1, len(CASES) // 24)
BREAKS = {name for one in MODEL_PROPERTIES.values() for name in one.broken_by}
"""The mutants that break a property: tests/properties holds every one of them to it."""


def test_there_are_at_least_24_and_each_says_what_it_breaks() -> None:
    """A mutant names its clauses and says in one sentence what is wrong with it."""
    assert len(MUTANTS) >= 24
    for mutant in MUTANTS.values():
        assert mutant.clauses
        assert mutant.sentence.endswith(".")
        assert callable(mutant.original())


def test_properties_name_mutants_that_exist() -> None:
    """A misspelt name would break nothing."""
    assert MUTANTS.keys() >= BREAKS


@pytest.mark.parametrize("name", sorted(MUTANTS))
def test_every_mutant_is_killed_by_a_case_or_breaks_a_property(name: str) -> None:
    """A mutant that does neither shows a rule that nothing tests; `hudi-conformance mutants matrix` keeps the cases."""
    assert KEPT[name].cases or name in BREAKS


def test_no_case_is_kept_for_a_mutant_that_is_no_more() -> None:
    """The rows are those of the mutants, so that the cases below are held to all that is kept."""
    assert KEPT.keys() == MUTANTS.keys()


@pytest.mark.parametrize("place", sorted(NAMED))
def test_cases_kill_the_mutants_that_they_are_kept_for(place: str) -> None:
    """All that is kept for the cases of one table, which is read once for every one of them."""
    for identifier, names in NAMED[place].items():
        assert set(killed_by(EVERY[identifier], [MUTANTS[name] for name in names])) == names, identifier


def test_the_page_of_mutants_has_a_row_for_each() -> None:
    """It is generated from the recorded matrix."""
    text = page(ROOT)
    assert [name for name in MUTANTS if f"`{name}`" not in text] == []


@pytest.mark.parametrize("case", CASES[::STEP], ids=lambda case: case.id)
def test_cases_kill_what_they_name(case: Case) -> None:
    """A sample, evenly spread; the builder holds every case to it."""
    # What is broken in the reading of bytes shows in other bytes: the builder reads the table again for it.
    question, named = question_of(case), [MUTANTS[name] for name in case.kills if not MUTANTS[name].of_bytes]
    state = load_for(question.op, unpacked(case.table.folder), question.params)

    assert killed(state, question, expected(state, question), named) == [one.name for one in named]


@pytest.mark.parametrize(
    "case", [one for one in CASES if not CHOICE_OF_CLAUSE.keys().isdisjoint(one.clauses)][::8], ids=lambda one: one.id
)
def test_a_reading_that_no_answer_comes_by_alters_none(case: Case) -> None:
    """`expected` leaves out the readings that are not consulted: with every one of them the result is the same."""
    question = question_of(case)
    state = load_for(question.op, unpacked(case.table.folder), question.params)
    found = expected(state, question)
    others = {
        clause: verdict(state, question, with_reading(RELEASED, clause, Reading.TEXT)) for clause in CHOICE_OF_CLAUSE
    }
    differing = {clause: one for clause, one in others.items() if not one.satisfies(found.released)}

    assert found.released.satisfies(verdict(state, question))
    assert list(differing) == ([found.clause] if found.text else [])
    assert found.text is None or found.text.satisfies(differing[found.clause])


def test_a_mutant_replaces_its_function_wherever_the_model_holds_it_and_goes_without_trace() -> None:
    """Modules that imported the function by name are mutated too; afterwards all is as before."""
    original = hudi_model.configuration.property_value
    mutant = Mutant(
        "test", ("PR-005",), "Nothing.", "hudi_model.configuration", "property_value", lambda _: lambda *_: "mutated"
    )

    with mutated(mutant):
        assert hudi_model.configuration.property_value({}, "hoodie.table.name") == "mutated"

    assert hudi_model.configuration.property_value is original
