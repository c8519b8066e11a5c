/* Writing and reading Measurement Sets. */
#include "core/sets/sets.h"
#include "tests/bench/rows.h"

static gpointer create(const char *path, const AstroFitsContents *c)
{
  GError *error = NULL;
  AstroSetWriter *writer = astro_set_writer_new(path, &error);
  g_assert_no_error(error);
  astro_set_writer_begin(writer, &c->stream, c->stations, c->observation, &error);
  g_assert_no_error(error);
  return writer;
}

static void write_frames(gpointer writer, const AstroRowFrames *frames, AstroRowTally *tally)
{
  GError *error = NULL;
  astro_set_writer_write(writer, frames, tally, &error);
  g_assert_no_error(error);
}

static void finish(gpointer writer)
{
  GError *error = NULL;
  astro_set_writer_finish(writer, &error);
  g_assert_no_error(error);
}

int main(int argc, char **argv)
{
  static const AstroSetOptions options = { .band = -1, .uvw = ASTRO_SET_UVW_TABLE };
  const RowsKind kind = { .name = "Measurement Set",
                          .reader = &astro_set_reader_kind,
                          .options = &options,
                          .create = create,
                          .write = write_frames,
                          .finish = finish };
  gst_init(&argc, &argv);
  rows_measure_all(&kind);
  return 0;
}
