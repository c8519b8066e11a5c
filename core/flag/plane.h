/* SumThreshold on a plane: the amplitudes of one unit and part, [row][channel]. */
#pragma once

#include "core/flag/flag.h"

G_BEGIN_DECLS

#define ASTRO_FLAG_TIME_TAPS 21 /* of the Gaussians, as in AOFlagger's strategies */
#define ASTRO_FLAG_CHANNEL_TAPS 31
#define ASTRO_FLAG_UNIT 1024 /* of deviations in integers: a standard deviation */
#define ASTRO_FLAG_MOST (1024 * ASTRO_FLAG_UNIT) /* larger deviations are cut */

/* Settings of the threshold, the same for all planes. */
typedef struct {
  guint longest;
  /* For each of the three rounds, the least mean of so many values that is flagged, in integers. */
  gint32 limits[3][ASTRO_FLAG_LONGEST + 1];
  /* Gaussians, and these times the first and second power of the distance. */
  float time_taps[3][ASTRO_FLAG_TIME_TAPS], channel_taps[3][ASTRO_FLAG_CHANNEL_TAPS];
} AstroFlagThresholds;

void astro_flag_thresholds(AstroFlagThresholds *thresholds, double threshold, guint longest);

/* A plane and the room to work on it, each array of rows * channels. */
typedef struct {
  guint rows, channels;
  gboolean is_power;
  const float *amplitudes; /* NaN: missing; infinite: not finite */
  gint32 *deviations;      /* whole numbers; 0 where usable is 0 */
  gint32 *usable;          /* 1, or 0 where a value is missing or not finite */
  gint32 *bad;             /* 1: flagged; the result */
  float *baseline, *weighted, *weights, *sorted, *moments[5];
  gint32 *room[4];
} AstroFlagPlane;

gsize astro_flag_plane_bytes(guint64 rows, guint64 channels); /* of that room */
void astro_flag_plane_lay(AstroFlagPlane *plane, gpointer room, guint rows, guint channels);

/* The parts of the work that have a reference and variants, which agree to the bit: sums of
 * integers are exact, and those of floats are made in the order of the taps. */
typedef struct {
  /* out[t][c] = sum over k of taps[k] in[t + k - half][c], where such a row exists, from 0 on and
   * in this order. */
  void (*smooth_rows)(const float *in, float *out, guint rows, guint channels, const float *taps,
                      guint n_taps);
  /* The same along channels. */
  void (*smooth_channels)(const float *in, float *out, guint rows, guint channels,
                          const float *taps, guint n_taps);
  /* Flags windows of n values, along rows (time) or channels, whose mean is beyond limits[number of
   * usable values]: bad is read first and written at the end. */
  void (*flag_windows)(AstroFlagPlane *plane, guint n, gboolean along_rows, const gint32 *limits);
} AstroFlagPlaneWork;

/* FALSE: it has no noise to compare with, and nothing is flagged. */
gboolean astro_flag_plane(AstroFlagPlane *plane, const AstroFlagThresholds *thresholds,
                          const AstroFlagPlaneWork *work);

G_END_DECLS
