"""The pipelines that are measured, each with its rivals in one file."""

from benchmarks.codegen.pipelines.count_window import COUNT_WINDOW
from benchmarks.codegen.pipelines.json_purchases import JSON_PURCHASES
from benchmarks.codegen.pipelines.mobility_fraud import MOBILITY_FRAUD
from benchmarks.codegen.pipelines.network_monitor import NETWORK_MONITOR
from benchmarks.codegen.pipelines.time_window import TIME_WINDOW
from benchmarks.codegen.pipelines.vwap_bargains import VWAP_BARGAINS

PIPELINES = (MOBILITY_FRAUD, NETWORK_MONITOR, VWAP_BARGAINS, COUNT_WINDOW, TIME_WINDOW, JSON_PURCHASES)
