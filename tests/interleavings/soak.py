"""Every path of every graph of effects: `python tests/interleavings/soak.py [--write build/interleavings.json]`."""

import argparse
import tempfile
import time
from pathlib import Path

from fine_replaying import replay_paths
from hudi_conformance.verification.interleavings.results import add
from hudi_conformance.verification.interleavings.scenarios import INTERLEAVING_SCENARIOS


def main() -> None:
    """Play, and keep the results: those of a schedule and grain that are played again in place of the old ones."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="beginnings of interleavings' names; all where there is none")
    parser.add_argument("--write", type=Path, default=Path("build/interleavings.json"))
    parser.add_argument("--grain", choices=("joined", "whole"), action="append")
    parser.add_argument("--paths", type=int, help="how many paths of each graph; all where it is not said")
    options = parser.parse_args()
    chosen = [name for name in INTERLEAVING_SCENARIOS if not options.names or name.startswith(tuple(options.names))]
    failed = False
    for name in chosen:
        for grain in options.grain or ("joined", "whole"):
            started = time.monotonic()
            with tempfile.TemporaryDirectory(prefix="hudi-interleavings-") as folder:
                found = replay_paths(
                    INTERLEAVING_SCENARIOS[name], Path(folder), whole=grain == "whole", paths=options.paths
                )
            add(options.write, found)
            text = f"{found.played} of {found.edges} edges, {found.barred} barred, {found.beyond} beyond"
            seconds = f"{time.monotonic() - started:.0f} s"
            print(f"{name}, {grain}: {text}, {found.paths} paths, {len(found.failures)} differ, {seconds}", flush=True)  # noqa: T201
            print("\n".join(found.failures[:3]), flush=True)  # noqa: T201
            failed |= bool(found.failures)
    raise SystemExit(int(failed))


if __name__ == "__main__":
    main()
