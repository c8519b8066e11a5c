"""Settings of CASA for check-casa: its measures are those of the package casadata, and nothing is downloaded."""
import importlib.util
import os

measurespath = os.path.join(os.path.dirname(importlib.util.find_spec("casadata").origin), "__data__")
measures_auto_update = False
data_auto_update = False
nologfile = True
