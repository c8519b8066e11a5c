/* A sink pad of astrohistogram: reads catalogues, and checks that none is missing or repeated. */
#include "config.h"
#include "elements/astrohistogram-pad.h"

#include "core/stream/stream.h"

G_DEFINE_TYPE(AstroCataloguePad, astro_catalogue_pad, GST_TYPE_AGGREGATOR_PAD)

static GstFlowReturn flush(GstAggregatorPad *pad, GstAggregator *aggregator)
{
  AstroCataloguePad *self = ASTRO_CATALOGUE_PAD(pad);

  self->forget(aggregator, self);
  g_atomic_int_set(&self->flushed, TRUE);
  return GST_FLOW_OK;
}

static void astro_catalogue_pad_class_init(AstroCataloguePadClass *klass)
{
  GST_AGGREGATOR_PAD_CLASS(klass)->flush = flush;
}

static void astro_catalogue_pad_init(AstroCataloguePad *self)
{
}

static gboolean read_columns(AstroCataloguePad *pad, const GstCaps *caps, GError **error)
{
  const char *columns = gst_structure_get_string(gst_caps_get_structure(caps, 0), "columns");
  AstroStream stream;

  if (!astro_stream_from_caps(&stream, caps, error))
    return FALSE;
  if (stream.quantity != ASTRO_QUANTITY_CATALOGUE || stream.format != ASTRO_FORMAT_F64LE ||
      stream.layout.n_axes != 2 || stream.layout.axes[0] != ASTRO_AXIS_COLUMN || !columns) {
    g_autofree char *text = gst_caps_to_string(caps);
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s, expected format=F64LE, layout=column:point", text);
  }
  return astro_column_places(&pad->places, columns, error);
}

gboolean astro_catalogue_pad_read_caps(AstroCataloguePad *pad, const GstCaps *caps, GError **error)
{
  if (read_columns(pad, caps, error))
    return TRUE;
  pad->places = (AstroColumnPlaces){ 0 }; /* buffers may come even so, and are refused */
  g_prefix_error(error, "pad %s: ", GST_PAD_NAME(pad));
  return FALSE;
}

/* A catalogue's number is its OFFSET, except in byte segments, where files and sockets count bytes.
 * Without numbers, the times of catalogues have to follow one another; a time without a duration
 * is ignored, as it may be the time of arrival. */
static gboolean place_of(AstroCataloguePad *pad, GstBuffer *buffer, guint64 *place, guint64 *next)
{
  const GstFormat format = GST_AGGREGATOR_PAD(pad)->segment.format;
  const guint64 offset = GST_BUFFER_OFFSET(buffer);
  if (format != GST_FORMAT_BYTES && offset != GST_BUFFER_OFFSET_NONE &&
      GST_BUFFER_OFFSET_END(buffer) == offset + 1) {
    *place = offset;
    *next = offset + 1;
    return TRUE;
  }
  *place = GST_BUFFER_PTS(buffer);
  *next = GST_BUFFER_PTS(buffer) + GST_BUFFER_DURATION(buffer);
  return format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer) &&
         GST_BUFFER_DURATION_IS_VALID(buffer);
}

gboolean astro_catalogue_pad_check_place(AstroCataloguePad *pad, GstBuffer *buffer, GError **error)
{
  guint64 place, next;
  if (!place_of(pad, buffer, &place, &next)) {
    pad->counts = FALSE;
    return TRUE;
  }
  const guint64 expected = pad->next;
  const gboolean follows = !pad->counts || place == expected;
  pad->counts = TRUE;
  pad->next = next;
  return follows || astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                                        "pad %s: a catalogue has OFFSET or PTS %" G_GUINT64_FORMAT
                                        ", expected %" G_GUINT64_FORMAT ": %s",
                                        GST_PAD_NAME(pad), place, expected,
                                        place < expected ? "it would be counted twice"
                                                         : "catalogues in between are missing");
}

gboolean astro_catalogue_pad_append(const AstroCataloguePad *pad, GstBuffer *buffer,
                                    const AstroHeldLimit *limit, AstroHeld *held, GError **error)
{
  GstMapInfo map;
  gsize step = pad->places.n * sizeof(double);
  if (step == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: a buffer came without caps that name its columns, "
                               "expected caps of a catalogue",
                               GST_PAD_NAME(pad));
  if (gst_buffer_get_size(buffer) == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "pad %s: the %s catalogue is empty",
                               GST_PAD_NAME(pad), GST_PAD_NAME(pad));
  if (gst_buffer_get_size(buffer) % step)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "pad %s: a buffer of %" G_GSIZE_FORMAT
                               " bytes is not a whole number of points with %u columns",
                               GST_PAD_NAME(pad), gst_buffer_get_size(buffer), pad->places.n);
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "pad %s: cannot map a buffer",
                               GST_PAD_NAME(pad));
  gboolean good = astro_held_append(
      held, limit, &pad->places, (const double *)(gconstpointer)map.data, map.size / step, error);
  gst_buffer_unmap(buffer, &map);
  if (!good)
    g_prefix_error(error, "pad %s: ", GST_PAD_NAME(pad));
  return good;
}
