/* FITS files of any bytes: opens them and reads to the end or to the first error. */
#include "config.h"
#include "core/fits/fits.h"

#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_BYTES (16 << 20) /* for an integration: a header may ask for any size */
#define MOST_FRAMES 64

/* CFITSIO allocates as much as a header claims, and copes if it gets nothing. */
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

/* Reads a frame that the reader has announced. */
static gboolean read_frame(AstroFitsReader *reader, guint64 steps, GError **error)
{
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  gsize bytes = steps * astro_stream_step_bytes(&contents->stream);
  gboolean is_catalogue = contents->stream.quantity == ASTRO_QUANTITY_CATALOGUE, end = FALSE,
           has_counts = contents->stream.quantity == ASTRO_QUANTITY_VISIBILITIES;
  guint64 samples = astro_layout_samples(&contents->stream.layout);
  if (bytes > MOST_BYTES)
    return FALSE;
  const guint64 baselines =
      has_counts ? astro_stream_extent(&contents->stream, ASTRO_AXIS_BASELINE) : 0;
  AstroFitsFrame frame = { .data = g_malloc(bytes),
                           .counts = has_counts ? g_new(guint32, samples) : NULL,
                           .uvw = g_new(double, 3 * baselines),
                           .buffer = gst_buffer_new() };
  g_autoptr(GstCaps) caps = astro_fits_contents_to_caps(contents);
  AstroStream stream;
  if (!astro_stream_from_caps(&stream, caps, NULL))
    abort();
  gboolean done = astro_fits_reader_read(reader, &frame, &end, error);
  if (done && !is_catalogue && !contents->is_blocks && !contents->observation)
    abort();
  for (guint64 i = 0; done && is_catalogue && i < steps; i++)
    if (!isfinite(((double *)frame.data)[i]) || !(fabs(((double *)frame.data)[steps + i]) <= 90))
      abort();
  g_free(frame.data);
  g_free(frame.counts);
  g_free(frame.uvw);
  gst_buffer_unref(frame.buffer);
  gst_clear_event(&frame.told);
  return done;
}

static void read_file(const AstroFitsOptions *options)
{
  g_autoptr(GError) error = NULL;
  gboolean end = FALSE;
  guint64 steps;
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(path, options, &error);
  if (!reader != !!error)
    abort();
  for (guint i = 0; reader && i < MOST_FRAMES; i++)
    if (!astro_fits_reader_next(reader, &steps, &end, &error) || !read_frame(reader, steps, &error))
      break;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  static const AstroFitsOptions options[] = {
    { .where = NULL },
    { .uvw = ASTRO_FITS_UVW_FILE },
    { .uvw = ASTRO_FITS_UVW_TABLE },
    { .columns = { "1", "2", "3", "4" }, .where = "RA > 1 || MAG < 20 || NAME == 'x'" },
  };
  if (ftruncate(file, 0) < 0 || pwrite(file, data, size, 0) != (gssize)size)
    abort();
  for (guint o = 0; o < G_N_ELEMENTS(options); o++)
    read_file(&options[o]);
  return 0;
}
