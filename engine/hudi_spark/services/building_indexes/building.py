"""One index built beside writers.

under the lock   marked as being built, its groups opened: whoever completes from here on writes to it
without          what had completed by then goes into base files of the same groups
under the lock   nobody passed it by: it is whole; else it is built again, while nobody completes

The groups are opened by a completed deltacommit of their own, so that no writer takes it for one that lost its writer;
the base files have its instant, and nobody reads them before the index is whole.
"""

from dataclasses import dataclass, replace

from hudi_format.errors import FormatError
from hudi_format.metadata.partitions import Partition, is_expression_index

from hudi_spark.committing.opening import state_of_table
from hudi_spark.committing.work import TableWork
from hudi_spark.errors import HudiError
from hudi_spark.indexing.group_places import metadata_groups
from hudi_spark.indexing.index import NewIndex
from hudi_spark.indexing.index_actions import refuse_unfit
from hudi_spark.indexing.keeping import keeping_of
from hudi_spark.indexing.kinds import kind_of
from hudi_spark.indexing.layout import MetadataLayout
from hudi_spark.indexing.opening import Opening, delete_index, first_instant
from hudi_spark.indexing.table_state import BUILDING_KEY, indexes_of, list_indexes, read_definitions, write_definitions
from hudi_spark.metadata.subfolder import METADATA_FOLDER
from hudi_spark.state.configuration import load_configuration
from hudi_spark.state.snapshots import Snapshot, load_table
from hudi_spark.state.timeline import DATA_ACTIONS, Timeline

_HOLDER = "indexing"
_TOLD = (*DATA_ACTIONS, "clean", "rollback")


@dataclass(frozen=True, slots=True)
class _Begun:
    """An index whose groups are open: what it holds of the table as it was, and the instant of its files."""

    snapshot: Snapshot
    new: NewIndex
    opening: Opening
    instant: str


def build_index(work: TableWork, name: str) -> None:
    """The index is whole from now on; nothing where it is already.

    Raises:
        HudiError: CONFIG_INVALID for an index that the table cannot have.
        UnsupportedFeature: one that its version does not have.

    Clauses: IG-002, IG-003, IG-004, IG-005, IG-006.

    """
    with work.lock(_HOLDER):
        if name in _listed(work):
            return
        begun = _begin(work, name)
    filled = _fill(begun, name)
    with work.lock(_HOLDER):
        if not (filled and _is_kept_by_all(work, name, begun)):
            _fill_or_raise(_begin(work, name), name)
        _list(work, (*_listed(work), name), tuple(one for one in _marked(work) if one != name))


def give_up(work: TableWork, names: tuple[str, ...]) -> None:
    """What was built of indexes that are not whole goes, and their marks.

    Clauses: IG-007.
    """
    with work.lock(_HOLDER):
        half = [one for one in names if one not in _listed(work)]
        _list(work, _listed(work), tuple(one for one in _marked(work) if one not in half))
        for name in half:
            delete_index(work.effects.inside(METADATA_FOLDER), name)


def _begin(work: TableWork, name: str) -> _Begun:
    """Marked, defined, and with open groups; what an earlier attempt left goes. Under the lock.

    Clauses: IG-003, IX-001, MT-009, MT-017, MT-021.
    """
    inside = work.effects.inside(METADATA_FOLDER)
    _list(work, _listed(work), tuple(sorted({*_marked(work), name})))
    delete_index(inside, name)
    snapshot = work.snapshot()
    keeping = keeping_of(state_of_table(work.storage, snapshot, work.options), work.executor)
    refuse_unfit(keeping, name)
    kind = kind_of(name)
    assert kind is not None, name
    new = kind.begin(keeping, name)
    configuration, timeline = load_table(inside.storage)
    layout = MetadataLayout(snapshot.configuration.version)
    instant = first_instant(inside.storage, timeline, layout)
    _define(work, new)
    opening = Opening(inside, configuration, layout, work.executor)
    opening.begin(name, NewIndex(new.file_ids, replace(new.content, records=(), entries=None)), instant, work.clock)
    return _Begun(snapshot, new, opening, instant)


def _fill(begun: _Begun, name: str) -> bool:
    """Whether all that had completed is in; not where files went meanwhile that it was to be read from."""
    try:
        _fill_or_raise(begun, name)
    except (HudiError, FormatError, OSError):
        return False
    return True


def _fill_or_raise(begun: _Begun, name: str) -> None:
    begun.opening.fill(name, begun.new, begun.instant)


def _is_kept_by_all(work: TableWork, name: str, begun: _Begun) -> bool:
    """Whether every action that completed since the groups were opened has written to the index as well.

    What goes by the statistics of other files needs those of the files that it was begun without.

    Clauses: IG-004.
    """
    since = _completed_since(work, begun)
    if since and (name == Partition.PARTITION_STATS or is_expression_index(name)):
        return False
    inside = work.effects.inside(METADATA_FOLDER).storage
    _, timeline = load_table(inside)
    told = {one.requested for one in timeline.instants if one.is_completed}
    groups = metadata_groups(inside)
    bases = [one.name.instant for (within, _), each in groups.items() if within == name for one in each.base_files]
    return name in _marked(work) and begun.instant in told and since <= told and set(bases) <= {begun.instant}


def _completed_since(work: TableWork, begun: _Begun) -> frozenset[str]:
    def told(timeline: Timeline) -> frozenset[str]:
        return frozenset(one.requested for one in timeline.instants if one.is_completed and one.action in _TOLD)

    return told(work.snapshot().timeline) - told(begun.snapshot.timeline)


def _listed(work: TableWork) -> tuple[str, ...]:
    return indexes_of(load_configuration(work.storage).properties)


def _marked(work: TableWork) -> tuple[str, ...]:
    return indexes_of(load_configuration(work.storage).properties, BUILDING_KEY)


def _list(work: TableWork, whole: tuple[str, ...], building: tuple[str, ...]) -> None:
    list_indexes(work.effects, whole, building)


def _define(work: TableWork, new: NewIndex) -> None:
    """Clauses: IX-001."""
    properties = load_configuration(work.storage).properties
    known = read_definitions(work.storage, properties)
    if new.definition is None or known.get(new.definition.name) == new.definition:
        return
    path = write_definitions(work.effects, properties, {**known, new.definition.name: new.definition})
    list_indexes(work.effects, _listed(work), _marked(work), definitions_path=path)
