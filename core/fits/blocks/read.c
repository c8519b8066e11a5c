/* Reads files of blocks (core/fits/blocks/blocks.h): the headers of the file, and one block after
 * the other. */
#include "config.h"
#include "core/fits/blocks/read.h"

static gboolean recognises(const AstroFitsFile *file)
{
  const AstroFitsHeader *primary = astro_fits_file_primary(file);
  return primary && g_hash_table_contains(primary->values, "ASTROSTR");
}

/* ---- blocks ---- */

static const AstroFitsHeader *block_header(const AstroBlocksReader *r)
{
  return astro_fits_file_header(r->file, g_array_index(r->blocks, guint, r->next));
}

static gboolean next_block(gpointer reader, guint64 *steps, gboolean *end, GError **error)
{
  AstroBlocksReader *r = reader;
  const guint64 step = astro_stream_step_bytes(&r->stream);
  *end = r->next == r->blocks->len;
  if (*end)
    return FALSE;
  const AstroFitsHeader *header = block_header(r);
  if (!astro_blocks_check_array(r, header, "BLOCK", &r->words, error))
    return FALSE;
  *steps = header->bytes / step;
  return (*steps > 0 && header->bytes % step == 0) ||
         astro_fits_wrong(r->file, error,
                          "block %u has %" G_GUINT64_FORMAT
                          " bytes, expected a multiple of %" G_GUINT64_FORMAT " according to CAPS",
                          r->next + 1, header->bytes, step);
}

static gboolean is_true(const AstroFitsHeader *header, const char *key)
{
  return g_strcmp0(g_hash_table_lookup(header->values, key), "T") == 0;
}

static gboolean place_buffer(const AstroBlocksReader *r, const AstroFitsHeader *header,
                             GstBuffer *buffer, GError **error)
{
  static const char *const keys[] = { "OFFSET", "OFFEND", "PTS", "DURATION" };
  guint64 *const values[] = { &GST_BUFFER_OFFSET(buffer), &GST_BUFFER_OFFSET_END(buffer),
                              &GST_BUFFER_PTS(buffer), &GST_BUFFER_DURATION(buffer) };
  for (guint i = 0; i < G_N_ELEMENTS(keys); i++) {
    gint64 found = -1;
    if (g_hash_table_contains(header->values, keys[i]) &&
        !astro_blocks_get_number(r, header, keys[i], 0, G_MAXINT64, &found, error))
      return FALSE;
    *values[i] = (guint64)found; /* -1: none */
  }
  if (is_true(header, "DISCONT"))
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_DISCONT);
  if (is_true(header, "GAP"))
    GST_BUFFER_FLAG_SET(buffer, GST_BUFFER_FLAG_GAP);
  return TRUE;
}

static gboolean read_block(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  AstroBlocksReader *r = reader;
  AstroLayout shape;
  guint64 steps;
  if (!next_block(r, &steps, end, error))
    return FALSE;
  const AstroFitsHeader *header = block_header(r);
  const guint block = g_array_index(r->blocks, guint, r->next);
  astro_stream_shape(&r->stream, steps, &shape);
  if (!astro_blocks_read_into(r, header, &r->words, frame->data, error) ||
      !place_buffer(r, header, frame->buffer, error) ||
      !astro_blocks_read_counts(r, block, &shape, frame->buffer, error) ||
      !astro_blocks_read_grid(r, block, frame->buffer, error) ||
      !astro_blocks_read_summary(r, block, header->bytes, &frame->told, error))
    return FALSE;
  r->next++;
  return TRUE;
}

/* ---- the file ---- */

static gboolean read_caps(const AstroBlocksReader *r, AstroFitsContents *contents, GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_header(r->file, 1);
  if (!astro_blocks_is_named(header, "CAPS"))
    return astro_fits_wrong(r->file, error,
                            "the array CAPS, which describes the stream, is "
                            "missing after the first header");
  g_autofree char *text = astro_blocks_read_array(r, header, "CAPS", &astro_fits_letters, error);
  if (!text)
    return FALSE;
  g_autoptr(GstCaps) caps = gst_caps_from_string(text);
  if (!caps || !gst_caps_is_fixed(caps))
    return astro_fits_wrong(r->file, error, "CAPS holds \"%.200s\", expected caps of a stream",
                            text);
  if (!astro_fits_contents_from_caps(contents, caps, error)) {
    g_prefix_error(error, "%s: CAPS: ", astro_fits_file_name(r->file));
    return FALSE;
  }
  g_autoptr(GstCaps) allowed = gst_caps_from_string(astro_blocks_reader.caps);
  return gst_caps_can_intersect(caps, allowed) ||
         astro_fits_wrong(r->file, error, "CAPS describes %s, which are not stored in blocks",
                          astro_quantity_name(contents->stream.quantity));
}

