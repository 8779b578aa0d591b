"""What the distributions of this repository share: version, requirements on each other, address; the corpus.

HUDI_CONFORMANCE       where pip takes this repository from, `file://` and a checkout or `git+` and an address: the
                       distributions request each other from there; `index`: by version, as those in an index do;
                       without it: from the checkout that they are built of, so that `pip install .` needs no index
HUDI_CONFORMANCE_HOME  the page of the repository, for the links of the metadata; without it there are none
"""

import os
import re
import zipfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

VERSION = "0.1.0"
INDEX = "index"
FOLDERS = {"hudi-adapter": "adapter", "hudi-format": "format", "hudi-spark": "engine"}
SHIPPED = ("golden_tables", "conformance/writing_cases", "conformance/trace_cases", "specs", "adapters")
_OWN = re.compile(rf"({'|'.join(FOLDERS)})(\[[a-z0-9,]+\])?")


class SharedMetadata(MetadataHookInterface):
    """Version, requirements and links; the lists of requirements stand in the table of this hook."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set what pyproject.toml names as dynamic."""
        metadata["version"] = VERSION
        metadata["dependencies"] = [requirement(one) for one in self.config.get("dependencies", ())]
        metadata["optional-dependencies"] = {
            extra: [requirement(one) for one in stated]
            for extra, stated in self.config.get("optional-dependencies", {}).items()
        }
        home = os.environ.get("HUDI_CONFORMANCE_HOME")
        metadata["urls"] = {"Repository": home, "Issues": f"{home}/issues"} if home else {}


def requirement(stated: str) -> str:
    """A requirement as it stands, or one on a distribution of this repository: from an address, or of this version."""
    own = _OWN.fullmatch(stated)
    if not own:
        return stated
    address = os.environ.get("HUDI_CONFORMANCE") or Path(__file__).resolve().parent.as_uri()
    return f"{stated}=={VERSION}" if address == INDEX else f"{stated} @ {address}#subdirectory={FOLDERS[own[1]]}"


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
