/* Reads weights from the counts of a block. */
#include "config.h"
#include "core/dedisperse/weights.h"

static guint64 place(AstroValidityAxis axis, guint64 index)
{
  return index / axis.group * axis.stride;
}

static guint32 fewest(const AstroValiditySamples *samples, guint64 at)
{
  guint32 count = samples->meta->counts[at];
  for (guint64 pol = 1; pol < samples->pols; pol++)
    count = MIN(count, samples->meta->counts[at + place(samples->pol, pol)]);
  return count;
}

guint32 *astro_dedisperse_read_weights(const AstroValidityMeta *meta, const AstroStream *power,
                                       AstroDedisperseArguments *arguments)
{
  AstroValiditySamples samples;
  AstroLayout shape;
  gboolean any = FALSE;

  astro_stream_shape(power, arguments->steps, &shape);
  astro_validity_samples(&samples, meta, &shape);
  const guint64 stations = samples.station.stride ? astro_stream_extent(power, ASTRO_AXIS_STATION) *
                                                        astro_stream_extent(power, ASTRO_AXIS_BEAM)
                                                  : 1,
                channels =
                    samples.channel.stride ? astro_stream_extent(power, ASTRO_AXIS_CHANNEL) : 1;
  guint32 *weights = g_new(guint32, arguments->steps * channels * stations), *at = weights;
  for (guint64 t = 0; t < arguments->steps; t++)
    for (guint64 c = 0; c < channels; c++)
      for (guint64 s = 0; s < stations; s++, at++) {
        *at = fewest(&samples, place(samples.time, t) + place(samples.channel, c) +
                                   place(samples.station, s));
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
