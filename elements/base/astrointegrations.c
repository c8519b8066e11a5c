/* Places integrations in time. */
#include "elements/base/astrointegrations.h"

#include "core/stream/track.h"
#include "core/stream/undelayed.h"
#include "core/stream/validity.h"
#include "elements/base/astroincoming.h"

/* Buffers without timestamps are timed by their steps, starting from zero. */
static gboolean find_time(const AstroStream *stream, GstBuffer *buffer, guint64 step,
                          AstroIntegrationsPlace *place, GError **error)
{
  const gboolean has_rate = stream->rate_n > 0;
  const guint64 second = (guint64)GST_SECOND * (guint64)stream->rate_d;

  if (!(GST_BUFFER_PTS_IS_VALID(buffer) && GST_BUFFER_DURATION_IS_VALID(buffer)) && !has_rate)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "buffers have no time and duration, and caps have no \"rate\": the "
                               "times of integrations are not known");
  const guint64 rate = has_rate ? (guint64)stream->rate_n : 1;
  const guint64 begin = gst_util_uint64_scale(step, second, rate);
  const guint64 end = gst_util_uint64_scale(step + place->frames, second, rate);
  place->start_ns = (gint64)(GST_BUFFER_PTS_IS_VALID(buffer) ? GST_BUFFER_PTS(buffer) : begin);
  place->duration_ns =
      (gint64)(GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : end - begin);
  return TRUE;
}

static void warn_of_again(const AstroIntegrations *self, GstElement *element, const char *file,
                          const AstroStepsPlace *place)
{
  if (self->steps.again > place->again)
    return;
  g_autofree char *text = astro_steps_describe_again(&self->steps, place);
  GST_ELEMENT_WARNING(element, STREAM, FORMAT, ("%s: %s", file, text), (NULL));
}

/* Readers refuse a baseline that occurs twice at one time. Repeated steps of one stream were left
 * out before, but another stream may begin at a time that the file already has. */
static gboolean check_order(AstroIntegrations *self, gboolean is_first,
                            const AstroIntegrationsPlace *place, GError **error)
{
  const gint64 last =
      place->start_ns + place->duration_ns / (gint64)place->frames * (gint64)(place->frames - 1);
  if (!is_first && place->start_ns <= self->last_ns)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_SIZE,
        "an integration begins at %.9f s where the file already has one at %.9f s: expected rising "
        "times. Write each source or run to a file of its own",
        (double)place->start_ns / GST_SECOND, (double)self->last_ns / GST_SECOND);
  self->last_ns = last;
  return TRUE;
}

/* The steps of a buffer after those that come again. */
static GstBuffer *cut(GstBuffer *buffer, const AstroStream *stream, guint64 all, guint64 again)
{
  GstBuffer *rest = astro_buffer_from_step(buffer, stream, all, again);
  const GstClockTime length = GST_BUFFER_DURATION(buffer);
  if (rest && GST_BUFFER_PTS_IS_VALID(buffer) && GST_CLOCK_TIME_IS_VALID(length)) {
    GST_BUFFER_PTS(rest) = GST_BUFFER_PTS(buffer) + gst_util_uint64_scale(length, again, all);
    GST_BUFFER_DURATION(rest) = GST_BUFFER_PTS(buffer) + length - GST_BUFFER_PTS(rest);
  }
  return rest;
}

gboolean astro_integrations_place(AstroIntegrations *self, GstElement *element, const char *file,
                                  const AstroStream *stream, gboolean is_first, GstBuffer **buffer,
                                  AstroIntegrationsPlace *place, GError **error)
{
  AstroStepsPlace steps;
  const guint64 all = place->frames;
  if (!astro_check_times(GST_BUFFER_PTS_IS_VALID(*buffer) ? GST_BUFFER_PTS(*buffer) : 0,
                         GST_BUFFER_DURATION_IS_VALID(*buffer) ? GST_BUFFER_DURATION(*buffer) : 0,
                         error) ||
      !astro_steps_find(&self->steps, stream, *buffer, all, &steps, error))
    return FALSE;
  if (steps.again)
    warn_of_again(self, element, file, &steps);
  place->frames -= steps.again;
  place->first = steps.first;
  if (place->frames == 0) {
    gst_clear_buffer(buffer);
    return TRUE;
  }
  if (steps.again) {
    GstBuffer *rest = cut(*buffer, stream, all, steps.again);
    if (!rest)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "no memory for a part of a block");
    gst_buffer_unref(*buffer);
    *buffer = rest;
  }
  return find_time(stream, *buffer, steps.first, place, error) &&
         (GST_BUFFER_FLAG_IS_SET(*buffer, GST_BUFFER_FLAG_GAP) ||
          check_order(self, is_first, place, error));
}

void astro_integrations_warn_of_delays(GstElement *element, const char *file,
                                       AstroObservation *observation, const AstroStream *stream,
                                       gint64 start_ns)
{
  g_autoptr(AstroUndelayed) undelayed = astro_undelayed_new(observation, stream);
  if (undelayed)
    GST_ELEMENT_WARNING(
        element, STREAM, FORMAT,
        ("%s: the delays of the phase centre have not been taken out, so the phases do not belong "
         "to the (u,v,w) in the file, by up to %.3g cycles at its beginning. astrodelay takes "
         "them out",
         file, astro_undelayed_turns(undelayed, start_ns)),
        (NULL));
}
