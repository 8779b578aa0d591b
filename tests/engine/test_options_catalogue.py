"""The catalogue says of every key what is true of the code, and its page is the one of today."""

import ast
import re
from functools import cache
from pathlib import Path

import hudi_spark
import pytest
from configuration_page import PAGE, configuration_page
from hudi_spark.options import check_configs
from hudi_spark.options.catalogue import Entry, Kind, Status, the_catalogue
from hudi_spark.pruning.pruner import PRUNING_OPTIONS

CATALOGUE = the_catalogue()
ENGINE = Path(hudi_spark.__file__).parent
ROOT = Path(__file__).parents[2]
READING = {"table_state", "merge", "pruning", "read", "spark"}
# Honoured by what is being built now. A key that gets used leaves the list: the last test says which.
NOT_USED_YET: frozenset[str] = frozenset()


@cache
def texts_of_code(*, writing: bool) -> tuple[frozenset[str], str]:
    """The texts in the engine's code, or in its writing half, and a pattern of those that are put together."""
    left_out = READING if writing else set()
    kept = (path for path in ENGINE.rglob("*.py") if path.relative_to(ENGINE).parts[0] not in left_out)
    nodes = [node for path in kept for node in _texts(path)]
    whole = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    made = {_joined(node) for node in nodes if isinstance(node, ast.JoinedStr)}
    patterns = (re.sub(r"\\{\w*\\}", "[a-z.]*", re.escape(one)) for one in whole | made if one.count(".") > 1)
    return frozenset(whole), "|".join(one for one in patterns if "[a-z.]*" in one)


@cache
def _texts(path: Path) -> list[ast.Constant | ast.JoinedStr]:
    tree = ast.walk(ast.parse(path.read_text("utf-8")))
    return [node for node in tree if isinstance(node, ast.Constant | ast.JoinedStr)]


def _joined(made: ast.JoinedStr) -> str:
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in made.values)


def is_used(entry: Entry) -> bool:
    """Whether the code names the key; one that is a write's alone has to be named where writing is."""
    whole, made = texts_of_code(writing=entry.scopes == {"write"})
    names = (entry.key, *entry.also)
    return any(_is_named(name, whole) or (made and re.fullmatch(made, name)) for name in names)


def _is_named(name: str, known: frozenset[str]) -> bool:
    """Whole, or as a prefix and a rest."""
    places = (place for place, character in enumerate(name, 1) if character == ".")
    return name in known or any(name[:at] in known and name[at:] in known for at in places)


def _is_whole(entry: Entry) -> bool:
    honoured, refused = entry.status is Status.HONOURED, entry.status is Status.REFUSED
    return (
        bool(entry.says if honoured else entry.because)
        and not (honoured and entry.because)
        and bool(entry.choices) == (entry.kind is Kind.CHOICE)
        and (entry.default is None or not entry.choices or entry.default in entry.choices)
        and entry.scopes <= {"read", "write", "table", "service"}
        and not (entry.harmless and not refused)
        and not (entry.released and not entry.differs)
    )


def test_an_entry_says_what_its_status_needs():
    """What it does, why it has no effect, or what to do instead; why a default is not Hudi's."""
    assert [entry.key for entry in CATALOGUE.entries if not _is_whole(entry)] == []


def test_a_default_is_never_one_that_is_refused():
    """Leaving a refused key out is the same as giving a value that passes, or has no value at all."""
    refused = [one for one in CATALOGUE.entries if one.status is Status.REFUSED and one.harmless]
    assert [one.key for one in refused if (one.default or "") not in one.harmless] == []


@pytest.mark.parametrize("option", sorted(PRUNING_OPTIONS))
def test_reads_take_what_pruning_looks_up(option: str):
    """The catalogue and the code that leaves files out name the same options."""
    check_configs({option: "true"})


def test_every_key_of_the_code_is_in_the_catalogue():
    """No key is honoured that the page does not show."""
    whole, _ = texts_of_code(writing=False)
    named = {name for name in whole if re.fullmatch(r"hoodie\.[a-z][\w.]*[a-z]", name)}
    unknown = {name for name in named if CATALOGUE.find(name) is None}
    assert unknown == set()


def test_what_is_called_honoured_is_used():
    """Each honoured key stands in the code, but for the ones that are being built."""
    honoured = [one for one in CATALOGUE.entries if one.status is Status.HONOURED]
    assert {one.key for one in honoured if not is_used(one)} - NOT_USED_YET == set()


def test_what_is_used_has_left_the_list_of_what_is_not():
    """The list only gets shorter."""
    assert {key for key in NOT_USED_YET if is_used(CATALOGUE[key])} == set()


def test_the_page_is_the_one_of_today():
    """docs/reference/configuration.md is what `python tests/engine/configuration_page.py` writes."""
    assert (ROOT / PAGE).read_text("utf-8") == configuration_page(CATALOGUE)
