# One image of all channels, with the spectrum of every pixel.
core_sources += core/terms/terms.h core/terms/check.c core/terms/check.h core/terms/reference.c core/terms/cpu.c core/terms/work.c
element_sources += elements/astroterms.c elements/astroterms.h elements/astroterms-caps.c elements/astroterms-caps.h
core_tests += tests/core/terms/terms
element_tests += tests/elements/astroterms
