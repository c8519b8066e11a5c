# The Python modules: gstastro, and what PyGObject adds to gi.repository.GstAstro.
if INTROSPECTION
gstastropythondir = $(pythondir)/gstastro
gstastropython_DATA = core/python/gstastro/__init__.py core/python/gstastro/blocks.py core/python/gstastro/dlpack.py \
  core/python/gstastro/graph.py core/python/gstastro/image.py core/python/gstastro/library.py core/python/gstastro/pairs.py \
  core/python/gstastro/pipeline.py core/python/gstastro/stage.py
overridesdir = $(pythondir)/gi/overrides
overrides_DATA = core/python/gi/overrides/GstAstro.py
endif
dist_files += core/python/gstastro/__init__.py core/python/gstastro/blocks.py core/python/gstastro/dlpack.py \
  core/python/gstastro/graph.py core/python/gstastro/image.py core/python/gstastro/library.py core/python/gstastro/pairs.py \
  core/python/gstastro/pipeline.py core/python/gstastro/stage.py core/python/gi/overrides/GstAstro.py
dist_files += doc/python.md
# An element in Python, for the folder python/ of a folder in GST_PLUGIN_PATH.
pythonelementdir = $(exampledir)/python
pythonelement_DATA = examples/python/pyclip.py
dist_files += $(pythonelement_DATA)

notebooksdir = $(docdir)/doc/notebooks
notebooks_DATA = doc/notebooks/own-data.ipynb doc/notebooks/new-mode.ipynb
dist_files += $(notebooks_DATA)

api_tests += tests/api/arrays tests/api/notebooks
dist_files += tests/api/arrays.py tests/api/notebook.py tests/bench/peers-arrays
