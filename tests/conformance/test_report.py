"""The report shows every case and every verdict, counts as the results do, and obeys nothing that it shows."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hudi_conformance.report.evidence import CaseStep, Evidence, GoldenTable, Implementation, Outcome, Question
from hudi_conformance.report.file_layout import BASE, LOG, DrawnFile, DrawnGroup, DrawnSlice
from hudi_conformance.report.html import Report, write_pages, write_report
from hudi_conformance.report.links import case_anchor, case_file, table_file
from hudi_conformance.report.matrix import feature_rows, matrix, totals
from hudi_conformance.report.page import page_of
from hudi_conformance.report.tallies import GROUPS, group_of, tally
from hudi_conformance.runner.cells import CHANGED, EXTRA, MISSING, Comparison, Line
from hudi_conformance.runner.clauses import Clause
from hudi_conformance.runner.verdicts import Verdict
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HOSTILE = "</script><script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{ 7*7 }}\x00\ud800"
VOID = {"meta", "input", "br", "img", "link", "rect", "line", "path", "polygon"}

names = st.sampled_from(["engine", "model", "hudi-rs"])
verdicts = st.sampled_from([verdict.value for verdict in Verdict])
clause_ids = st.sampled_from(["TL-004", "TL-011", "RD-007", "MG-003", "XX-001"])
patiently = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


class Elements(HTMLParser):
    """Tags with their attributes, and the words around them; the nesting must close as it opened."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def having(self, attribute: str) -> list[str]:
        return [attributes[attribute] or "" for _, attributes in self.found if attribute in attributes]


@st.composite
def evidences(draw: st.DrawFn) -> Evidence:
    implementations = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    questions = tuple(
        Question(
            f"conformance::v9/t{place % 3}::c{place}",
            f"v9/t{place % 3}",
            f"Case {place}",
            tuple(clauses),
            version="9",
            features=("mor", "cdc")[: place % 3],
        )
        for place, clauses in enumerate(draw(st.lists(st.lists(clause_ids, max_size=3, unique=True), max_size=12)))
    )
    outcomes = tuple(
        Outcome(name, question.id, draw(verdicts), followed=draw(st.sampled_from([None, ("RD-007", "released")])))
        for question in questions
        for name in implementations
    )
    tables = tuple(GoldenTable(f"v9/t{place}", f"Table {place}", timeline=()) for place in range(3))
    return Evidence(tuple(map(Implementation, implementations)), questions, tables, outcomes)


def one_of_each(text: str) -> Evidence:
    """Pages on which every free text is the given one."""
    timeline = ({"requested": text, "completed": text, "action": text, "state": text},)
    files = (DrawnFile(text, text, BASE, text), DrawnFile(f"{text}/log", text, LOG, text))
    group = DrawnGroup(text, text, (DrawnSlice(text, files),), files, replaced=True)
    lines = (Line(CHANGED, (text,), (text,), (text,)), Line(MISSING, (text,), None), Line(EXTRA, None, (text,)))
    comparison = Comparison(text, (text,), lines, text, text, (), {text: 1})
    step = CaseStep(text, text, text, text, (), frozenset({text}))
    features, kills = (text,), ((text, text),)
    outcome = Outcome(text, text, "fail", 1.0, text, (text,), (text, text), text, text, 1, comparison)
    return Evidence(
        implementations=(Implementation(text, text, text, text, {text: text}),),
        questions=(Question(text, text, text, (text,), text, text, text, text, features, kills, (step,)),),
        tables=(GoldenTable(text, text, text, text, text, text, (text,), timeline, text, (group,)),),
        outcomes=(outcome,),
        clauses=(Clause(text, text, text, (9,), text, text, (text, text), text, text, 1),),
        facts=((text, text),),
        started=text,
        traces=((text, (text,)),),
    )


def pages_of(evidence: Evidence) -> dict[str, str]:
    """Every page by its name."""
    return dict(Report(evidence, all_cases=True).pages())


@patiently
@given(evidences())
def test_every_case_stands_on_the_page_with_every_verdict(evidence: Evidence):
    page = Elements(pages_of(evidence)["index.html"])
    cases = [name for name in page.having("id") if name.startswith("case-")]
    shown = sorted(zip(cases, page.having("data-v"), strict=True))
    groups: dict[str, list[str]] = {case_anchor(question.id): [] for question in evidence.questions}
    for outcome in evidence.outcomes:
        groups[case_anchor(outcome.case)].append(group_of(outcome.verdict))

    assert shown == sorted((case, " ".join(found)) for case, found in groups.items())
    assert page.open == []


