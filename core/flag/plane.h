/* SumThreshold on a plane: the amplitudes of one unit and part, [row][channel]. */
#pragma once

#include "core/flag/flag.h"

G_BEGIN_DECLS

#define ASTRO_FLAG_ROUNDS 3
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
  float *baseline, *sorted;
  float *weights[2], *weighted[2]; /* before and after a line is fitted along rows */
  gboolean has_missing;            /* whether any value is not usable */
  /* For windows along channels and along rows: sums of summed[] values that count from each place
   * on, and how many those are; 0: none since a value was flagged. */
  guint summed[2];
  gint32 *sums[2], *counts[2];
  gint32 *room[2];
} AstroFlagPlane;

gsize astro_flag_plane_bytes(guint64 rows, guint64 channels); /* of that room */
void astro_flag_plane_lay(AstroFlagPlane *plane, gpointer room, guint rows, guint channels);

/* The parts of the work that have a reference and variants, which agree to the bit: sums of
 * integers are exact, and those of floats are made in the order of the taps. */
typedef struct {
  /* The median over time of each channel's usable amplitudes; NaN where there are none. */
  void (*find_medians)(const AstroFlagPlane *plane, float *medians);
  /* Makes weights[0] and weighted[0] of the values that count: 1 and the amplitude; else 0. */
  void (*weigh)(AstroFlagPlane *plane);
  /* Fits a straight line through the neighbours of each value along rows (of weights[0] and
   * weighted[0]) or channels (of weights[1] and weighted[1]), each with its weight times a tap, and
   * takes it at the value's own place, as the baseline. The other pair gets the sum of weights, and
   * the baseline times that. */
  void (*fit_lines)(AstroFlagPlane *plane, gboolean along_rows, const float *taps, guint n_taps);
  /* Replaces the baseline by what the values deviate from it. */
  void (*deviate)(AstroFlagPlane *plane);
  /* Makes whole numbers of the deviations: standard deviations times ASTRO_FLAG_UNIT, rounded half
   * away from 0. */
  void (*make_whole)(AstroFlagPlane *plane, float deviation);
  /* Flags windows of n values, along rows (time) or channels, whose mean is beyond limits[number of
   * usable values]: bad is read first and written at the end. */
  void (*flag_windows)(AstroFlagPlane *plane, guint n, gboolean along_rows, const gint32 *limits);
} AstroFlagPlaneWork;

/* The line's value of a place, from moments of its neighbours about it: of the weights the sum, the
 * first and the second moment, of the weighted values the sum and the first. */
enum { ASTRO_FLAG_MOMENTS = 5 };
float astro_flag_line(const float moments[ASTRO_FLAG_MOMENTS]);
#define ASTRO_FLAG_LEAST_SPREAD 0.1f /* of neighbours on one side, for a line to say enough */

/* The median of one channel, as above. */
float astro_flag_channel_median(const AstroFlagPlane *plane, guint c);

/* FALSE: it has no noise to compare with, and nothing is flagged. */
gboolean astro_flag_plane(AstroFlagPlane *plane, const AstroFlagThresholds *thresholds,
                          const AstroFlagPlaneWork *work);

G_END_DECLS
