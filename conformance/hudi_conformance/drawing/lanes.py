"""Which lane of a drawn timeline an instant stands in."""

from collections.abc import Sequence

from hudi_conformance.drawing.moments import Drawn
from hudi_conformance.drawing.scale import Scale

# Up to here every instant has a lane and a label of its own; beyond, bars share lanes and fold into bands.
LABELLED_INSTANTS = 24
INSTANTS_A_BAND = 32


def folded(instants: Sequence[Drawn]) -> tuple[tuple[Drawn, ...], ...]:
    """The instants in bands that stand below one another, as lines of a text do."""
    if len(instants) <= LABELLED_INSTANTS:
        return (tuple(instants),)
    return tuple(tuple(instants[start : start + INSTANTS_A_BAND]) for start in range(0, len(instants), INSTANTS_A_BAND))


def extent(instant: Drawn, scale: Scale, open_end: float) -> tuple[float, float]:
    """From where to where an instant is drawn; one that has not completed runs on to the open end."""
    places = [scale.at(moment) for moment in instant.moments]
    if not instant.is_complete and instant.completed is None:
        places.append(open_end)
    return min(places), max(places)


def packed(instants: Sequence[Drawn], scale: Scale, open_end: float, room: float) -> tuple[int, ...]:
    """A lane for each instant, the first that is free by `room` pixels: overlapping actions never share one."""
    ends: list[float] = []
    chosen = []
    for instant in instants:
        start, end = extent(instant, scale, open_end)
        lane = next((place for place, taken in enumerate(ends) if taken + room <= start), len(ends))
        ends[lane : lane + 1] = [max(end, start + room)]
        chosen.append(lane)
    return tuple(chosen)
