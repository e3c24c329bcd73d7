"""Users who cause unusually many log entries on many servers: network monitoring.

Make the logs of an hour or so, and look at them:

    python -m examples.data.logs --count 1000000 --out logs
    anabranch run examples/network_monitor.py --logs "logs/*.csv" --out suspects.csv

This is Fig. 1 of Schneider et al., "Safe Data Parallelism for General Streaming": the logs are parallel by server,
the counts are parallel by user, so entries have to be shuffled in between, and what comes out must be in order again.
"""

from pathlib import Path
from typing import Any, NamedTuple

import anabranch as ab


class Entry(NamedTuple):
    uid: int
    server: str
    msg: str
    ts: float  # seconds


class Summary(NamedTuple):
    uid: int
    total: int
    until: float  # where the window ends


@ab.app
def network_monitor(
    logs: str = "logs/*.csv", out: str = "suspects.csv", threshold: int = 100, ordered: bool = True
) -> None:
    """Find the users with more than `threshold` log entries within five seconds, over all servers.

    logs: the CSV files of the servers, one for each
    out: where to write the suspects
    threshold: up to this many entries are nothing unusual
    ordered: whether the order of the suspects matters; if not, they are written in parallel
    """
    (
        # Each file is a partition: a server's entries are in one of them only. Drawn by `ts`, the entries of all
        # servers come as one stream in the order of their time, however busy each server is.
        ab.read_csv(logs, Entry, partition_by="server", order_by="ts")
        # Every user has windows of their own. They close when the time of the *stream* passes their end, so a user
        # who falls silent is counted too. An entry that comes after that is late: dropped, and counted as late.
        .window(ab.tumbling(seconds=5, on="ts"), key="uid")
        # `uid` needs no aggregate: it is the key.
        .aggregate(Summary, total=ab.count(), until=ab.window_end())
        .filter(lambda summary: summary.total > threshold)
        # An ordered sink is written as if everything had run one tuple after the other.
        .write_csv(out, ordered=ordered)
    )


def generate(count: int, folder: Path, seed: int = 7) -> dict[str, Any]:
    """Make data of the given size in a folder; what the app has to be told to use them."""
    from examples.data.logs import write_logs

    write_logs(folder / "logs", count, seed)
    return {"logs": str(folder / "logs" / "*.csv"), "out": str(folder / "suspects.csv")}
