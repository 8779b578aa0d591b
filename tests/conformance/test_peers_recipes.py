"""The tables that Apache Hudi wrote, held against the recipes that say how."""

import re
from pathlib import Path

import pytest
from hudi_conformance.corpus.recipes_apache import damaged, orders
from hudi_conformance.corpus.recipes_apache.catalogue import Recipe, golden_recipes
from hudi_conformance.runner import manifest
from hudi_conformance.runner.archive import ARCHIVE, contents, listed, unpacked
from hudi_conformance.runner.resources import suite_root
from hudi_format.compat import tomllib

TABLES = suite_root() / "golden_tables"
MADE = [made for made, _ in golden_recipes()]
# Hosts and this or that developer's folders; the recipes write below one neutral folder.
FOREIGN = re.compile(rb"/wor[k]/|/roo[t]/|/home/|/Users/|site-packages|https?://")
ALL = pytest.mark.parametrize("made", MADE, ids=lambda made: made.id)


def _folder(made: Recipe) -> Path:
    return TABLES / made.id


@ALL
def test_every_recipe_has_its_table_and_says_so(made: Recipe):
    entry = tomllib.loads((_folder(made) / "table.toml").read_text(encoding="utf-8"))
    assert entry["recipe"] == made.reference
    assert entry["written_by"] == f"Apache Hudi {made.bundle}"
    assert entry["how"] == made.how


def test_every_table_of_apache_hudi_has_a_recipe():
    found = {path.parent.relative_to(TABLES).as_posix() for path in TABLES.glob("v*/apache_*/table.toml")}
    assert found == {made.id for made in MADE}


@ALL
def test_the_bytes_are_those_that_are_listed(made: Recipe):
    assert manifest.differences(listed(_folder(made)), contents(_folder(made) / ARCHIVE)) == []


@ALL
def test_no_byte_names_a_machine(made: Recipe):
    assert [path.name for path in _files(made) if FOREIGN.search(path.read_bytes())] == []


@ALL
def test_the_version_is_that_of_the_folder(made: Recipe):
    properties = (unpacked(_folder(made)) / ".hoodie" / "hoodie.properties").read_text(encoding="utf-8")
    assert f"hoodie.table.version={made.version}\n" in properties
    assert f"hoodie.table.type={made.type}\n" in properties


def test_the_corpus_has_tables_of_each_version_and_type():
    made = {(one.version, one.type) for one in MADE}
    assert made == {(version, kind) for version in (4, 5, 6, 8, 9) for kind in ("COPY_ON_WRITE", "MERGE_ON_READ")}


def test_orders_bring_non_ascii_keys_nulls_and_two_regions():
    rows = orders.orders(range(8), 100, "first")
    assert any(not row.id.isascii() for row in rows)
    assert {row.region for row in rows} == set(orders.REGIONS)
    assert any(row.note is None for row in rows)
    assert any(row.amount is None for row in rows)


def test_a_cut_log_keeps_two_thirds_and_loses_its_side_file(tmp_path: Path):
    log = tmp_path / ".g_1.log.1_0-0-0"
    log.write_bytes(b"#HUDI#" + bytes(84))
    side = tmp_path / f".{log.name}.crc"
    side.write_bytes(b"crc")
    damaged.cut(damaged.newest_log(tmp_path))
    assert len(log.read_bytes()) == 60
    assert not side.exists()


def test_garbage_goes_before_the_second_block(tmp_path: Path):
    log = tmp_path / ".g_1.log.1_0-0-0"
    log.write_bytes(b"#HUDI#first#HUDI#second")
    damaged.insert_garbage(log)
    data = log.read_bytes()
    assert data.startswith(b"#HUDI#first\x00garbage")
    assert data.endswith(b"#HUDI#second")
    assert data.count(b"#HUDI#") == 3


def test_a_log_of_one_block_cannot_take_garbage_between_two(tmp_path: Path):
    log = tmp_path / ".g_1.log.1_0-0-0"
    log.write_bytes(b"#HUDI#only")
    with pytest.raises(damaged.RecipeError, match="one block"):
        damaged.insert_garbage(log)


def _files(made: Recipe) -> list[Path]:
    return [path for path in unpacked(_folder(made)).rglob("*") if path.is_file()]
