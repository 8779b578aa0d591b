"""What the history may get wrong, check by check: each breach is reported by its clause, and nothing else is."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from breached_tables import FIRST, ROW, archived, violations_of, with_files, with_history
from hudi_model.actions import Action, CommitMetadata, RollbackMetadata
from hudi_model.files import Marker
from hudi_model.history import history_file
from hudi_model.tables import History, HistoryFile, Manifest
from model_states import PARTITION, at, base, commit, failed

HISTORIES: dict[str, tuple[str, Callable[[HistoryFile], HistoryFile]]] = {
    "a name that bounds others": ("HS-005", lambda file: replace(file, name=file.name.replace(at(0.1), at(0.2)))),
    "rows out of order": ("HS-006", lambda file: replace(file, instants=file.instants[::-1])),
    "no completion time": (
        "HS-007",
        lambda file: replace(file, instants=(replace(file.instants[0], completed=None), *file.instants[1:])),
    ),
    "a completion before the request": (
        "TL-011",
        lambda file: replace(file, instants=(replace(file.instants[0], completed=at(0)), *file.instants[1:])),
    ),
    "a row under its requested name": (
        "HS-007",
        lambda file: replace(file, instants=(replace(file.instants[0], action=Action.COMPACTION), *file.instants[1:])),
    ),
}


@pytest.mark.parametrize("what", HISTORIES)
def test_a_history_file_that_misstates_itself_is_an_error(what: str) -> None:
    clause, change = HISTORIES[what]
    file = change(history_file((archived(0.1), archived(0.3)), 0))
    history = History((file,), (Manifest(1, (file.name,)),), 1)
    assert violations_of(replace(with_files([commit(1, FIRST)], FIRST), history=history)) == {(clause, "error")}


def test_kept_manifests_name_what_is_there_and_count_from_1() -> None:
    file = history_file((archived(0.1),), 0)
    older = Manifest(1, ("1_2_0.parquet",))
    state = with_files([commit(1, FIRST)], FIRST)
    history = History((file,), (older, Manifest(2, (file.name,))), 2)
    assert violations_of(replace(state, history=history)) == {("HS-011", "error")}
    first = History((file,), (Manifest(0, ()), Manifest(1, (file.name,))), 1)
    assert violations_of(replace(state, history=first)) == {("HS-003", "error")}
    old = tuple(Manifest(one, ("1_2_0.parquet",)) for one in (1, 2))
    kept = tuple(Manifest(one, (file.name,)) for one in (3, 4, 5))
    assert not violations_of(replace(state, history=History((file,), (*old, *kept), 5))), (
        "manifests that nobody needs are left"
    )


def test_archival_leaves_no_hole() -> None:
    state = with_files([commit(1, FIRST), commit(3)], FIRST)
    assert violations_of(with_history(state, archived(2))) == {("AR-004", "error")}
    pending = with_files([failed(1.5), commit(3)])
    assert violations_of(with_history(pending, archived(2))) == {("AR-005", "error")}
    assert not violations_of(with_history(state, archived(0.5))), "what is older may have gone"


def test_archival_waits_for_files_that_do_not_count() -> None:
    old = base(0.5, ROW, file_id="f2")
    replaced = archived(0.7, CommitMetadata("CLUSTER", replaced=frozenset({(PARTITION, "f2")})), "replacecommit")
    undone = archived(0.7, RollbackMetadata((at(0.5),)), "rollback")
    state = with_files([commit(1, FIRST)], FIRST, old)
    assert violations_of(with_history(state, replaced)) == {("AR-007", "error")}
    assert violations_of(with_history(state, undone)) == {("AR-009", "error")}
    assert not violations_of(with_history(state, undone, archived(0.5))), "a write that was done again counts"
    marked = replace(state, markers=frozenset({Marker(at(0.5), PARTITION, old.name, "CREATE")}))
    assert violations_of(with_history(marked, archived(0.5))) == {("AR-009", "warning")}


def test_an_action_in_both_places_is_the_same() -> None:
    state = with_files([commit(1, FIRST), commit(2)], FIRST)
    assert not violations_of(with_history(state, archived(1, action="deltacommit")))
    other = replace(archived(1, action="deltacommit"), completed=at(1.7))
    assert violations_of(with_history(state, other)) == {("TL-012", "error")}
    assert violations_of(with_history(state, archived(1, action="rollback"))) == {("TL-005", "error")}
    assert not violations_of(with_history(state, archived(1, action="clean"))), "a clean is an action of its own"
