/* Joins the visibilities of an integration that several instances have made parts of. */
#include "config.h"
#include "core/correlator/parts.h"

typedef struct {
  const AstroCorrelatorConfig *config;
  const AstroCorrelatorPart *parts;
  guint n;
  guint64 baselines;
  guint products; /* of a baseline */
  gpointer values;
  guint32 *counts; /* NULL: no part has losses */
  gint overflow;   /* atomic: a channel whose sum does not fit, + 1 */
} Join;

static guint32 count_of(const AstroCorrelatorPart *part, guint64 at)
{
  return part->counts ? part->counts[at] : (guint32)part->samples;
}

static void add_sums(Join *join, guint64 channel, gsize at)
{
  for (gsize i = at; i < at + 2 * (gsize)join->products; i++) {
    gint64 sum = 0;
    for (guint k = 0; k < join->n; k++)
      sum += ((const gint32 *)join->parts[k].values)[i];
    if (sum < G_MININT32 || sum > G_MAXINT32)
      g_atomic_int_set(&join->overflow, (gint)channel + 1);
    ((gint32 *)join->values)[i] = (gint32)sum;
  }
}

static void average(Join *join, guint64 baseline, gsize at)
{
  for (gsize i = at; i < at + 2 * (gsize)join->products; i++) {
    double sum = 0, weight = 0;
    for (guint k = 0; k < join->n; k++) {
      const guint32 count = count_of(&join->parts[k], baseline);
      if (count == 0)
        continue;
      sum += count * (double)((const float *)join->parts[k].values)[i];
      weight += count;
    }
    ((float *)join->values)[i] = weight > 0 ? (float)(sum / weight) : 0;
  }
}

static void join_channel(gpointer data, guint64 channel)
{
  Join *join = data;
  for (guint64 b = 0; b < join->baselines; b++) {
    const guint64 baseline = channel * join->baselines + b;
    const gsize at = baseline * 2 * join->products;
    guint64 count = 0;
    if (join->config->to == ASTRO_FORMAT_CI32LE)
      add_sums(join, channel, at);
    else
      average(join, baseline, at);
    for (guint k = 0; join->counts && k < join->n; k++)
      count += count_of(&join->parts[k], baseline);
    if (join->counts)
      join->counts[baseline] = (guint32)count;
  }
}

gboolean astro_correlator_join_parts(const AstroCorrelatorConfig *config,
                                     const AstroCorrelatorPart *parts, guint n, gpointer values,
                                     guint threads, AstroResult *result, GError **error)
{
  Join join = { .config = config,
                .parts = parts,
                .n = n,
                .baselines = astro_correlator_baselines(config->stations, config->triangle),
                .products = config->pols * config->pols,
                .values = values };
  result->samples = 0;
  result->complete = TRUE;
  for (guint k = 0; k < n; k++) {
    result->samples += parts[k].samples;
    result->complete &= !parts[k].counts;
  }
  join.counts = result->complete ? NULL : result->counts;
  astro_parallel(config->channels / config->channel_step, threads, join_channel, &join);
  return !join.overflow ||
         astro_backend_refuse(error,
                              "a sum of channel %d does not fit CI32LE: expected a shorter "
                              "integration, or means (CF32LE) downstream",
                              join.overflow - 1);
}
