"""Workers of one process and what they work on (paper 004). It knows no engine and no program: stages, units, stretches."""
