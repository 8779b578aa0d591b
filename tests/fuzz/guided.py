"""One target under libFuzzer, guided by the coverage of `hudi_format`: python tests/fuzz/guided.py NAME SECONDS.

The seeds are the first inputs. The process ends with libFuzzer's verdict: 0 when only answers and typed errors came
out.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["hudi_format"], enable_loader_override=False):
    from fuzz_targets import TARGETS

MEMORY_MEBIBYTES = 2048
CALL_SECONDS = 10


def main() -> None:
    """Run until the time is over or something is found."""
    name, seconds = sys.argv[1], sys.argv[2]
    (target,) = (one for one in TARGETS if one.name == name)
    with tempfile.TemporaryDirectory() as corpus, tempfile.TemporaryDirectory() as found:
        for number, seed in enumerate(target.seeds()):
            (Path(corpus) / str(number)).write_bytes(seed)
        limits = [f"-max_total_time={seconds}", f"-timeout={CALL_SECONDS}", "-max_len=8192", "-print_final_stats=1"]
        bounds = [f"-rss_limit_mb={MEMORY_MEBIBYTES}", f"-artifact_prefix={found}/"]
        atheris.Setup([sys.argv[0], *limits, *bounds, corpus], target.refuses_or_answers)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
