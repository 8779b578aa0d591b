"""What a change moves is reported, also that it moves nothing; what cannot be compared is reported in one line."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hudi_conformance.cli import app
from hudi_conformance.verification.impact.comparing import (
    HOLDS,
    changed_statements,
    doubtful,
    moved_answers,
    rewritten_tables,
)
from hudi_conformance.verification.impact.functions import (
    changed_functions,
    clauses_of,
    clauses_of_mutants,
    functions_of,
    reaches,
    skeleton_of,
)
from hudi_conformance.verification.impact.modules import changed_runs
from hudi_conformance.verification.impact.one_side import REACHED, Recording, begin, reached
from hudi_conformance.verification.impact.sides import PROGRAM
from hudi_conformance.verification.impact.touching import changed_modules
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
RUNNER = CliRunner()
TABLE = "v9/mor_merger_counter"
RULE = '''
def helped(number):
    """Nobody asks who helps."""
    return number

def stated(number):
    """A rule.

    Clauses: TL-001, TL-002.
    """
    return helped(number)
'''


def tree_with(folder: Path, text: str) -> Path:
    module = folder / "model" / "hudi_model" / "rules.py"
    module.parent.mkdir(parents=True)
    module.write_text(text, encoding="utf-8")
    return folder


def test_words_are_no_change_and_what_is_changed_touches_the_clauses_of_who_names_it(tmp_path: Path):
    """Docstrings and comments move nothing; a function that cites no clause stands for those that use it."""
    before = functions_of(tree_with(tmp_path / "before", RULE))
    reworded = functions_of(tree_with(tmp_path / "words", RULE.replace("Nobody asks", "# x\n    Somebody asks")))
    after = functions_of(tree_with(tmp_path / "after", RULE.replace("return number", "return number + 1")))

    assert changed_functions(before, reworded) == ()
    assert changed_functions(before, after) == ("hudi_model.rules.helped",)
    assert clauses_of(("hudi_model.rules.helped",), before, after) == {"TL-001", "TL-002"}
    assert reaches(("hudi_model.rules.helped",), after, ("hudi_model.rules.stated",))
    assert not reaches(("hudi_model.rules.stated",), after, ("hudi_model.rules.helped",))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        (RULE.replace("return number", "return number + 1"), False),
        (RULE.replace('"""A rule.', '"""Another rule.'), False),
        (RULE + "\n\ndef more(number):\n    return 0\n", False),
        (RULE + "\n\ndef len(number):\n    return 0\n", True),
        ("from math import more\n" + RULE, True),
        (RULE + "\nLAST = 1\n", True),
        (RULE.replace("def stated", "@cache\ndef stated"), True),
        (RULE + "\n\nclass Rule(str):\n    pass\n", True),
        (RULE + "\n\nclass Rule:\n    def __eq__(self, other):\n        return True\n", True),
    ],
)
def test_a_result_is_requested_again_where_more_than_the_bodies_of_functions_differs(
    tmp_path: Path, text: str, other: bool
):
    """Who does not reach a changed or new function does not see it; a constant, a method, another name may be seen."""
    before, after = tree_with(tmp_path / "before", RULE), tree_with(tmp_path / "after", text)

    assert (skeleton_of(before) != skeleton_of(after)) == other


def test_an_import_that_fails_forgets_nothing_of_what_ran_before(tmp_path: Path):
    """Else a result would be kept with less than it reached, and would serve after a change of the rest."""
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n", encoding="utf-8")
    begin()
    REACHED.add("hudi_model.rules.stated")
    spec = spec_from_file_location("broken", broken, loader=Recording("broken", str(broken)))
    assert spec
    with pytest.raises(ImportError):
        Recording("broken", str(broken)).exec_module(module_from_spec(spec))
    assert "hudi_model.rules.stated" in reached()


def test_a_side_finds_no_module_beside_its_program(tmp_path: Path):
    """On every Python that is supported: an option for that is known to the newer ones only."""
    (tmp_path / "hudi_model").mkdir()
    (tmp_path / "hudi_model" / "__init__.py").write_text("import sys\nprint(*sys.path, sep='\\n')\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], env=environment, input="{}", capture_output=True, text=True, check=True
    )
    found = done.stdout.splitlines()
    assert str(tmp_path) in found
    assert str(PROGRAM.parent) not in found


def test_a_function_stands_for_the_clauses_of_its_mutants():
    """The writer's steps cite no rule of completion times; the mutant that reorders them does."""
    assert "TL-013" in clauses_of_mutants(("hudi_model_tools.programs.writer",), ROOT)


