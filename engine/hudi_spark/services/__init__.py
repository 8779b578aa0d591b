"""Table services, one a module: each plans under the lock of the table, and carries its plan out."""
