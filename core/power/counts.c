/* Counts of good samples, piece by piece. */
#include "config.h"
#include "core/power/counts.h"

#include <string.h>

static gsize cells_of(const AstroPowerConfig *config)
{
  return (gsize)config->stations * config->channels;
}

gboolean astro_power_counts_init(AstroPowerCounts *counts, const AstroPowerConfig *config,
                                 GError **error)
{
  *counts = (AstroPowerCounts){ .each = g_try_new0(guint32, cells_of(config)) };
  return counts->each || astro_backend_no_memory(
                             error, "no memory to count the samples of %u stations and %u channels",
                             config->stations, config->channels);
}

void astro_power_counts_clear(AstroPowerCounts *counts)
{
  g_clear_pointer(&counts->each, g_free);
}

static void forget(AstroPowerCounts *counts)
{
  counts->is_uneven = FALSE;
  counts->even = 0;
}

static void fill(guint32 *values, gsize n, guint32 value)
{
  for (gsize i = 0; i < n; i++)
    values[i] = value;
}

static void count_piece(AstroPowerCounts *counts, const AstroPowerConfig *config,
                        const AstroPowerArguments *arguments, const AstroPowerPiece *piece)
{
  if (!arguments->valid && !counts->is_uneven) {
    counts->even += astro_power_good_steps(arguments, piece->from, piece->to, 0, 0);
    return;
  }
  if (!counts->is_uneven)
    fill(counts->each, cells_of(config), counts->even);
  counts->is_uneven = TRUE;
  for (guint s = 0; s < config->stations; s++) {
    guint32 good = 0;
    for (guint c = 0; c < config->channels; c++) {
      if (c == 0 || arguments->valid_channel) /* else channels share flags */
        good = astro_power_good_steps(arguments, piece->from, piece->to, c, s);
      counts->each[(gsize)s * config->channels + c] += good;
    }
  }
}

static void end_integration(const AstroPowerCounts *counts, const AstroPowerConfig *config,
                            guint32 *ended)
{
  const guint channels = config->channels / config->channel_step;
  if (!counts->is_uneven) {
    const guint stations = config->sum_stations ? config->stations : 1;
    fill(ended, astro_power_counts(config), counts->even * config->channel_step * stations);
    return;
  }
  memset(ended, 0, astro_power_counts(config) * sizeof *ended);
  for (guint s = 0; s < config->stations; s++)
    for (guint c = 0; c < config->channels; c++)
      ended[(config->sum_stations ? 0 : (gsize)s) * channels + c / config->channel_step] +=
          counts->each[(gsize)s * config->channels + c];
}

void astro_power_count(AstroPowerCounts *counts, const AstroPowerConfig *config,
                       const AstroPowerArguments *arguments, gboolean is_there, guint32 *ended)
{
  AstroPowerPiece piece = { 0 };
  if (arguments->begin)
    forget(counts);
  while (astro_power_next_piece(&piece, arguments)) {
    if (is_there)
      count_piece(counts, config, arguments, &piece);
    if (!piece.ends)
      continue;
    end_integration(counts, config, ended + piece.number * astro_power_counts(config));
    forget(counts);
  }
}
