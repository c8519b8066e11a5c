/* Where the Earth and the Sun are, seen from the barycentre of the solar system.
 *
 * Without a file it is the analytical ephemeris of ERFA (eraEpv00), which is off from the JPL's by
 * up to 13 km over the years 1900 to 2100: 45 us of arrival times, most of it slow, and an error of
 * F0 of some 1e-12. A file is a kernel of the JPL (.bsp), such as de421.bsp or de440s.bsp. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_PLANETS_ERROR_US 45 /* of ERFA's */

typedef struct AstroKernel AstroKernel;

typedef struct {
  double earth[3], velocity[3], sun[3]; /* m and m/s, axes of ICRS */
} AstroPlanets;

/* kernel NULL: ERFA's. The time is TDB, a Julian date in two parts. */
gboolean astro_planets_at(const AstroKernel *kernel, double jd1, double jd2, AstroPlanets *planets,
                          GError **error);

AstroKernel *astro_kernel_open(const char *path, GError **error);
void astro_kernel_free(AstroKernel *kernel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroKernel, astro_kernel_free)

G_END_DECLS