def test_a_module_is_touched_by_its_own_files_and_by_those_it_extends(tmp_path: Path):
    specs = tmp_path / "before" / "specs" / "tla"
    specs.mkdir(parents=True)
    (specs / "Files.tla").write_text("EXTENDS Integers\n", encoding="utf-8")
    (specs / "Table.tla").write_text("EXTENDS Integers, Files\n", encoding="utf-8")
    (specs / "Clock.tla").write_text("EXTENDS Integers\n", encoding="utf-8")
    shutil.copytree(tmp_path / "before", tmp_path / "after")
    (tmp_path / "after" / "specs" / "tla" / "Files.tla").write_text("EXTENDS Naturals\n", encoding="utf-8")

    assert changed_modules(tmp_path / "before", tmp_path / "before") == ()
    assert changed_modules(tmp_path / "before", tmp_path / "after") == ("Files", "Table")


def answered(released: str, text: str = "") -> list[dict[str, object]]:
    case = {"title": "A case", "clauses": ["TL-001"], "released": released, "text": text}
    return [{"table": "v9/one", "sum": released, "cases": {"snapshot": case}}]


def test_answers_move_under_the_reading_that_they_move_under():
    """The same answer is no move; a case that comes or goes is one."""
    (moved,) = moved_answers(answered("1", "2"), answered("1", "3"))

    assert moved_answers(answered("1"), answered("1")) == ()
    assert (moved.case, moved.reading, moved.before, moved.after) == ("v9/one::snapshot", "text", "2", "3")
    assert [one.before for one in moved_answers([], answered("1"))] == [None]
    assert [one.after for one in moved_answers(answered("1"), [])] == [None]
    assert rewritten_tables(answered("1"), answered("2")) == ("v9/one",)
    assert rewritten_tables(answered("1"), answered("1")) == ()


def tried(message: str, *, expected: bool = True) -> dict[str, object]:
    line = {"id": "PO-1", "title": "It holds", "clauses": [], "words": [], "behaviour": None}
    return {**line, "expected": expected, "holds": not message, "message": message}


def test_a_statement_changes_where_its_result_changes():
    """What holds and is registered so is not asked of the base; a refuted one that stays so is no news."""
    assert doubtful([tried("")]) == []
    assert doubtful([tried("wrong"), tried("", expected=False)]) == ["PO-1", "PO-1"]
    assert list(changed_statements("property", [], [tried("")])) == []
    assert list(changed_statements("property", [tried("wrong")], [tried("wrong elsewhere")])) == []
    assert [one.breaks for one in changed_statements("property", [], [tried("wrong")])] == [True]
    assert [one.after for one in changed_statements("property", [tried("wrong")], [tried("")])] == [HOLDS]


TINY = """---- MODULE Tiny ----
EXTENDS Integers
CONSTANT Last
VARIABLE hour
Init == hour = 0
Tick == hour < Last /\\ hour' = hour + 1
Spec == Init /\\ [][Tick]_hour
Early == hour < 2
====
"""


