"""Put the corpus, the clauses and the registries into the wheel, the corpus as one archive."""

import os
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = ("golden_tables", "conformance/writing_cases", "conformance/trace_cases", "specs", "adapters")


class CorpusHook(BuildHookInterface):  # type: ignore[type-arg]
    """Archive what the suite needs at run time; an editable checkout reads the folders themselves."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the archive below build/ and request it inside hudi_conformance."""
        if version == "editable":
            return
        root = Path(self.root)
        # Of this process alone: two wheels may be built at once.
        archive = self._archive()
        archive.parent.mkdir(exist_ok=True)
        files = sorted(path for shipped in SHIPPED for path in (root / shipped).rglob("*") if path.is_file())
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as bundle:
            for path in files:
                # One fixed date: the wheel is byte-reproducible.
                entry = zipfile.ZipInfo(path.relative_to(root).as_posix(), date_time=(2025, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                bundle.writestr(entry, path.read_bytes())
        build_data["force_include"][str(archive)] = "hudi_conformance/_data/corpus.zip"

    def finalize(self, *_: object) -> None:
        """The archive is in the wheel now."""
        self._archive().unlink(missing_ok=True)

    def _archive(self) -> Path:
        return Path(self.root) / "build" / f"corpus-{os.getpid()}.zip"
