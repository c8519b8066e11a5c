/* Folded profiles, application/x-astro-profile: power as a function of a pulsar's phase.
 *
 * A buffer is a sub-integration, and the rate of the caps is that of sub-integrations. A value is
 * the mean of the power in a bin of phase over the good samples that fell into it; their number is
 * its count (validity.h). A value without any good sample is 0, and its count is 0.
 *
 * The format is F32LE, the layout channel:pol:phase, with station or beam in front where there are
 * several. Fields of the caps are
 *
 *   bins      int, of the axis phase. Bin b has the phases from b / bins to (b + 1) / bins.
 *   period    double, s: the period that was asked for, or 1 / F0 of a pulsar's ephemeris.
 *   dm        double, pc/cm^3: the dispersion measure whose delays between the channels were taken
 *             out; 0: channels are as they came.
 *   products  as of power (power.h): the names of the elements of the pol axis. */
#pragma once

#include "core/stream/power.h"

ASTRO_BEGIN_DECLS

typedef struct {
  AstroPowerProducts products;
  double period; /* s */
  double dm;     /* pc/cm^3 */
} AstroProfile;

/* Takes fixed caps of profiles only, and checks format, axes and fields. */
gboolean astro_profile_from_caps(AstroStream *stream, AstroProfile *profile, const GstCaps *caps,
                                 GError **error);
/* stream: its pol axis has as many elements as there are products. */
GstCaps *astro_profile_to_caps(const AstroStream *stream, const AstroProfile *profile);

ASTRO_END_DECLS
