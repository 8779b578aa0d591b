"""One vocabulary: the registries and the copies of them in each room."""

from pathlib import Path

import hudi_adapter.reasons
import hudi_format.errors
import hudi_model.rejection
from hudi_format.compat import tomllib

SPECS = Path(__file__).resolve().parents[2] / "specs"

EFFECTS = [
    *("take_lock", "release_lock", "generate_time", "create_instant", "delete_instant", "put_marker", "delete_markers"),
    *("put_base_file", "put_log_file", "put_partition_metafile", "delete_data_file", "commit_metadata_table"),
    *("put_history_file", "delete_history_file", "append_archived_log", "put_manifest", "swap_version"),
    *("put_properties", "write_heartbeat", "pick_snapshot", "read_slice"),
]


def table(name: str) -> dict[str, list[dict[str, object]]]:
    return tomllib.loads((SPECS / name).read_text(encoding="utf-8"))


def test_the_copies_of_the_reasons_are_equal():
    """A reason that one room knows and another does not could never be a verdict."""
    registered = [reason["name"] for reason in table("reasons.toml")["reason"]]

    assert [reason.value for reason in hudi_adapter.reasons.Reason] == registered
    assert [reason.value for reason in hudi_model.rejection.Reason] == registered
    assert {reason.value for reason in hudi_format.errors.Reason} <= set(registered)


def test_each_reason_is_explained():
    for reason in table("reasons.toml")["reason"]:
        assert str(reason["sentence"]).endswith(".")
        assert str(reason["when"]).endswith(".")


def test_each_effect_is_named_once_and_explained():
    effects = table("effects.toml")["effect"]

    assert [effect["name"] for effect in effects] == EFFECTS
    for effect in effects:
        assert str(effect["sentence"]).endswith(".")
        assert effect["by"] in ("writer", "reader")
        assert effect["parameters"]


def test_an_area_has_files_and_no_file_has_two_areas():
    areas = tomllib.loads((SPECS / "areas.toml").read_text(encoding="utf-8"))
    files = [file for area in areas.values() for file in area["files"]]

    assert len(set(files)) == len(files)
    assert {path.name for path in (SPECS / "clauses").glob("*.md")} <= set(files)
