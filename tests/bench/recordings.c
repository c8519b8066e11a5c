/* Reading recordings from the page cache, and writing them, beside the kernel's copies alone: reads
 * of as many bytes as the stream has, and writes of as many as the file gets. */
#include "tests/bench/bench.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#include <string.h>
#include <unistd.h>

#define BLOCK (4u << 20) /* bytes of a buffer of the source: CI8, two polarisations */
#define PIECE (1u << 20) /* bytes that the limits copy at once, as the elements do */
#define FEW 8
#define MANY 40
#define ROUNDS 3
#define SOURCE                                                                                     \
  "astroskysrc stations=1 pols=2 noise=400 bandwidth=1e8 frequency=1.4e9 pattern=noise repeat=4 "  \
  "block-steps=1048576 num-buffers=%u start-time=2026-11-20T12:00:00 ! "                           \
  "application/x-astro-voltages,format=CI8 ! "
#define NAME "bench-recording"
#define PLAIN "bench-plain"

static double play(const char *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  if (error)
    g_error("%s: %s", line, error->message);
  const gint64 begun = g_get_monotonic_time();
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const double seconds = (double)(g_get_monotonic_time() - begun) * 1e-6;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error(message, &error, NULL);
    g_error("%s: %s", line, error->message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return seconds;
}

/* Bytes a second of a file that is written or read by system calls alone. */
static double plain_rate(gboolean is_read, guint64 bytes)
{
  g_autofree guint8 *piece = g_malloc(PIECE);
  double best = G_MAXDOUBLE;
  memset(piece, 1, PIECE);
  for (guint i = 0; i < ROUNDS; i++) {
    const int fd = g_open(PLAIN, is_read ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const gint64 begun = g_get_monotonic_time();
    for (guint64 at = 0; at < bytes; at += PIECE)
      if ((is_read ? read(fd, piece, PIECE) : write(fd, piece, PIECE)) <= 0)
        g_error("a file of %" G_GUINT64_FORMAT " bytes does not fit here", bytes);
    best = MIN(best, (double)(g_get_monotonic_time() - begun) * 1e-6);
    close(fd);
  }
  return (double)bytes / best * 1e-9;
}

static double write_once(const char *sink, guint blocks)
{
  g_autofree char *source = g_strdup_printf(SOURCE, blocks);
  g_autofree char *line = g_strdup_printf("%s astrorecordsink location=" NAME " %s", source, sink);
  return play(line);
}

static guint64 file_bytes(void)
{
  GStatBuf found;
  return g_stat(NAME, &found) == 0 ? (guint64)found.st_size : 0;
}

/* The source has to make its first blocks; the difference of two lengths is without them. */
static void write_row(const char *what, const char *sink, double wanted)
{
  double few = G_MAXDOUBLE, many = G_MAXDOUBLE;
  for (guint i = 0; i < ROUNDS; i++) {
    few = MIN(few, write_once(sink, FEW));
    many = MIN(many, write_once(sink, MANY));
  }
  const double bytes = (double)file_bytes() * (MANY - FEW) / MANY;
  bench_row(what, bytes / (many - few) * 1e-9, plain_rate(FALSE, (guint64)bytes), "GB/s", wanted);
}

/* Reads the file that write_row left. */
static void read_row(const char *what, const char *settings, double wanted)
{
  g_autofree char *line =
      g_strdup_printf("astrorecordsrc location=" NAME " %s ! fakesink", settings);
  const guint64 bytes = (guint64)BLOCK * MANY;
  double best = G_MAXDOUBLE;
  for (guint i = 0; i < ROUNDS; i++)
    best = MIN(best, play(line));
  plain_rate(FALSE, bytes); /* makes the file that is read next */
  bench_row(what, (double)bytes / best * 1e-9, plain_rate(TRUE, bytes), "GB/s", wanted);
}

int main(int argc, char **argv)
{
  g_autofree char *folder = NULL;
  gst_init(&argc, &argv);
  folder = g_dir_make_tmp("astro-bench-XXXXXX", NULL);
  if (!folder || g_chdir(folder) != 0)
    g_error("no folder for files");
  bench_head("recordings of CI8 (read: bytes of the stream, limit read(); write: of the file, "
             "limit write())");
  write_row("write DADA, 8 bits", "format=dada", 0.7);
  read_row("read DADA, 8 bits", "", 0.7);
  for (guint bits = 8; bits >= 1; bits /= 2) {
    g_autofree char *sink = g_strdup_printf("format=vdif bits=%u", bits);
    g_autofree char *written = g_strdup_printf("write VDIF, %u bits, two threads", bits);
    g_autofree char *read = g_strdup_printf("read VDIF, %u bits, two threads", bits);
    write_row(written, sink, bits == 8 ? 0.7 : 0);
    read_row(read, "rate=100000000 frequency=1.4e9", bits == 8 ? 0.7 : 0.5);
  }
  g_unlink(NAME);
  g_unlink(PLAIN);
  g_chdir("..");
  g_rmdir(folder);
  return 0;
}
