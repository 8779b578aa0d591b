"""Versions before 6, refused."""

from hudi_model.configuration import Overlay
from hudi_model.rejection import Reason, Rejection

from hudi_conformance.corpus.mutants.registry import Function, mutant


@mutant("old-versions-refused", "VR-001 VR-003", "Versions 4 and 5 are not read.", "configuration.overlay")
def _old_versions_refused(original: Function) -> Function:
    def from_6_on(version: int) -> Overlay:
        if version < 6:
            raise Rejection(Reason.TABLE_VERSION_UNSUPPORTED, "VR-002", "hoodie.properties", f"version {version}")
        rules: Overlay = original(version)
        return rules

    return from_6_on
