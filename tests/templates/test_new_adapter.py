"""`hudi-conformance new-adapter`: projects as they are written."""

import json
from pathlib import Path

import pytest
import yaml
from hudi_conformance.adapter_templates.merger_cases import FILE, text
from hudi_conformance.adapter_templates.writing import LANGUAGES, NewAdapterError, write_adapter
from hudi_conformance.runner.expected_failures import load_expected_failures
from hudi_conformance.runner.skips import load_skips
from hudi_format.compat import tomllib


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_project_bears_its_own_name(tmp_path: Path, language: str):
    """Nothing of the template's name is left in what somebody else calls theirs."""
    files = write_adapter(language, tmp_path / "My_Reader")

    assert {"README.md", "adapter.toml", "pytest.ini", ".gitignore", ".github/workflows/conformance.yml"} <= set(
        map(str, files)
    )
    for file in files:
        content = (tmp_path / "My_Reader" / file).read_text(encoding="utf-8")
        assert "template-adapter" not in content
        assert "template_adapter" not in content
    adapter = tomllib.loads((tmp_path / "My_Reader" / "adapter.toml").read_text(encoding="utf-8"))
    assert (adapter["name"], adapter["language"]) == ("my-reader", language)


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_readme_names_every_file_that_one_edits(tmp_path: Path, language: str):
    """Twenty lines that tell a newcomer what lies where."""
    files = write_adapter(language, tmp_path / "theirs")

    readme = (tmp_path / "theirs" / "README.md").read_text(encoding="utf-8")
    sources = [
        file.name for file in files if file.suffix in {".py", ".rs", ".java", ".toml"} and "test" not in str(file)
    ]
    helpers = {"Cargo.toml", "lib.rs", "mergers.rs", "Failure.java"}
    assert [name for name in sources if name not in helpers and name not in readme] == []
    assert len(readme.splitlines()) <= 32


@pytest.mark.parametrize("language", LANGUAGES)
def test_its_lists_and_workflow_are_read(tmp_path: Path, language: str):
    """What is there to be filled in is sound while it is empty."""
    write_adapter(language, tmp_path / "theirs")

    workflow = yaml.safe_load((tmp_path / "theirs/.github/workflows/conformance.yml").read_text(encoding="utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["conformance"]["steps"] if "run" in step]
    assert any("hudi-conformance run" in command for command in commands)
    assert load_expected_failures(tmp_path / "theirs" / "expected-failures.toml") == {}
    assert load_skips(tmp_path / "theirs" / "skips.toml") == {}


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path):
    """A project of somebody else is not written over."""
    (tmp_path / "file").touch()

    with pytest.raises(NewAdapterError, match="not empty"):
        write_adapter("python", tmp_path)


@pytest.mark.parametrize("name", ["Zürich", "1st", "a--b", "a/b", ""])
def test_a_name_that_no_package_may_have_is_refused(tmp_path: Path, name: str):
    """Cargo and Maven would refuse it later, less readably."""
    with pytest.raises(NewAdapterError, match="name"):
        write_adapter("rust", tmp_path / "new", name or "-")

    assert not (tmp_path / "new").exists()


def test_the_pairs_of_the_mergers_are_what_the_model_says():
    """`python -m hudi_conformance.adapter_templates.merger_cases` writes them again."""
    assert FILE.read_text(encoding="utf-8") == text()
    assert len({json.dumps(case["merged"]) for case in json.loads(text())}) > 20
