"""`python -m hudi_conformance.verification.trace_cases`: write the trace cases from their recipes."""

import sys

import hudi_conformance.verification.trace_cases.recipes  # noqa: F401 - registers them
from hudi_conformance.runner.resources import suite_root
from hudi_conformance.verification.trace_cases.building import RecipeError, build

if __name__ == "__main__":
    try:
        sys.stdout.write(f"{len(build(suite_root())) - 1} trace cases\n")
    except RecipeError as error:
        sys.exit(str(error))
