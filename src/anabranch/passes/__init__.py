"""The passes of the compiler, each a function from a plan to a plan."""
