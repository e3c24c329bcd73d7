"""The pieces of a drawing: where they stand, how they look, and how they are written down."""
