"""The lock of a table: who holds it may plan and finish actions."""
