core_sources += core/tpacf/tpacf.h core/tpacf/tpacf.c core/tpacf/csv.h core/tpacf/csv.c \
  core/tpacf/about.h core/tpacf/about.c core/tpacf/sums.h core/tpacf/sums.c \
  core/tpacf/space-table.h core/tpacf/space-table.c core/tpacf/angular-table.h core/tpacf/angular-table.c \
  core/tpacf/left-out.h core/tpacf/left-out.c core/tpacf/fields-table.h core/tpacf/fields-table.c \
  core/tpacf/values.h core/tpacf/values.c core/tpacf/errors.h core/tpacf/errors.c \
  core/tpacf/constraint.h core/tpacf/constraint.c
core_tests += tests/core/tpacf/tpacf tests/core/tpacf/tpacf-mock tests/core/tpacf/space tests/core/tpacf/fields
element_sources += elements/astrotpacf.c elements/astrotpacf.h elements/astrotpacf-caps.c elements/astrotpacf-caps.h \
  elements/astrotpacf-told.c elements/astrotpacf-told.h
element_tests += tests/elements/astrotpacf tests/elements/astrotpacf-space tests/elements/astrotpacf-fields
graph_files += graphs/tpacf.graph graphs/tpacf-files.graph graphs/tpacf-cross.graph graphs/tpacf-seed.graph graphs/tpacf-survey.graph graphs/shear.graph
