"""The engine's adapter with one text of its source replaced: `python broken_engine.py NAME` (broken_engines.toml)."""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from hudi_format.compat import tomllib

LIST = Path(__file__).with_name("broken_engines.toml")


def broken_engines() -> dict[str, Mapping[str, Any]]:
    """The broken engines by name."""
    found: dict[str, Mapping[str, Any]] = tomllib.loads(LIST.read_text(encoding="utf-8"))
    return found


class _EditedLoader(SourceFileLoader):
    """A module whose source is edited before it is compiled."""

    edit: tuple[str, str] = ("", "")

    def get_code(self, fullname: str) -> CodeType:
        source = self.get_source(fullname) or ""
        old, new = self.edit
        if source.count(old) != 1:
            raise SystemExit(f"{fullname} has {source.count(old)} times: {old}")
        return compile(source.replace(old, new), self.path, "exec", dont_inherit=True)


class _EditedFinder(MetaPathFinder):
    """Finds the one module that is edited."""

    def __init__(self, module: str, old: str, new: str) -> None:
        self._module, self._edit = module, (old, new)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._module:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            loader = _EditedLoader(spec.loader.name, spec.loader.path)
            loader.edit = self._edit
            spec.loader = loader
        return spec


def main() -> None:
    """Serve as the engine's adapter does, without Spark."""
    broken = broken_engines()[sys.argv[1]]
    sys.meta_path.insert(0, _EditedFinder(broken["module"], broken["old"], broken["new"]))
    sys.argv[1:] = ["--in-process"]
    from hudi_spark_adapter.adapter import main as serve  # noqa: PLC0415 - behind the edit

    serve()


if __name__ == "__main__":
    main()
