"""What the last whole comparison of real tables left in the checkout."""

from fnmatch import fnmatchcase

from hudi_conformance.interop.real_tables.catalogue import recipes
from hudi_conformance.interop.real_tables.known import load_known
from hudi_conformance.interop.real_tables.page import real_tables_page
from hudi_conformance.interop.real_tables.results import load_results
from hudi_conformance.runner.resources import suite_root


def test_every_known_difference_is_about_tables_that_recipes_make():
    made = [one.id for one in recipes()]
    patterns = {text.split("::")[0] for one in load_known(suite_root()) for text in one.questions}
    assert [text for text in sorted(patterns) if not any(fnmatchcase(one, text) for one in made)] == []


def test_the_last_comparison_left_nothing_unexplained():
    results = load_results(suite_root())
    assert {
        table for table, by_adapter in results.items() for one in by_adapter.values() if one.get("different")
    } == set()


def test_tables_of_every_release_were_compared():
    results, made = load_results(suite_root()), recipes()
    compared = [one for one in made if one.id in results]
    assert results.keys() <= {one.id for one in made}
    assert {(one.bundle, one.version) for one in compared} == {(one.bundle, one.version) for one in made}


def test_the_page_about_real_tables_names_every_release():
    text = real_tables_page(suite_root())
    assert [one.bundle for one in recipes() if one.bundle not in text] == []
