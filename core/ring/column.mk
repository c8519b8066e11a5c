# The ring: the last seconds of a stream, sent when a trigger asks for them.
core_sources += core/ring/ring.h core/ring/ring.c core/ring/times.c
core_tests += tests/core/ring/ring
element_sources += elements/astroring.c elements/astroring.h elements/astroring-in.c elements/astroring-out.c elements/astroring-parts.h \
  elements/base/astrobranches.c elements/base/astrobranches.h elements/base/astrolistener.c elements/base/astrolistener.h
element_tests += tests/elements/astroring
example_files += examples/ring.sh
