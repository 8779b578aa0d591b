"""The pytest plugin: `pytest --conformance --adapter ...`; nothing is imported before `--conformance` is given."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of a conformance run."""
    group = parser.getgroup("hudi-conformance", "conformance suite of the Apache Hudi table format")
    group.addoption(
        "--conformance",
        action="store_true",
        help="run the suite's cases; without paths nothing else is collected",
    )
    _add_histories(group)
    _add_lists(parser, group)
    _add_selection(group)
    _add_roles(group)
    _add_requirements(group)
    group.addoption(
        "--conformance-limit", type=float, default=60.0, metavar="SECONDS", help="what an adapter has for one step"
    )


def _add_lists(parser: pytest.Parser, group: pytest.OptionGroup) -> None:
    adapter = "the implementation to ask, once: a file ADAPTER.toml, a known name, or a command line"
    expected = "cases that are expected to fail, with evidence; one that passes fails the run"
    skip = "cases that are not asked, with reasons"
    group.addoption("--adapter", action="append", default=[], metavar="ADAPTER", help=adapter)
    group.addoption("--conformance-expected", metavar="FILE", default=None, help=expected)
    group.addoption("--conformance-skip", metavar="FILE", default=None, help=skip)
    parser.addini("conformance_adapter", f"{adapter} (where --adapter is not given)", default="")
    parser.addini("conformance_expected", f"file: {expected}", default="")
    parser.addini("conformance_skip", f"file: {skip}", default="")


def _add_histories(group: pytest.OptionGroup) -> None:
    many = "random histories of writes and services that the adapter carries out; with or without `--conformance`"
    group.addoption("--conformance-fuzz", type=int, default=0, metavar="N", help=many)
    seed = "the seed of the first history; the next ones follow it"
    group.addoption("--conformance-fuzz-seed", type=int, default=0, metavar="S", help=seed)


def _add_roles(group: pytest.OptionGroup) -> None:
    servicer = "who runs the table services of cases that write; by default the adapter itself"
    reader = "who reads back what a case has written; by default the model"
    group.addoption("--conformance-servicer", metavar="ADAPTER", default=None, help=servicer)
    group.addoption("--conformance-reader", action="append", default=[], metavar="ADAPTER", help=reader)


def _add_requirements(group: pytest.OptionGroup) -> None:
    require = "an area that must be answered whole: a case of it that is unsupported fails the run"
    minimum = "percent of the answered cases that must pass; bad verdicts fail the run anyway"
    not_below = "results.jsonl of an earlier run, or its folder: a case that passed there must pass"
    group.addoption("--conformance-require", action="append", default=[], metavar="AREA", help=require)
    group.addoption("--conformance-minimum", type=float, default=None, metavar="SCORE", help=minimum)
    group.addoption("--conformance-not-below", default=None, metavar="FILE", help=not_below)


def _add_selection(group: pytest.OptionGroup) -> None:
    for what, metavar, help_text in (
        ("case", "GLOB", "whose id fits"),
        ("area", "AREA", "of this area, such as merging"),
        ("clause", "CLAUSE", "that cite this clause, such as TL-004"),
        ("feature", "FEATURE", "on tables with this feature"),
    ):
        group.addoption(
            f"--conformance-{what}", action="append", default=[], metavar=metavar, help=f"only cases {help_text}"
        )
    group.addoption(
        "--conformance-table-version",
        action="append",
        type=int,
        default=[],
        metavar="VERSION",
        help="only cases on tables of this version",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the corpus when `--conformance` is given, histories when `--conformance-fuzz` is.

    Raises:
        UsageError: not exactly one adapter, an unknown adapter, an absent or empty corpus.

    """
    if config.getoption("--conformance"):
        from hudi_conformance.runner.pytest_cases import prepare  # noqa: PLC0415 - only now is anything heavy needed

        prepare(config)
    if config.getoption("--conformance-fuzz"):
        from hudi_conformance.interop.fuzzing.pytest_sequences import prepare_histories  # noqa: PLC0415 - as above

        prepare_histories(config)