@patiently
@given(evidences())
def test_every_link_leads_to_a_page_that_is_written(evidence: Evidence):
    pages = pages_of(evidence)

    for name, text in pages.items():
        folder = "../" if "/" in name else ""
        targets = {link.partition("#")[0].removeprefix(folder) for link in Elements(text).having("href")}
        assert targets - {"", "data:,", "clauses.html"} <= pages.keys()


@patiently
@given(evidences())
def test_every_finding_has_a_page_of_its_own(evidence: Evidence):
    pages = dict(Report(evidence).pages())
    bad = {one.case for one in evidence.outcomes if one.verdict not in ("pass", "unsupported", "open", "skipped")}

    assert {name for name in pages if name.startswith("cases/")} == {case_file(case) for case in bad}


@patiently
@given(evidences())
def test_every_case_counts_under_each_feature_of_its_table(evidence: Evidence):
    rows = {row.key: row for row in feature_rows(evidence)}

    for question in evidence.questions:
        for feature in question.features:
            assert rows[feature].cases == sum(feature in one.features for one in evidence.questions)


@given(st.text(max_size=200), st.text(max_size=200))
def test_two_cases_never_share_a_page_and_no_page_leaves_its_folder(first: str, second: str):
    for name in (case_file(first), table_file(first)):
        assert re.fullmatch(r"(cases|tables)/[A-Za-z0-9_.-]+\.html", name)
        assert not name.split("/")[1].startswith("..")
    assert (case_file(first) == case_file(second)) == (
        first.removeprefix("conformance::") == second.removeprefix("conformance::")
    )


@patiently
@given(evidences())
def test_the_counts_of_the_matrix_are_those_of_the_results(evidence: Evidence):
    areas = matrix(evidence)

    for place, implementation in enumerate(evidence.implementations):
        mine = tally(one.verdict for one in evidence.outcomes if one.implementation == implementation.name)
        summed = [sum(area.row.cells[place].counts[group] for area in areas) for group in range(len(GROUPS))]
        assert tuple(summed) == mine.counts == totals(evidence)[place].counts
    assert sum(area.row.cases for area in areas) == len(evidence.questions)


@patiently
@given(evidences())
def test_every_alarm_and_every_known_difference_is_reported(evidence: Evidence):
    page = page_of(evidence)
    bad = [one for one in evidence.outcomes if one.verdict not in ("pass", "unsupported", "open", "skipped")]

    assert page.failures.count + page.known.count == len(bad) == len(page.failures.shown) + len(page.known.shown)
    assert all(finding.outcome.verdict == "expected_fail" for finding in page.known.shown)


@given(st.text())
def test_a_verdict_that_nobody_knows_is_an_error(verdict: str):
    known = {one.value for one in Verdict}

    assert verdict in known or group_of(verdict) == "error"


def test_every_verdict_of_the_protocol_has_a_group_of_its_own_kind():
    assert {verdict.value: group_of(verdict.value) for verdict in Verdict} == {
        "pass": "pass",
        "fail": "fail",
        "wrong_reason": "fail",
        "unexpected_pass": "fail",
        "error": "error",
        "timeout": "error",
        "expected_fail": "expected",
        "unsupported": "unsupported",
        "open": "open",
        "skipped": "unsupported",
    }


def test_hostile_text_stays_text():
    for name, text in pages_of(one_of_each(HOSTILE)).items():
        page = Elements(text)

        assert [tag for tag, _ in page.found].count("script") == 1, name
        assert not [tag for tag, _ in page.found if tag == "img"], name
        assert not [name for _, attributes in page.found for name in attributes if name.startswith("on")]
        assert "49" not in "".join(page.words), name
        assert any("<img src=x" in word for word in page.words), name
        assert page.open == [], name
        text.encode("utf-8")


def test_no_page_loads_anything_outside_the_report():
    pages = pages_of(one_of_each("plain"))
    assert {"index.html", "clauses.html", case_file("plain"), table_file("plain")} == pages.keys()
    for text in pages.values():
        page = Elements(text)
        policy = next(content for content in page.having("content") if "script-src" in content)

        assert not page.having("src")
        assert not [link for link in page.having("href") if "//" in link]
        assert "default-src 'none'" in policy
        assert re.search(r"script-src 'sha256-[A-Za-z0-9+/=]+'", policy)
        assert "@import" not in text
        assert "url(" not in text


