"""Whoever installs the package without extras can use the suite: it requests all that it imports."""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parent / "bare_imports.py"
OF_EXTRAS = {"hudi_conformance.interop.real_tables.recipes.metadata": "py4j"}
"""What makes real tables needs Spark before it is asked anything."""


def test_every_module_of_the_suite_loads_without_extras() -> None:
    """Modules that need more import it where they use it, and say which extra has it."""
    # Plugins of packages that are not there cannot be requested by name.
    environment = {**os.environ, "HYPOTHESIS_NO_PLUGINS": "1"}
    done = subprocess.run([sys.executable, str(SCRIPT)], capture_output=True, text=True, env=environment, check=True)

    assert json.loads(done.stdout) == OF_EXTRAS
