"""Says what a run waits for where a cluster gives it nothing to run on: Spark itself waits for ever without a word."""

from __future__ import annotations

import json
import logging
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from anabranch.engines.spark.session.masters import STANDALONE, addresses_of_masters

SECONDS = 10.0  # until it is said, and until it is looked again
_SECONDS_TO_ANSWER = 8.0
_WORKERS_SHOWN = 5

_log = logging.getLogger("anabranch")


@dataclass(frozen=True)
class Asked:
    """What each executor is to have, and how many cores all of them may have; None: as many as there are."""

    master: str
    memory: int  # MB
    cores: int | None = None
    most_cores: int | None = None


@dataclass(frozen=True)
class Worker:
    host: str
    cores: int
    free_cores: int
    memory: int  # MB
    free_memory: int


@dataclass(frozen=True)
class Offered:
    """What a standalone master has, how many cores of it other applications hold, and how many it has granted us."""

    workers: tuple[Worker, ...]
    held: tuple[tuple[str, int], ...] = ()
    granted: int = 0


# In words -------------------------------------------------------------------------------------------------------------


def waiting_in_words(asked: Asked, offered: Offered | None, ended: str | None = None) -> str:
    """What is waited for, what was asked, what there is; `ended` is why the last executor has gone, if one came."""
    lines = [
        f"waiting: no executor of {asked.master} has come yet",
        f"  asked for: executors with {asked.memory:,} MB and {_cores_of(asked)}",
    ]
    if offered is not None:
        lines.append(f"  there: {_workers(offered)}")
        lines += [f"  held: {_held(offered)}"] if offered.held else []
        lines += [f"  granted: {_count(offered.granted, 'core')}, but nothing came of it"] if offered.granted else []
    if ended is not None:
        lines.append(f"  an executor came and ended: {ended}")
    return "\n".join([*lines, f"  try: {_hint(asked, offered, ended)}"])


def _cores_of(asked: Asked) -> str:
    each = "all free cores of a worker" if asked.cores is None else _count(asked.cores, "core")
    return f"{each} each" if asked.most_cores is None else f"{each} each, at most {asked.most_cores:,} cores in all"


def _workers(offered: Offered) -> str:
    if not offered.workers:
        return "no worker"
    shown = [
        f"{each.host} with {each.free_cores} of {_count(each.cores, 'core')} and {each.free_memory:,} of "
        f"{each.memory:,} MB free"
        for each in offered.workers[:_WORKERS_SHOWN]
    ]
    more = len(offered.workers) - len(shown)
    return "; ".join([*shown, f"and {_count(more, 'worker')} more"] if more else shown)


def _held(offered: Offered) -> str:
    return ", ".join(f"{_count(cores, 'core')} by '{name}'" for name, cores in offered.held)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _hint(asked: Asked, offered: Offered | None, ended: str | None) -> str:
    if offered is None and ended is None:
        return "see the cluster's own pages for what is free, or ask for less: --spark-conf spark.executor.memory=…"
    if offered is not None and not offered.granted:
        if not offered.workers:
            return f"start a worker for it: start-worker.sh {asked.master}"
        memory = max(each.memory for each in offered.workers)
        if asked.memory > memory:
            return f"no worker has so much memory: --spark-conf spark.executor.memory={memory}m, or less"
        cores = max(each.cores for each in offered.workers)
        if asked.cores is not None and asked.cores > cores:
            return f"no worker has so many cores: --spark-conf spark.executor.cores={cores}, or fewer"
        if not any(_has_room(each, asked) for each in offered.workers):
            return "wait until others have ended, or have them take less: spark.cores.max, spark.executor.memory"
    return (
        "wait, if the machines are slow; else the logs of the workers say why executors do not stay. Often they cannot "
        "reach this process: --spark-conf spark.driver.host=… is the name under which they find it"
    )


def _has_room(worker: Worker, asked: Asked) -> bool:
    return worker.free_cores >= (asked.cores or 1) and worker.free_memory >= asked.memory


# While a job runs -----------------------------------------------------------------------------------------------------


@contextmanager
def told_while_waiting(session: Any) -> Iterator[None]:
    """While the block runs, what it waits for is said whenever that is new."""
    context = getattr(session, "sparkContext", None)
    if context is None or str(context.master).startswith("local"):  # a server's cluster is not ours to ask
        yield
        return
    is_over = threading.Event()
    threading.Thread(target=_watch, args=(context, is_over), daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def _watch(context: Any, is_over: threading.Event) -> None:
    said = None
    with suppress(Exception):  # whatever it is, the job itself will say it
        while not is_over.wait(SECONDS):
            if _has_executors(context):
                return
            words = waiting_in_words(_asked(context), _offered(context), _last_end(context))
            if words != said and not is_over.is_set():
                _log.warning(words)
                said = words


def _has_executors(context: Any) -> bool:
    """Besides the driver, which is one of them here."""
    return len(context._jsc.sc().statusTracker().getExecutorInfos()) > 1


def _asked(context: Any) -> Asked:
    settings = context.getConf()
    cores, most = settings.get("spark.executor.cores"), settings.get("spark.cores.max")
    return Asked(
        str(context.master),
        int(context._jsc.sc().executorMemory()),
        None if cores is None else int(cores),
        None if most is None else int(most),
    )


def _last_end(context: Any) -> str | None:
    """Why the executor went that went last."""
    with suppress(Exception):  # an inner part of Spark's
        known = context._jsc.sc().statusStore().executorList(False)
        ends = [known.apply(number).removeReason() for number in range(known.size())]
        reasons = [end.get() for end in ends if end.isDefined()]
        return str(reasons[-1]).partition("\n")[0] if reasons else None
    return None


def _offered(context: Any) -> Offered | None:
    """What the master of a standalone cluster tells on its pages; None where it cannot be asked."""
    master = str(context.master)
    for host, port in addresses_of_masters(master) if master.startswith(STANDALONE) else ():
        with suppress(Exception):
            state = _state(host, _port_of_pages(context, host, port))
            if state["status"] == "ALIVE":
                return offered_by(state, str(context.applicationId))
    return None


def _port_of_pages(context: Any, host: str, port: int) -> int:
    """A master says by itself where its pages are."""
    java = context._jvm
    address = java.org.apache.spark.rpc.RpcAddress(host, port)
    master = context._jsc.sc().schedulerBackend().rpcEnv().setupEndpointRef(address, "Master")
    question = getattr(getattr(java.org.apache.spark.deploy.master, "MasterMessages$BoundPortsRequest$"), "MODULE$")
    any_answer = getattr(getattr(java.scala.reflect, "ClassTag$"), "MODULE$").Any()
    return int(master.askSync(question, any_answer).webUIPort())


def _state(host: str, port: int) -> Mapping[str, Any]:
    directly = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    name = f"[{host}]" if ":" in host else host
    with directly.open(f"http://{name}:{port}/json/", timeout=_SECONDS_TO_ANSWER) as answer:
        found: Mapping[str, Any] = json.load(answer)
        return found


def offered_by(state: Mapping[str, Any], application: str) -> Offered:
    """What a master says of itself; `application` is the one that asks."""
    workers = tuple(
        Worker(each["host"], each["cores"], each["coresfree"], each["memory"], each["memoryfree"])
        for each in state["workers"]
        if each["state"] == "ALIVE"
    )
    held = [each for each in state["activeapps"] if each["cores"]]
    others = tuple((each["name"], each["cores"]) for each in held if each["id"] != application)
    return Offered(workers, others, sum(each["cores"] for each in held if each["id"] == application))
