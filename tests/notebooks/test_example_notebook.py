"""The example notebook runs from its first cell to its last, in a kernel of its own, and shows what it promises."""

from __future__ import annotations

import sys

import nbformat
from jupyter_client import KernelManager
from nbclient import NotebookClient

from sample_files import ROOT
from waiting import TIMEOUT

EXAMPLE = ROOT / "examples" / "measure_a_walk.ipynb"


def test_every_cell_runs_and_the_things_show_themselves():
    notebook = nbformat.read(EXAMPLE, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), (
        "results are not kept in the project"
    )
    manager = KernelManager()
    manager.kernel_spec.argv[0] = sys.executable
    where = {"metadata": {"path": str(EXAMPLE.parent)}}
    NotebookClient(
        notebook, timeout=TIMEOUT, startup_timeout=TIMEOUT, km=manager, resources=where
    ).execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    shown = [
        output["data"]
        for cell in code
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    pages = [data["text/html"] for data in shown if "text/html" in data]
    assert "Body <b>BIPED</b>" in pages[0] and "Motion" in pages[1]
    assert pages[2].startswith("<iframe srcdoc=")
    printed = "".join(
        output.get("text", "")
        for cell in code
        for output in cell.outputs
        if output.output_type == "stream"
    )
    assert "Minimum stability margin" in printed
