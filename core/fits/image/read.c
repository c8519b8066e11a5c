/* Reads the pixels of images. */
#include "core/fits/image/reader.h"
#include "core/kit/units.h"

#include <string.h>

static void close_reader(gpointer reader)
{
  AstroFitsImageReader *r = reader;
  g_array_unref(r->hdus);
  g_free(r->row);
  g_free(r);
}

static void clear_hdu(gpointer hdu)
{
  g_free(((AstroFitsImageHdu *)hdu)->product_at);
}

static gsize file_value_bytes(const AstroFitsImageReader *r)
{
  return ABS(r->bitpix) / 8;
}

static gpointer open_reader(AstroFitsFile *file, const AstroFitsOptions *options,
                            AstroFitsContents *contents, GError **error)
{
  AstroFitsImageReader *r = g_new0(AstroFitsImageReader, 1);
  gint64 start_ns;
  guint64 duration_ns;
  r->file = file;
  r->takes_models = options && options->takes_models;
  r->hdus = g_array_new(FALSE, FALSE, sizeof(AstroFitsImageHdu));
  g_array_set_clear_func(r->hdus, clear_hdu);
  if (!astro_fits_image_read_headers(r, contents, error)) {
    close_reader(r);
    return NULL;
  }
  astro_fits_image_read_sky(r, contents);
  astro_fits_image_read_times(g_array_index(r->hdus, AstroFitsImageHdu, r->hdus->len - 1).header,
                              contents->observation, &start_ns, &duration_ns);
  r->observation = contents->observation;
  contents->duration_ns = start_ns + duration_ns;
  r->row = g_malloc(r->width * file_value_bytes(r)); /* no more than the file has */
  return r;
}

/* ---- pixels ---- */

static void copy_floats(const guint8 *from, guint64 n, float *to)
{
  guint32 bits;
  for (guint64 i = 0; i < n; i++) {
    memcpy(&bits, from + i * sizeof bits, sizeof bits);
    bits = GUINT32_FROM_BE(bits);
    memcpy(&to[i], &bits, sizeof bits);
  }
}

static void copy_doubles(const guint8 *from, guint64 n, double *to)
{
  guint64 bits;
  for (guint64 i = 0; i < n; i++) {
    memcpy(&bits, from + i * sizeof bits, sizeof bits);
    bits = GUINT64_FROM_BE(bits);
    memcpy(&to[i], &bits, sizeof bits);
  }
}

static void convert_row(const AstroFitsImageReader *r, const AstroFitsImageHdu *hdu, gpointer row,
                        gboolean to_doubles)
{
  gboolean plain = hdu->scale == 1 && hdu->zero == 0;
  const gint64 *blank = hdu->has_blank ? &hdu->blank : NULL;
  if (plain && r->bitpix == -32)
    copy_floats(r->row, r->width, row);
  else if (plain && r->bitpix == -64)
    copy_doubles(r->row, r->width, row);
  else
    for (guint64 x = 0; x < r->width; x++) {
      double value = astro_fits_scaled_value(r->row, r->bitpix, x, blank, hdu->scale, hdu->zero);
      if (to_doubles)
        ((double *)row)[x] = value;
      else
        ((float *)row)[x] = (float)value;
    }
}

static void reverse(guint8 *row, guint64 n, gsize bytes)
{
  guint8 kept[sizeof(double)];
  for (guint64 i = 0; i < n / 2; i++) {
    guint8 *a = row + i * bytes, *b = row + (n - 1 - i) * bytes;
    memcpy(kept, a, bytes);
    memcpy(a, b, bytes);
    memcpy(b, kept, bytes);
  }
}

