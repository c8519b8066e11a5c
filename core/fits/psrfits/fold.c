/* Makes 16-bit numbers of folded profiles. */
#include "config.h"
#include "core/fits/psrfits/fold.h"

#include <math.h>
#include <string.h>

#define MOST_LEVEL 32767

typedef struct {
  double sum;
  guint64 good;
  float least, most;
} Range;

static guint32 count_at(const AstroPsrfitsBins *bins, guint64 bin)
{
  return bins->counts ? bins->counts[bin * bins->count_stride] : 1;
}

static gboolean is_good(const AstroPsrfitsBins *bins, guint64 bin)
{
  return count_at(bins, bin) > 0 && isfinite(bins->values[bin * bins->stride]);
}

static Range find_range(const AstroPsrfitsBins *bins)
{
  Range range = { .least = G_MAXFLOAT, .most = -G_MAXFLOAT };
  for (guint64 bin = 0; bin < bins->n; bin++) {
    const float value = bins->values[bin * bins->stride] * bins->sign;
    if (!is_good(bins, bin))
      continue;
    range.sum += value;
    range.good++;
    range.least = MIN(range.least, value);
    range.most = MAX(range.most, value);
  }
  return range;
}

static void put_level(guint8 *to, float level)
{
  const guint16 bits = GUINT16_TO_BE((guint16)(gint16)CLAMP(level, -MOST_LEVEL, MOST_LEVEL));
  memcpy(to, &bits, sizeof bits);
}

static void account(const AstroPsrfitsBins *bins, guint64 bin, gboolean is_empty,
                    AstroFitsTally *tally)
{
  tally->values++;
  tally->not_finite += count_at(bins, bin) > 0 && !is_good(bins, bin);
  tally->flagged += is_empty;
  tally->filled += !is_empty && !is_good(bins, bin);
}

AstroPsrfitsProfile astro_psrfits_pack_bins(const AstroPsrfitsBins *bins, guint8 *to,
                                            AstroFitsTally *tally)
{
  const Range range = find_range(bins);
  AstroPsrfitsProfile profile = { .scale = 1 };
  if (range.good) {
    profile.offset = (float)(((double)range.most + range.least) / 2);
    if (range.most > range.least)
      profile.scale = (float)(((double)range.most - range.least) / (2 * MOST_LEVEL));
  }
  const float mean = range.good ? (float)(range.sum / (double)range.good) : 0;
  for (guint64 bin = 0; bin < bins->n; bin++) {
    const float value = is_good(bins, bin) ? bins->values[bin * bins->stride] * bins->sign : mean;
    put_level(to + 2 * bin, rintf((value - profile.offset) / profile.scale));
    account(bins, bin, range.good == 0, tally);
    if (is_good(bins, bin))
      profile.count += count_at(bins, bin);
  }
  return profile;
}
