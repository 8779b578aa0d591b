"""Writes in three phases: what counts between them, and what is left of a write that was given up."""

from hudi_conformance.corpus.golden.rides import ride, rides
from hudi_conformance.corpus.writing.recipes.single_writes import with_rides
from hudi_conformance.corpus.writing.registry import writing
from hudi_conformance.corpus.writing.shapes import OPTIMISTIC, shapes
from hudi_conformance.corpus.writing.steps import WritingCase


@writing("phases/three_phases", shapes(configs=OPTIMISTIC), "OW-001 OW-010", "files-count-when-staged")
def three_phases(case: WritingCase) -> None:
    """Nothing of a write counts before its completed file is there, and all of it from then on.

    Given rides of two cities.
    When an upsert begins, stages its files, and commits.
    Then the rows change with the commit alone, while the timeline shows each phase.
    """
    with_rides(case)
    case.begin("one", "upsert", [ride("r01", 20), ride("r03", 20)])
    case.timeline()
    case.stage("one")
    case.state()
    case.commit("one")
    case.state()
    case.shows(kills="completed-without-files")


@writing("phases/given_up", shapes(configs=OPTIMISTIC), "OW-009", "abort-keeps-the-instant")
def given_up(case: WritingCase) -> None:
    """An aborted write leaves nothing that counts.

    Given rides of two cities.
    When an upsert is given up after it has staged its files, and another is made.
    Then the first has left neither rows nor an action, and the other finds the table as it was.
    """
    with_rides(case)
    case.begin("one", "upsert", rides(30, ("r01", "r03")))
    case.stage("one")
    case.abort("one")
    case.state()
    case.write("upsert", [ride("r01", 20)])
    case.state()


@writing("phases/given_up_at_once", shapes(versions=(6, 9), configs=OPTIMISTIC), "OW-009", "abort-keeps-the-instant")
def given_up_at_once(case: WritingCase) -> None:
    """A write that is given up before it has files leaves nothing.

    Given rides of two cities.
    When an insert overwrite is given up as soon as it has begun.
    Then the table is as it was.
    """
    with_rides(case)
    case.begin("one", "insert_overwrite", rides(30, ("r01",)))
    case.abort("one")
    case.state()
