# Samples with their axes in another order: how a block is cut for it, and the kernels.
core_sources += core/lib/transpose/config.c core/lib/transpose/config.h core/lib/transpose/plan.c \
  core/lib/transpose/plan.h core/lib/transpose/run.c core/lib/transpose/prefetch.h core/lib/transpose/loops.h \
  core/lib/transpose/kernels.h core/lib/transpose/tiles.h
core_level_sources += core/lib/transpose/kernels-levels.c
