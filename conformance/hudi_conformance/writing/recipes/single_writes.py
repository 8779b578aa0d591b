"""One write of each operation after an insert: what it changes, and what it leaves alone."""

from hudi_conformance.golden.rides import ride, rides
from hudi_conformance.writing.registry import writing
from hudi_conformance.writing.shapes import shapes
from hudi_conformance.writing.steps import WritingCase


@writing("single/upsert", shapes(), "OW-014 OW-003", "tagging-sees-nothing")
def upsert(case: WritingCase) -> None:
    """An upsert changes rows that are there and adds those that are not.

    Given rides of two cities.
    When an upsert brings a newer version of one ride, an older version of another, and a new one.
    Then the newer version and the new ride stand, and the older version has lost.
    """
    case.create()
    first = case.write("insert", rides(10, ("r01", "r02", "r11", "año-15")))
    case.write("upsert", [ride("r01", 20), ride("r11", 5, rider="late"), ride("🚲-16", 20)])
    case.state()
    case.as_of(first)
    case.incremental(first)
    case.shows("OW-016" if case.is_mor else "OW-015")
