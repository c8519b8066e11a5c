/* Reads weights from the counts of a block. */
#include "config.h"
#include "core/dedisperse/weights.h"

static guint64 place(AstroValidityAxis axis, guint64 index)
{
  return index / axis.group * axis.stride;
}

typedef guint32 (*WeightOf)(const AstroValiditySamples *samples, guint64 t, guint64 c, guint64 s);

static guint32 fewest(const AstroValiditySamples *samples, guint64 t, guint64 c, guint64 s)
{
  const guint32 *counts = samples->meta->counts + place(samples->time, t) +
                          place(samples->channel, c) + place(samples->station, s);
  guint32 count = counts[0];
  for (guint64 pol = 1; pol < samples->pols; pol++)
    count = MIN(count, counts[place(samples->pol, pol)]);
  return count;
}

static guint32 is_good(const AstroValiditySamples *samples, guint64 t, guint64 c, guint64 s)
{
  return astro_validity_is_whole(samples, t, c, s) ? 1 : 0;
}

static guint32 *read_all(const AstroValidityMeta *meta, const AstroStream *stream,
                         WeightOf weight_of, AstroDedisperseArguments *arguments)
{
  AstroValiditySamples samples;
  AstroLayout shape;
  gboolean any = FALSE;

  astro_stream_shape(stream, arguments->steps, &shape);
  astro_validity_samples(&samples, meta, &shape);
  const guint64 stations = samples.station.stride
                               ? astro_stream_extent(stream, ASTRO_AXIS_STATION) *
                                     astro_stream_extent(stream, ASTRO_AXIS_BEAM)
                               : 1,
                channels =
                    samples.channel.stride ? astro_stream_extent(stream, ASTRO_AXIS_CHANNEL) : 1;
  guint32 *weights = g_new(guint32, arguments->steps * channels * stations), *at = weights;
  for (guint64 t = 0; t < arguments->steps; t++)
    for (guint64 c = 0; c < channels; c++)
      for (guint64 s = 0; s < stations; s++, at++) {
        *at = weight_of(&samples, t, c, s);
        any |= *at != arguments->full;
      }
  if (!any) {
    g_free(weights);
    return NULL;
  }
  arguments->weights = weights;
  arguments->weight_time = channels * stations;
  arguments->weight_channel = channels > 1 ? stations : 0;
  arguments->weight_station = stations > 1 ? 1 : 0;
  return weights;
}

guint32 *astro_dedisperse_read_weights(const AstroValidityMeta *meta, const AstroStream *power,
                                       AstroDedisperseArguments *arguments)
{
  return read_all(meta, power, fewest, arguments);
}

guint32 *astro_dedisperse_read_good(const AstroValidityMeta *meta, const AstroStream *stream,
                                    AstroDedisperseArguments *arguments)
{
  arguments->full = 1;
  return read_all(meta, stream, is_good, arguments);
}

/* ---- counts of the output ---- */

/* The axes of the counts in the order of the stream's. */
static void find_shape(const AstroStream *stream, guint64 steps, AstroAxis last, AstroLayout *shape)
{
  *shape = (AstroLayout){ 0 };
  for (guint i = 0; i < stream->layout.n_axes; i++) {
    const AstroAxis axis = stream->layout.axes[i];
    if (axis != ASTRO_AXIS_TIME && axis != ASTRO_AXIS_STATION && axis != ASTRO_AXIS_BEAM &&
        axis != last)
      continue;
    shape->axes[shape->n_axes] = axis;
    shape->extents[shape->n_axes++] = axis == ASTRO_AXIS_TIME ? steps : stream->layout.extents[i];
  }
}

static gboolean are_alike(const guint32 *counts, guint64 n)
{
  for (guint64 i = 1; i < n; i++)
    if (counts[i] != counts[0])
      return FALSE;
  return TRUE;
}

void astro_dedisperse_mark(GstBuffer *out, const AstroStream *stream, guint64 steps, guint32 full,
                           const guint32 *counts, AstroAxis last)
{
  const guint64 stations = astro_stream_extent(stream, ASTRO_AXIS_STATION) *
                           astro_stream_extent(stream, ASTRO_AXIS_BEAM),
                n = astro_stream_extent(stream, last);
  guint64 strides[ASTRO_MAX_AXES];
  AstroLayout shape;
  if (!counts || are_alike(counts, steps * stations * n)) {
    const AstroLayout one = { 0 };
    AstroValidityMeta *meta = astro_buffer_add_validity(out, &one, full);
    meta->counts[0] = counts ? counts[0] : full;
    if (!meta->counts[0])
      GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
    return;
  }
  find_shape(stream, steps, last, &shape);
  astro_layout_strides(&shape, strides);
  const gboolean has_beams = astro_layout_find(&shape, ASTRO_AXIS_BEAM) >= 0;
  const guint64 of_time = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME),
                of_station = astro_layout_stride_of(
                    &shape, strides, has_beams ? ASTRO_AXIS_BEAM : ASTRO_AXIS_STATION),
                of_last = astro_layout_stride_of(&shape, strides, last);
  AstroValidityMeta *meta = astro_buffer_add_validity(out, &shape, full);
  meta->slowest_first = shape.axes[0] == stream->layout.axes[0];
  for (guint64 t = 0; t < steps; t++)
    for (guint64 s = 0; s < stations; s++)
      for (guint64 i = 0; i < n; i++)
        meta->counts[t * of_time + s * of_station + i * of_last] = *counts++;
}
