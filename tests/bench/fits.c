/* Writing and reading UVFITS, beside writing and reading the same bytes unchanged. */
#include "core/fits/fits.h"
#include "tests/bench/bench.h"
#include "tests/core/fits/uvfits.h"

#define FRAMES 8

typedef struct {
  AstroFitsContents contents;
  char *path, *plain;
  gpointer data; /* a frame */
  AstroFitsFrame frame;
  gsize bytes; /* of the file */
} Work;

static void write_uvfits(gpointer data)
{
  Work *w = data;
  const AstroFitsWriterKind *kind =
      astro_fits_writer_kind(ASTRO_QUANTITY_VISIBILITIES, w->path, NULL);
  AstroPartFile *file = astro_part_file_create(w->path, NULL);
  gpointer writer = kind->create(file, &w->contents, NULL);
  AstroFitsTally tally = { 0 };
  for (guint i = 0; i < FRAMES; i++) {
    AstroFitsFrames frames = { w->data, 1, NULL, i * GST_SECOND, GST_SECOND };
    kind->write(writer, &frames, &tally, NULL);
  }
  kind->finish(writer, &tally, NULL);
  kind->destroy(writer);
  w->bytes = astro_part_file_bytes(file);
  astro_part_file_commit(file, NULL);
}

static void write_plain(gpointer data)
{
  Work *w = data;
  AstroPartFile *file = astro_part_file_create(w->plain, NULL);
  g_autofree guint8 *block = g_malloc0(1 << 20);
  for (gsize done = 0; done < w->bytes; done += 1 << 20)
    astro_part_file_write(file, block, MIN(1 << 20, w->bytes - done), NULL);
  astro_part_file_commit(file, NULL);
}

static void read_uvfits(gpointer data)
{
  Work *w = data;
  AstroFitsReader *reader = astro_fits_reader_open(w->path, NULL, NULL);
  gboolean end;
  while (astro_fits_reader_read(reader, &w->frame, &end, NULL))
    ;
  astro_fits_reader_close(reader);
}

static void read_plain(gpointer data)
{
  Work *w = data;
  g_autofree guint8 *block = g_malloc(1 << 20);
  FILE *file = fopen(w->plain, "rb");
  while (fread(block, 1, 1 << 20, file) > 0)
    ;
  fclose(file);
}

static void measure(guint stations, guint channels)
{
  char *folder = test_folder();
  Work w = { .contents = test_contents(stations, 2, channels, ASTRO_FORMAT_CF32LE) };
  gsize bytes = astro_stream_step_bytes(&w.contents.stream);
  double ours, plain;

  w.path = g_build_filename(folder, "v.uvfits", NULL);
  w.plain = g_build_filename(folder, "plain", NULL);
  w.data = g_malloc0(bytes);
  w.frame.data = g_malloc(bytes);
  w.frame.counts = g_malloc(bytes / 2);
  g_autofree char *write =
      g_strdup_printf("write UVFITS, %u stations, %u channels", stations, channels);
  g_autofree char *read =
      g_strdup_printf("read UVFITS, %u stations, %u channels", stations, channels);
  bench_pair(write_uvfits, &w, write_plain, &w, 5, &ours, &plain);
  bench_row(write, w.bytes / ours * 1e-9, w.bytes / plain * 1e-9, "GB/s", 0);
  bench_pair(read_uvfits, &w, read_plain, &w, 5, &ours, &plain);
  bench_row(read, w.bytes / ours * 1e-9, w.bytes / plain * 1e-9, "GB/s", 0);

  g_free(w.data);
  g_free(w.frame.data);
  g_free(w.frame.counts);
  test_remove(w.path);
  test_remove(w.plain);
  g_assert_cmpint(g_rmdir(folder), ==, 0);
  g_free(folder);
  astro_fits_contents_clear(&w.contents);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  bench_head("FITS: the same bytes written and read plainly are the limit");
  measure(64, 64);
  measure(32, 1024);
  measure(256, 4);
  return 0;
}
