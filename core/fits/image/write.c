/* Writes images and cubes; image.h says how a stream of them is stored. */
#include "core/fits/cards.h"
#include "core/fits/image/image.h"
#include "core/kit/units.h"
#include "core/lib/rows/field-name.h"

#include <math.h>
#include <string.h>

#define GATHER (256u << 10)

/* Products of a stream that go to the same HDU. */
typedef struct {
  const char *role;
  guint n;
  guint *index; /* in the stream */
  gint *code;   /* on the STOKES axis, which has equal steps */
} Hdu;

typedef struct {
  AstroPartFile *file;
  AstroFitsContents contents;
  guint64 width, height, channels, pols;
  gboolean channel_first; /* channel:pol:y:x */
  gsize value_bytes;
  GArray *hdus;
  gint64 version; /* EXTVER of the image being written */
  guint8 *gather;
} Writer;

/* ---- products to HDUs ---- */

static void clear_hdu(gpointer data)
{
  Hdu *hdu = data;
  g_free(hdu->index);
  g_free(hdu->code);
}

static Hdu *hdu_of_role(Writer *w, const char *role)
{
  for (guint h = 0; h < w->hdus->len; h++)
    if (g_array_index(w->hdus, Hdu, h).role == role)
      return &g_array_index(w->hdus, Hdu, h);
  Hdu hdu = { .role = role, .index = g_new(guint, w->pols), .code = g_new(gint, w->pols) };
  /* Most readers want products without a role, so they come first. */
  guint at = role ? w->hdus->len : 0;
  g_array_insert_val(w->hdus, at, hdu);
  return &g_array_index(w->hdus, Hdu, at);
}

/* Sorted by absolute value, the order of FITS's numbers. */
static void add_product(Hdu *hdu, gint code, guint index)
{
  guint at = hdu->n++;
  for (; at > 0 && ABS(hdu->code[at - 1]) > ABS(code); at--) {
    hdu->code[at] = hdu->code[at - 1];
    hdu->index[at] = hdu->index[at - 1];
  }
  hdu->code[at] = code;
  hdu->index[at] = index;
}

static gint step_of(const Hdu *hdu)
{
  return hdu->n > 1 ? hdu->code[1] - hdu->code[0] : 1;
}

/* Stokes parameters, circular correlations or linear ones. */
static gint family_of(gint code)
{
  return code > 0 ? 0 : code > -5 ? 1 : 2;
}

static gboolean plan_hdus(Writer *w, GError **error)
{
  char **names = w->contents.grid.products;
  for (guint p = 0; p < w->pols; p++) {
    AstroFitsProduct product;
    if (!astro_fits_product_from_name(&product, names[p]))
      return astro_fits_refuse(
          error,
          "products has %s, expected Stokes parameters, correlations (XX, RL ...), "
          "these followed by -MODEL, -RESIDUAL, -SLOPE, -CURVATURE or -INDEX, or PSF",
          names[p]);
    add_product(hdu_of_role(w, product.role), product.code, p);
  }
  for (guint h = 0; h < w->hdus->len; h++) {
    const Hdu *hdu = &g_array_index(w->hdus, Hdu, h);
    for (guint p = 1; p < hdu->n; p++)
      if (hdu->code[p] - hdu->code[p - 1] != step_of(hdu) || step_of(hdu) == 0 ||
          family_of(hdu->code[p]) != family_of(hdu->code[0])) {
        g_autofree char *all = g_strjoinv(":", names);
        return astro_fits_refuse(
            error,
            "products are %s, which no STOKES axis can express: it takes equal steps in "
            "I Q U V, RR LL RL LR or XX YY XY YX",
            all);
      }
  }
  return TRUE;
}

/* ---- headers ---- */

