# Pictures for browsers.
core_sources += core/serve/pictures.c core/serve/pictures.h
element_sources += elements/astrohttpsink.c elements/astrohttpsink.h
core_tests += tests/core/pictures
fuzz_programs += tests/fuzz/pictures
element_tests += tests/elements/astrohttpsink
dist_files += tests/viewer.h
example_files += examples/waterfall.sh
