/* The rows of a waterfall. */
#include "core/render/waterfall.h"
#include "core/kit/units.h"

#include <string.h>

float *astro_waterfall_push(AstroWaterfall *w, float *values, guint64 duration_ns)
{
  if (!w->durations) {
    w->durations = g_new0(guint64, w->rows);
    w->first = w->rows + ASTRO_WATERFALL_SPARE;
  }
  if (w->first == 0) {
    w->first = ASTRO_WATERFALL_SPARE + 1;
    memmove(values + (gsize)w->first * w->width, values,
            (gsize)(w->rows - 1) * w->width * sizeof *values);
  }
  w->first--;
  memmove(w->durations + 1, w->durations, (w->rows - 1) * sizeof *w->durations);
  w->durations[0] = duration_ns;
  w->shown = MIN(w->shown + 1, w->rows);
  return values + (gsize)w->first * w->width;
}

void astro_waterfall_set_axis(const AstroWaterfall *w, AstroPanel *panel)
{
  double seconds = 0;
  gboolean known = TRUE;
  for (guint i = 0; i < w->shown; i++) {
    seconds += (double)w->durations[i] / ASTRO_NS_PER_SECOND;
    known = known && w->durations[i] > 0;
  }
  g_free(panel->y.label);
  panel->y = known ? (AstroPanelAxis){ g_strdup("Seconds ago"), seconds, 0 }
                   : (AstroPanelAxis){ g_strdup(w->things), w->shown - 0.5, -0.5, .whole = TRUE };
  panel->height = w->shown;
}

void astro_waterfall_clear(AstroWaterfall *w)
{
  g_clear_pointer(&w->durations, g_free);
}

AstroPanelAxis astro_waterfall_channels(const AstroStream *stream)
{
  const double low = stream->frequency - stream->bandwidth / 2,
               channels = (double)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  if (stream->frequency > 0)
    return (AstroPanelAxis){ g_strdup("Frequency (MHz)"), low / 1e6,
                             (low + stream->bandwidth) / 1e6 };
  return (AstroPanelAxis){ g_strdup("Channel"), -0.5, channels - 0.5, .whole = TRUE };
}
