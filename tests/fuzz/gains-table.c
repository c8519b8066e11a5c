/* Tables of gains of any bytes: read whole, or refused with an error; as a stream and by its gains
 * at any time. */
#include "config.h"
#include "core/fits/gains/gains.h"
#include "core/fits/gains/stream.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

/* A header may claim any size, and nothing is read before the file has that many bytes. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1";
}

static int file = -1;
static char *path;

static void begin(void)
{
  if (file >= 0)
    return;
  gst_init(NULL, NULL);
  file = memfd_create("gains", 0);
  path = g_strdup_printf("/proc/self/fd/%d", file);
}

static void check_table(const AstroGains *gains)
{
  const gsize n = gains->intervals->len * astro_gains_row(gains);
  if (n == 0 || gains->gains->len != n || gains->snr->len != n || gains->delays->len != n)
    abort();
  for (guint station = 0; station < MIN(gains->stations, 3); station++)
    for (guint k = 0; k < 8; k++) {
      AstroGainsAt at;
      astro_gains_at(gains, station, 10. * k, gains->low + (gains->high - gains->low) * k / 7, &at);
      for (guint v = 0; v < 4; v++)
        if (!isfinite(creal(at.jones[v])) || !isfinite(cimag(at.jones[v])))
          abort();
    }
}

static void read_stream(void)
{
  static const AstroFitsOptions options;
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(path, &options, &error);
  gboolean end = FALSE;
  guint64 steps;
  if (!reader || !astro_fits_reader_as(reader, &astro_gains_reader))
    return;
  const gsize bytes = astro_stream_step_bytes(&astro_fits_reader_contents(reader)->stream);
  g_autofree guint8 *data = g_malloc(bytes);
  while (astro_fits_reader_next(reader, &steps, &end, &error)) {
    g_autoptr(GstBuffer) buffer = gst_buffer_new();
    AstroFitsFrame frame = { .data = data, .buffer = buffer };
    if (!astro_fits_reader_read(reader, &frame, &end, &error))
      abort();
  }
  if (!end || error)
    abort();
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(GError) error = NULL;
  begin();
  if (ftruncate(file, 0) < 0 || pwrite(file, data, size, 0) != (gssize)size)
    abort();
  g_autoptr(AstroGains) gains = astro_fits_gains_read(path, &error);
  if (!gains != !!error)
    abort();
  if (gains)
    check_table(gains);
  read_stream();
  return 0;
}
