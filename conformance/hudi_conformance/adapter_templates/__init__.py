"""Projects to begin an adapter with, one a language; they pass `smoke` as they are."""
