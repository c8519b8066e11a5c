/* Numbers and times of what is read from a file. */
#include "elements/base/astrostamps.h"

/* Times in files are rounded: one may be early or late by one part in so many of a step. */
#define EARLY_OR_LATE 10000

void astro_stamps_put(AstroStamps *stamps, GstBuffer *buffer, gint64 start_ns, guint64 duration_ns,
                      guint64 step_ns)
{
  const gint64 begin = MAX(start_ns, 0);
  /* Steps are counted from those before, so that each has a step of its own even where integrations
   * overlap. */
  guint64 offset =
      step_ns ? gst_util_uint64_scale_round((guint64)MAX(begin - stamps->epoch, 0), 1, step_ns)
              : stamps->n;
  if (step_ns && stamps->n > 0)
    offset = MAX(offset, stamps->next);
  const gint64 epoch = step_ns ? begin - (gint64)(offset * step_ns) : 0;
  GST_BUFFER_PTS(buffer) = (GstClockTime)begin;
  GST_BUFFER_DURATION(buffer) = duration_ns ? duration_ns : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET(buffer) = offset;
  GST_BUFFER_OFFSET_END(buffer) = offset + 1;
  if (stamps->n == 0 || offset != stamps->next ||
      ABS(epoch - stamps->epoch) > (gint64)(step_ns / EARLY_OR_LATE)) {
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
    stamps->epoch = epoch;
  }
  stamps->next = offset + 1;
  stamps->n++;
}
