"""Plots of what was measured, as SVG that is the same for the same figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")
mpl.rcParams.update({"svg.hashsalt": "anabranch", "svg.fonttype": "none", "font.size": 9})
import matplotlib.pyplot as plt  # noqa: E402  # after its backend is chosen

from benchmarks.codegen.chains import CALLS, Curve  # noqa: E402
from benchmarks.codegen.measure import Figure  # noqa: E402
from benchmarks.codegen.throughput import Outcome  # noqa: E402


def plot_curves(path: Path, curves: list[Curve]) -> None:
    """One panel for each form, tuples per second over what varies."""
    figure, panels = plt.subplots(1, len(curves), figsize=(4.2 * len(curves), 3.4), squeeze=False)
    for panel, curve in zip(panels[0], curves, strict=True):
        for name, points in curve.lines.items():
            places = list(points)
            style = {"color": "black", "linestyle": ":"} if name == CALLS else {}
            panel.plot(places, [each.median for each in points.values()], marker="o", ms=3, label=name, **style)
            least, most = ([getattr(each, end) for each in points.values()] for end in ("least", "most"))
            panel.fill_between(places, least, most, alpha=0.15, color=panel.lines[-1].get_color())
        places = list(next(iter(curve.lines.values())))
        panel.set_xscale("symlog", base=2, linthresh=1)
        panel.set_yscale("log")
        panel.set_xticks(places, [str(place) for place in places])
        panel.set(title=f"{curve.form} form", xlabel=curve.varies, ylabel="tuples per second")
        panel.grid(alpha=0.3)
        panel.legend(fontsize=7)
    figure.suptitle(curves[0].title)
    _save(figure, path)


def plot_outcomes(path: Path, outcomes: list[Outcome]) -> None:
    """Every contestant on every pipeline."""
    figure, panels = plt.subplots(1, len(outcomes), figsize=(2.1 * len(outcomes), 3.0), sharey=True, squeeze=False)
    names = list(dict.fromkeys(name for outcome in outcomes for name in outcome.speeds))
    for panel, outcome in zip(panels[0], outcomes, strict=True):
        for at, name in enumerate(names):
            if name in outcome.speeds:
                speed = Figure.of(outcome.speeds[name])
                error = [[speed.median - speed.least], [speed.most - speed.median]]
                panel.bar(at, speed.median, yerr=error, color=f"C{at}", capsize=2)
        panel.set_yscale("log")
        panel.set_title(outcome.pipeline.name, fontsize=8)
        panel.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
        panel.grid(axis="y", alpha=0.3)
    panels[0][0].set_ylabel("tuples per second")
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
