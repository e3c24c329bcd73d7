"""The mark in a folder at an address whose files are being replaced: no object store does that in one step."""

INCOMPLETE = "_INCOMPLETE"