/* at: where the plane begins in the HDU, counted in values. */
static gboolean read_plane(AstroFitsImageReader *r, const AstroFitsImageHdu *hdu, guint64 at,
                           guint8 *plane, gsize value_bytes, GError **error)
{
  gsize in_bytes = r->width * file_value_bytes(r), out_bytes = r->width * value_bytes;
  for (guint64 y = 0; y < r->height; y++) {
    guint8 *row = plane + (r->flip_y ? r->height - 1 - y : y) * out_bytes;
    guint64 from = hdu->header->data + at * file_value_bytes(r) + y * in_bytes;
    if (!astro_fits_file_read(r->file, from, r->row, in_bytes, error))
      return FALSE;
    convert_row(r, hdu, row, value_bytes == sizeof(double));
    if (r->flip_x)
      reverse(row, r->width, value_bytes);
  }
  return TRUE;
}

static gboolean read_hdu(AstroFitsImageReader *r, const AstroFitsImageHdu *hdu, guint first_product,
                         guint8 *image, GError **error)
{
  gsize value_bytes = r->bitpix == -64 || r->bitpix >= 32 ? sizeof(double) : sizeof(float),
        plane = r->width * r->height * value_bytes;
  for (guint64 c = 0; c < r->channels; c++)
    for (guint p = 0; p < hdu->n_products; p++) {
      guint64 channel = r->flip_channels ? r->channels - 1 - c : c;
      guint64 at = channel * hdu->channel.stride + hdu->product_at[p] * hdu->stokes.stride;
      guint8 *to = image + (c * r->pols + first_product + p) * plane;
      if (!read_plane(r, hdu, at, to, value_bytes, error))
        return FALSE;
    }
  return TRUE;
}

/* From keywords, else from AIPS's history. */
static void read_beam(const AstroFitsHeader *header, AstroFitsFrame *frame)
{
  static const char *const keys[][3] = {
    { "BMAJ", "BMIN", "BPA" },
    { ASTRO_FITS_AIPS "BMAJ", ASTRO_FITS_AIPS "BMIN", ASTRO_FITS_AIPS "BPA" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(keys) && !frame->has_beam; i++) {
    frame->major = frame->minor = frame->angle = 0;
    astro_fits_get_double(header, keys[i][0], &frame->major);
    astro_fits_get_double(header, keys[i][1], &frame->minor);
    astro_fits_get_double(header, keys[i][2], &frame->angle);
    frame->has_beam = frame->major > 0 && frame->minor > 0;
    frame->major *= ASTRO_DEGREE;
    frame->minor *= ASTRO_DEGREE;
    frame->angle *= ASTRO_DEGREE;
  }
}

static void read_border(const AstroFitsHeader *header, AstroFitsFrame *frame)
{
  gint64 border = 0;
  if (astro_fits_get_integer(header, ASTRO_FITS_BORDER, &border) && border > 0 &&
      border <= G_MAXINT)
    frame->border = (guint)border;
}

static gboolean read_frame(gpointer reader, AstroFitsFrame *frame, gboolean *end, GError **error)
{
  AstroFitsImageReader *r = reader;
  guint product = 0;
  if (r->next == r->hdus->len) {
    *end = TRUE;
    return FALSE;
  }
  const AstroFitsImageHdu *hdus = &g_array_index(r->hdus, AstroFitsImageHdu, r->next);
  frame->has_beam = FALSE;
  frame->border = 0;
  for (guint h = 0; h < r->per_image; h++) {
    if (!read_hdu(r, &hdus[h], product, frame->data, error))
      return FALSE;
    read_beam(hdus[h].header, frame);
    read_border(hdus[h].header, frame);
    product += hdus[h].n_products;
  }
  astro_fits_image_read_times(hdus[0].header, r->observation, &frame->start_ns,
                              &frame->duration_ns);
  r->next += r->per_image;
  return TRUE;
}

const AstroFitsReaderKind astro_image_reader = {
  "an image",
  "application/x-astro-image, format = (string) { F32LE, F64LE }, layout = (string) { pol:y:x, "
  "channel:pol:y:x }, width = (int) [ 1, MAX ], height = (int) [ 1, MAX ], pols = (int) [ 1, MAX ]",
  astro_fits_image_recognises,
  open_reader,
  NULL,
  read_frame,
  close_reader,
};
