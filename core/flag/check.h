/* Checks of configurations and blocks of flags, and where their values are. */
#pragma once

#include "core/flag/flag.h"

G_BEGIN_DECLS

#define ASTRO_FLAG_MAX_VALUES ASTRO_POWER_MAX_PRODUCTS

/* Where a block's values are, in samples of the block. A value of a step, channel and unit has
 * several parts: its polarisations, or products. */
typedef struct {
  guint64 steps, units;
  guint channels, parts;
  guint64 time, channel, unit;              /* strides */
  guint64 part[ASTRO_FLAG_MAX_VALUES];      /* offsets */
  guint64 square[ASTRO_FLAG_MAX_VALUES];    /* kurtosis of power: of the products' squares */
  gboolean is_power[ASTRO_FLAG_MAX_VALUES]; /* never negative, with noise in proportion to it */
} AstroFlagPlaces;

void astro_flag_places(AstroFlagPlaces *places, const AstroFlagConfig *config, guint64 steps);

/* Counts behind the same values. */
typedef struct {
  const guint32 *counts; /* NULL: all is good */
  guint32 least;         /* count of a part that can be used */
  AstroValidityAxis time, channel, unit;
  guint64 part[ASTRO_FLAG_MAX_VALUES];
} AstroFlagCounts;

void astro_flag_counts(AstroFlagCounts *counts, const AstroFlagConfig *config, guint64 steps,
                       const AstroValidityMeta *meta, const AstroFlagPlaces *places);

static inline guint32 astro_flag_count_at(const AstroFlagCounts *counts, guint64 t, guint64 c,
                                          guint64 u, guint part)
{
  return counts->counts[t / counts->time.group * counts->time.stride +
                        c / counts->channel.group * counts->channel.stride +
                        u / counts->unit.group * counts->unit.stride + counts->part[part]];
}

/* Whether a part of a value can be used. */
static inline gboolean astro_flag_is_good(const AstroFlagCounts *counts, guint64 t, guint64 c,
                                          guint64 u, guint part)
{
  return !counts->counts || astro_flag_count_at(counts, t, c, u, part) >= counts->least;
}

gboolean astro_flag_shape(gconstpointer configuration, GError **error);
gboolean astro_flag_check_blocks(const AstroFlagConfig *config, const AstroBlock *in, guint n_in,
                                 guint n_out, const AstroFlagArguments *arguments,
                                 const AstroResult *result, GError **error);

/* The limit of kurtosis below which the mean power of integers is too small for their rounding to
 * leave the kurtosis alone; 0 for other formats. */
double astro_flag_coarse_power(AstroFormat format);

/* Flags of a value of which a part has these sums over m good samples. coarse: as above. */
guint8 astro_flag_judge_kurtosis(double m, double sum, double squares, double coarse, double low,
                                 double high);

G_END_DECLS
