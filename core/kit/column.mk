# Tools without science that several rooms share.
library_sources += core/kit/add-values.h core/kit/share.h core/kit/exports.h core/kit/enum.h core/kit/fail.c core/kit/fail.h core/kit/pages.c core/kit/pages.h
core_sources += core/kit/split-mix.h core/kit/units.h core/kit/noise.c core/kit/noise.h core/kit/power-law.c core/kit/power-law.h core/kit/polynomial.c core/kit/polynomial.h core/kit/copy-rows.h core/kit/tile-registers.h \
  core/kit/shuffle.h core/kit/turn.h core/kit/vector.h core/kit/vector-reals.h core/kit/vector-size.h core/kit/last-line.h \
  core/kit/last-line.c core/kit/values.h core/kit/values.c core/kit/lines.c core/kit/lines.h core/kit/angle.c \
  core/kit/angle.h core/kit/share.c core/kit/on-both.h core/kit/degrees.h
core_tests += tests/core/kit/degrees
