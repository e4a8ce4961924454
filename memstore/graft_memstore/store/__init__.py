"""The only part that speaks SQL: one file per table, one writer thread per profile."""