def test_differing_cells_are_marked_and_missing_rows_reported():
    lines = (
        Line(CHANGED, ("k1", "old"), ("k1", "new"), ("v",)),
        Line(MISSING, ("k2", "x"), None),
        Line(EXTRA, None, ("k3", "y")),
    )
    outcome = Outcome("engine", "c", "fail", comparison=Comparison("read_snapshot", ("id", "v"), lines))
    evidence = Evidence(
        (Implementation("engine"),), (Question("c", "t", "", ()),), (GoldenTable("t", "t"),), (outcome,)
    )
    text = pages_of(evidence)[case_file("c")]

    assert re.findall("<mark>([^<]*)</mark>", text) == ["new"]
    assert "not answered" in text
    assert "not expected" in text


def test_drafts_count_apart_on_the_page_of_clauses():
    """No release writes their version: each is named with it, and whether a case shows one changes no other count."""
    rules = [Clause(f"MG-00{n}", "Rule", "must", (9,), "model", "s", (), "r", "merging.md", n) for n in (1, 2)]
    draft = Clause("NL-001", "Draft", "must", (10,), "model", "s", (), "r", "native-logs.md", 1)
    questions = (Question("c", "t", "", ("MG-001", "NL-001")),)
    outcome = Outcome("engine", "c", "pass")
    run = Evidence((Implementation("engine"),), questions, (GoldenTable("t", "t"),), (outcome,), (*rules, draft))
    page = Elements(pages_of(run)["clauses.html"])
    words = " ".join(" ".join(page.words).split())

    assert "1 of 2 clauses have a case in this run." in words
    assert "must 1 of 2 draft 1 of 1" in words
    assert "must, draft · 10" in words
    assert sorted(page.having("data-level")) == ["draft", "must", "must"]


def test_a_report_removes_the_pages_that_it_no_longer_has(tmp_path: Path):
    failed = one_of_each("plain")
    passed = replace(failed, outcomes=(replace(failed.outcomes[0], verdict="pass"),))
    write_pages(failed, tmp_path)
    (tmp_path / "cases" / "mine.html").write_text("<p>mine</p>", encoding="utf-8")
    write_pages(passed, tmp_path)

    assert [page.name for page in (tmp_path / "cases").iterdir()] == ["mine.html"]


def test_readings_are_those_of_answers_that_passed():
    questions = tuple(Question(f"c{place}", "t", "", ("RD-007",)) for place in range(4))
    followed = (("pass", "released"), ("pass", "released"), ("pass", "text"), ("fail", "text"))
    outcomes = tuple(
        Outcome("engine", f"c{place}", verdict, followed=("RD-007", reading))
        for place, (verdict, reading) in enumerate(followed)
    )
    evidence = Evidence((Implementation("engine"),), questions, (GoldenTable("t", "t"),), outcomes)

    assert page_of(evidence).readings[0].followed == ("released (2), text (1)",)


def test_a_results_file_becomes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "corpus" / "golden_tables").mkdir(parents=True)
    monkeypatch.setenv("HUDI_CONFORMANCE_CORPUS", str(tmp_path / "corpus"))
    lines = [
        {"kind": "header", "suite": "0.1.0", "protocol": 1, "started": "2025-01-31T12:00:00Z", "adapters": ["engine"]},
        {
            "kind": "case",
            "id": "conformance::v9/t::c",
            "table": "v9/t",
            "title": "Late data loses",
            "clauses": ["MG-003"],
            "adapter": "engine",
            "verdict": "fail",
            "reading": None,
            "seconds": 0.25,
            "message": "rows differ",
            "differences": ["missing row k1"],
            "repro": "hudi-conformance repro conformance::v9/t::c --adapter engine",
        },
    ]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    index = write_report(results, tmp_path / "report")
    page = (index.parent / case_file("conformance::v9/t::c")).read_text(encoding="utf-8")

    assert "interrupted before its end" in index.read_text(encoding="utf-8")
    assert "Late data loses" in page
    assert "missing row k1" in page
    assert "hudi-conformance repro conformance::v9/t::c --adapter engine" in page
    assert "hudi-conformance clause MG-003" in page
