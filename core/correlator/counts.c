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

/* The flags of a channel in a submit. */
typedef struct {
  const guint8 *valid;
  gsize time, station; /* strides */
  guint stations;
} Flags;

static gboolean are_alike(const Flags *flags, guint64 step, guint64 other)
{
  const guint8 *a = flags->valid + step * flags->time, *b = flags->valid + other * flags->time;
  if (flags->station == 1)
    return memcmp(a, b, flags->stations) == 0;
  for (guint s = 0; s < flags->stations; s++)
    if (!a[s * flags->station] != !b[s * flags->station])
      return FALSE;
  return TRUE;
}

/* Lists the stations that lost a step, and returns their number. */
static guint list_lost(const Flags *flags, guint64 step, guint *list)
{
  const guint8 *valid = flags->valid + step * flags->time;
  guint n = 0;
  for (guint s = 0; s < flags->stations; s++) {
    list[n] = s;
    n += !valid[s * flags->station];
  }
  return n;
}

/* A pair loses the steps of both its stations; what both have lost then counts twice, and is taken
 * off here. Differences may be below 0 in between, which unsigned numbers can be. */
static void take_off_pairs(guint32 *lost, const guint *list, guint n, guint32 steps)
{
  for (guint a = 0; a < n; a++) {
    guint32 *row = lost + (guint64)list[a] * (list[a] + 1) / 2;
    for (guint b = 0; b < a; b++)
      row[list[b]] -= steps;
  }
}

/* missing: steps that each station has lost; list: room for stations. */
static void add_missing(guint32 *lost, guint stations, const guint32 *missing, guint *list)
{
  for (guint i = 0, n = 0; i < stations; i++) {
    guint32 *row = lost + (guint64)i * (i + 1) / 2;
    for (guint j = 0; j <= i && missing[i]; j++)
      row[j] += missing[i];
    for (guint k = 0; k < n; k++)
      row[list[k]] += missing[list[k]];
    if (missing[i])
      list[n++] = i;
  }
}

/* Losses come in runs of steps, or are few: each run costs as much as there are pairs of stations
 * that lost it. list and missing: room for stations, the latter zeros. */
static gboolean add_channel(AstroCorrelatorCounts *counts, guint channel, gboolean is_for_all,
                            const Flags *flags, guint64 count, guint *list, guint32 *missing,
                            gboolean *loss, GError **error)
{
  gboolean any = FALSE;
  guint first = channel, end = channel + 1; /* tables */
  for (guint64 t = 0, next; t < count; t = next) {
    for (next = t + 1; next < count && are_alike(flags, t, next);)
      next++;
    const guint n = list_lost(flags, t, list);
    const guint32 steps = (guint32)(next - t);
    if (n == 0)
      continue;
    if (!grow(counts, is_for_all ? 1 : counts->channels, error))
      return FALSE;
    any = TRUE;
    first = is_for_all ? 0 : channel;
    end = is_for_all ? counts->tables : channel + 1;
    for (guint table = first; table < end; table++)
      take_off_pairs(counts->lost + table * counts->baselines, list, n, steps);
    for (guint k = 0; k < n; k++)
      missing[list[k]] += steps;
  }
  for (guint table = first; any && table < end; table++)
    add_missing(counts->lost + table * counts->baselines, counts->stations, missing, list);
  *loss |= any;
  return TRUE;
}

gboolean astro_correlator_counts_add(AstroCorrelatorCounts *counts,
                                     const AstroCorrelatorArguments *arguments, gboolean *loss,
                                     GError **error)
{
  const guint64 count = arguments->count;
  *loss = FALSE;
  if (count > G_MAXUINT32 - counts->samples)
    return astro_backend_refuse(error, "an integration has at most %u time steps", G_MAXUINT32);
  if (!arguments->valid || count == 0) {
    counts->samples += count;
    return TRUE;
  }
  /* Either one table serves all channels, or each channel has its own. */
  const guint channels = arguments->valid_channel ? counts->channels : 1;
  g_autofree guint *list = g_new(guint, counts->stations);
  g_autofree guint32 *missing = g_new(guint32, counts->stations);
  for (guint c = 0; c < channels; c++) {
    const Flags flags = { arguments->valid + arguments->first * arguments->valid_time +
                              c * arguments->valid_channel,
                          arguments->valid_time, arguments->valid_station, counts->stations };
    memset(missing, 0, counts->stations * sizeof *missing);
    if (!add_channel(counts, c, channels == 1, &flags, count, list, missing, loss, error)) {
      *loss = FALSE;
      return FALSE;
    }
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
                            const AstroCorrelatorConfig *config, guint32 *out, guint64 *n_different)
{
  const guint groups = config->channels / config->channel_step;
  const guint tables = counts->tables == 1 ? 1 : groups;
  const guint64 n = tables * astro_correlator_baselines(config->stations, config->triangle);
  *n_different = 0;
  if (counts->tables == 0)
    return;
  write_good(counts, config, tables, out);
  *n_different = are_the_same(out, n) ? 1 : n;
}

void astro_correlator_counts_tell(const AstroCorrelatorCounts *counts,
                                  const AstroCorrelatorConfig *config,
                                  const AstroCorrelatorTold *told)
{
  AstroResult *result = told->result;
  if (!result)
    return;
  result->samples = counts->samples * config->channel_step;
  result->complete = counts->tables == 0;
  if (result->counts && told->n_different)
    write_different(counts, config, result->counts, told->n_different);
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
