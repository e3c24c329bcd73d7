"""The logs of several servers, one file each, as `examples/network_monitor.py` reads them.

    python -m examples.data.logs --count 1000000 --out build/demo/logs --seed 7

Few users cause many of the entries, and servers are not equally busy. Now and then a user attacks: some hundred
entries within seconds, on all servers. A few entries are recorded late, behind entries that came after them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute

from examples.data.shared import blocks, check_size, command, csv_files, skewed, trait, uniform

COLUMNS = {"uid": pa.int64(), "server": pa.string(), "msg": pa.string(), "ts": pa.float64()}
BYTES_PER_ENTRY = 45
SERVERS = ("www", "api", "static", "shop", "login", "mail")
ENTRIES_PER_SECOND = 400.0  # on all servers together
USERS = 5000

MESSAGES = np.array(["GET /", "GET /search", "GET /cart", "POST /order", "login ok", "login failed"])
USUAL = np.array([0.45, 0.20, 0.15, 0.05, 0.12, 0.03])
LOGIN_FAILED = 5

ATTACK_EVERY = 4000  # entries there is an attack, or almost
ATTACK_SIZE = 700  # entries, a part of which is the attacker's
ATTACKER_SHARE = 0.5
LATE = 0.003  # of the entries are recorded up to LONGEST_DELAY seconds late
LONGEST_DELAY = 3.0


def write_logs(folder: str | Path, count: int, seed: int = 7) -> None:
    """Write `count` entries to `logs.<server>.csv` in a folder; equal arguments give equal files."""
    check_size(count, Path(folder), BYTES_PER_ENTRY)
    paths = [Path(folder) / f"logs.{server}.csv" for server in SERVERS]
    with csv_files(paths, COLUMNS) as files:
        for first, size in blocks(count):
            entries = pa.table(_entries(first, size, seed))
            for server, file in zip(SERVERS, files, strict=True):
                own = entries.filter(pa.compute.equal(entries["server"], server)).combine_chunks()
                for batch in own.to_batches():
                    file.write(dict(zip(batch.schema.names, batch.columns, strict=True)))


def _entries(first: int, size: int, seed: int) -> dict[str, np.ndarray | pa.Array]:
    def draw(purpose: int) -> np.ndarray:
        return uniform(seed, purpose, first, size)

    number = first + np.arange(size)
    ts = (number + draw(0)) / ENTRIES_PER_SECOND
    ts = np.round(np.where(draw(1) < LATE, np.maximum(ts - LONGEST_DELAY * draw(2), 0.0), ts), 3)

    uid = 1000 + skewed(draw(3), USERS)
    message = np.searchsorted(np.cumsum(USUAL)[:-1], draw(4), side="right")
    server = skewed(draw(5), len(SERVERS))

    # Attack number k begins somewhere in the k-th stretch of entries and is made by one user.
    attack = number // ATTACK_EVERY
    begin = attack * ATTACK_EVERY + trait(attack, seed, 20) * (ATTACK_EVERY - ATTACK_SIZE)
    is_attack = (number >= begin) & (number < begin + ATTACK_SIZE) & (draw(6) < ATTACKER_SHARE)
    attacker = 1000 + (USERS * trait(attack, seed, 21)).astype(np.int64)
    return {
        "uid": np.where(is_attack, attacker, uid),
        "server": _texts(server, np.array(SERVERS)),
        "msg": _texts(np.where(is_attack, LOGIN_FAILED, message), MESSAGES),
        "ts": ts,
    }


def _texts(indices: np.ndarray, texts: np.ndarray) -> pa.Array:
    return pa.DictionaryArray.from_arrays(indices, texts).cast(pa.string())


if __name__ == "__main__":
    command("examples.data.logs", "Write the logs of several servers as CSV.", "logs", write_logs)
