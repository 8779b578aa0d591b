"""Evidence of the size and the variety that a real run has, made up with a seed."""

import random

from hudi_conformance.report.evidence import CaseStep, Evidence, GoldenTable, Implementation, Outcome, Question
from hudi_conformance.report.file_layout import BASE, CHANGES, LOG, DrawnFile, DrawnGroup, DrawnSlice
from hudi_conformance.runner.cells import CHANGED, EQUAL, EXTRA, MISSING, Comparison, Line
from hudi_conformance.runner.clauses import Clause

NAMES = ("model", "engine-in-process", "engine-spark", "hudi-rs", "daft")
AREAS = ("TL", "RD", "MG", "LF", "CN", "SL", "IN")
FEATURES = ("cow", "mor", "log-avro", "cdc", "incremental", "history")
VERDICTS = ("pass",) * 30 + ("fail", "wrong_reason", "error", "timeout", "expected_fail", "unsupported", "open")
COLUMNS = ("id", "city", "ts", "rider", "fare", "day", "paid")
_TIMELINE = tuple(
    {
        "requested": f"2025010100000{place}000",
        "completed": None if place == 5 else f"2025010100000{place}500",
        "action": action,
        "state": "INFLIGHT" if place == 5 else "COMPLETED",
    }
    for place, action in enumerate(("commit", "deltacommit", "compaction", "clean", "rollback", "clustering"), start=1)
)


def sample(cases: int = 60, seed: int = 1) -> Evidence:
    """A run of five implementations: most pass, and every sort of verdict and of difference occurs."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    tables = tuple(_table(place) for place in range(max(1, cases // 4)))
    clauses = tuple(_clause(area, number) for area in AREAS for number in range(1, 9))
    questions = tuple(_question(place, tables[place % len(tables)], clauses, chance) for place in range(cases))
    outcomes = tuple(_outcome(name, question, chance) for question in questions for name in NAMES)
    implementations = tuple(Implementation(name, name, "0.1.0", "python", {}) for name in NAMES)
    facts = (("Suite", "hudi-conformance 0.1.0"), ("Took", "12.0 s"))
    traces = (("trace::two_holders", ("LK-001",)),)
    return Evidence(implementations, questions, tables, outcomes, clauses, facts, "2025-01-31T12:00:00Z", traces)


def _clause(area: str, number: int) -> Clause:
    rule = "A reader takes `one` slice of each file group.\n\n- the base file\n- its **logs**, in merge order"
    level = ("must", "should", "may", "open")[number % 4]
    name = f"{area}-{number:03}"
    return Clause(name, f"Rule {number}", level, (6, 8, 9), "model", "spec-1.0", (), rule, "reading.md", number)


def _table(place: int) -> GoldenTable:
    base = DrawnFile(f"p=1/f{place}_base", "base.parquet", BASE, "20250101000001000")
    logs = tuple(DrawnFile(f"p=1/f{place}_{n}", f"log.{n}", LOG, f"2025010100000{n}000") for n in range(2, 5))
    loose = (DrawnFile(f"p=1/f{place}_loose", "left.parquet", BASE, "20250101000006000"),)
    feed = (DrawnFile(f"p=2/f{place}_cdc", "log.cdc", CHANGES, "20250101000002000"),)
    groups = (
        DrawnGroup("p=1", f"f{place}-0a1b2c3d-4e5f", (DrawnSlice(base.instant, (base, *logs)),), loose),
        DrawnGroup("p=2", f"g{place}", (DrawnSlice(base.instant, (base,)),), feed, replaced=True),
    )
    how = "Rows of two cities, written in three commits."
    version, kind = ("6", "8", "9")[place % 3], ("COPY_ON_WRITE", "MERGE_ON_READ")[place % 2]
    name = f"v{version}/table_{place}"
    return GoldenTable(name, f"Table {place}", version, kind, "model", how, FEATURES[:3], _TIMELINE, "", groups)


def _question(place: int, table: GoldenTable, clauses: tuple[Clause, ...], chance: random.Random) -> Question:
    cited = tuple(clause.id for clause in chance.sample(clauses, 2))
    read = frozenset(file.path for file in table.groups[0].slices[0].files)
    step = CaseStep("read_snapshot", '{"columns": ["id"]}', "", "answers", (), read)
    story = ("Two commits and a late row.", "A snapshot is read.", "The late row loses.")
    kills = (("late-row-wins", "A row that comes later wins."),)
    name, title = f"conformance::{table.id}::case-{place}", f"Case {place}: late data loses"
    features = tuple(chance.sample(FEATURES, 2))
    return Question(name, table.id, title, cited, *story, table.version, features, kills, (step, step))


def _outcome(name: str, question: Question, chance: random.Random) -> Outcome:
    verdict = "pass" if name == "model" else chance.choice(VERDICTS)
    command = f"hudi-conformance repro {question.id} --adapter {name}"
    if verdict not in {"fail", "expected_fail"}:
        return Outcome(
            name, question.id, verdict, chance.random(), "" if verdict == "pass" else "no answer", repro=command
        )
    differences = ("row id=k1: column ts: expected 1, is 2", "missing row k2", "extra row k3")
    return Outcome(
        name, question.id, verdict, 0.5, "", differences, None, command, "Traceback\n  a line", 2, _comparison(chance)
    )


def _comparison(chance: random.Random) -> Comparison:
    rows = [
        (
            f"k{place}",
            "oslo",
            str(chance.randint(1, 9)),
            "a rider with a long name",
            "7.5",
            "2025-01-01T00:00:01.000002Z",
            "true",
        )
        for place in range(6)
    ]
    other = (*rows[1][:2], "99", *rows[1][3:])
    lines = (
        Line(EQUAL, rows[0], rows[0]),
        Line(CHANGED, rows[1], other, ("ts",)),
        Line(MISSING, rows[2], None),
        Line(EXTRA, None, rows[3]),
        Line(EQUAL, rows[4], rows[4]),
    )
    return Comparison("read_snapshot", COLUMNS, lines, left_out={EQUAL: 3})
