"""Rules of reading the history and tables of old versions, broken."""

from dataclasses import replace

from hudi_model.configuration import Overlay
from hudi_model.rejection import Reason, Rejection
from hudi_model.tables import History, Manifest

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant(
    "newest-manifest-ignores-the-version",
    "HS-003 HS-004",
    "The newest manifest that parses is read, whatever the version file says.",
    "history.current_manifest",
)
def _newest_manifest(_: Function) -> Function:
    def newest(history: History) -> Manifest:
        return max(history.manifests, key=lambda one: one.version, default=Manifest(0, ()))

    return newest


@mutant(
    "history-forgets-completion-on-reading",
    "HS-007",
    "Archived actions have no completion time.",
    "history.with_history",
)
def _without_completion(original: Function) -> Function:
    return lambda active, history: original(active, [replace(one, completed=None) for one in history])


@mutant(
    "archived-logs-after-the-first-unread",
    "HS-010 TL-032",
    "Of several archived logs the first is read.",
    "hudi_format.timeline.archived_log.is_archived_log",
)
def _first_archived_log(original: Function) -> Function:
    return lambda name: original(name) and ".archive.1_" in name


@mutant("upper-levels-unread", "HS-006", "Files of level 0 are the history.", "history.current_files")
def _upper_levels_unread(original: Function) -> Function:
    return lambda history: tuple(one for one in original(history) if one.name.endswith("_0.parquet"))


@mutant("old-versions-refused", "VR-001 VR-003", "Versions 4 and 5 are not read.", "configuration.overlay")
def _old_versions_refused(original: Function) -> Function:
    def from_6_on(version: int) -> Overlay:
        if version < 6:
            raise Rejection(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", "hoodie.properties", f"version {version}")
        rules: Overlay = original(version)
        return rules

    return from_6_on
