"""notebook.py FILE: runs the cells of a notebook one after the other, as Jupyter does, without Jupyter."""
import json
import os
import sys
import types


def fake_display():
    """Gives IPython's functions that notebooks show pictures with; a picture must be a file."""
    def image(filename):
        assert os.path.getsize(filename) > 100, filename
    module = types.ModuleType("IPython.display")
    module.Image, module.display = image, lambda shown: None
    sys.modules["IPython"], sys.modules["IPython.display"] = types.ModuleType("IPython"), module


def main():
    fake_display()
    with open(sys.argv[1], encoding="utf-8") as file:
        cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    if len(cells) < 3:
        sys.exit(f"{sys.argv[1]} has {len(cells)} cells of code")
    for cell in cells:
        assert not cell["outputs"], "outputs are made when it is run, and not kept"
    names = {}
    for i, cell in enumerate(cells):
        exec(compile("".join(cell["source"]), f"{os.path.basename(sys.argv[1])}, cell {i}", "exec"), names)


main()
