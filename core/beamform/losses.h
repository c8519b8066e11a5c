/* Losses of a beam: which samples of stations are good, and how many are behind each value of the
 * beams. A sample is lost for both polarisations if either of them has losses, as in the
 * correlator. */
#pragma once

#include "core/beamform/check.h"

G_BEGIN_DECLS

/* A byte for each step of each station that takes part, 0: lost; for each channel if losses differ
 * between them. */
typedef struct {
  guint8 *map;            /* NULL: nothing is lost */
  gsize channel, station; /* bytes from one to the next; channel is 0 if all are alike */
} AstroBeamformGood;

/* FALSE: no memory. */
gboolean astro_beamform_good_init(AstroBeamformGood *good, const AstroBeamformConfig *config,
                                  const AstroBeamformArguments *arguments, guint threads,
                                  GError **error);
void astro_beamform_good_clear(AstroBeamformGood *good);

static inline const guint8 *astro_beamform_good_row(const AstroBeamformGood *good, guint channel,
                                                    guint station)
{
  return good->map + channel * good->channel + station * good->station;
}

/* Adds the counts of the beams to their buffer: of the stations that take part (the full count),
 * those left whose sample is not lost. A station with weight 0 in a channel cannot be lost there;
 * where no station with another weight is left, the count is 0. Nothing if the input has no
 * counts. */
void astro_beamform_validity(const AstroBeamformConfig *config,
                             const AstroBeamformArguments *arguments, GstBuffer *out);

G_END_DECLS
