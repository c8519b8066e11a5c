# Streams as bytes for other processes of a job, and which process has which share. The plugin for MPI is elements/mpi.
core_sources += core/ranks/world.c core/ranks/world.h core/ranks/item.c core/ranks/item.h
core_tests += tests/core/ranks/world tests/core/ranks/item
