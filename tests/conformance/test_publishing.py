"""What a run says outside its report: the Markdown summary, the badge, and what changed since the last run."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hudi_conformance.report.html import write_report
from hudi_conformance.runner.cases import Selection
from hudi_conformance.runner.console import console
from hudi_conformance.runner.plain_text import counted, fitted
from hudi_conformance.runner.publishing import badge, markdown_summary
from hudi_conformance.runner.resources import CorpusError
from hudi_conformance.runner.results import RunResults
from hudi_conformance.runner.scores import Requirements
from hudi_conformance.runner.suite import SuiteOptions, run_suite
from hudi_conformance.runner.trend import EarlierRun, changes, earlier_run, trend_lines
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from tiny_corpus import Params, TinyCorpus

WORDS = {"p": "pass", "f": "fail", "u": "unsupported", "e": "error"}


def result_of(verdicts: str, adapter: str = "fake", difference: str = "a | b", code: int = 0) -> RunResults:
    """A run of cases `c0`, `c1`, ..., each with the verdict of its letter; a blank is a case that was not asked."""
    lines = tuple(
        _line(f"c{place}", WORDS[one], adapter, difference) for place, one in enumerate(verdicts) if one != " "
    )
    return RunResults({"adapters": [adapter], "started": "2025-01-01T00:00:00Z"}, lines, {"exit": code})


def _line(name: str, verdict: str, adapter: str, difference: str) -> dict[str, Any]:
    return {
        "id": f"conformance::v9/t::{name}",
        "adapter": adapter,
        "verdict": verdict,
        "area": "reading",
        "clauses": ["RD-001"],
        "message": "",
        "differences": [difference] if verdict == "fail" else [],
        "repro": f"hudi-conformance repro conformance::v9/t::{name}",
    }


@given(st.text(), st.integers(1, 90))
def test_a_text_is_fitted_to_columns(text: str, columns: int):
    """Wide letters are two columns; what fits is left as it is, and of the rest the beginning stays."""
    made = fitted(text, columns)
    assert cell_len(made) <= columns
    assert made == text if cell_len(text) <= columns else text.startswith(made.removesuffix("…"))


def test_numbers_have_their_plural():
    assert [counted(count, "case") for count in (0, 1, 2)] == ["0 cases", "1 case", "2 cases"]


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=300))
def test_the_first_line_of_a_summary_is_the_first_difference_at_80_columns(difference: str):
    """Whatever an adapter says, it is one line of code, and no table is torn."""
    text = markdown_summary(result_of("pfp", difference=difference))
    first = text.split("\n", 1)[0]
    assert re.fullmatch(r"`fail[^`]*`", first)
    assert cell_len(first) <= 80
    tables = [re.sub(r"\\\\.|\\\|", "", line).count("|") for line in text.split("\n") if line.startswith("|")]
    assert set(tables) <= {3, 5}


def test_a_summary_without_difference_says_so_or_names_the_first_requirement_that_is_not_met():
    assert markdown_summary(result_of("ppu")).startswith("No difference in 2 answered cases.\n")
    assert markdown_summary(result_of("pu"), None, ["fake: area reading is required"]).startswith("`fake: area")


def test_a_summary_has_scores_what_changed_and_the_bad_cases():
    text = markdown_summary(result_of("pfe"), result_of("ppp"))
    assert "| reading | 1/3 |" in text
    assert "| **score** | **33.3 % of 3** |" in text
    assert "fake: 33.3 % of 3 answered cases; before 100.0 % of 3 answered cases (-66.7)" in text
    assert "newly failing, 2 cases: conformance::v9/t::c1 (pass -&gt; fail)" in text
    assert "| `v9/t::c1` | fake | RD-001 | `fail: a \\| b` |" in text
    assert "Run the first again: `hudi-conformance repro conformance::v9/t::c1`" in text


@pytest.mark.parametrize(
    ("before", "after", "failing", "passing", "otherwise"),
    [
        ("pfup", "fpfu", ["c0", "c2"], ["c1"], ["c3"]),
        ("pp  ", "ppfp", ["c2"], [], ["c3"]),
        ("ppp", "pp ", [], [], []),
    ],
)
def test_what_changed_is_sorted_by_what_it_means(
    before: str, after: str, failing: list[str], passing: list[str], otherwise: list[str]
):
    found = tuple(changes(result_of(before), result_of(after)))

    def named(wanted: Iterable[Any]) -> list[str]:
        return [one.case.rpartition("::")[2] for one in wanted]

    assert named(one for one in found if one.is_failing) == failing
    assert named(one for one in found if one.is_passing) == passing
    assert named(one for one in found if not one.is_failing and not one.is_passing) == otherwise


def test_an_adapter_that_took_no_part_has_no_trend():
    assert list(trend_lines(result_of("p", "other"), result_of("f"))) == ["fake: took no part in the earlier run"]
    assert not list(changes(result_of("p", "other"), result_of("f")))


@pytest.mark.parametrize(
    ("verdicts", "code", "message", "colour"),
    [
        ("pp", 0, "100.0 % of 2", "brightgreen"),
        ("pf", 1, "50.0 % of 2", "red"),
        ("pp", 1, "100.0 % of 2", "red"),
        ("u", 2, "none answered", "lightgrey"),
    ],
)
def test_a_badge_has_the_score_and_the_colour_of_the_exit_code(verdicts: str, code: int, message: str, colour: str):
    run = result_of(verdicts, code=code)
    assert json.loads(badge(run, Path("b.json"))) == {
        "schemaVersion": 1,
        "label": "hudi conformance",
        "message": message,
        "color": colour,
    }
    picture = ET.fromstring(badge(run, Path("b.svg")))  # noqa: S314 - our own text
    assert picture.get("aria-label") == f"hudi conformance: {message}"
    assert [one.text for one in picture.iter("{http://www.w3.org/2000/svg}text")] == ["hudi conformance", message]


def test_a_badge_takes_any_name_of_an_adapter():
    """A command line names an adapter too."""
    run = result_of("p", "<&\"'>")
    both = RunResults({"adapters": ["<&\"'>", "b"], "started": ""}, run.cases, {"exit": 0})
    assert "<&\"'> 100.0 % of 1, b none answered" in str(ET.fromstring(badge(both, Path("b.svg"))).get("aria-label"))  # noqa: S314


def test_a_run_writes_what_is_requested_and_is_compared_with_the_last(
    tiny: TinyCorpus, tmp_path: Path, passing: Params, other: Params
):
    """Also where it writes to the folder of the last; a first run has none, and says so."""
    tiny.case("good", passing)
    tiny.case("bad", other)
    folder = tmp_path / "report"

    def run(*cases: str) -> tuple[EarlierRun, str]:
        earlier = earlier_run(folder)
        files = {"summary": tmp_path / "out/s.md", "junit": tmp_path / "out/j.xml"}
        badges = (tmp_path / "out/b.svg", tmp_path / "out/b.json")
        requirements = Requirements(("reading",))
        selection = Selection(cases=cases)
        wanted = SuiteOptions(
            tiny.root, ("fake",), selection, folder, **files, badges=badges, earlier=earlier, requirements=requirements
        )
        out = console()
        with out.capture() as printed:
            run_suite(wanted, out)
        return earlier, printed.get()

    earlier, printed = run("*::good")
    assert earlier.results is None
    assert f"no earlier run in {folder / 'results.jsonl'}: this is the first" in printed
    earlier, printed = run()
    assert earlier.results is not None
    assert "since the last run:" in printed
    assert "newly failing, 1 case: conformance::v9/tiny::bad (new -> fail)" in printed
    summary = (tmp_path / "out/s.md").read_text(encoding="utf-8")
    assert summary.startswith("`fail: ")
    assert "### Since the last run" in summary
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"s.md", "b.svg", "b.json", "j.xml"}
    write_report(folder / "results.jsonl", folder, earlier=earlier)
    assert "Newly failing" in (folder / "runs.html").read_text(encoding="utf-8")


def test_results_of_an_earlier_run_that_do_not_parse_are_refused(tmp_path: Path):
    (tmp_path / "results.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(CorpusError, match="earlier run cannot be read"):
        earlier_run(tmp_path)
    assert earlier_run(tmp_path / "none").results is None
