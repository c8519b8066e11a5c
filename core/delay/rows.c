/* Copies samples to where each row is contiguous, and back. */
#include "config.h"
#include "core/delay/instance.h"
#include "core/lib/transpose/plan.h"

void astro_delay_move(const AstroStream *stream, guint64 steps, const AstroDelayRows *to,
                      const AstroDelayRows *from, guint threads)
{
  const gsize bytes = astro_format_info(stream->format)->bytes;
  const AstroDelayStrides *f = &from->strides, *t = &to->strides;
  const AstroTransposeAxis axes[] = {
    { .extent = astro_stream_extent(stream, ASTRO_AXIS_STATION),
      .from = f->station * bytes,
      .to = t->station * bytes },
    { .extent = astro_stream_extent(stream, ASTRO_AXIS_POL),
      .from = f->pol * bytes,
      .to = t->pol * bytes },
    { .extent = steps, .from = f->time * bytes, .to = t->time * bytes },
    { .extent = astro_stream_extent(stream, ASTRO_AXIS_CHANNEL),
      .from = f->channel * bytes,
      .to = t->channel * bytes },
  };
  astro_transpose_part(to->data, from->data, bytes, axes, G_N_ELEMENTS(axes), threads);
}

gboolean astro_delay_rows(AstroDelayRows *rows, const AstroStream *stream, guint64 steps,
                          const AstroDelayRows *block, AstroDelayRoom *room, GError **error)
{
  const gsize channels = astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  const gsize pols = astro_stream_extent(stream, ASTRO_AXIS_POL);
  *rows = *block;
  const gboolean there = stream->quantity == ASTRO_QUANTITY_SPECTRA
                             ? channels == 1 || block->strides.channel == 1
                             : block->strides.time == 1;
  if (there || steps == 0)
    return TRUE;
  const gsize bytes = steps * astro_stream_step_bytes(stream);
  if (room->bytes < bytes) {
    g_free(room->data);
    room->data = g_try_malloc(bytes);
    room->bytes = room->data ? bytes : 0;
  }
  *rows = (AstroDelayRows){
    room->data,
    { .channel = 1, .time = channels, .pol = steps * channels, .station = pols * steps * channels }
  };
  return room->data || astro_backend_no_memory(error,
                                               "no memory for %" G_GUINT64_FORMAT
                                               " time steps of %" G_GSIZE_FORMAT " bytes",
                                               steps, astro_stream_step_bytes(stream));
}
