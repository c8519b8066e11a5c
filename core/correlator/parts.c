/* Joins the visibilities of an integration that several instances have made parts of. */
#include "config.h"
#include "core/correlator/parts.h"

typedef struct {
  const AstroCorrelatorPart *parts;
  guint64 baselines;
  guint products; /* of a baseline */
  gboolean is_exact;
  gpointer values; /* of the first part, and of both in the end */
  gconstpointer others;
  gint overflow; /* atomic: a channel whose sum does not fit, + 1 */
} Join;

void astro_correlator_part_add(AstroCorrelatorPart *part, const AstroCorrelatorPart *other,
                               guint64 n)
{
  if (part->counts || other->counts) {
    guint32 *sums = g_new(guint32, n);
    for (guint64 i = 0; i < n; i++)
      sums[i] = astro_correlator_part_count(part, i) + astro_correlator_part_count(other, i);
    g_free(part->counts);
    part->counts = sums;
  }
  part->samples += other->samples;
}

static void add_sums(Join *join, guint64 channel, gsize at)
{
  gint32 *values = join->values;
  const gint32 *others = join->others;
  for (gsize i = at; i < at + 2 * (gsize)join->products; i++) {
    const gint64 sum = (gint64)values[i] + others[i];
    if (sum < G_MININT32 || sum > G_MAXINT32)
      g_atomic_int_set(&join->overflow, (gint)channel + 1);
    values[i] = (gint32)sum;
  }
}

/* A part without good samples adds nothing, whatever it holds. */
static void average(Join *join, guint64 baseline, gsize at)
{
  const double a = astro_correlator_part_count(&join->parts[0], baseline),
               b = astro_correlator_part_count(&join->parts[1], baseline);
  float *values = join->values;
  const float *others = join->others;
  for (gsize i = at; i < at + 2 * (gsize)join->products; i++) {
    const double sum = (a > 0 ? a * (double)values[i] : 0) + (b > 0 ? b * (double)others[i] : 0);
    values[i] = a + b > 0 ? (float)(sum / (a + b)) : 0;
  }
}

static void join_channel(gpointer data, guint64 channel)
{
  Join *join = data;
  for (guint64 b = 0; b < join->baselines; b++) {
    const guint64 baseline = channel * join->baselines + b;
    const gsize at = baseline * 2 * join->products;
    if (join->is_exact)
      add_sums(join, channel, at);
    else
      average(join, baseline, at);
  }
}

gboolean astro_correlator_check_join(const AstroCorrelatorConfig *config, const AstroBlock *in,
                                     guint n_in, const AstroBlock *out, guint n_out, GError **error)
{
  const gsize bytes = astro_correlator_output_bytes(config);
  if (n_in != 1 || n_out != 1)
    return astro_backend_refuse(error,
                                "%u blocks in and %u out, expected one of visibilities that are "
                                "added to one out",
                                n_in, n_out);
  if (in->bytes >= bytes && out->bytes >= bytes)
    return TRUE;
  return astro_backend_refuse(error,
                              "blocks of %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT
                              " bytes, expected visibilities of %" G_GSIZE_FORMAT " bytes",
                              in->bytes, out->bytes, bytes);
}

gboolean astro_correlator_refuse_join(guint channel, GError **error)
{
  return astro_backend_refuse(error,
                              "a sum of channel %u does not fit CI32LE: expected a shorter "
                              "integration, or means (CF32LE) downstream",
                              channel);
}

gboolean astro_correlator_join(const AstroCorrelatorConfig *config, const AstroBlock *in,
                               guint n_in, const AstroBlock *out, guint n_out,
                               const AstroCorrelatorPart parts[2], guint threads, GError **error)
{
  if (!astro_correlator_check_join(config, in, n_in, out, n_out, error))
    return FALSE;
  Join join = { .parts = parts,
                .baselines = astro_correlator_baselines(config->stations, config->triangle),
                .products = config->pols * config->pols,
                .is_exact = config->to == ASTRO_FORMAT_CI32LE,
                .values = out->data,
                .others = in->data };
  astro_parallel(config->channels / config->channel_step, threads, join_channel, &join);
  return !join.overflow || astro_correlator_refuse_join((guint)join.overflow - 1, error);
}
