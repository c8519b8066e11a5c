/* The values of a block of visibilities as rows of a file have them (UVFITS, Measurement Sets): a
 * row has antennas a1 <= a2, and our V_ij = E_i conj(E_j) has j <= i. So a row is the pair (j, i),
 * with conjugate values and exchanged cross-hands, and (u,v,w) of j minus i. */
#pragma once

#include <math.h>
#include <string.h>

#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* Statistics of the values written so far; starts with all zeros. */
typedef struct {
  guint64 values, flagged, not_finite; /* flagged: with weight 0; not_finite: NaN or infinite */
  guint32 least, most;                 /* range of the weights that are not 0 */
  /* Where a weight stands for several values: those of which a part of the samples is good; lost
   * ones that got the mean of the others; and good ones that were left out with lost ones. */
  guint64 partial, filled, dropped;
} AstroRowTally;
void astro_row_tally_add(AstroRowTally *tally, const AstroRowTally *more);

/* Where the values of a block are, and where their counts. */
typedef struct {
  AstroFormat format;
  gconstpointer data;
  double scale; /* factor to convert values to Jy; 1 if that is unknown */
  guint channels, pols;
  guint64 baselines;
  const AstroValidityMeta *meta; /* NULL: no counts */
  guint lead;                    /* 1: there is a time axis before the others */
  AstroLayout shape;             /* axes as in the buffer */
  guint64 *of[ASTRO_MAX_AXES];   /* the position of a count is the sum of one entry an axis */
} AstroRowValues;

/* For a block of that many integrations. The stream, data and counts must stay. */
gboolean astro_row_values_begin(AstroRowValues *values, const AstroStream *stream,
                                gconstpointer data, guint64 frames,
                                const AstroValidityMeta *validity, double scale, GError **error);
void astro_row_values_end(AstroRowValues *values);

/* A baseline and its stations, baseline(i,j). */
typedef struct {
  guint64 baseline;
  guint i, j;
} AstroRowPlace;
/* Lists the baselines that get rows in a frame: all but those that are absent (NULL: none) and have
 * no counts. places has room for all; returns how many there are. */
guint64 astro_row_values_places(const AstroRowValues *values, guint64 frame, const guint8 *absent,
                                AstroRowPlace *places);

/* Gets a visibility as a mean, from a sum or a mean, in Jy if the scale is known. FALSE: it is NaN
 * or infinite. */
static inline gboolean astro_row_mean(const AstroRowValues *v, guint64 at, guint32 count,
                                      float value[2])
{
  if (v->format == ASTRO_FORMAT_CF32LE) {
    memcpy(value, (const float *)v->data + 2 * at, 2 * sizeof *value);
    value[0] = (float)(value[0] * v->scale);
    value[1] = (float)(value[1] * v->scale);
    return isfinite(value[0]) && isfinite(value[1]);
  }
  const gint32 *sum = (const gint32 *)v->data + 2 * at;
  const double scale = v->scale / MAX(count, 1);
  value[0] = (float)(sum[0] * scale);
  value[1] = (float)(sum[1] * scale);
  return TRUE;
}

/* The real part, the imaginary part and the weight of the product with those pols of a1 and of a2.
 * All are 0 where there is no good value. */
static inline void astro_row_value(const AstroRowValues *v, guint64 frame, guint channel,
                                   guint64 baseline, const guint8 pols[2], float row[3],
                                   AstroRowTally *tally)
{
  const guint64 at =
      (((frame * v->channels + channel) * v->baselines + baseline) * v->pols + pols[1]) * v->pols +
      pols[0];
  guint32 count = 1;
  float value[2];
  if (v->meta) {
    guint64 *const *of = v->of + v->lead;
    count = v->meta->counts[(v->lead ? v->of[0][frame] : 0) + of[0][channel] + of[1][baseline] +
                            of[2][pols[1]] + of[3][pols[0]]];
  }
  const gboolean finite = astro_row_mean(v, at, count, value), valid = finite && count > 0;
  tally->values++;
  tally->not_finite += !finite && count > 0;
  tally->flagged += !valid;
  if (valid) {
    tally->least = tally->least ? MIN(tally->least, count) : count;
    tally->most = MAX(tally->most, count);
  }
  row[0] = valid ? value[0] : 0;
  row[1] = valid ? -value[1] : 0;
  row[2] = valid ? (float)count : 0;
}

G_END_DECLS
