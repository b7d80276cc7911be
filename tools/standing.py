"""Writes python/ssdlab/simulator/drives/standing.json: the study `data-sheets` of every drive, for
`ssdlab.simulator.drives.standing`.

usage: standing.py [NAME ...], all drives or some; the others keep what is stored. It takes minutes.
"""

import datetime
import json
import sys
from pathlib import Path

from ssdlab import __version__
from ssdlab.experiments.studies.context import Context
from ssdlab.experiments.studies.data_sheets import comparison
from ssdlab.experiments.studies.real_drives.comparison import FIGURES
from ssdlab.simulator.drives import load, names, standing

FILE = Path(standing.__file__).with_name(standing.FILE)


def main(asked: list[str]) -> None:
    kept = standing.stored()["drives"] if FILE.exists() else {}
    drives = {}
    for name in names():
        if not standing.is_product(load(name)):
            continue
        drives[name] = kept[name] if asked and name not in asked and name in kept else simulated(name)
    content: standing.FileJson = {
        "version": __version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "drives": drives,
    }
    FILE.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def simulated(name: str) -> standing.StandingJson:
    """What is stored of one drive."""
    file = load(name)
    figures = [figure for figure in FIGURES if figure["drive"] == name]
    rows: list[standing.RowJson] = [
        {
            "row": comparison.label(row, file),
            "unit": row.unit,
            "rated": float(row.value),
            "simulated": float(f"{value:.5g}"),
            "from_memory": row.source == standing.FROM_MEMORY,
        }
        for (_, row), value in comparison.simulate(Context(workers=1), [file])
    ]
    for row in rows:
        print(f"{name}  {row['row']}: {row['simulated']:,g} of {row['rated']:,g} {row['unit']}", flush=True)
    return {
        "sha256": standing.fingerprint(file),
        "fitted_to": sum(figure["fitted"] == "yes" for figure in figures),
        "compared_with": len(figures),
        "rows": rows,
    }


if __name__ == "__main__":
    main(sys.argv[1:])
