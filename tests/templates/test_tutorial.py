"""The tutorial is true: its files and commands, in its order, in an empty folder, print what it says."""

import os
import subprocess
from pathlib import Path

import pytest
from tutorial import commands, comparable, run, steps, write_file, written_anew

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "first-adapter.md"
SPEC_CHANGE = ROOT / "docs" / "tutorials" / "first-spec-change.md"
PACKAGES = ("model", "format", "engine", "conformance")


@pytest.mark.templates
@pytest.mark.xdist_group("tutorial")
def test_every_command_prints_what_the_page_says(tmp_path: Path):
    """`python tests/templates/tutorial.py --write docs/tutorials/first-adapter.md` puts down what they print now.

    Counts grow with the corpus and are not compared; that nothing fails at the end is.
    """
    seen = 0
    for info, text in steps(PAGE.read_text(encoding="utf-8")):
        write_file(info, text, tmp_path)
        for command in commands(text) if info == "console" else ():
            seen += 1
            assert comparable(run(command.line, tmp_path)) == comparable(command.output), command.line

    assert seen > 10


@pytest.mark.templates
@pytest.mark.xdist_group("tutorial")
def test_a_change_of_the_specification_has_the_consequences_that_its_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """The page's patch applies to a clone of the last commit, and its commands print what the page shows."""
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(ROOT), str(clone), folder=tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(clone / name) for name in PACKAGES))
    seen = 0
    for info, text in steps(SPEC_CHANGE.read_text(encoding="utf-8")):
        if info == "diff":
            git("apply", "-", folder=clone, given=text)
        for command in commands(text) if info == "console" else ():
            seen += 1
            assert comparable(run(command.line, clone)) == comparable(command.output), command.line

    assert seen > 4


def git(*arguments: str, folder: Path, given: str | None = None) -> None:
    subprocess.run(["git", *arguments], cwd=folder, input=given, text=True, check=True)  # noqa: S607


def test_a_command_sees_no_ci_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The page is what a reader sees, wherever it is run: pytest cuts long lines at a terminal, never in CI."""
    monkeypatch.setenv("CI", "true")

    assert run('echo "<${CI-}>"', tmp_path) == "<>\n"


def test_a_page_is_read_fence_by_fence(tmp_path: Path):
    """Files are written, commands run, everything else is left as it is."""
    page = (
        "# P\n```python a.py\nprint(3)\n```\n```sh\nrm -rf x\n```\n```console\n$ python a.py\nold\n$ true\n```\nend\n"
    )

    anew = written_anew(page, tmp_path)

    assert anew == page.replace("old\n", "3\n")
    assert [(one.line, one.output) for one in commands(dict(steps(anew))["console"])] == [
        ("python a.py", "3\n"),
        ("true", ""),
    ]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("51 passed, 32 skipped in 4.06s", "60 passed, 1 skipped in 63.10s (0:01:03)", True),
        ("51 passed in 4s", "1 failed, 51 passed in 4s", False),
        ("│ timeline │ 51/83  32 unsupported │", "│ timeline  │ 52/84  32 unsupported  │", True),
        ("FAILED v9/a::b", "FAILED v9/a::c", False),
    ],
)
def test_what_varies_is_not_compared(one: str, other: str, same: bool):
    """Times and counts, but never what became of a case."""
    assert (comparable(one) == comparable(other)) is same
