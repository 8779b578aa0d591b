"""Operations on a table: planned, tagged, routed and written as tasks over file groups, and committed."""