static void put_shape(const Writer *w, GString *header, const Hdu *hdu, gboolean is_primary)
{
  guint64 axes[] = { w->width, w->height, w->channels, hdu->n };
  if (is_primary)
    astro_fits_put_logical(header, "SIMPLE", TRUE, "conforms to FITS");
  else
    astro_fits_put_string(header, "XTENSION", "IMAGE", "image extension");
  astro_fits_put_integer(header, "BITPIX", -8 * (gint)w->value_bytes, "floats");
  astro_fits_put_integer(header, "NAXIS", G_N_ELEMENTS(axes), "axes");
  for (guint i = 0; i < G_N_ELEMENTS(axes); i++)
    astro_fits_put_integer_n(header, "NAXIS", i + 1, axes[i], "pixels along it");
  if (is_primary)
    astro_fits_put_logical(header, "EXTEND", TRUE, "extensions may follow");
  else {
    astro_fits_put_integer(header, "PCOUNT", 0, "nothing after the image");
    astro_fits_put_integer(header, "GCOUNT", 1, "one image");
  }
  if (!is_primary || hdu->role)
    astro_fits_put_string(header, "EXTNAME", hdu->role ? hdu->role : ASTRO_FITS_IMAGE_NAME,
                          "what this is");
  astro_fits_put_integer(header, "EXTVER", w->version, "number of the image in its stream");
}

static void put_axis(GString *header, guint axis, const char *type, double value, double pixel,
                     double delta, const char *unit)
{
  astro_fits_put_string_n(header, "CTYPE", axis, type, "axis");
  astro_fits_put_double_n(header, "CRVAL", axis, value, "value at the reference pixel");
  astro_fits_put_double_n(header, "CRPIX", axis, pixel, "reference pixel");
  astro_fits_put_double_n(header, "CDELT", axis, delta, "step of a pixel");
  if (unit)
    astro_fits_put_string_n(header, "CUNIT", axis, unit, "unit");
}

/* The reference pixel is the phase centre, from which l and m count; it may be outside of the
 * image. */
static void put_sky(const Writer *w, GString *header)
{
  const AstroGrid *grid = &w->contents.grid;
  const AstroObservation *o = w->contents.observation;
  gboolean placed = o && o->has_phase_centre && grid->pixel > 0;
  double ra = placed ? fmod(o->phase_ra * ASTRO_DEGREES + 360, 360) : 0,
         dec = placed ? o->phase_dec * ASTRO_DEGREES : 0;
  double pixel = grid->pixel > 0 ? grid->pixel * ASTRO_DEGREES : 1,
         l = grid->pixel > 0 ? grid->centre_l / grid->pixel : 0,
         m = grid->pixel > 0 ? grid->centre_m / grid->pixel : 0;
  const char *unit = grid->pixel > 0 ? "deg" : "pixel";
  put_axis(header, 1, placed ? "RA---SIN" : "X", ra, (double)(w->width / 2) + 1 + l, -pixel, unit);
  put_axis(header, 2, placed ? "DEC--SIN" : "Y", dec, (double)(w->height / 2) + 1 - m, pixel, unit);
  if (!placed)
    return;
  /* Without it, readers assume another value at the celestial pole. */
  astro_fits_put_double(header, "LONPOLE", 180, "north is up");
  astro_fits_put_double(header, "EQUINOX", 2000, "of RA and DEC");
  astro_fits_put_string(header, "RADESYS", "ICRS", "of RA and DEC");
}

static void put_band_and_products(const Writer *w, GString *header, const Hdu *hdu)
{
  const AstroStream *stream = &w->contents.stream;
  double width = stream->bandwidth / (double)w->channels;
  gboolean is_known = stream->frequency > 0;
  double first =
      astro_channel_frequency(stream->frequency, stream->bandwidth, (guint)w->channels, 0);
  put_axis(header, 3, is_known ? "FREQ" : "CHANNEL", is_known ? first : 1, 1, is_known ? width : 1,
           is_known ? "Hz" : NULL);
  if (is_known)
    astro_fits_put_string(header, "SPECSYS", "TOPOCENT", "of FREQ");
  put_axis(header, 4, "STOKES", hdu->code[0], 1, step_of(hdu), NULL);
}

