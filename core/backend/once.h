/* What there is once in a process, whichever of its libraries have a copy of the science: this one
 * they all share. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* FFTW's planner is one, and bears one caller at a time. */
GMutex *astro_fftw_mutex(void);

ASTRO_END_DECLS
