"""Secondary and expression indexes say what rows and files say, and are made and taken away as actions."""

from pathlib import Path

import pytest
from engine_tables import tick
from hudi_format.base.bloom_filters import decode_bloom_filter
from hudi_format.log.deletes import DeleteRecord
from hudi_format.metadata.keys import secondary_key
from hudi_format.metadata.records import BloomFilterEntry, ColumnStats
from hudi_format.table.index_definitions import DEFINITIONS_FILE, IndexDefinition, parse_index_definitions
from hudi_spark import HudiError, UnsupportedFeature, read_arrow
from hudi_spark.errors import Reason
from hudi_spark.testing import Hook, IndexRequest, NoHook, SetClock, TableActions, TableWriter
from index_histories import FEW, GLOBAL, History, expression_definition, row, secondary_definition
from metadata_writes import EXECUTOR, StopAt, Stopped

NOTES = "secondary_index_notes"


def grown(base: Path, version: int = 9) -> History:
    it = History(base, version, {**GLOBAL, **FEW})
    it.begin()
    it.commit(it.base_file([row("a", 5, "x$y"), row("b", 5, None), row("c", 5, "")], "f1"))
    it.begin()
    it.commit(it.base_file([row("s", 1, "z")], "f2", "south"))
    it.begin()
    it.commit(it.log_file([row("a", 6, "new")], [DeleteRecord("c", "north", 9)], "f1"))
    return it


def make(it: History, wanted: IndexDefinition, hook: Hook | None = None) -> None:
    """Create an index; the table then states this very definition of it."""
    it.begin()
    hooks = hook or NoHook()
    writer = TableWriter(it.writer.storage, EXECUTOR, it.writer.options, clock=SetClock(tick(it.n)), hook=hooks)
    options = {name: text for name, text in wanted.options.items() if name != "expr"}
    request = IndexRequest(wanted.name, wanted.kind, wanted.source_fields, wanted.function, options)
    TableActions(writer).create_index(request)
    assert wanted in parse_index_definitions((it.base / DEFINITIONS_FILE).read_bytes(), DEFINITIONS_FILE)


def notes(it: History) -> IndexDefinition:
    return secondary_definition("notes", "note", it.version)


def keys(it: History, index: str = NOTES) -> set[str]:
    return {key for key, _ in it.entries(index)}


def after(it: History) -> None:
    """Actions that change, move, leave and remove values."""
    it.begin()
    it.commit(it.log_file([row("b", 9, "given"), row("a", 1, "too late")], [], "f1"))
    it.begin()
    moved = it.log_file([], [DeleteRecord("a", "north", 99)], "f1")
    it.commit(moved, it.base_file([row("s", 1, "z"), row("a", 99, "new")], "f2", "south"))
    it.begin()
    overwritten = it.base_file([row("b", 6, "back$\\slash")], "f9")
    it.commit(overwritten, action="replacecommit", operation="INSERT_OVERWRITE", replaced={"north": ("f1",)})


@pytest.mark.parametrize("version", [8, 9])
def test_a_secondary_index_has_what_rows_have(tmp_path: Path, version: int) -> None:
    """Made of what is there, then kept: late rows change nothing, rows that move keep their entry."""
    it = grown(tmp_path, version)
    make(it, notes(it))
    assert keys(it) == it.read_values("note") == {"new$a", "\0$b", "z$s"}
    after(it)
    assert keys(it) == it.read_values("note") == {"new$a", "z$s", secondary_key("back$\\slash", "b")}


@pytest.mark.parametrize("version", [8, 9])
def test_one_made_by_options_and_one_made_later_are_alike(tmp_path: Path, version: int) -> None:
    """Whether an index begins with the first write, with a later one or as an action of its own."""
    options = {"hoodie.metadata.index.secondary.column": "note", "hoodie.index.name": "notes"}
    first, later = grown(tmp_path / "first", version), grown(tmp_path / "later", version)
    first.writer.options |= options
    after(first)
    after(later)
    make(later, notes(later))
    assert set(first.entries(NOTES)) == set(later.entries(NOTES))
    assert first.writer.findings() == later.writer.findings() == ()


def test_readers_skip_by_it(tmp_path: Path) -> None:
    """An answer by the index is the answer without it."""
    it = grown(tmp_path)
    make(it, notes(it))
    for condition in (["note", "=", "new"], ["note", "=", "x$y"], ["note", "in", ["z", ""]], ["note", "is_null"]):
        assert sorted(read_arrow(tmp_path, filter=condition).column("id").to_pylist()) == sorted(
            read_arrow(tmp_path, filter=condition, configs={"hoodie.metadata.enable": "false"}).column("id").to_pylist()
        )


def stats(it: History, index: str) -> dict[str, ColumnStats]:
    found = it.entries(index).values()
    return {one.file_name or "": one for one in found if isinstance(one, ColumnStats)}


