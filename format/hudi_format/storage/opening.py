"""From a path or a URI to the storage that holds a table."""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

from hudi_format.storage.interface import Storage
from hudi_format.storage.local import LocalStorage
from hudi_format.storage.object_store import SCHEMES, ObjectStorage


def open_storage(base: str | Path, options: Mapping[str, str] | None = None) -> Storage:
    """The storage that holds the table at `base`: a local path, a `file:` URI, or the URI of an object store.

    `options` are for object stores: endpoint, region, credentials. Where they are silent, the environment speaks.

    Raises:
        ValueError: a scheme that no storage is built for, or a URI without a bucket or with credentials in it.
        InvalidOption: an option that the object store does not have.

    """
    text, scheme = str(base), _scheme(base)
    if not scheme:
        return LocalStorage(Path(base))
    if scheme.lower() in SCHEMES:
        return ObjectStorage(text, options)
    if not is_local(base):
        raise ValueError(f"no storage is built for {scheme}: one of file, {', '.join(SCHEMES)} is needed")
    return LocalStorage(_local_path(text))


def is_local(base: str | Path) -> bool:
    """Whether no options decide how the table at `base` is reached: a path without a scheme, or a `file:` URI."""
    return _scheme(base).lower() in {"", "file"}


def _scheme(base: str | Path) -> str:
    found = None if isinstance(base, Path) else re.match(r"([A-Za-z][A-Za-z0-9+.-]+):", base)
    return found[1] if found else ""


def _local_path(uri: str) -> Path:
    rest = uri[len("file:") :]
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host not in ("", "localhost"):
            raise ValueError(f"a file URI cannot name the host {host}: {uri}")
        rest = slash + path
    return Path(unquote(rest))
