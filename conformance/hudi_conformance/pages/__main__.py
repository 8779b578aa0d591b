"""Write every generated page: references into docs/, what runs measured below build/pages."""

import sys
from pathlib import Path

from hudi_conformance.interop.peers.page import peers_page
from hudi_conformance.interop.real_tables.page import PAGE as REAL_TABLES
from hudi_conformance.interop.real_tables.page import real_tables_page
from hudi_conformance.interop.writers_and_readers.page import write_page as write_writers_and_readers
from hudi_conformance.pages import clause_index, model_page, protocol_page
from hudi_conformance.pages.coverage import write_coverage
from hudi_conformance.pages.known_bug_list import load_known_bugs
from hudi_conformance.pages.known_bug_list import page as known_bugs_page
from hudi_conformance.pages.status import write_status
from hudi_conformance.runner.recorded_results import write_recorded_pages, write_results_page
from hudi_conformance.verification.lint.checkout import find_root
from hudi_conformance.verification.mutation_matrix.page import write_page as write_mutants


def write_pages(root: Path) -> None:
    """Write all pages of a checkout, and say where those of results are."""
    (root / clause_index.PAGE).write_text(clause_index.clause_index(root), encoding="utf-8")
    (root / model_page.PAGE).write_text(model_page.model_page(root), encoding="utf-8")
    (root / protocol_page.PAGE).write_text(protocol_page.protocol_page(root), encoding="utf-8")
    page = write_status(root)
    write_coverage(root)
    write_mutants(root)
    write_writers_and_readers(root)
    write_results_page(root, "known-bugs.md", known_bugs_page(load_known_bugs(root)))
    write_results_page(root, "peers.md", peers_page(root))
    write_results_page(root, REAL_TABLES, real_tables_page(root))
    write_recorded_pages(root)
    sys.stdout.write(f"wrote the references in docs, and pages of results in {page.parent}\n")


if __name__ == "__main__":
    write_pages(find_root(Path.cwd()))
