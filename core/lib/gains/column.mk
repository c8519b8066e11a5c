# Tables of gains, which calibration and delays share.
core_sources += core/lib/gains/gains.h core/lib/gains/gains.c core/lib/gains/interpolate.c
core_tests += tests/core/lib/gains/gains
