"""`python -m hudi_conformance.trace_cases`: write the trace cases from their recipes."""

import sys

import hudi_conformance.trace_cases.recipes  # noqa: F401 - registers them
from hudi_conformance.resources import suite_root
from hudi_conformance.trace_cases.building import RecipeError, build

if __name__ == "__main__":
    try:
        sys.stdout.write(f"{len(build(suite_root())) // 2} trace cases\n")
    except RecipeError as error:
        sys.exit(str(error))
