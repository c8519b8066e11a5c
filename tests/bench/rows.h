/* Writing and reading visibilities in rows of a kind of file, beside writing and reading as many
 * bytes unchanged. */
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "core/lib/rows/files.h"
#include "core/lib/rows/frames.h"
#include "core/lib/rows/values.h"
#include "tests/bench/bench.h"
#include "tests/core/fits/uvfits.h"
#include "tests/remove-all.h"

#define ROWS_FRAMES 8
#define ROWS_PIECE (1u << 20)

typedef struct {
  const char *name;
  const AstroRowReaderKind *reader;
  gconstpointer options;
  gpointer (*create)(const char *path, const AstroFitsContents *contents);
  void (*write)(gpointer writer, const AstroRowFrames *frames, AstroRowTally *tally);
  void (*finish)(gpointer writer);
} RowsKind;

typedef struct {
  const RowsKind *kind;
  AstroFitsContents contents;
  char *path, *plain;
  float *data;
  AstroRowFrame frame;
  guint64 bytes; /* of all files */
} RowsWork;

static inline guint64 rows_bytes(const char *path)
{
  g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
  const char *name;
  GStatBuf about;
  guint64 bytes = 0;
  if (!folder)
    return g_stat(path, &about) == 0 ? (guint64)about.st_size : 0;
  while ((name = g_dir_read_name(folder))) {
    g_autofree char *inside = g_build_filename(path, name, NULL);
    bytes += rows_bytes(inside);
  }
  return bytes;
}

static inline void rows_write(gpointer data)
{
  RowsWork *w = data;
  AstroRowTally tally = { 0 };
  gpointer writer = w->kind->create(w->path, &w->contents);
  for (guint i = 0; i < ROWS_FRAMES; i++) {
    const AstroRowFrames frames = {
      .data = w->data, .frames = 1, .start_ns = i * GST_SECOND, .duration_ns = GST_SECOND
    };
    w->kind->write(writer, &frames, &tally);
  }
  w->kind->finish(writer);
}

static inline void rows_read(gpointer data)
{
  RowsWork *w = data;
  const char *const names[] = { w->path, NULL };
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroRowFiles) files =
      astro_row_files_open(w->kind->reader, names, w->kind->options, &error);
  gboolean end;
  g_assert_no_error(error);
  while (astro_row_files_read(files, &w->frame, &end, &error))
    ;
  g_assert_no_error(error);
}

static inline void rows_copy(RowsWork *w, gboolean is_read)
{
  g_autofree guint8 *piece = g_malloc0(ROWS_PIECE);
  const int fd = g_open(w->plain, is_read ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0600);
  for (guint64 at = 0; at < w->bytes; at += ROWS_PIECE)
    g_assert_cmpint(is_read ? read(fd, piece, ROWS_PIECE) : write(fd, piece, ROWS_PIECE), >, 0);
  close(fd);
}

static inline void rows_plain_write(gpointer data)
{
  rows_copy(data, FALSE);
}

static inline void rows_plain_read(gpointer data)
{
  rows_copy(data, TRUE);
}

static inline void rows_measure(const RowsKind *kind, guint stations, guint channels)
{
  char *folder = test_folder();
  RowsWork w = { .kind = kind,
                 .contents = test_contents(stations, 2, channels, ASTRO_FORMAT_CF32LE) };
  const gsize bytes = astro_stream_step_bytes(&w.contents.stream);
  double ours, plain;
  w.contents.stream.frequency = 150e6;
  w.contents.stream.rate_d = 1;
  w.path = g_build_filename(folder, "v", NULL);
  w.plain = g_build_filename(folder, "plain", NULL);
  w.data = g_malloc(bytes);
  for (gsize i = 0; i < bytes / sizeof *w.data; i++)
    w.data[i] = (float)(i % 1000);
  w.frame = (AstroRowFrame){ .data = g_malloc(bytes), .counts = g_malloc(bytes / 2) };
  rows_write(&w);
  w.bytes = rows_bytes(w.path);
  g_autofree char *write =
      g_strdup_printf("write %s, %u stations, %u channels", kind->name, stations, channels);
  g_autofree char *read =
      g_strdup_printf("read %s, %u stations, %u channels", kind->name, stations, channels);
  bench_pair(rows_write, &w, rows_plain_write, &w, 3, &ours, &plain);
  bench_row(write, (double)w.bytes / ours * 1e-9, (double)w.bytes / plain * 1e-9, "GB/s", 0.5);
  bench_pair(rows_read, &w, rows_plain_read, &w, 3, &ours, &plain);
  bench_row(read, (double)w.bytes / ours * 1e-9, (double)w.bytes / plain * 1e-9, "GB/s", 0.7);
  g_free(w.data);
  g_free(w.frame.data);
  g_free(w.frame.counts);
  g_free(w.path);
  g_free(w.plain);
  test_remove_all(folder);
  g_free(folder);
  astro_fits_contents_clear(&w.contents);
}

static inline void rows_measure_all(const RowsKind *kind)
{
  g_autofree char *head =
      g_strdup_printf("%s: as many bytes written and read plainly are the limit", kind->name);
  bench_head(head);
  rows_measure(kind, 64, 64);
  rows_measure(kind, 32, 1024);
  rows_measure(kind, 256, 4);
}
