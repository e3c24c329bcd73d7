"""Where tuples go: one definition per file."""

from __future__ import annotations

from anabranch.operators.sinks.base import SinkDefinition
from anabranch.operators.sinks.collect import Collect
from anabranch.operators.sinks.for_each import ForEach
from anabranch.operators.sinks.write_file import WriteFile
from anabranch.operators.sinks.write_tcp import WriteTcp

__all__ = ["Collect", "ForEach", "SinkDefinition", "WriteFile", "WriteTcp"]
