"""Where tuples come from: one definition per file."""

from __future__ import annotations

from anabranch.operators.sources.beacon import Beacon
from anabranch.operators.sources.from_frame import FromFrame
from anabranch.operators.sources.from_items import FromItems
from anabranch.operators.sources.generate import Generate
from anabranch.operators.sources.read_files import ReadFiles
from anabranch.operators.sources.read_tcp import ReadTcp

__all__ = ["Beacon", "FromFrame", "FromItems", "Generate", "ReadFiles", "ReadTcp"]