static gboolean read_observation(const AstroBlocksReader *r, AstroFitsContents *contents,
                                 GError **error)
{
  const AstroFitsHeader *header = astro_fits_file_header(r->file, 2);
  if (!astro_blocks_is_named(header, "OBSERVATION"))
    return TRUE;
  g_autofree char *text =
      astro_blocks_read_array(r, header, "OBSERVATION", &astro_fits_letters, error);
  if (!text)
    return FALSE;
  char *end = NULL;
  GstStructure *told = gst_structure_from_string(text, &end);
  if (!told || *end || !gst_structure_has_name(told, ASTRO_OBSERVATION_EVENT)) {
    g_clear_pointer(&told, gst_structure_free);
    return astro_fits_wrong(r->file, error, "OBSERVATION holds \"%.200s\", expected %s", text,
                            ASTRO_OBSERVATION_EVENT);
  }
  g_autoptr(GstEvent) event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, told);
  contents->observation = astro_observation_from_event(event, error);
  if (!contents->observation)
    g_prefix_error(error, "%s: OBSERVATION: ", astro_fits_file_name(r->file));
  return contents->observation != NULL;
}

/* A file that lacks its end, or an array in its middle, would be read as a shorter stream. */
static gboolean find_blocks(AstroBlocksReader *r, GError **error)
{
  const AstroFitsHeader *header;
  gint64 expected;
  for (guint i = 1; (header = astro_fits_file_header(r->file, i)); i++) {
    if (!astro_blocks_is_named(header, "BLOCK"))
      continue;
    g_array_append_val(r->blocks, i);
    if (astro_blocks_number(header, "EXTVER") != r->blocks->len)
      return astro_fits_wrong(r->file, error,
                              "block %u has EXTVER %" G_GINT64_FORMAT
                              ": blocks are missing or in the wrong order",
                              r->blocks->len, astro_blocks_number(header, "EXTVER"));
  }
  return astro_blocks_get_number(r, astro_fits_file_primary(r->file), "NBLOCKS", 0, G_MAXINT64,
                                 &expected, error) &&
         (expected == r->blocks->len ||
          astro_fits_wrong(r->file, error,
                           "cut short or damaged: found %u blocks, expected %" G_GINT64_FORMAT,
                           r->blocks->len, expected));
}

static guint64 end_of(const AstroBlocksReader *r)
{
  if (!r->blocks->len)
    return 0;
  const AstroFitsHeader *last =
      astro_fits_file_header(r->file, g_array_index(r->blocks, guint, r->blocks->len - 1));
  const gint64 begin = astro_blocks_number(last, "PTS"),
               length = astro_blocks_number(last, "DURATION");
  return begin >= 0 && length >= 0 ? (guint64)begin + (guint64)length : 0;
}

static void close_reader(gpointer reader)
{
  AstroBlocksReader *r = reader;
  g_array_unref(r->blocks);
  g_free(r);
}

static gpointer open_reader(AstroFitsFile *file, const AstroFitsOptions *options,
                            AstroFitsContents *contents, GError **error)
{
  AstroBlocksReader *r = g_new0(AstroBlocksReader, 1);
  r->file = file;
  r->blocks = g_array_new(FALSE, FALSE, sizeof(guint));
  if (read_caps(r, contents, error) && read_observation(r, contents, error) &&
      find_blocks(r, error)) {
    r->stream = contents->stream;
    r->words = astro_fits_words_of(r->stream.format);
    contents->duration_ns = end_of(r);
    contents->is_blocks = TRUE;
    return r;
  }
  close_reader(r);
  return NULL;
}

const AstroFitsReaderKind astro_blocks_reader = {
  "a stream's blocks",
  "application/x-astro-uvgrid; application/x-astro-histogram; application/x-astro-spectra; "
  "application/x-astro-power; application/x-astro-profile; application/x-astro-voltages",
  recognises,
  open_reader,
  next_block,
  read_block,
  close_reader,
};
