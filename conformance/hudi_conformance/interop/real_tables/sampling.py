"""A few of the real tables, to be compared in one run; each is in one of the samples."""

from collections.abc import Sequence

from hudi_conformance.corpus.recipes_apache.catalogue import Recipe


def sample_of(made: Sequence[Recipe], number: int, count: int) -> tuple[Recipe, ...]:
    """The tables of a sample, all of one release, with those that they begin with."""
    bundles = sorted({one.bundle for one in made})
    groups = []
    for bundle in bundles:
        mine = [one for one in made if one.bundle == bundle]
        groups += [mine[start : start + count] for start in range(0, len(mine), count)]
    return with_beginnings(groups[number % len(groups)], made) if groups else ()


def with_beginnings(chosen: Sequence[Recipe], made: Sequence[Recipe]) -> tuple[Recipe, ...]:
    """The tables and those that they begin with."""
    wanted = {one.id for one in chosen} | {one.begins_with for one in chosen}
    return tuple(one for one in made if one.id in wanted)
