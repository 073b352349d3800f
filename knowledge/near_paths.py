"""What was meant by a path that is not there: what stands beside it under nearly its name."""

from collections.abc import Callable
from pathlib import Path

from knowledge import spelling


def nearest(path: Path, fits: Callable[[Path], bool]) -> str | None:
    """As it is called from where the path goes wrong; None when it is there, or nothing that `fits` is nearly called so."""
    try:
        wrong = [each for each in (path, *path.parents) if not each.exists()]
        if not wrong:
            return None
        missing, rest = wrong[-1], path.relative_to(wrong[-1])
        beside = [each.name for each in missing.parent.iterdir() if fits(each / rest)]
    except OSError:  # a folder that this process may not look into
        return None
    return next((str(Path(name) / rest) for name in spelling.nearest(missing.name, beside, 1)), None)
