/* Counts of good samples, piece by piece. */
#include "config.h"
#include "core/power/counts.h"

#include <string.h>

static void count_piece(const AstroPowerConfig *config, const AstroPowerArguments *arguments,
                        const AstroPowerPiece *piece, guint32 *open)
{
  for (guint s = 0; s < config->stations; s++) {
    guint32 good = 0;
    for (guint c = 0; c < config->channels; c++) {
      if (c == 0 || arguments->valid_channel) /* else channels share flags */
        good = astro_power_good_steps(arguments, piece->from, piece->to, c, s);
      open[(gsize)s * config->channels + c] += good;
    }
  }
}

static void end_integration(const AstroPowerConfig *config, const guint32 *open, guint32 *counts)
{
  const guint channels = config->channels / config->channel_step;
  memset(counts, 0, astro_power_counts(config) * sizeof *counts);
  for (guint s = 0; s < config->stations; s++)
    for (guint c = 0; c < config->channels; c++)
      counts[(config->sum_stations ? 0 : (gsize)s) * channels + c / config->channel_step] +=
          open[(gsize)s * config->channels + c];
}

void astro_power_count(const AstroPowerConfig *config, const AstroPowerArguments *arguments,
                       gboolean is_there, guint32 *open, guint32 *counts)
{
  const gsize bytes = (gsize)config->stations * config->channels * sizeof *open;
  AstroPowerPiece piece = { 0 };
  if (arguments->begin)
    memset(open, 0, bytes);
  while (astro_power_next_piece(&piece, arguments)) {
    if (is_there)
      count_piece(config, arguments, &piece, open);
    if (!piece.ends)
      continue;
    end_integration(config, open, counts + piece.number * astro_power_counts(config));
    memset(open, 0, bytes);
  }
}
