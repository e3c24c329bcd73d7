"""The tripwire: what operators in parallel channels share is looked at when a channel begins and when it ends.

The analysis proves that it stays the same. Where the proof is wrong, this makes an error of what would be a wrong
answer. Nothing here knows any engine, and nothing here runs code of the user's.
"""
