/* PSRFITS of any bytes and, since few changes of a header's text make sense, of chosen numbers:
 * each of the first pairs of bytes puts a number into a card. What is opened can be read to its end
 * or the first error, and every piece has its place and counts that fit it. */
#include "config.h"
#include "core/fits/fits.h"
#include "core/fits/psrfits/psrfits.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CARD 80
#define CHANGES 4
#define MOST_BYTES (16 << 20) /* of a piece */
#define MOST_PIECES 64

static const char *const keys[] = {
  "NCHAN",   "NPOL",     "NSBLK",    "NBITS",   "TBIN",    "NAXIS1",   "NAXIS2",   "NSTOT",
  "CNTFULL", "NSUBOFFS", "ZERO_OFF", "SIGNINT", "CHAN_BW", "STT_IMJD", "STT_SMJD", "STT_OFFS",
};
static const char *const numbers[] = {
  "0",          "1",    "-1",    "2",   "3",    "4",        "7",
  "8",          "16",   "32",    "64",  "4096", "65536",    "2147483647",
  "4294967295", "1e30", "1e-30", "0.5", "NaN",  "99999999", "9223372036854775807",
};

static void put_number(guint8 *bytes, gsize size, guint8 key, guint8 number)
{
  char card[CARD + 1];
  const char *name = keys[key % G_N_ELEMENTS(keys)];
  g_snprintf(card, sizeof card, "%-8s= %20s ", name, numbers[number % G_N_ELEMENTS(numbers)]);
  for (gsize at = 0; at + CARD <= size; at += CARD)
    if (memcmp(bytes + at, card, strlen("12345678= ")) == 0)
      memcpy(bytes + at, card, strlen(card));
}

static gboolean read_piece(AstroFitsReader *reader, guint64 steps, guint64 *next)
{
  const AstroFitsContents *contents = astro_fits_reader_contents(reader);
  const gsize bytes = steps * astro_stream_step_bytes(&contents->stream);
  g_autoptr(GError) error = NULL;
  AstroLayout shape;
  gboolean end;
  if (bytes > MOST_BYTES)
    return FALSE;
  g_autoptr(GstBuffer) buffer = gst_buffer_new();
  g_autofree guint8 *data = g_malloc(bytes);
  AstroFitsFrame frame = { .data = data, .buffer = buffer };
  if (!astro_fits_reader_read(reader, &frame, &end, &error))
    return FALSE;
  astro_stream_shape(&contents->stream, steps, &shape);
  const AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
  if (!validity != !contents->stream.has_counts ||
      (validity && !astro_validity_check(validity, &shape, NULL)))
    abort();
  if (GST_BUFFER_OFFSET(buffer) < *next ||
      GST_BUFFER_OFFSET_END(buffer) != GST_BUFFER_OFFSET(buffer) + steps)
    abort();
  *next = GST_BUFFER_OFFSET_END(buffer);
  return TRUE;
}

static void read_all(const char *path, const AstroFitsOptions *options)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(path, options, &error);
  gboolean end = FALSE;
  guint64 steps, next = 0;
  if (!reader != !!error)
    abort();
  if (!reader || astro_fits_reader_contents(reader)->stream.quantity != ASTRO_QUANTITY_POWER)
    return;
  g_autoptr(GstCaps) caps = astro_fits_contents_to_caps(astro_fits_reader_contents(reader));
  AstroPowerProducts products;
  AstroStream stream;
  if (!astro_power_from_caps(&stream, &products, caps, NULL))
    abort();
  for (guint i = 0; i < MOST_PIECES && astro_fits_reader_next(reader, &steps, &end, NULL); i++)
    if (!read_piece(reader, steps, &next))
      return;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  static int file = -1;
  if (file < 0) {
    gst_init(NULL, NULL);
    file = memfd_create("psrfits", 0);
  }
  if (size < 2 * CHANGES)
    return 0;
  g_autofree guint8 *bytes = g_memdup2(data + 2 * CHANGES, size - 2 * CHANGES);
  size -= 2 * CHANGES;
  /* A first byte of 0 changes nothing. */
  for (guint i = 0; i < CHANGES; i++)
    if (data[2 * i] && bytes)
      put_number(bytes, size, data[2 * i], data[2 * i + 1]);
  if (ftruncate(file, 0) < 0 || pwrite(file, bytes, size, 0) != (gssize)size)
    abort();
  g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", file);
  read_all(path, NULL);
  read_all(path, &(AstroFitsOptions){ .has_counts = TRUE });
  return 0;
}
