/* The Earth and the Sun by ERFA, or by a kernel of the JPL. */
#include "config.h"
#include "core/lib/ephemeris/kernel.h"

#include <erfa.h>
#include <erfam.h>

gboolean astro_planets_at(const AstroKernel *kernel, double jd1, double jd2, AstroPlanets *planets,
                          GError **error)
{
  double heliocentric[2][3], barycentric[2][3];
  if (kernel)
    return astro_kernel_at(kernel, jd1, jd2, planets, error);
  eraEpv00(jd1, jd2, heliocentric, barycentric);
  for (guint i = 0; i < 3; i++) {
    planets->earth[i] = barycentric[0][i] * ERFA_DAU;
    planets->velocity[i] = barycentric[1][i] * (ERFA_DAU / ERFA_DAYSEC);
    planets->sun[i] = (barycentric[0][i] - heliocentric[0][i]) * ERFA_DAU;
  }
  return TRUE;
}
