/* Finds the good samples of stations, and counts those behind each beam. */
#include "config.h"
#include "core/beamform/losses.h"

#include <string.h>

typedef struct {
  AstroBeamformGood *good;
  const AstroBeamformArguments *arguments;
  AstroValiditySamples samples;
} Fill;

static gboolean has_losses(const AstroValidityMeta *meta)
{
  const guint64 n = meta ? astro_validity_n_counts(meta) : 0;
  for (guint64 i = 0; i < n; i++)
    if (meta->counts[i] < meta->full)
      return TRUE;
  return FALSE;
}

static void fill_row(gpointer data, guint64 row)
{
  const Fill *fill = data;
  const AstroBeamformStations *stations = fill->arguments->stations;
  const guint64 channel = row / stations->n, station = row % stations->n;
  guint8 *map = fill->good->map + channel * fill->good->channel + station * fill->good->station;
  guint64 from, to = 0;
  memset(map, 1, fill->arguments->steps);
  while (astro_validity_next_loss(&fill->samples, channel, stations->index[station], &from, &to))
    memset(map + from, 0, to - from);
}

gboolean astro_beamform_good_init(AstroBeamformGood *good, const AstroBeamformConfig *config,
                                  const AstroBeamformArguments *arguments, guint threads,
                                  GError **error)
{
  const guint64 rows = arguments->stations->n;
  Fill fill = { good, arguments, { 0 } };
  AstroLayout shape;
  *good = (AstroBeamformGood){ 0 };
  if (!has_losses(arguments->validity))
    return TRUE;
  astro_stream_shape(&config->in, arguments->steps, &shape);
  astro_validity_samples(&fill.samples, arguments->validity, &shape);
  const guint64 channels =
      fill.samples.channel.stride ? astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL) : 1;
  good->station = arguments->steps;
  good->channel = channels > 1 ? rows * arguments->steps : 0;
  good->map = g_try_malloc(channels * rows * arguments->steps);
  if (!good->map)
    return astro_backend_no_memory(error,
                                   "no memory for the losses of %" G_GUINT64_FORMAT
                                   " channels of %" G_GUINT64_FORMAT " stations",
                                   channels, rows);
  astro_parallel(channels * rows, threads, fill_row, &fill);
  return TRUE;
}

void astro_beamform_good_clear(AstroBeamformGood *good)
{
  g_clear_pointer(&good->map, g_free);
}

/* ---- counts of beams ---- */

/* Counts along time and channel, where the input has them; along every channel if there are
 * weights, as they decide which losses count. */
static void shape_counts(const AstroBeamformConfig *config, const AstroBeamformArguments *arguments,
                         const AstroValiditySamples *samples, const AstroLayout *shape,
                         AstroLayout *counted)
{
  *counted = (AstroLayout){ 0 };
  for (guint i = 0; i < shape->n_axes; i++) {
    const AstroAxis axis = shape->axes[i];
    const AstroValidityAxis *along = axis == ASTRO_AXIS_TIME      ? &samples->time
                                     : axis == ASTRO_AXIS_CHANNEL ? &samples->channel
                                                                  : NULL;
    const gboolean each = axis == ASTRO_AXIS_CHANNEL && arguments->stations->weights;
    if (!along || !(along->stride || each))
      continue;
    counted->axes[counted->n_axes] = axis;
    counted->extents[counted->n_axes++] =
        each ? shape->extents[i] : shape->extents[i] / along->group;
  }
}

static guint32 count_at(const AstroBeamformStations *stations, const AstroValiditySamples *samples,
                        guint64 time, guint64 channel)
{
  guint32 lost = 0;
  gboolean any = FALSE;
  for (guint i = 0; i < stations->n; i++) {
    if (astro_beamform_magnitude(stations, (guint)channel, i) == 0)
      continue;
    const gboolean is_whole = astro_validity_is_whole(samples, time, channel, stations->index[i]);
    lost += !is_whole;
    any |= is_whole;
  }
  return any ? stations->n - lost : 0;
}

void astro_beamform_validity(const AstroBeamformConfig *config,
                             const AstroBeamformArguments *arguments, GstBuffer *out)
{
  AstroValiditySamples samples;
  AstroLayout shape, counted;
  if (!arguments->validity)
    return;
  astro_stream_shape(&config->in, arguments->steps, &shape);
  astro_validity_samples(&samples, arguments->validity, &shape);
  shape_counts(config, arguments, &samples, &shape, &counted);
  AstroValidityMeta *meta = astro_buffer_add_validity(out, &counted, arguments->stations->n);
  meta->slowest_first = counted.n_axes && counted.axes[0] == shape.axes[0];
  guint64 index[ASTRO_MAX_AXES] = { 0 };
  for (guint64 k = 0, n = astro_layout_samples(&counted); k < n; k++) {
    guint64 at[2] = { 0, 0 };
    for (guint i = 0; i < counted.n_axes; i++) {
      const gint axis = astro_layout_find(&shape, counted.axes[i]);
      at[counted.axes[i] == ASTRO_AXIS_CHANNEL] =
          index[i] * (shape.extents[axis] / counted.extents[i]);
    }
    meta->counts[k] = count_at(arguments->stations, &samples, at[0], at[1]);
    for (guint i = counted.n_axes; i-- > 0;) {
      if (++index[i] < counted.extents[i])
        break;
      index[i] = 0;
    }
  }
}
