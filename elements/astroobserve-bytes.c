/* Cuts a stream of bytes into blocks of whole steps. */
#include "config.h"
#include "elements/astroobserve-bytes.h"

#define BLOCK_BYTES (4 << 20)

void astro_bytes_init(AstroBytes *bytes)
{
  bytes->adapter = gst_adapter_new();
}

void astro_bytes_clear(AstroBytes *bytes)
{
  g_clear_object(&bytes->adapter);
}

void astro_bytes_seek(AstroBytes *bytes, guint64 position)
{
  gst_adapter_clear(bytes->adapter);
  bytes->position = position;
  bytes->is_begun = bytes->is_counted = FALSE;
}

void astro_bytes_begin_stream(AstroBytes *bytes)
{
  bytes->end = GST_BUFFER_OFFSET_NONE;
  bytes->is_counted = FALSE;
}

void astro_bytes_follow_rate(AstroBytes *bytes, const AstroStream *before,
                             const AstroStream *stream)
{
  if (before->rate_n > 0 && stream->rate_n > 0)
    bytes->next = astro_stream_step_of_rate(before, bytes->next, stream);
}

static gboolean is_cut_anywhere(const AstroStream *stream)
{
  return astro_layout_find(&stream->layout, ASTRO_AXIS_TIME) <= 0;
}

gsize astro_bytes_of_block(const AstroBytes *bytes, const AstroStream *stream)
{
  const gsize step = astro_stream_step_bytes(stream);

  if (!is_cut_anywhere(stream))
    return bytes->block;
  return MAX((bytes->block ? bytes->block : BLOCK_BYTES) / step, 1) * step;
}

/* Drops bytes up to the first whole step from the current position on. */
static void begin(AstroBytes *bytes, const AstroStream *stream)
{
  const gsize step = astro_stream_step_bytes(stream);
  const guint64 into = bytes->position > bytes->skip ? bytes->position - bytes->skip : 0;

  bytes->next = into / step + (into % step > 0);
  bytes->drop = bytes->skip + bytes->next * step - bytes->position;
  bytes->is_begun = bytes->is_discont = TRUE;
}

/* Whether OFFSET counts bytes; other sources count buffers there. It does if OFFSET_END says so, or
 * if buffers so far agreed with it, or at a discontinuity. */
static gboolean counts_bytes(const AstroBytes *bytes, GstBuffer *buffer)
{
  return GST_BUFFER_OFFSET_IS_VALID(buffer) &&
         (GST_BUFFER_OFFSET_END_IS_VALID(buffer)
              ? GST_BUFFER_OFFSET_END(buffer) - GST_BUFFER_OFFSET(buffer) ==
                    gst_buffer_get_size(buffer)
              : bytes->is_counted || GST_BUFFER_IS_DISCONT(buffer));
}

static gboolean is_known(const AstroBytes *bytes, GstBuffer *buffer)
{
  return bytes->is_begun && bytes->end != GST_BUFFER_OFFSET_NONE && counts_bytes(bytes, buffer);
}

GstBuffer *astro_bytes_cut(const AstroBytes *bytes, GstBuffer *buffer, guint64 *again)
{
  const gsize size = gst_buffer_get_size(buffer);
  const guint64 at = GST_BUFFER_OFFSET(buffer);

  *again = is_known(bytes, buffer) && at < bytes->end ? MIN(bytes->end - at, size) : 0;
  if (*again == 0)
    return buffer;
  GstBuffer *rest =
      *again == size
          ? NULL
          : gst_buffer_copy_region(buffer, GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_FLAGS, *again,
                                   size - *again);
  if (rest) {
    GST_BUFFER_OFFSET(rest) = bytes->end;
    GST_BUFFER_OFFSET_END(rest) = bytes->end + size - *again;
  }
  gst_buffer_unref(buffer);
  return rest;
}

guint64 astro_bytes_lost(const AstroBytes *bytes, GstBuffer *buffer)
{
  return is_known(bytes, buffer) && GST_BUFFER_OFFSET(buffer) > bytes->end
             ? GST_BUFFER_OFFSET(buffer) - bytes->end
             : 0;
}

static void follow(AstroBytes *bytes, const AstroStream *stream, GstBuffer *buffer)
{
  if (!bytes->is_begun)
    begin(bytes, stream);
  else
    bytes->is_counted |= GST_BUFFER_OFFSET_IS_VALID(buffer) && GST_BUFFER_OFFSET(buffer) > 0 &&
                         GST_BUFFER_OFFSET(buffer) == bytes->end;
  bytes->end = GST_BUFFER_OFFSET_IS_VALID(buffer)
                   ? GST_BUFFER_OFFSET(buffer) + gst_buffer_get_size(buffer)
                   : GST_BUFFER_OFFSET_NONE;
}

