# Files that are written beside their name, packing by gzip, and names with the time in them.
core_sources += core/lib/files/part-file.c core/lib/files/part-file.h core/lib/files/gzip.c core/lib/files/gzip.h \
  core/lib/files/part-folder.c core/lib/files/part-folder.h core/lib/files/write-all.h core/lib/files/nameless.c core/lib/files/nameless.h core/lib/files/utc-name.c core/lib/files/utc-name.h core/lib/files/inputs.c core/lib/files/inputs.h \
  core/lib/files/set-folder.c core/lib/files/set-folder.h
core_tests += tests/core/lib/files/part-file tests/core/lib/files/part-folder tests/core/lib/files/utc-name tests/core/lib/files/inputs
element_sources += elements/astroopen.c elements/astroopen.h elements/astroopen-find.c elements/astroopen-find.h \
  elements/astroopen-source.c elements/astroopen-source.h \
  elements/astroopen-uvfits.c elements/astroopen-uvfits.h
element_tests += tests/elements/astroopen
