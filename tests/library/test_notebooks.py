"""Do the notebooks run from start to end, and show the documented results?"""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": path.parent}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    warned = [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]
    assert all(": Note: " in text for text in warned), warned
    shown = [output.data.get("text/html", "") for output in outputs if "data" in output]
    assert any("<svg" in html for html in shown), "a result shows its picture"


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["spare-area", "trace-to-advice"]
