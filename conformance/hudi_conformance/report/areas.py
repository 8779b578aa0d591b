"""Areas of the specification as the report names and orders them."""

from collections.abc import Iterable

from hudi_conformance.runner.cases import AREAS

UNCLASSIFIED = "other"


def area_of(clauses: Iterable[str]) -> str:
    """The area a case counts in: that of the first clause it names."""
    first = next(iter(clauses), "")
    return first.partition("-")[0] or UNCLASSIFIED


def area_name(area: str) -> str:
    """The area in words, or its letters where it has none yet."""
    return AREAS.get(area, area).replace("-", " ").capitalize() if area in AREAS else area


def in_order(areas: Iterable[str]) -> list[str]:
    """Areas as the suite lists them, unknown ones last."""
    known = list(AREAS)
    return sorted(set(areas), key=lambda area: (known.index(area) if area in AREAS else len(known), area))
