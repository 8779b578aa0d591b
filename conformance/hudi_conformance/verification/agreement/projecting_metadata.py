"""The metadata table in the variables of the TLA+ modules: what it says of files, and how far its indexes have come."""

from collections.abc import Callable, Iterator

from hudi_model.actions import IndexPlan, State
from hudi_model.configuration import property_names
from hudi_model.files import BaseFile, LogFile
from hudi_model.metadata import BEFORE_ALL, FILES
from hudi_model.tables import Table, open_table
from hudi_model.time import InstantTime
from hudi_model_tools.protocol import World

from hudi_conformance.verification.agreement.rows_of_files import deleted_in, records_in
from hudi_conformance.verification.agreement.times import ticks
from hudi_conformance.verification.tla.expressions import Function, Value, function

EVERY_PARTITION = "__all_partitions__"
Named = Callable[[str, str], dict[str, Value]]
"""A data file as the modules name it, by its partition and its name."""
Change = tuple[str, str, bool]
"""A file, by partition and name, and whether it is there from now on."""


def stored(named: Named, world: World) -> Value:
    """The data files by their names: what a listing of the storage shows."""
    bases = sorted(world.shared.table.value.base_files, key=lambda one: one.instant)
    return frozenset(function(named(one.partition, one.name)) for one in bases)


def metadata(named: Named, world: World) -> Value:
    """What each action recorded in the metadata table: the files that it listed and those that it removed, or none."""
    table = world.shared.table.value.metadata
    if table is None:
        return frozenset()
    silent = {one.requested for one in table.timeline if not one.requested.startswith(BEFORE_ALL)}
    by_instant = {file.instant: file for file in written(table, lambda name: name == FILES.name)}
    return frozenset(entry(named, instant, by_instant.get(instant)) for instant in sorted({*silent, *by_instant}))


def indexed(named: Named, world: World) -> Value:
    """What the partitions beside the list of files hold: as they were built, and what each action changed in them."""
    table = world.shared.table.value.metadata
    files = written(table, lambda name: name != FILES.name) if table else ()
    return frozenset(entry(named, file.instant, file) for file in files)


def written(table: Table, chosen: Callable[[str], bool]) -> Iterator[BaseFile | LogFile]:
    """The files of partitions of the metadata table."""
    files: tuple[BaseFile | LogFile, ...] = (*table.base_files, *table.log_files)
    yield from sorted((one for one in files if chosen(one.partition)), key=lambda one: one.instant)


def entry(named: Named, instant: InstantTime, file: BaseFile | LogFile | None) -> Function:
    """What an action says of files; 0 is the instant of what was built before all actions."""
    changes = set(changed(file)) if file else set()
    added, removed = (
        frozenset(function(named(day, name)) for day, name, stays in changes if stays is there)
        for there in (True, False)
    )
    number = 0 if instant.startswith(BEFORE_ALL) else ticks(instant)
    return function({"instant": number, "added": added, "removed": removed})


def changed(file: BaseFile | LogFile) -> Iterator[Change]:
    """The data files that a file of the metadata table speaks of."""
    listing = file.partition == FILES.name
    for record in records_in(file):
        key, content = str(record.values["key"]), record.values["content"]
        if not listing:
            yield *file_of(key), True
        elif key != EVERY_PARTITION and isinstance(content, dict):
            yield from ((key, name, size is not None) for name, size in content.items())
    yield from ((*file_of(key), False) for key in deleted_in(file))


def file_of(key: str) -> tuple[str, str]:
    """The file that the key of a statistic names behind its column."""
    _, partition, name = key.split("|")
    return partition, name


def building(world: World) -> Value:
    """The partitions that the properties announce: they are being built."""
    return names_in(world, "hoodie.table.metadata.partitions.inflight")


def built(world: World) -> Value:
    """The partitions that readers may use."""
    return names_in(world, "hoodie.table.metadata.partitions")


def names_in(world: World, key: str) -> Value:
    """The partitions that a property names."""
    properties = open_table(world.shared.table.value).configuration.properties
    return frozenset(property_names(properties, key))


def covered(world: World) -> Value:
    """The last write that each indexing holds, as it was planned and as it completed."""
    entries = (one for one in world.shared.table.value.timeline if isinstance(one.content, IndexPlan))
    return frozenset(cover(one.requested, one.state, one.content) for one in entries)


def cover(requested: InstantTime, state: State, plan: object) -> Function:
    """How far an indexing goes."""
    assert isinstance(plan, IndexPlan)
    return function({"requested": ticks(requested), "state": state.name, "upto": ticks(plan.upto)})
