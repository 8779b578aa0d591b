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
    group.addoption(
        "--adapter", action="append", default=[], metavar="NAME_OR_COMMAND", help="the implementation to ask, once"
    )
    group.addoption(
        "--conformance-expected", metavar="FILE", default=None, help="cases that are expected to fail, with evidence"
    )
    group.addoption("--conformance-case", action="append", default=[], metavar="GLOB", help="only cases whose id fits")
    group.addoption("--conformance-area", action="append", default=[], metavar="AREA", help="only cases of this area")
    group.addoption(
        "--conformance-limit", type=float, default=60.0, metavar="SECONDS", help="what an adapter has for one step"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the corpus when `--conformance` is given.

    Raises:
        UsageError: not exactly one adapter, an unknown adapter, an absent or empty corpus.

    """
    if not config.getoption("--conformance"):
        return
    from hudi_conformance.pytest_cases import prepare  # noqa: PLC0415 - only now is anything heavy needed

    prepare(config)