void astro_bytes_add(AstroBytes *bytes, const AstroStream *stream, GstBuffer *buffer)
{
  follow(bytes, stream, buffer);
  gst_adapter_push(bytes->adapter, buffer);
  const gsize dropped = MIN(bytes->drop, gst_adapter_available(bytes->adapter));
  gst_adapter_flush(bytes->adapter, dropped);
  bytes->drop -= dropped;
}

/* The block gets none of the metadata of the buffers of bytes. */
static GstBuffer *make_block(AstroBytes *bytes, const AstroStream *stream, gsize size)
{
  const guint64 end = bytes->next + size / astro_stream_step_bytes(stream);
  g_autoptr(GstBuffer) taken = gst_adapter_take_buffer(bytes->adapter, size);
  GstBuffer *block = gst_buffer_copy_region(taken, GST_BUFFER_COPY_MEMORY, 0, (gsize)-1);

  GST_BUFFER_OFFSET(block) = bytes->next;
  GST_BUFFER_OFFSET_END(block) = end;
  if (stream->rate_n > 0) {
    GST_BUFFER_PTS(block) = astro_stream_time(stream, bytes->next);
    GST_BUFFER_DURATION(block) = astro_stream_time(stream, end) - GST_BUFFER_PTS(block);
  }
  if (bytes->is_discont)
    GST_BUFFER_FLAG_SET(block, GST_BUFFER_FLAG_DISCONT);
  bytes->is_discont = FALSE;
  bytes->next = end;
  return block;
}

gboolean astro_bytes_take(AstroBytes *bytes, const AstroStream *stream, GstBuffer **block,
                          GError **error)
{
  const gsize available = gst_adapter_available(bytes->adapter);
  const gsize of_block = astro_bytes_of_block(bytes, stream);
  const gsize size = of_block ? of_block : available;
  const gsize step = astro_stream_step_bytes(stream);

  *block = NULL;
  if (available == 0 || available < size)
    return TRUE;
  if (size % step != 0)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_SIZE,
        "a block of %" G_GSIZE_FORMAT " bytes, expected a multiple of the %" G_GSIZE_FORMAT
        " of a step: set block to the number of bytes in one array of this layout",
        size, step);
  *block = make_block(bytes, stream, size);
  return TRUE;
}

static gsize least_unit(const AstroBytes *bytes, const AstroStream *stream)
{
  return is_cut_anywhere(stream) ? astro_stream_step_bytes(stream)
                                 : MAX(astro_bytes_of_block(bytes, stream), 1);
}

GstBuffer *astro_bytes_take_whole(AstroBytes *bytes, const AstroStream *stream)
{
  const gsize unit = least_unit(bytes, stream);
  const gsize size = gst_adapter_available(bytes->adapter) / unit * unit;

  return size ? make_block(bytes, stream, size) : NULL;
}

GstBuffer *astro_bytes_take_rest(AstroBytes *bytes, const AstroStream *stream, GError **left)
{
  GstBuffer *rest = astro_bytes_take_whole(bytes, stream);
  const gsize over = gst_adapter_available(bytes->adapter);

  if (over)
    astro_stream_refuse(
        left, ASTRO_STREAM_ERROR_SIZE,
        "the stream ends with %" G_GSIZE_FORMAT " bytes of an incomplete %s of %" G_GSIZE_FORMAT
        " bytes, which are left out",
        over, is_cut_anywhere(stream) ? "step" : "block", least_unit(bytes, stream));
  gst_adapter_clear(bytes->adapter);
  return rest;
}

GstBuffer *astro_bytes_lose(AstroBytes *bytes, const AstroStream *stream, guint64 lost)
{
  const gsize step = astro_stream_step_bytes(stream);
  const gsize unit = is_cut_anywhere(stream) || !bytes->block ? step : bytes->block;
  const guint64 unwanted = MIN(bytes->drop, lost);
  const guint64 missing = gst_adapter_available(bytes->adapter) % unit + lost - unwanted;
  const guint64 units = missing / unit + (missing % unit > 0);
  GstBuffer *rest = astro_bytes_take_rest(bytes, stream, NULL);

  bytes->drop += units * unit - missing - unwanted;
  bytes->next += units * unit / step;
  bytes->is_discont |= units > 0;
  return rest;
}

GstBuffer *astro_bytes_add_gap(AstroBytes *bytes, const AstroStream *stream, GstBuffer *buffer)
{
  const guint64 lost = gst_buffer_get_size(buffer);

  follow(bytes, stream, buffer);
  gst_buffer_unref(buffer);
  return astro_bytes_lose(bytes, stream, lost);
}