def test_a_run_with_another_result_than_the_base_expects_is_reported_with_its_states(tmp_path: Path):
    for name, last in (("before", "1"), ("after", "2")):
        folder = tmp_path / name / "specs" / "tla"
        (folder / "runs").mkdir(parents=True)
        (folder / "Tiny.tla").write_text(TINY, encoding="utf-8")
        text = f"CONSTANTS\n  Last = {last}\nSPECIFICATION\n  Spec\nINVARIANTS\n  Early\n"
        (folder / "MCTiny.cfg").write_text(text, encoding="utf-8")
        runs = '[[run]]\nname = "a day"\nexpect = "pass"\n[[run]]\nname = "a week"\nexpect = "pass"\nsoak = true\n'
        (folder / "runs" / "Tiny.toml").write_text(runs, encoding="utf-8")

    sides = tmp_path / "before", tmp_path / "after"
    (changed,) = changed_runs(*sides, ("Tiny",), lambda *_: None, soak=False)
    both = changed_runs(*sides, ("Tiny",), lambda *_: None, soak=True)

    assert [one.id for one in both] == ["Tiny: a day", "Tiny: a week"]
    assert (changed.id, changed.before, changed.after) == ("Tiny: a day", HOLDS, "Early is violated")
    assert changed.behaviour
    assert len(changed.behaviour.steps) == 2


def git(folder: Path, *arguments: str) -> None:
    named = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.org")
    subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)  # noqa: S607


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of this checkout as a small repository of one commit."""
    folder = tmp_path_factory.mktemp("repository")
    for room in ("model", "format", "adapter", "conformance", "specs"):
        shutil.copytree(ROOT / room, folder / room, ignore=shutil.ignore_patterns("__pycache__", "writing_cases"))
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "The base")
    return folder


@pytest.fixture
def compare(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """The command in that repository, asked about one table; its cache is empty."""
    monkeypatch.chdir(repository)
    monkeypatch.setenv("HUDI_CONFORMANCE_CACHE", str(tmp_path / "cache"))

    def run(*arguments: str) -> tuple[int, str]:
        done = RUNNER.invoke(app, ["impact", "--base", "HEAD", "--table", TABLE, *arguments])
        return done.exit_code, done.output

    return run


@pytest.mark.slow
def test_a_changed_rule_shows_its_answers_its_statements_and_its_clauses(
    repository: Path, compare: Callable[..., tuple[int, str]], tmp_path: Path
):
    """And nothing is left behind in the repository."""
    file = repository / "model" / "hudi_model" / "merging.py"
    original = file.read_text(encoding="utf-8")
    name = "merged_by_strategy"
    file.write_text(original.replace(f"def {name}(", f"def _{name}(") + CHANGED, encoding="utf-8")
    code, printed = compare("--json", "--html", str(tmp_path / "impact.html"), "--scenario", "streams-commit-time")
    file.write_text(original, encoding="utf-8")
    found = json.loads(printed)

    assert code == 1
    assert f"hudi_model.merging.{name}" in found["touched"]["functions"]
    assert "RM-007" in found["touched"]["clauses"]
    assert any(one["case"].startswith(f"{TABLE}::") for one in found["answers"])
    assert "PO-139" in {one["id"] for one in found["changed"]}
    assert "PO-139" in (tmp_path / "impact.html").read_text(encoding="utf-8")
    assert not (repository / ".git" / "worktrees").exists()


CHANGED = '''

def merged_by_strategy(rule: MergeRule, older: Version, newer: Version) -> Version:
    """The newer wins whatever the strategy says."""
    return newer
'''


@pytest.mark.slow
def test_a_change_of_words_moves_nothing(repository: Path, compare: Callable[..., tuple[int, str]]):
    file = repository / "model" / "hudi_model" / "merging.py"
    original = file.read_text(encoding="utf-8")
    file.write_text(original + "\n# A word more.\n", encoding="utf-8")
    code, printed = compare()
    file.write_text(original, encoding="utf-8")

    assert code == 0
    assert "no function, clause or module is touched" in printed
    assert "nothing gives another result" in printed
    assert "working tree: answers: 1 of 1" in printed


@pytest.mark.slow
def test_what_is_equal_or_kept_is_reported_as_what_is_computed(
    repository: Path, compare: Callable[..., tuple[int, str]]
):
    """Of equal sources nothing is computed; kept answers are those of their sources, also after these have changed."""
    file = repository / "conformance" / "hudi_conformance" / "corpus" / "golden" / "answers.py"
    original = file.read_text(encoding="utf-8")
    results = {}
    for name, text in (("equal", original), ("changed", original + OTHERWISE), ("words", original + "\n# A word.\n")):
        file.write_text(text, encoding="utf-8")
        results[name] = [found_by(compare("--json", *options)) for options in (("--fresh",), (), ())]
    file.write_text(original, encoding="utf-8")

    assert all(fresh == first == again for fresh, first, again in results.values())
    assert [found["changes"] for found, *_ in results.values()] == [False, True, False]
    assert "the sources are equal byte for byte" in compare()[1]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "requested"), [("merge_by_commit_time", 0), ("merged_by_strategy", 1)])
def test_only_what_reaches_a_changed_function_is_requested_again(
    repository: Path, compare: Callable[..., tuple[int, str]], name: str, requested: int
):
    """Results of another edit serve where the functions that they reached are the same: the table has a merger."""
    path = repository / "model" / "hudi_model" / "merging.py"
    original = path.read_text(encoding="utf-8")
    found = []
    for constant in ("1", "2"):
        edited = original.replace(f"def {name}(", f"def {name}_before(") + EDITED.format(name=name, constant=constant)
        path.write_text(edited, encoding="utf-8")
        found.append(compare("--json"))
    fresh = compare("--json", "--fresh")
    path.write_text(original, encoding="utf-8")

    assert json.loads(found[1][1])["requested"]["answers"] == [
        requested,
        json.loads(fresh[1])["requested"]["answers"][1],
    ]
    assert found_by(found[1]) == found_by(fresh)


EDITED = """

