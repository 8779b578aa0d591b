"""The code blocks of the README and of the documentation run as written, and print what is shown."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from pages import (
    Block,
    Command,
    blocks,
    commands,
    comparable,
    is_example,
    output,
    printed,
    run,
    write_file,
    written_anew,
)

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README, QUICKSTART = ROOT / "README.md", DOCS / "quickstart.md"
ADAPTER, SPEC_CHANGE = DOCS / "tutorials" / "first-adapter.md", DOCS / "tutorials" / "first-spec-change.md"
IN_CHECKOUT = (README, QUICKSTART, *sorted((DOCS / "concepts").glob("*.md")))
EVERY_WAY_IN = DOCS / "tutorials" / "every-way-in.md"
ON_SPARK = (
    DOCS / "tutorials" / "first-spark-table.md",
    EVERY_WAY_IN,
    *(DOCS / "guides" / f"{name}.md" for name in ("data-engineers", "concurrent-writers", "maintenance")),
)
RUN = {*IN_CHECKOUT, *ON_SPARK, ADAPTER, SPEC_CHANGE}
# Parts of blocks that are only read, and why.
LEFT_OUT: Mapping[str, str] = {
    "s3://": "needs an object store",
    "my_reader.read": "the reader is the implementer's",
    "pip install": "would install the released package",
    "make conformance": "a part of CI of its own",
    '"my-adapter"': "the adapter is the implementer's",
    '--adapter "python my_adapter.py"': "the tutorial runs the same",
    "--adapter adapter.toml": "the tutorial runs the same",
}
PACKAGES = ("model", "format", "engine", "adapter", "conformance")


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def read(page: Path) -> list[Block]:
    return blocks(page.read_text(encoding="utf-8"))


def commands_of(page: Path) -> list[Command]:
    return [one for block in read(page) if block.kind == "console" for one in commands(block.text)]


def test_the_readme_fits_a_screen_and_has_the_two_commands() -> None:
    text = README.read_text(encoding="utf-8")

    assert len(text.splitlines()) <= 90
    assert "    make conformance" in text
    assert "    make test" in text


def test_the_readme_shows_a_failing_case() -> None:
    assert [command for command in commands_of(README) if command.shown.startswith("FAIL ")] != []


def test_the_quickstart_has_an_example_for_each_user() -> None:
    assert {command.line.split()[0] for command in commands_of(QUICKSTART)} == {"pytest", "hudi-conformance"}
    assert len([block for block in read(QUICKSTART) if block.kind == "python"]) >= 2


def test_every_block_that_could_run_runs() -> None:
    """A page with code is run, or the block has a reason in `LEFT_OUT`."""
    for page in (README, *sorted(DOCS.rglob("*.md"))):
        for block in read(page):
            if block.kind in {"python", "console", "sh"} and not (page in RUN and block.kind != "sh"):
                assert any(part in block.text for part in LEFT_OUT), f"{page.name}: {block.text}"


@pytest.mark.parametrize("page", [README, QUICKSTART], ids=lambda page: page.stem)
def test_the_commands_print_what_is_shown(page: Path) -> None:
    """A command without an output below it succeeds and prints something; order matters within a page."""
    for command in commands_of(page):
        done = run(command.line, ROOT)

        if command.shown.strip():
            assert lines(done.stdout) == lines(command.shown), command.line
        else:
            assert done.returncode == 0, f"{command.line}\n{done.stdout}"
            assert done.stdout.strip(), command.line


@pytest.mark.parametrize("page", IN_CHECKOUT, ids=lambda page: page.stem)
def test_python_examples_print_what_the_page_shows(page: Path) -> None:
    """`python tests/repository/pages.py PAGE --here` writes a page again."""
    prints_what_it_shows(page, ROOT)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("page", ON_SPARK, ids=lambda page: page.stem)
def test_examples_on_spark_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    """`python tests/repository/pages.py PAGE` writes a page again; they write tables into an empty folder.

    Blocks for Spark 4 run under `make spark4`.
    """
    prints_what_it_shows(page, tmp_path)
    for command in commands_of(page):
        assert comparable(output(command.line, tmp_path)) == comparable(command.shown), command.line


def prints_what_it_shows(page: Path, folder: Path) -> None:
    examples = [block for block in read(page) if is_example(block, LEFT_OUT)]
    for block, text in zip(examples, printed(examples, folder) if examples else (), strict=True):
        assert block.shown in {None, text}, block.text


@pytest.mark.templates
@pytest.mark.xdist_group("tutorial")
def test_the_tutorial_of_adapters_prints_what_it_shows(tmp_path: Path) -> None:
    """Its files and commands, in their order, in an empty folder: `python tests/repository/pages.py PAGE`.

    Counts grow with the corpus and are not compared; that nothing fails at the end is.
    """
    queried = 0
    for block in read(ADAPTER):
        write_file(block, tmp_path)
        for command in commands(block.text) if block.kind == "console" else ():
            queried += 1
            assert comparable(output(command.line, tmp_path)) == comparable(command.shown), command.line

    assert queried > 10


@pytest.mark.templates
@pytest.mark.xdist_group("tutorial")
def test_a_change_of_the_specification_has_the_consequences_that_its_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page's patch applies to a clone of the last commit, and its commands print what the page shows."""
    clone = tmp_path / "clone"
    git("clone", "--quiet", str(ROOT), str(clone), folder=tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(str(clone / name) for name in PACKAGES))
    queried = 0
    for block in read(SPEC_CHANGE):
        if block.kind == "diff":
            git("apply", "-", folder=clone, given=block.text)
        for command in commands(block.text) if block.kind == "console" else ():
            queried += 1
            assert comparable(output(command.line, clone)) == comparable(command.shown), command.line

    assert queried > 4


