/* Reads kernels of the JPL: SPK files (.bsp) of little-endian doubles, whose segments hold
 * Chebyshev coefficients of positions (type 2), as de421.bsp, de430.bsp and de440s.bsp do. Only the
 * segments of the Earth, the barycentre of Earth and Moon, and the Sun are used. */
#pragma once

#include "core/lib/ephemeris/planets.h"

G_BEGIN_DECLS

/* A time that the kernel does not cover is refused with the span that it does. */
gboolean astro_kernel_at(const AstroKernel *kernel, double jd1, double jd2, AstroPlanets *planets,
                         GError **error);
/* bytes: the whole file, of which a copy is kept; name for errors. */
AstroKernel *astro_kernel_from_bytes(const char *name, gconstpointer bytes, gsize n,
                                     GError **error);

G_END_DECLS
