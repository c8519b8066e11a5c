/* Writing and reading uvh5. */
#include "core/uvh5/uvh5.h"
#include "core/uvh5/write.h"
#include "tests/bench/rows.h"

static gpointer create(const char *path, const AstroFitsContents *c)
{
  GError *error = NULL;
  AstroUvh5Writer *writer = astro_uvh5_writer_new(path, &error);
  g_assert_no_error(error);
  astro_uvh5_writer_begin(writer, &c->stream, c->stations, c->observation, &error);
  g_assert_no_error(error);
  return writer;
}

static void write_frames(gpointer writer, const AstroRowFrames *frames, AstroRowTally *tally)
{
  GError *error = NULL;
  astro_uvh5_writer_write(writer, frames, tally, &error);
  g_assert_no_error(error);
}

static void finish(gpointer writer)
{
  GError *error = NULL;
  astro_uvh5_writer_finish(writer, &error);
  g_assert_no_error(error);
}

int main(int argc, char **argv)
{
  static const AstroUvh5Options options = { .uvw = ASTRO_UVH5_UVW_TABLE };
  const RowsKind kind = { .name = "uvh5",
                          .reader = &astro_uvh5_reader_kind,
                          .options = &options,
                          .create = create,
                          .write = write_frames,
                          .finish = finish };
  gst_init(&argc, &argv);
  rows_measure_all(&kind);
  return 0;
}
