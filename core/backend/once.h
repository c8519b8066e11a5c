/* State that must exist only once in a process, even when several of its libraries contain a copy
 * of the science code: they all share this library. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* FFTW's planner is global and takes one caller at a time. */
GMutex *astro_fftw_mutex(void);

ASTRO_END_DECLS