def git(*arguments: str, folder: Path, given: str | None = None) -> None:
    subprocess.run(["git", *arguments], cwd=folder, input=given, text=True, check=True)  # noqa: S607


def test_a_command_sees_no_ci_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is what a reader sees, wherever it is run: pytest cuts long lines at a terminal, never in CI."""
    monkeypatch.setenv("CI", "true")

    assert output('echo "<${CI-}>"', tmp_path) == "<>\n"


def test_a_page_is_written_again_with_the_outputs_of_now(tmp_path: Path) -> None:
    """Files are written, commands run, Python blocks run; everything else stays as it is."""
    page = (
        "# P\n```python a.py\nprint(3)\n```\n```sh\nrm -rf x\n```\n```console\n$ python a.py\nold\n$ true\n```\n"
        "```python\nx = 1\n```\nand\n```python\nprint(x)\n```\n\n```text\nold\n```\n```python\nprint(s3)\n```\nend\n"
    )

    anew = written_anew(page, tmp_path, {"s3": "there is none"})

    assert anew == page.replace("old\n", "3\n", 1).replace("old\n", "1\n")
    (console,) = (block for block in blocks(anew) if block.kind == "console")
    assert commands(console.text) == [Command("python a.py", "3\n"), Command("true", "")]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("51 passed, 32 skipped in 4.06s", "60 passed, 1 skipped in 63.10s (0:01:03)", True),
        ("51 passed in 4s", "1 failed, 51 passed in 4s", False),
        ("│ timeline │ 51/83  32 unsupported │", "│ timeline  │ 52/84  32 unsupported  │", True),
        ("FAILED v9/a::b", "FAILED v9/a::c", False),
        ("20261127221548000 commit", "20270101000000123 commit", True),
        ("20250101000001000 commit", "20250101000009000 commit", False),
    ],
)
def test_what_varies_is_not_compared(one: str, other: str, same: bool) -> None:
    """Times and counts, but never what became of a case."""
    assert (comparable(one) == comparable(other)) is same
