"""What the benchmarks write: rows of 20 columns, as Parquet files that every contender reads.

`all` rows; `tenth`: a new version of every tenth row; `gone`: the keys and partitions of another tenth;
`few`: a new version of 1,000 rows, spread over all.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

KEY, PARTITION, ORDERING = "id", "region", "ts"
_REGIONS = 8
_FEW = 1_000
_FILES = 4


@dataclass(frozen=True, slots=True)
class Inputs:
    """A folder with the inputs of a benchmark, and how many rows `all` has."""

    folder: Path
    rows: int

    def path(self, name: str) -> str:
        """Where an input is: all, tenth, gone or few."""
        return str(self.folder / name)


def make_inputs(session: Any, folder: Path, rows: int) -> Inputs:
    """Write every input with Spark."""
    numbers = session.range(0, rows, 1, _FILES)
    stride = max(1, rows // _FEW)
    chosen = {
        "all": (numbers, 0),
        "tenth": (numbers.where("id % 10 = 3"), 1),
        "gone": (numbers.where("id % 10 = 7"), 1),
        "few": (numbers.where(f"id % {stride} = 1").limit(_FEW), 2),
    }
    for name, (kept, version) in chosen.items():
        frame = kept.selectExpr(*_columns(version))
        frame.write.mode("overwrite").parquet(str(folder / name))
    return Inputs(folder, rows)


def _columns(version: int) -> list[str]:
    """20 columns: a key of text, a partition, an ordering value, numbers, texts with few and many values, a moment."""
    shaken = f"xxhash64(id, {version})"
    return [
        f"concat('key-', lpad(cast(id as string), 10, '0')) as {KEY}",
        f"concat('region-', cast(pmod(xxhash64(id), {_REGIONS}) as string)) as {PARTITION}",
        f"id + {version} * 1000000000 as {ORDERING}",
        *(f"{shaken} % {10 ** (place + 2)} as number{place}" for place in range(5)),
        *(f"cast({shaken} % 1000000 as double) / {place + 3} as measure{place}" for place in range(6)),
        f"concat('status ', cast(pmod({shaken}, 5) as string)) as status",
        f"concat('city ', cast(pmod({shaken}, 1000) as string)) as city",
        f"hex({shaken}) as note",
        "cast(1700000000 + id % 10000000 as timestamp) as happened",
        f"cast({shaken} % 2 = 0 as boolean) as active",
        f"cast(pmod({shaken}, 100) as int) as percentage",
    ]
