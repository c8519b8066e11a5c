# How long an integration is, and the axes of what is integrated.
core_sources += core/lib/integration/integration.c core/lib/integration/integration.h core/lib/integration/axes.c core/lib/integration/axes.h
