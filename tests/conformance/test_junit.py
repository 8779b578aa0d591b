"""JUnit XML of a run of the plain command line, and the lists that it takes."""

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hudi_conformance.runner.junit import junit_of
from hudi_conformance.runner.results import RunResults
from tiny_corpus import Params, TinyCorpus


def _run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "hudi_conformance.cli", "run", "--adapter", "fake", *arguments]
    environment = {**os.environ, "COLUMNS": "160"}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_every_verdict_has_its_element(tiny: TinyCorpus, tmp_path: Path, passing: Params, other: Params):
    """Failures and errors count; what was skipped, expected or unsupported is reported as skipped, with its reason."""
    for name, params in (
        ("good", passing),
        ("bad", other),
        ("dead", {"do": "die"}),
        ("lacking", {"do": "unsupported"}),
        ("known", other),
        ("left-out", {"do": "die"}),
    ):
        tiny.case(name, params)
    entry = '[[case]]\nid = "v9/tiny::known"\nclause = "RD-001"\nwhy = "bug 12"\nevidence = "bytes"\n'
    (tmp_path / "known.toml").write_text(entry, encoding="utf-8")
    (tmp_path / "skips.toml").write_text('[[skip]]\nid = "*::left-*"\nreason = "slow"\n', encoding="utf-8")

    done = _run(tmp_path, "--expected", "known.toml", "--skip", "skips.toml", "--junit", "build/j.xml")

    suite = ET.parse(tmp_path / "build" / "j.xml").getroot()[0]  # noqa: S314 - our own file
    by_name = {case.get("name"): case for case in suite.iter("testcase")}
    assert done.returncode == 1
    assert [suite.get(name) for name in ("name", "tests", "failures", "errors", "skipped")] == [
        "fake",
        "6",
        "1",
        "1",
        "3",
    ]
    assert {case.get("classname") for case in by_name.values()} == {"conformance.v9/tiny"}
    assert by_name["good"].find("failure") is None
    failure = by_name["bad"].find("failure")
    assert failure is not None
    assert "repro: hudi-conformance repro conformance::v9/tiny::bad" in str(failure.text)
    assert by_name["dead"].find("error") is not None
    messages = {name: by_name[name].find("skipped").get("message") for name in ("lacking", "known", "left-out")}  # type: ignore[union-attr]
    assert "log-hfile" in str(messages["lacking"])
    assert "bug 12" in str(messages["known"])
    assert messages["left-out"] == "skipped: slow"


def test_what_xml_cannot_hold_does_not_break_the_file():
    """An adapter may say anything."""
    line = {
        "adapter": "fake",
        "table": "v9/t",
        "case": "c",
        "title": "T",
        "area": "reading",
        "clauses": ["RD-001"],
        "verdict": "error",
        "seconds": 0.1,
        "message": "bytes \x00\x1b[31m and \ud800",
        "differences": [],
        "traceback": "",
        "repro": "again",
    }
    root = junit_of(RunResults({"adapters": ["fake"], "started": "2025-01-01T00:00:00Z"}, (line,), {}))

    (error,) = ET.fromstring(ET.tostring(root, encoding="utf-8")).iter("error")  # noqa: S314 - likewise

    assert error.get("message") == r"error: bytes \x00\x1b[31m and \ud800"


def test_the_first_line_is_the_first_difference_at_80_columns(tiny: TinyCorpus, tmp_path: Path, other: Params):
    """In the attribute, in the text, and in the file that pytest writes of the same case."""
    tiny.case("bad", other)
    _run(tmp_path, "--junit", "j.xml")
    pytest_run = ["-m", "pytest", "-p", "no:cacheprovider", "--conformance", "--adapter", "fake", "--junitxml", "p.xml"]
    subprocess.run([sys.executable, *pytest_run], cwd=tmp_path, capture_output=True, check=False)

    own, by_pytest = (next(ET.parse(tmp_path / name).iter("failure")) for name in ("j.xml", "p.xml"))  # noqa: S314
    lines = {str(text).splitlines()[0] for text in (own.get("message"), own.text, by_pytest.get("message"))}
    (line,) = lines
    assert line.startswith("fail: ")
    assert str(own.text).splitlines()[1].startswith(line.removeprefix("fail: ").rstrip("…"))
    assert len(line) <= 80


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--skip", '[[skip]]\nid = "v9/tiny::gone"\nreason = "x"\n', "v9/tiny::gone"),
        ("--skip", '[[skip]]\nid = "v9/*"\nreason = "x"\n', "no case is asked"),
        ("--expected", '[[case]]\nid = "v9/gone*"\nclause = "RD-001"\nwhy = "x"\nevidence = "y"\n', "v9/gone*"),
        ("--skip", "[[skip]]\n", "'id' is missing"),
    ],
)
def test_a_list_that_fits_nothing_stops_the_run(  # noqa: PLR0917 - fixtures
    tiny: TinyCorpus, tmp_path: Path, passing: Params, option: str, text: str, message: str
):
    """Nothing is judged, and the exit code says so."""
    tiny.case("good", passing)
    (tmp_path / "list.toml").write_text(text, encoding="utf-8")

    done = _run(tmp_path, option, "list.toml")

    assert done.returncode == 2
    assert message in done.stderr


def test_one_case_on_both_lists_stops_the_run(tiny: TinyCorpus, tmp_path: Path, passing: Params):
    """It cannot be asked and not asked."""
    tiny.case("good", passing)
    entry = '[[case]]\nid = "v9/tiny::good"\nclause = "RD-001"\nwhy = "x"\nevidence = "y"\n'
    (tmp_path / "known.toml").write_text(entry, encoding="utf-8")
    (tmp_path / "skips.toml").write_text('[[skip]]\nid = "v9/tiny::good"\nreason = "x"\n', encoding="utf-8")

    done = _run(tmp_path, "--expected", "known.toml", "--skip", "skips.toml")

    assert done.returncode == 2
    assert "both skipped and expected to fail" in done.stderr
