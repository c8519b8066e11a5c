/* Counts good samples of baselines. */
#include "core/correlator/counts.h"
#include <string.h>

void astro_correlator_counts_init(AstroCorrelatorCounts *counts,
                                  const AstroCorrelatorConfig *config)
{
  *counts = (AstroCorrelatorCounts){
    .stations = config->stations,
    .channels = config->channels,
    .baselines = astro_correlator_baselines(config->stations, ASTRO_TRIANGLE_LOWER),
  };
}

void astro_correlator_counts_free(AstroCorrelatorCounts *counts)
{
  g_free(counts->lost);
  counts->lost = NULL;
}

void astro_correlator_counts_reset(AstroCorrelatorCounts *counts)
{
  astro_correlator_counts_free(counts);
  counts->samples = 0;
  counts->tables = 0;
}

/* Allocates that many tables; if there was one for all channels, each starts with a copy of it. */
static gboolean grow(AstroCorrelatorCounts *counts, guint tables, GError **error)
{
  if (counts->tables >= tables)
    return TRUE;
  guint32 *lost = NULL;
  gsize cells = 0;
  if (g_size_checked_mul(&cells, tables, counts->baselines))
    lost = g_try_new0(guint32, cells);
  if (!lost)
    return astro_backend_no_memory(
        error, "no memory for the counts of %" G_GUINT64_FORMAT " baselines in %u channels",
        counts->baselines, tables);
  if (counts->tables == 1)
    for (guint t = 0; t < tables; t++)
      memcpy(lost + t * counts->baselines, counts->lost, counts->baselines * sizeof *lost);
  g_free(counts->lost);
  counts->lost = lost;
  counts->tables = tables;
  return TRUE;
}

/* Sets a bit for every good step of a station; TRUE if any step is missing. */
static gboolean gather(guint64 *bits, const guint8 *valid, gsize stride, guint64 count)
{
  guint64 good = 0;
  memset(bits, 0, (count + 63) / 64 * sizeof *bits);
  for (guint64 t = 0; t < count; t++) {
    guint64 bit = valid[t * stride] != 0;
    bits[t / 64] |= bit << (t % 64);
    good += bit;
  }
  return good < count;
}

static guint64 common(const guint64 *a, const guint64 *b, guint64 words)
{
  guint64 n = 0;
  for (guint64 w = 0; w < words; w++)
    n += (guint64)__builtin_popcountll(a[w] & b[w]);
  return n;
}

gboolean astro_correlator_counts_add(AstroCorrelatorCounts *counts,
                                     const AstroCorrelatorArguments *arguments, gboolean *loss,
                                     GError **error)
{
  guint64 count = arguments->count, words = (count + 63) / 64;
  *loss = FALSE;
  if (count > G_MAXUINT32 - counts->samples)
    return astro_backend_refuse(error, "an integration has at most %u time steps", G_MAXUINT32);
  if (!arguments->valid || count == 0) {
    counts->samples += count;
    return TRUE;
  }
  g_autofree guint64 *bits = g_new(guint64, counts->stations * words);
  g_autofree gboolean *hurt = g_new(gboolean, counts->stations);
  guint channels = arguments->valid_channel ? counts->channels : 1;
  for (guint c = 0; c < channels; c++) {
    gboolean any = FALSE;
    for (guint s = 0; s < counts->stations; s++) {
      const guint8 *valid = arguments->valid + arguments->first * arguments->valid_time +
                            c * arguments->valid_channel + s * arguments->valid_station;
      hurt[s] = gather(bits + s * words, valid, arguments->valid_time, count);
      any |= hurt[s];
    }
    if (!any)
      continue;
    *loss = TRUE;
    if (!grow(counts, channels, error)) {
      *loss = FALSE;
      return FALSE;
    }
    for (guint i = 0; i < counts->stations; i++)
      for (guint j = 0; j <= i; j++) {
        if (!hurt[i] && !hurt[j])
          continue;
        guint64 lost = count - common(bits + i * words, bits + j * words, words);
        guint64 baseline = (guint64)i * (i + 1) / 2 + j;
        /* Either one table serves all channels, or each channel has its own. */
        guint from = channels == 1 ? 0 : c, to = channels == 1 ? counts->tables : c + 1;
        for (guint t = from; t < to; t++)
          counts->lost[t * counts->baselines + baseline] += (guint32)lost;
      }
  }
  counts->samples += count;
  return TRUE;
}

static void write_good(const AstroCorrelatorCounts *counts, const AstroCorrelatorConfig *config,
                       guint32 *out)
{
  guint groups = config->channels / config->channel_step;
  gboolean full = config->triangle == ASTRO_TRIANGLE_FULL;

  for (guint group = 0; group < groups && counts->tables; group++) {
    guint64 base = group * astro_correlator_baselines(config->stations, config->triangle);
    guint64 baseline = 0;
    for (guint i = 0; i < config->stations; i++)
      for (guint j = 0; j <= i; j++, baseline++) {
        guint64 count = astro_correlator_counts_good(counts, config->channel_step, group, baseline);
        out[base + (full ? (guint64)i * config->stations + j : baseline)] =
            (guint32)MIN(count, G_MAXUINT32);
        if (full)
          out[base + (guint64)j * config->stations + i] = (guint32)MIN(count, G_MAXUINT32);
      }
  }
}

void astro_correlator_counts_tell(const AstroCorrelatorCounts *counts,
                                  const AstroCorrelatorConfig *config, AstroResult *result)
{
  result->samples = counts->samples * config->channel_step;
  result->complete = counts->tables == 0;
  if (result->counts)
    write_good(counts, config, result->counts);
}

gboolean astro_correlator_refuse_sum(const AstroCorrelatorConfig *config,
                                     const AstroCorrelatorCounts *counts, guint channel,
                                     GError **error)
{
  /* Advice depends on whether steps and channels are summed: a single one cannot be reduced. */
  static const char *const fewer[2][2] = {
    { "", " or a smaller channel step" },
    { " or a shorter integration", ", a shorter integration or a smaller channel step" },
  };
  const gboolean steps = counts->samples > 1;
  return astro_backend_refuse(error,
                              "a sum of channel %u over %" G_GUINT64_FORMAT
                              " time step%s does not fit CI32LE: use CF32LE%s",
                              channel, counts->samples, steps ? "s" : "",
                              fewer[steps][config->channel_step > 1]);
}
