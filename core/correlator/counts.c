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

/* Sets a bit for every good step of each station in a channel, and lists the stations that miss
 * any; returns their number. Flags of neighbouring stations lie side by side as a rule. */
static guint gather(const AstroCorrelatorCounts *counts, const AstroCorrelatorArguments *arguments,
                    guint channel, guint64 *bits, guint *hurt)
{
  const guint64 words = (arguments->count + 63) / 64;
  const guint8 *valid = arguments->valid + arguments->first * arguments->valid_time +
                        channel * arguments->valid_channel;
  g_autofree guint64 *word = g_new(guint64, counts->stations);
  g_autofree guint64 *good = g_new0(guint64, counts->stations);
  guint n_hurt = 0;
  for (guint64 w = 0; w < words; w++) {
    memset(word, 0, counts->stations * sizeof *word);
    for (guint64 t = 64 * w; t < MIN(64 * (w + 1), arguments->count); t++)
      for (guint s = 0; s < counts->stations; s++)
        word[s] |= (guint64)(valid[t * arguments->valid_time + s * arguments->valid_station] != 0)
                   << (t % 64);
    for (guint s = 0; s < counts->stations; s++) {
      bits[s * words + w] = word[s];
      good[s] += (guint64)__builtin_popcountll(word[s]);
    }
  }
  for (guint s = 0; s < counts->stations; s++)
    if (good[s] < arguments->count)
      hurt[n_hurt++] = s;
  return n_hurt;
}

static guint64 common(const guint64 *a, const guint64 *b, guint64 words)
{
  guint64 n = 0;
  for (guint64 w = 0; w < words; w++)
    n += (guint64)__builtin_popcountll(a[w] & b[w]);
  return n;
}

/* Adds the steps that pairs have lost to some of the tables. A station without losses is paired
 * with those that have some only, which are few as a rule. */
static void count_pairs(AstroCorrelatorCounts *counts, guint from, guint to, const guint64 *bits,
                        guint64 count, const guint *hurt, guint n_hurt)
{
  const guint64 words = (count + 63) / 64;
  for (guint i = 0, before = 0; i < counts->stations; i++) { /* before: hurt ones below i */
    const gboolean is_hurt = before < n_hurt && hurt[before] == i;
    for (guint k = 0; k < (is_hurt ? i + 1 : before); k++) {
      const guint j = is_hurt ? k : hurt[k];
      const guint64 lost = count - common(bits + i * words, bits + j * words, words);
      for (guint t = from; t < to; t++)
        counts->lost[t * counts->baselines + (guint64)i * (i + 1) / 2 + j] += (guint32)lost;
    }
    before += is_hurt;
  }
}

gboolean astro_correlator_counts_add(AstroCorrelatorCounts *counts,
                                     const AstroCorrelatorArguments *arguments, gboolean *loss,
                                     GError **error)
{
  guint64 count = arguments->count, words = (count + 63) / 64;
  *loss = FALSE;
  counts->n_told = arguments->n_counts;
  if (count > G_MAXUINT32 - counts->samples)
    return astro_backend_refuse(error, "an integration has at most %u time steps", G_MAXUINT32);
  if (!arguments->valid || count == 0) {
    counts->samples += count;
    return TRUE;
  }
  g_autofree guint64 *bits = g_new(guint64, counts->stations * words);
  g_autofree guint *hurt = g_new(guint, counts->stations); /* stations with losses, rising */
  guint channels = arguments->valid_channel ? counts->channels : 1;
  for (guint c = 0; c < channels; c++) {
    const guint n_hurt = gather(counts, arguments, c, bits, hurt);
    if (n_hurt == 0)
      continue;
    *loss = TRUE;
    if (!grow(counts, channels, error)) {
      *loss = FALSE;
      return FALSE;
    }
    /* Either one table serves all channels, or each channel has its own. */
    count_pairs(counts, channels == 1 ? 0 : c, channels == 1 ? counts->tables : c + 1, bits, count,
                hurt, n_hurt);
  }
  counts->samples += count;
  return TRUE;
}

static void write_good(const AstroCorrelatorCounts *counts, const AstroCorrelatorConfig *config,
                       guint groups, guint32 *out)
{
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

static gboolean are_the_same(const guint32 *counts, guint64 n)
{
  for (guint64 i = 1; i < n; i++)
    if (counts[i] != counts[0])
      return FALSE;
  return TRUE;
}

/* One table holds for all channels. Of thousands of stations and hundreds of channels that saves
 * hundreds of megabytes, which this thread and its readers would go through in each dump. */
static void write_different(const AstroCorrelatorCounts *counts,
                            const AstroCorrelatorConfig *config, guint32 *out)
{
  const guint groups = config->channels / config->channel_step;
  const guint tables = counts->tables == 1 ? 1 : groups;
  const guint64 n = tables * astro_correlator_baselines(config->stations, config->triangle);
  *counts->n_told = 0;
  if (counts->tables == 0)
    return;
  write_good(counts, config, tables, out);
  *counts->n_told = are_the_same(out, n) ? 1 : n;
}

void astro_correlator_counts_tell(const AstroCorrelatorCounts *counts,
                                  const AstroCorrelatorConfig *config, AstroResult *result)
{
  result->samples = counts->samples * config->channel_step;
  result->complete = counts->tables == 0;
  if (result->counts && counts->n_told)
    write_different(counts, config, result->counts);
  else if (result->counts)
    write_good(counts, config, config->channels / config->channel_step, result->counts);
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
