"""What channels bring to programs that had to do without them, and what they cost, on Spark."""
