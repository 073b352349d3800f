"""The chart of the digest: recall and MRR of the last runs, with what changed in between marked."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO

WIDTH_IN, HEIGHT_IN, DPI = 5.0, 3.5, 240
"""1,200 by 840 pixels: sharp at a desktop's width, and large enough letters at a phone's, about 3.5 inches."""
TEXT_PT, MARK_PT = 11, 9
INK, GRID = "#1f2328", "#d0d7de"
RECALL, MRR = "#0550ae", "#bc4c00"
"""Contrast with white 7.6:1 and 5.0:1 (WCAG asks 3:1 of graphics); told apart by marker and dash as well."""


@dataclass(frozen=True)
class Point:
    """One run. A figure that the run does not have is None. `documents`: whether documents had changed since the run
    before; `mark`: what else was."""

    at: datetime
    recall: float | None
    mrr: float | None
    mark: str = ""
    documents: bool = False


def png(points: Sequence[Point]) -> bytes:
    """The picture, oldest run first. No points make an empty chart that says so."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator, PercentFormatter

    figure = Figure(figsize=(WIDTH_IN, HEIGHT_IN), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    places = range(1, len(points) + 1)
    recall, mrr = (
        [_percent(value) for value in values] for values in ([p.recall for p in points], [p.mrr for p in points])
    )
    axes.plot(places, recall, "o-", color=RECALL, lw=2, ms=4, label="Recall@5: found in the top five")
    axes.plot(places, mrr, "s--", color=MRR, lw=2, ms=4, label="MRR@10: how far up")
    synced = [place for place, point in zip(places, points, strict=True) if point.documents]
    if synced:
        axes.plot(synced, [3] * len(synced), "^", color=INK, ms=6, label="documents changed")
    axes.set_ylim(0, 104)
    axes.set_xlim(0.5, max(len(points), 1) + 0.5)
    axes.yaxis.set_major_formatter(PercentFormatter())
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, min_n_ticks=1))
    axes.xaxis.set_major_formatter(lambda x, _: f"{points[round(x) - 1].at:%d %b}" if 1 <= x <= len(points) else "")
    axes.set_ylabel("share of questions", color=INK, fontsize=TEXT_PT)
    axes.set_xlabel("night of the run", color=INK, fontsize=TEXT_PT)
    for place, point in zip(places, points, strict=True):
        if point.mark:
            axes.axvline(place - 0.5, color=INK, lw=1.2, ls=":")
            side, shift = ("right", -4) if place > len(points) / 2 else ("left", 4)
            axes.annotate(point.mark, (place - 0.5, 10), (shift, 0), textcoords="offset points", ha=side,
                          fontsize=MARK_PT, color=INK)  # fmt: skip
    if not points:
        axes.text(0.5, 0.5, "no run yet", transform=axes.transAxes, ha="center", fontsize=TEXT_PT, color=INK)
    axes.grid(axis="y", color=GRID)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=TEXT_PT)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper left", ncols=1, frameon=False, fontsize=TEXT_PT, labelcolor=INK)
    picture = BytesIO()
    figure.savefig(picture, format="png", facecolor="white")
    return picture.getvalue()


def _percent(value: float | None) -> float:
    return float("nan") if value is None else 100 * value
