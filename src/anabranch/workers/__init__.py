"""Workers of one process and what they work on (paper 004): stages, units, stretches, of no engine and no program."""
