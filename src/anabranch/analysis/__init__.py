"""Property analysis of user code: state, selectivity and forwarding, each with its reason."""

from anabranch.analysis.analyze import analyze_function, analyze_operator, shared_effects
from anabranch.analysis.findings import Findings

__all__ = ["Findings", "analyze_function", "analyze_operator", "shared_effects"]
