# Headers of VDIF, which packets and recordings share.
core_sources += core/lib/vdif/vdif.h core/lib/vdif/vdif.c core/lib/vdif/seconds.h core/lib/vdif/seconds.c