static void put_times(const Writer *w, GString *header, const AstroFitsFrames *frames)
{
  const AstroObservation *o = w->contents.observation;
  if (o && o->has_start) {
    g_autofree char *start = astro_observation_get_time(o, (guint64)frames->start_ns);
    char *zone = start ? strchr(start, 'Z') : NULL;
    if (zone)
      *zone = 0; /* FITS dates are UTC by TIMESYS */
    astro_fits_put_string(header, "TIMESYS", "UTC", "of dates");
    astro_fits_put_string(header, "DATE-OBS", start ? start : "", "start");
  }
  if (frames->duration_ns > 0)
    astro_fits_put_double(header, "TELAPSE", frames->duration_ns / ASTRO_NS_PER_SECOND,
                          "[s] from start to end");
}

static void put_beam(GString *header, const AstroImageMeta *image)
{
  astro_fits_put_double(header, "BMAJ", image->major * ASTRO_DEGREES, "[deg] beam, FWHM");
  astro_fits_put_double(header, "BMIN", image->minor * ASTRO_DEGREES, "[deg] beam, FWHM");
  astro_fits_put_double(header, "BPA", image->angle * ASTRO_DEGREES, "[deg] north through east");
}

/* The sum of the weights of the visibilities behind the image, over all channels. Products have the
 * same weights. */
static void put_weights(const Writer *w, GString *header, const AstroImageMeta *image)
{
  const guint pols = (guint)astro_stream_extent(&w->contents.stream, ASTRO_AXIS_POL);
  double sum = 0;
  for (guint i = 0; i < image->n_weights; i += pols)
    sum += image->weights[i];
  if (sum > 0)
    astro_fits_put_double(header, "WGTSUM", sum, "weights, 1 a visibility without losses");
}

/* Whether it was made from a cleaned image; the PSF is not. */
static gboolean is_cleaned(const Hdu *hdu, const AstroFitsFrames *frames)
{
  return frames->image && frames->image->border > 0 && g_strcmp0(hdu->role, ASTRO_PRODUCT_PSF) != 0;
}

static gboolean write_header(const Writer *w, const Hdu *hdu, const AstroFitsFrames *frames,
                             GError **error)
{
  g_autoptr(GString) header = g_string_new(NULL);
  const AstroObservation *o = w->contents.observation;
  gboolean is_model = g_strcmp0(hdu->role, "MODEL") == 0,
           has_unit = g_strcmp0(hdu->role, ASTRO_FITS_INDEX) != 0;
  put_shape(w, header, hdu, astro_part_file_bytes(w->file) == 0);
  astro_fits_put_string(header, "BUNIT",
                        !has_unit                                       ? ""
                        : !astro_history_is_jansky(o ? &o->done : NULL) ? "UNCALIB"
                        : is_model                                      ? "JY/PIXEL"
                                                                        : "JY/BEAM",
                        "unit of the values");
  if (frames->image && frames->image->has_beam && !is_model)
    put_beam(header, frames->image);
  if (frames->image)
    put_weights(w, header, frames->image);
  if (is_cleaned(hdu, frames))
    astro_fits_put_integer(header, ASTRO_FITS_BORDER, frames->image->border,
                           "pixels along the edges that are not cleaned");
  if (o && o->done.primary_beam && g_strcmp0(hdu->role, ASTRO_PRODUCT_PSF) != 0)
    astro_fits_put_string(header, ASTRO_FITS_PRIMARY_BEAM, o->done.primary_beam,
                          "divided by this beam");
  put_sky(w, header);
  put_band_and_products(w, header, hdu);
  if (o && o->has_phase_centre) {
    g_autofree char *field = astro_field_name(o);
    astro_fits_put_string(header, "OBJECT", field, "field, named by position");
  }
  if (o) {
    astro_fits_put_string(header, "TELESCOP", o->telescope, "telescope");
    astro_fits_put_string(header, "INSTRUME", o->telescope, "telescope");
  }
  put_times(w, header, frames);
  astro_fits_put_string(header, "ORIGIN", "gst-astro", "program that wrote this");
  return astro_fits_write_cards(w->file, header, error);
}

/* ---- pixels ---- */

static void swap(guint8 *to, const guint8 *from, gsize n, gsize value_bytes)
{
  if (value_bytes == sizeof(guint32)) {
    guint32 *out = (guint32 *)(gpointer)to;
    const guint32 *in = (const guint32 *)(gconstpointer)from;
    for (gsize i = 0; i < n; i++)
      out[i] = GUINT32_TO_BE(in[i]);
  } else {
    guint64 *out = (guint64 *)(gpointer)to;
    const guint64 *in = (const guint64 *)(gconstpointer)from;
    for (gsize i = 0; i < n; i++)
      out[i] = GUINT64_TO_BE(in[i]);
  }
}

