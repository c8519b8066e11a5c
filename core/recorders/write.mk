# Writers of recorders' files.
core_sources += core/recorders/write.c core/recorders/write.h core/recorders/write-parts.h core/recorders/write-block.c \
  core/recorders/write-block.h core/recorders/write-levels.c core/recorders/write-levels.h core/recorders/write-dada.c \
  core/recorders/write-guppi.c core/recorders/write-vdif.c core/recorders/write-sigproc.c core/recorders/sigproc.h
core_tests += tests/core/recorders/write-levels
element_sources += elements/astrorecordsink.c elements/astrorecordsink.h
element_tests += tests/elements/astrorecordsink tests/elements/recorded-losses
dist_files += tests/elements/written.h tests/interop/recorders-written.py tests/interop/filterbank.py
