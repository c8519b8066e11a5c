# How long an integration is.
core_sources += core/lib/integration/integration.c core/lib/integration/integration.h