static gboolean write_plane(const Writer *w, const guint8 *plane, GError **error)
{
  gsize bytes = w->width * w->height * w->value_bytes;
  for (gsize at = 0; at < bytes; at += GATHER) {
    gsize n = MIN(GATHER, bytes - at);
    swap(w->gather, plane + at, n / w->value_bytes, w->value_bytes);
    if (!astro_part_file_write(w->file, w->gather, n, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean write_hdu(const Writer *w, const Hdu *hdu, const AstroFitsFrames *frames,
                          const guint8 *image, GError **error)
{
  gsize plane = w->width * w->height * w->value_bytes;
  if (!write_header(w, hdu, frames, error))
    return FALSE;
  for (guint p = 0; p < hdu->n; p++)
    for (guint64 c = 0; c < w->channels; c++) {
      guint64 at = w->channel_first ? c * w->pols + hdu->index[p] : hdu->index[p];
      if (!write_plane(w, image + at * plane, error))
        return FALSE;
    }
  return astro_fits_write_padding(w->file, error);
}

static gboolean write_images(gpointer writer, const AstroFitsFrames *frames, AstroFitsTally *tally,
                             GError **error)
{
  Writer *w = writer;
  guint64 values = w->width * w->height * w->channels * w->pols;
  for (guint64 f = 0; f < frames->frames; f++) {
    const guint8 *image = (const guint8 *)frames->data + f * values * w->value_bytes;
    w->version++;
    for (guint h = 0; h < w->hdus->len; h++)
      if (!write_hdu(w, &g_array_index(w->hdus, Hdu, h), frames, image, error))
        return FALSE;
    tally->values += values;
  }
  return TRUE;
}

/* ---- files ---- */

static void destroy(gpointer writer)
{
  Writer *w = writer;
  g_array_unref(w->hdus);
  g_clear_pointer(&w->contents.observation, astro_observation_unref);
  astro_grid_clear(&w->contents.grid);
  g_free(w->gather);
  g_free(w);
}

static gpointer create(AstroPartFile *file, const AstroFitsContents *contents, GError **error)
{
  Writer *w = g_new0(Writer, 1);
  w->file = file;
  w->contents = *contents;
  w->contents.grid.products = g_strdupv(contents->grid.products);
  if (w->contents.observation)
    astro_observation_ref(w->contents.observation);
  w->width = astro_stream_extent(&contents->stream, ASTRO_AXIS_X);
  w->height = astro_stream_extent(&contents->stream, ASTRO_AXIS_Y);
  w->channels = astro_stream_extent(&contents->stream, ASTRO_AXIS_CHANNEL);
  w->pols = astro_stream_extent(&contents->stream, ASTRO_AXIS_POL);
  w->channel_first = astro_layout_find(&contents->stream.layout, ASTRO_AXIS_CHANNEL) == 0;
  w->value_bytes = astro_stream_sample_bytes(&contents->stream);
  w->gather = g_malloc(GATHER);
  w->hdus = g_array_new(FALSE, FALSE, sizeof(Hdu));
  g_array_set_clear_func(w->hdus, clear_hdu);
  if (plan_hdus(w, error))
    return w;
  destroy(w);
  return NULL;
}

/* Nothing is left to do: each image was written completely. */
static gboolean finish(gpointer writer, AstroFitsTally *tally, GError **error)
{
  return TRUE;
}

const AstroFitsWriterKind astro_image_writer = {
  .name = "FITS image",
  .quantity = ASTRO_QUANTITY_IMAGE,
  .caps = "application/x-astro-image, format = (string) { F32LE, F64LE }, layout = (string) { "
          "pol:y:x, channel:pol:y:x }, width = (int) [ 1, MAX ], height = (int) [ 1, MAX ], pols = "
          "(int) [ 1, MAX ]",
  .frame = "image",
  .create = create,
  .write = write_images,
  .finish = finish,
  .destroy = destroy,
};
