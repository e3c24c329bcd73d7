"""Small operators with their true properties: what the analyser is judged by.

`clean_*.py` is what good engineers write; `trap_*.py` hides state, emissions or changed attributes from a reader of
syntax trees; `helpers_*.py` are the modules those import. Add an operator by decorating it with `registry.entry`.
"""
