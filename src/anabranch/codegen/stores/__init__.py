"""Stores: what an operator keeps, in one form from which native words and Python instances are made, and back.

That form is the state of the operator's sequential meaning (`operators/`), which knows nothing of fusion, of channels
or of how code is generated: instances by key, the keys that were seen, windows by end, key and group, and clocks.
`schema.py` says what there is of an operator. Loans make of native words what an item touches, and put it back. A
`Store` (`store.py`) is all of it apart from the element that runs the operator: another one goes on with it.
"""
