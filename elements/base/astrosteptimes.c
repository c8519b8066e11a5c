/* When a time step of a stage's input begins and ends. */
#include "config.h"
#include "elements/base/astrosteptimes.h"

#include "elements/base/astroincoming.h"

/* Times are rounded to a nanosecond. */
static gboolean is_at(GstBuffer *in, GstClockTime time)
{
  return GST_BUFFER_PTS_IS_VALID(in) && GST_BUFFER_PTS(in) <= time + 1 &&
         time <= GST_BUFFER_PTS(in) + 1;
}

/* An integration that was cut short says in DURATION how long it is. */
static void cut_short(GstBuffer *in, GstClockTime times[2])
{
  const GstClockTime length = GST_BUFFER_DURATION(in);
  if (is_at(in, times[0]) && GST_CLOCK_TIME_IS_VALID(length) && length > 0 &&
      times[0] + length < times[1])
    times[1] = times[0] + length;
}

/* Steps of other programs' files may lie between whole integrations. */
gboolean astro_stage_step_times(AstroStage *stage, GstBuffer *in, guint64 first, guint64 i,
                                guint64 steps, GstClockTime times[2], GError **error)
{
  const gboolean has_rate = astro_stage_in(stage)->rate_n > 0;
  if (!has_rate && !(GST_BUFFER_PTS_IS_VALID(in) && GST_BUFFER_DURATION_IS_VALID(in)))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "visibilities have neither a rate in their caps nor times, which (u,v,w) need");
  for (guint64 k = 0; k < 2; k++)
    times[k] = has_rate ? astro_stage_time_in(stage, first + i + k)
                        : GST_BUFFER_PTS(in) +
                              gst_util_uint64_scale(i + k, GST_BUFFER_DURATION(in), steps);
  if (has_rate && steps == 1)
    cut_short(in, times);
  return has_rate || astro_check_times(GST_BUFFER_PTS(in), GST_BUFFER_DURATION(in), error);
}
