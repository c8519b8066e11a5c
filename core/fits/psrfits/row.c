/* Makes numbers, scales and weights of the samples of a row of PSRFITS. */
#include "config.h"
#include "core/fits/psrfits/row.h"

#include <math.h>
#include <string.h>

#define MOST_LEVEL 255

static guint64 n_series(const AstroPsrfitsRow *row)
{
  return (guint64)row->channels * row->pols;
}

void astro_psrfits_row_init(AstroPsrfitsRow *row, guint channels, guint pols, guint bits,
                            guint64 block)
{
  *row = (AstroPsrfitsRow){
    .channels = channels, .pols = pols, .bits = bits, .block = block, .is_whole = TRUE
  };
  row->values = g_new(float, block *n_series(row));
  row->good = g_new(guint8, block * n_series(row));
}

void astro_psrfits_row_clear(AstroPsrfitsRow *row)
{
  g_clear_pointer(&row->values, g_free);
  g_clear_pointer(&row->good, g_free);
}

void astro_psrfits_row_begin(AstroPsrfitsRow *row)
{
  row->steps = 0;
  row->is_whole = TRUE;
}

void astro_psrfits_row_skip(AstroPsrfitsRow *row, guint64 to)
{
  const guint64 from = row->steps * n_series(row), n = (to - row->steps) * n_series(row);
  memset(row->values + from, 0, n * sizeof *row->values);
  memset(row->good + from, ASTRO_PSRFITS_LOST, n);
  row->steps = to;
  row->is_whole = FALSE;
}

/* ---- weights ---- */

/* The mean of the good values of one series. FALSE: there are none. */
static gboolean find_mean(const AstroPsrfitsRow *row, guint64 series, float *mean)
{
  const guint64 n = n_series(row);
  double sum = 0;
  guint64 good = 0;
  for (guint64 step = 0, i = series; step < row->steps; step++, i += n)
    if (row->good[i] != ASTRO_PSRFITS_LOST) {
      sum += row->values[i];
      good++;
    }
  *mean = good ? (float)(sum / (double)good) : 0;
  return good > 0;
}

static void settle(AstroPsrfitsRow *row, guint64 series, gboolean is_kept, float mean,
                   AstroFitsTally *tally)
{
  const guint64 n = n_series(row);
  for (guint64 step = 0, i = series; step < row->steps; step++, i += n) {
    const gboolean is_lost = row->good[i] == ASTRO_PSRFITS_LOST;
    tally->flagged += !is_kept;
    tally->dropped += !is_kept && !is_lost;
    tally->filled += is_kept && is_lost;
    tally->partial += is_kept && row->good[i] == ASTRO_PSRFITS_PARTIAL;
    if (!is_kept)
      row->values[i] = 0;
    else if (is_lost)
      row->values[i] = mean;
  }
}

void astro_psrfits_row_weigh(AstroPsrfitsRow *row, float *weights, AstroFitsTally *tally)
{
  float means[ASTRO_PSRFITS_MAX_POLS];
  tally->values += row->steps * n_series(row);
  for (guint c = 0; c < row->channels; c++)
    weights[c] = 1;
  for (guint c = 0; c < row->channels && !row->is_whole; c++) {
    gboolean is_kept = TRUE;
    for (guint p = 0; p < row->pols; p++)
      is_kept = find_mean(row, (guint64)p * row->channels + c, &means[p]) && is_kept;
    weights[c] = is_kept ? 1 : 0;
    for (guint p = 0; p < row->pols; p++)
      settle(row, (guint64)p * row->channels + c, is_kept, means[p], tally);
  }
}

/* ---- numbers ---- */

/* Offsets become the least values, scales the most ones. */
static void find_range(const AstroPsrfitsRow *row, float *restrict offsets, float *restrict scales)
{
  const guint64 n = n_series(row);
  memcpy(offsets, row->values, n * sizeof *offsets);
  memcpy(scales, row->values, n * sizeof *scales);
  for (guint64 step = 1; step < row->steps; step++) {
    const float *values = row->values + step * n;
    for (guint64 i = 0; i < n; i++) {
      offsets[i] = MIN(offsets[i], values[i]);
      scales[i] = MAX(scales[i], values[i]);
    }
  }
}

void astro_psrfits_row_level(const AstroPsrfitsRow *row, AstroPsrfitsLevels *levels)
{
  const gboolean has_range = row->bits == 8 && row->steps > 0;
  float *offsets = levels->offsets, *scales = levels->scales;
  if (has_range)
    find_range(row, offsets, scales);
  for (guint64 i = 0; i < n_series(row); i++) {
    if (!has_range)
      offsets[i] = 0;
    scales[i] = has_range && scales[i] > offsets[i]
                    ? (float)(((double)scales[i] - offsets[i]) / MOST_LEVEL)
                    : 1;
  }
}

static void pack_bytes(const AstroPsrfitsRow *row, const AstroPsrfitsLevels *levels, guint8 *to)
{
  const guint64 n = n_series(row);
  for (guint64 step = 0; step < row->steps; step++)
    for (guint64 i = 0; i < n; i++) {
      const float level =
          rintf((row->values[step * n + i] - levels->offsets[i]) / levels->scales[i]);
      to[step * n + i] = (guint8)CLAMP(level, 0, MOST_LEVEL);
    }
}

static void pack_floats(const AstroPsrfitsRow *row, guint8 *to)
{
  for (guint64 i = 0; i < row->steps * n_series(row); i++) {
    guint32 bits;
    memcpy(&bits, &row->values[i], sizeof bits);
    bits = GUINT32_TO_BE(bits);
    memcpy(to + i * sizeof bits, &bits, sizeof bits);
  }
}

void astro_psrfits_row_pack(const AstroPsrfitsRow *row, const AstroPsrfitsLevels *levels,
                            GByteArray *to)
{
  const gsize step = n_series(row) * (row->bits / 8);
  const guint at = to->len;
  g_byte_array_set_size(to, (guint)(at + row->block * step));
  guint8 *bytes = to->data + at;
  if (row->bits == 8)
    pack_bytes(row, levels, bytes);
  else
    pack_floats(row, bytes);
  for (guint64 i = row->steps; i > 0 && i < row->block; i++)
    memcpy(bytes + i * step, bytes + (row->steps - 1) * step, step);
}
