/* FITS files of any bytes: opened, and read to their end or their first fault. */
#include "core/fits/fits.h"

#include <sys/mman.h>
#include <unistd.h>

#define MOST_BYTES (16 << 20) /* of an integration: a header may ask for any */
#define MOST_FRAMES 64

/* CFITSIO asks for as much as a header tells of, and copes where it gets nothing. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1";
}

static int file;
static char *path;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  gst_init(NULL, NULL);
  file = memfd_create("fits", 0);
  path = g_strdup_printf("/proc/self/fd/%d", file);
  return 0;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(GError) error = NULL;
  gboolean end = FALSE;

  if (ftruncate(file, 0) < 0 || pwrite(file, data, size, 0) != (gssize)size)
    abort();
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(path, NULL, &error);
  if (!reader != !!error)
    abort();
  if (!reader)
    return 0;
  const AstroStream *stream = &astro_fits_reader_contents(reader)->stream;
  gsize bytes = astro_stream_step_bytes(stream);
  if (bytes > MOST_BYTES)
    return 0;
  guint64 samples = astro_layout_samples(&stream->layout);
  AstroFitsFrame frame = { .data = g_malloc(bytes), .counts = g_new(guint32, samples) };
  for (guint i = 0; i < MOST_FRAMES && astro_fits_reader_read(reader, &frame, &end, &error); i++)
    if (!astro_fits_reader_contents(reader)->observation)
      abort();
  g_free(frame.data);
  g_free(frame.counts);
  return 0;
}
