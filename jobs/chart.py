"""The chart of the digest: recall and MRR of the last runs, with what changed in between marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

WIDTH_IN, HEIGHT_IN, DPI = 8.0, 4.0, 150
"""1,200 by 600 pixels: sharp at a desktop's width, and legible at a phone's third of it."""
INK, GRID = "#1f2328", "#d0d7de"
RECALL, MRR = "#0550ae", "#bc4c00"
"""Contrast with white 7.6:1 and 5.0:1 (WCAG asks 3:1 of graphics); told apart by marker and dash as well."""


@dataclass(frozen=True)
class Point:
    """One run. A figure that the run does not have is None. `mark`: what was changed since the run before."""

    at: datetime
    recall: float | None
    mrr: float | None
    mark: str = ""


def png(points: Sequence[Point]) -> bytes:
    """The picture, oldest run first. No points make an empty chart that says so."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    places = range(1, len(points) + 1)
    axes.plot(
        places,
        [_percent(p.recall) for p in points],
        "o-",
        color=RECALL,
        lw=2.2,
        label="Recall@5 (found among the first five)",
    )
    axes.plot(places, [_percent(p.mrr) for p in points], "s--", color=MRR, lw=2.2, label="MRR@10 (how far up)")
    axes.set_ylim(0, 104)
    axes.set_xlim(0.5, max(len(points), 2) + 0.5)
    axes.yaxis.set_major_formatter(PercentFormatter())
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.xaxis.set_major_formatter(lambda x, _: f"{points[round(x) - 1].at:%d %b}" if 1 <= x <= len(points) else "")
    axes.set_ylabel("share of questions", color=INK, fontsize=13)
    axes.set_xlabel("night of the run", color=INK, fontsize=13)
    for place, point in zip(places, points, strict=True):
        if point.mark:
            axes.axvline(place - 0.5, color=INK, lw=1.2, ls=":")
            axes.annotate(
                point.mark,
                (place - 0.5, 3),
                xytext=(4, 0),
                textcoords="offset points",
                rotation=90,
                fontsize=10,
                color=INK,
            )
    if not points:
        axes.text(0.5, 0.5, "no run yet", transform=axes.transAxes, ha="center", fontsize=16, color=INK)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=12)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize=12, labelcolor=INK)
    picture = BytesIO()
    figure.savefig(picture, format="png", facecolor="white")
    return picture.getvalue()


def _percent(value: float | None) -> float:
    return float("nan") if value is None else 100 * value