def {name}(*given: object) -> Version:
    \"\"\"The last wins, whatever the rule says.\"\"\"
    return given[-1] if {constant} else given[0]
"""
OTHERWISE = '''
_released = verdict


def verdict(table: Table, question: Question, readings: Readings = RELEASED) -> Verdict:
    """The same answer with a warning more."""
    found = _released(table, question, readings)
    return Verdict(found.op, found.content, found.reject, found.unsupported, (*found.warnings, "TL-001"))
'''


def found_by(result: tuple[int, str]) -> dict[str, object]:
    """What a comparison found, but not how much was computed for it."""
    return {**json.loads(result[1]), "requested": None, "seconds": None, "equal": None, "code": result[0]}


@pytest.mark.parametrize("revision", ["nowhere", "-x", "HEAD:model"])
def test_a_revision_that_is_not_there_is_one_clear_line(
    repository: Path, monkeypatch: pytest.MonkeyPatch, revision: str
):
    monkeypatch.chdir(repository)
    done = RUNNER.invoke(app, ["impact", f"--base={revision}"])

    assert (done.exit_code, done.output) == (2, f"error: there is no revision {revision}\n")


def test_a_folder_without_git_or_of_another_project_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    outside = RUNNER.invoke(app, ["impact", "--base", "HEAD"])
    git(tmp_path, "init", "--quiet")
    foreign = RUNNER.invoke(app, ["impact", "--base", "HEAD"])
    monkeypatch.setenv("PATH", str(tmp_path))
    without = RUNNER.invoke(app, ["impact", "--base", "HEAD"])

    assert [one.exit_code for one in (outside, foreign, without)] == [2, 2, 2]
    assert "not a git repository" in outside.output
    assert all("inside a clone of the repository" in " ".join(one.output.split()) for one in (outside, foreign))
    assert "is no checkout of this project" in foreign.output
    assert "git is not installed" in without.output
    assert [len(one.output.splitlines()) for one in (outside, foreign, without)] == [1, 1, 1]
