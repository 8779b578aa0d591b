"""The writer of a real table: that of the golden tables, on every release, with Hudi's own defaults where asked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hudi_conformance.corpus.recipes_apache.catalogue import Recipe
from hudi_conformance.corpus.recipes_apache.writer import CLUSTERING, COMMON, TableWriter

# What COMMON turns off or makes small, and Hudi has otherwise.
_TURNED = tuple(
    key for key in COMMON if not key.startswith(("hoodie.datasource.write", "hoodie.embed", "hoodie.write"))
)


class RealTable(TableWriter):
    """One table under construction, with SQL, table services and failures; options hold for every later step."""

    def __init__(self, session: Any, path: Path, beside: Path, made: Recipe) -> None:
        super().__init__(session, path, made.type, made.version, made.bundle)
        self.made = made
        self._beside = beside
        if not made.bundle.startswith("0."):
            self.configure({"hoodie.write.table.version": str(made.version), "hoodie.write.auto.upgrade": "false"})

    def hudi_defaults(self) -> None:
        """Metadata table, cleaning, archival and file sizing as Hudi has them by default."""
        for key in _TURNED:
            if "parallelism" not in key:
                self._options.pop(key, None)

    def forget(self, *names: str) -> None:
        """Give these options no longer."""
        for name in names:
            self._options.pop(name, None)

    def beside(self, name: str) -> Path:
        """A folder outside the table that stays where it is: the source of a bootstrap, for instance."""
        folder = self._beside / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def register(self, name: str = "t") -> str:
        """Make the table known to SQL under a name, which is answered."""
        self.session.sql(f"DROP TABLE IF EXISTS {name}")
        self.session.sql(f"CREATE TABLE {name} USING hudi LOCATION '{self.path}'")
        return name

    def named(self, procedure: str, **arguments: str) -> list[Any]:
        """A stored procedure that finds the table by its name."""
        written = {"table": self.register(), **arguments}
        listed = ", ".join(f"{name} => '{value}'" for name, value in written.items())
        return list(self.session.sql(f"CALL {procedure}({listed})").collect())

    def cluster(self, op: str = "scheduleAndExecute", more: Mapping[str, str] | None = None) -> None:
        """Cluster the file groups of the table, with the options of `more` and of the clustering given before."""
        kept = {key: value for key, value in self._options.items() if key.startswith("hoodie.clustering")}
        chosen = self._service_options({**CLUSTERING, **kept, **_buckets(self._options), **(more or {})})
        self.call("run_clustering", op=op, options=chosen)

    def sql(self, *statements: str, **settings: str) -> list[Any]:
        """SQL statements, `{path}` and `{options}` filled in; rows of the last. `settings` use `__` for a dot."""
        chosen = {name.replace("__", "."): value for name, value in settings.items()}
        for name, value in chosen.items():
            self.session.conf.set(name, value)
        try:
            rows: list[Any] = []
            for statement in statements:
                text = statement.replace("{path}", str(self.path)).replace("{options}", self._as_properties())
                rows = self.session.sql(text).collect()
            return rows
        finally:
            for name in chosen:
                self.session.conf.unset(name)

    def _as_properties(self) -> str:
        """The options in the form of TBLPROPERTIES, those that name the key fields left out."""
        kept = {key: value for key, value in self._options.items() if not key.startswith("hoodie.datasource.write.")}
        return ", ".join(f"'{key}' = '{value}'" for key, value in kept.items())


def _buckets(options: Mapping[str, str]) -> dict[str, str]:
    prefixes = ("hoodie.index.", "hoodie.bucket.", "hoodie.storage.layout.")
    return {key: value for key, value in options.items() if key.startswith(prefixes)}