@pytest.mark.parametrize("version", [8, 9])
def test_an_expression_index_has_the_results_of_each_file(tmp_path: Path, version: int) -> None:
    """Of base files and logs, and of whole partitions; nulls are counted apart."""
    it = grown(tmp_path, version)
    make(it, expression_definition("upper_note", "column_stats", "upper", "note", version))
    after(it)
    found = stats(it, "expr_index_upper_note")
    first = next(one for name, one in found.items() if name.startswith("f1") and name.endswith("parquet"))
    assert (first.minimum and first.minimum.value, first.maximum and first.maximum.value) == ("", "X$Y")
    assert (first.value_count, first.null_count) == (2, 1)
    south, north = found["south"], found["north"]
    assert (south.minimum and south.minimum.value, south.maximum and south.maximum.value) == ("NEW", "Z")
    assert south.is_tight_bound
    assert north.maximum is not None
    assert north.maximum.value == "BACK$\\SLASH"
    late = grown(tmp_path / "late", version)
    late.begin()
    after(late)
    make(late, expression_definition("upper_note", "column_stats", "upper", "note", version))
    known = stats(late, "expr_index_upper_note")
    assert known == {name: one for name, one in found.items() if name in known}
    assert late.writer.findings() == ()


def test_bloom_filters_of_results_hold_them(tmp_path: Path) -> None:
    """Base files have one, logs have none; a null is in none."""
    it = grown(tmp_path)
    definition = expression_definition("b", "bloom_filters", "upper", "note", options={"numEntries": "20"})
    make(it, definition)
    after(it)
    found = [one for one in it.entries("expr_index_b").values() if isinstance(one, BloomFilterEntry)]
    filters = [decode_bloom_filter(one.text.decode(), one.type_code, "f") for one in found]
    assert len(filters) == 4
    assert sum(one.may_contain("X$Y") for one in filters) == 1
    assert sum(one.may_contain("Z") for one in filters) == 2
    condition = [["fn", "upper", "note"], "=", "NEW"]
    assert read_arrow(tmp_path, filter=condition).column("id").to_pylist() == ["a"]


def test_a_crashed_action_is_continued(tmp_path: Path) -> None:
    """Before any effect; and a write in between finishes or forgets what was begun."""
    whole = grown(tmp_path / "whole")
    make(whole, notes(whole))
    for number in (0, 1, 3, 4, 7, 8, 10):
        it = grown(tmp_path / str(number))
        with pytest.raises(Stopped):
            make(it, notes(it), StopAt(number))
        if number % 2:
            it.begin()
            it.commit(it.base_file([row("q", 1, "z")], "f7"))
            assert it.writer.findings() == ()
        opened = it.writer.opened()
        if opened is None or NOTES not in opened.partitions():
            make(it, notes(it))
        assert keys(it) == it.read_values("note")


def test_what_cannot_be_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """With the table's files as they were."""
    it = grown(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    refused = [
        secondary_definition("n", "nothing"),
        expression_definition("n", "column_stats", "lower", "price"),
        expression_definition("n", "column_stats", "unknown", "note"),
        expression_definition("n", "bloom_filters", "upper", "note", options={"fpp": "1"}),
        expression_definition("n", "bloom_filters", "upper", "note", options={"numEntries": "99999999999"}),
    ]
    for definition in refused:
        with pytest.raises(HudiError) as caught:
            make(it, definition)
        assert caught.value.reason == Reason.CONFIG_INVALID
    with pytest.raises(UnsupportedFeature):
        make(it, expression_definition("n", "column_stats", "split", "note", options={"pattern": ","}))
    assert sorted(tmp_path.rglob("*")) == before
    old = grown(tmp_path / "old", 6)
    with pytest.raises(UnsupportedFeature, match="version"):
        make(old, notes(old))


def test_an_index_is_dropped(tmp_path: Path) -> None:
    """Its files, its definition and its name in the properties; what others need is kept."""
    it = grown(tmp_path)
    make(it, notes(it))
    with pytest.raises(HudiError, match="already"):
        make(it, notes(it))
    actions = TableActions(TableWriter(it.writer.storage, EXECUTOR, it.writer.options))
    for name in ("record_index", "files", "secondary_index_none"):
        with pytest.raises(HudiError):
            actions.drop_index(name)
    actions.drop_index(NOTES)
    opened = it.writer.opened()
    assert opened is not None
    assert NOTES not in opened.partitions()
    assert not (tmp_path / ".hoodie" / "metadata" / NOTES).exists()
    after(it)
    assert it.writer.findings() == ()


def test_a_lie_about_a_record_is_found(tmp_path: Path) -> None:
    """A key that is missing, one that no row has, and one in another place."""
    it = grown(tmp_path)
    make(it, notes(it))
    after(it)
    assert it.writer.findings() == ()
    it.begin()
    it.writer.options["hoodie.metadata.enable"] = "true"
    hidden = it.base_file([row("b", 1, "other"), row("new", 1)], "f9")
    it.writer.table.commit(it.n, [hidden])
    named = {(one.index, one.place) for one in it.writer.findings()}
    assert {("record_index", "new"), (NOTES, "other$b"), (NOTES, secondary_key("back$\\slash", "b"))} <= named
