"""Every property is as its registry says: proved ones hold and are not empty, refuted ones have a case."""

import pytest
from hudi_conformance.corpus.mutants import MUTANTS, mutated
from hudi_conformance.verification.properties import MODEL_PROPERTIES, Counterexample, ModelProperty, Verdict
from hudi_format.compat import BaseExceptionGroup

_PROVED = [one for one in MODEL_PROPERTIES.values() if one.verdict is Verdict.PROVED]
_REFUTED = [one for one in MODEL_PROPERTIES.values() if one.verdict is Verdict.REFUTED]
_BROKEN = [(one, name) for one in _PROVED for name in one.broken_by]


@pytest.mark.parametrize("one", _PROVED, ids=lambda one: one.id)
def test_a_proved_property_holds(one: ModelProperty) -> None:
    """The check finds no counterexample in the model."""
    one.check()


@pytest.mark.slow
@pytest.mark.parametrize(("one", "name"), _BROKEN, ids=lambda value: getattr(value, "id", value))
def test_a_broken_rule_is_caught(one: ModelProperty, name: str) -> None:
    """A check that passes whatever the model says would prove nothing."""
    with mutated(MUTANTS[name]), pytest.raises((Counterexample, BaseExceptionGroup)):
        one.check()


@pytest.mark.parametrize("one", _REFUTED, ids=lambda one: one.id)
def test_a_refuted_property_still_has_its_counterexample(one: ModelProperty) -> None:
    """What was found false stays false, and what does hold stands beside it."""
    with pytest.raises((Counterexample, BaseExceptionGroup)):
        one.check()
    assert MODEL_PROPERTIES[one.holds_instead].verdict is Verdict.PROVED
