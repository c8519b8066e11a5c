# Tables of gains, which calibration and delays share.
core_sources += core/lib/gains/gains.h core/lib/gains/gains.c core/lib/gains/interpolate.c core/lib/gains/caps.h core/lib/gains/caps.c
core_tests += tests/core/lib/gains/gains
