"""Nothing leans on the driver or on a shared process: executors are processes of their own."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from engine_tables import TableBuilder, row

SLICES = 200
JOB = Path(__file__).parent / "local_cluster_job.py"


@pytest.mark.spark
@pytest.mark.timeout(900)  # three JVMs on two cores: minutes where the machine is busy
def test_two_hundred_slices_are_packed_into_a_few_tasks_on_two_executors(tmp_path: Path):
    builder = TableBuilder(tmp_path)
    stats = [builder.base_file(10, [row(f"k{n}", 1)], group=f"f{n}") for n in range(SLICES)]
    builder.commit(10, stats)
    logs = [builder.log_file(20, [builder.data(20, [row(f"k{n}", 2)])], group=f"f{n}") for n in range(SLICES)]
    builder.commit(20, logs)
    run = subprocess.run([sys.executable, str(JOB), str(tmp_path)], check=True, capture_output=True, text=True)
    answer = json.loads(run.stdout.splitlines()[-1])
    tasks = answer.pop("tasks")
    assert answer == {"found": SLICES, "total": 2 * SLICES, "executors": 2, "limit": "16m"}
    assert 2 <= tasks <= SLICES / 10
