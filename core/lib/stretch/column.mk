# Unbroken stretches of samples: the windows that values are made of, and samples that are missing.
core_sources += core/lib/stretch/losses.c core/lib/stretch/losses.h core/lib/stretch/windows.c core/lib/stretch/windows.h
