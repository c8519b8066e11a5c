/* Finds out what is in a file of images: HDUs, axes, products, units and frequencies. */
#include "core/fits/image/reader.h"
#include "core/fits/units.h"

#include <math.h>
#include <string.h>

/* ---- which HDUs are images ---- */

static gboolean is_image(const AstroFitsHeader *header, guint index)
{
  const char *type = index ? "" : "IMAGE";
  astro_fits_get_string(header, "XTENSION", &type);
  if (header->groups || header->n_axes < 2 || !g_str_equal(type, "IMAGE"))
    return FALSE;
  for (guint i = 0; i < header->n_axes; i++)
    if (header->axes[i] == 0)
      return FALSE;
  return TRUE;
}

/* The primary HDU, or the next one if the primary has no data. NULL: it is not an image. */
static const AstroFitsHeader *first_image(const AstroFitsFile *file, guint *index)
{
  const AstroFitsHeader *header = astro_fits_file_header(file, *index = 0);
  if (header && header->n_axes == 0)
    header = astro_fits_file_header(file, *index = 1);
  return header && is_image(header, *index) ? header : NULL;
}

gboolean astro_fits_image_recognises(const AstroFitsFile *file)
{
  guint index;
  return first_image(file, &index) != NULL;
}

/* ---- axes ---- */

static void read_frequencies(const AstroFitsHeader *header, AstroFitsImageAxis *axis)
{
  const char *unit = "Hz";
  astro_fits_get_string_n(header, "CUNIT", axis->number, &unit);
  double hertz = astro_fits_unit_factor(unit[0] ? unit : "Hz", "Hz", NULL);
  axis->value *= hertz;
  axis->delta *= hertz;
}

static gboolean read_axes(const AstroFitsImageReader *r, AstroFitsImageHdu *hdu, GError **error)
{
  const AstroFitsHeader *header = hdu->header;
  guint64 stride = header->axes[0] * header->axes[1];
  hdu->channel = hdu->stokes = (AstroFitsImageAxis){ .n = 1, .pixel = 1 };
  for (guint i = 2; i < header->n_axes; i++) {
    const char *type = "";
    astro_fits_get_string_n(header, "CTYPE", i + 1, &type);
    gboolean is_stokes = g_str_equal(type, "STOKES"), is_freq = g_str_has_prefix(type, "FREQ");
    AstroFitsImageAxis *axis = is_stokes ? &hdu->stokes : &hdu->channel;
    /* Any other axis longer than 1 is taken as channels of unknown frequency. */
    if (is_stokes || is_freq || header->axes[i] > 1) {
      if (axis->n > 1 || (axis->number && (is_stokes || is_freq)))
        return astro_fits_wrong(
            r->file, error,
            "axis %u is \"%s\" but axis %u is already an axis of %s, expected only one", i + 1,
            type, axis->number, is_stokes ? "STOKES" : "FREQ or channels");
      *axis = (AstroFitsImageAxis){ header->axes[i], stride, 0, 1, 0, i + 1 };
      astro_fits_get_double_n(header, "CRVAL", i + 1, &axis->value);
      astro_fits_get_double_n(header, "CRPIX", i + 1, &axis->pixel);
      astro_fits_get_double_n(header, "CDELT", i + 1, &axis->delta);
      if (is_freq)
        read_frequencies(header, axis);
      else if (!is_stokes)
        axis->value = 0;
    }
    stride *= header->axes[i];
  }
  return TRUE;
}

/* ---- products ---- */

static gint code_at(const AstroFitsImageAxis *stokes, guint64 i)
{
  double code = stokes->number ? stokes->value + (i + 1 - stokes->pixel) * stokes->delta : 1;
  return fabs(code) < 100 ? (gint)lround(code) : 0;
}

#define MAX_PRODUCTS 12

/* Finds the names of an HDU's products in the order of the stream. */
static gboolean read_products(const AstroFitsImageReader *r, AstroFitsImageHdu *hdu,
                              GPtrArray *names, GError **error)
{
  guint n = MIN(hdu->stokes.n, MAX_PRODUCTS + 1);
  if (n > MAX_PRODUCTS)
    return astro_fits_wrong(r->file, error, "axis STOKES has %" G_GUINT64_FORMAT " values",
                            hdu->stokes.n);
  hdu->n_products = n;
  hdu->product_at = g_new(guint, n);
  for (guint i = 0; i < n; i++) {
    gint rank = astro_fits_product_rank(code_at(&hdu->stokes, i));
    guint at = i;
    for (; at > 0 && astro_fits_product_rank(code_at(&hdu->stokes, hdu->product_at[at - 1])) > rank;
         at--)
      hdu->product_at[at] = hdu->product_at[at - 1];
    hdu->product_at[at] = i;
  }
  for (guint i = 0; i < n; i++) {
    AstroFitsProduct product = { hdu->role, code_at(&hdu->stokes, hdu->product_at[i]) };
    /* AIPS marks its beam by 0. */
    char *name = product.code == 0 && n == 1 ? g_strdup(ASTRO_PRODUCT_PSF)
                                             : astro_fits_product_to_name(&product);
    if (!name)
      return astro_fits_wrong(r->file, error,
                              "axis STOKES has the value %d, expected Stokes parameters (1 "
                              "to 4) or correlations (-1 to -8)",
                              product.code);
    g_ptr_array_add(names, name);
  }
  return TRUE;
}

/* ---- HDUs ---- */

/* Values become Jy/beam, or Jy/pixel for a model; if the unit is unknown they stay as they are. */
static void read_unit(const AstroFitsImageReader *r, AstroFitsImageHdu *hdu,
                      AstroFitsContents *contents)
{
  const char *unit = "", *rest;
  if (g_strcmp0(hdu->role, ASTRO_FITS_INDEX) == 0) /* a pure number */
    return;
  astro_fits_get_string(hdu->header, "BUNIT", &unit);
  double jansky = astro_fits_unit_factor(unit, "Jy", &rest);
  rest += strspn(rest, " /.*");
  gboolean good = jansky > 0 && (!*rest || g_ascii_strncasecmp(rest, "beam", 4) == 0 ||
                                 ((r->takes_models || g_strcmp0(hdu->role, "MODEL") == 0) &&
                                  g_ascii_strncasecmp(rest, "pix", 3) == 0));
  hdu->is_jansky = good;
  if (!contents->unit && unit[0])
    contents->unit = g_utf8_make_valid(unit, -1);
  if (good) {
    hdu->scale *= jansky;
    hdu->zero *= jansky;
  }
  const gboolean is_none = !unit[0] || g_str_equal(unit, "UNCALIB");
  if (good || is_none || contents->note) /* a note for one HDU is enough */
    return;
  g_autofree char *valid = g_utf8_make_valid(unit, -1);
  astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                           "BUNIT is \"%s\", expected Jy/beam: values are not converted", valid);
}

static const char *role_of(const AstroFitsHeader *header, gboolean *is_known)
{
  const char *name = ASTRO_FITS_IMAGE_NAME;
  *is_known =
      astro_fits_get_string(header, "EXTNAME", &name) && g_str_equal(name, ASTRO_FITS_IMAGE_NAME);
  for (guint i = 0; astro_fits_image_roles[i]; i++)
    if (g_str_equal(name, astro_fits_image_roles[i])) {
      *is_known = TRUE;
      return astro_fits_image_roles[i];
    }
  return NULL;
}

static gboolean add_hdu(AstroFitsImageReader *r, const AstroFitsHeader *header,
                        AstroFitsContents *contents, GError **error)
{
  gboolean is_known;
  AstroFitsImageHdu hdu = { .header = header, .version = 1, .scale = 1 };
  guint64 there = astro_fits_file_bytes(r->file);
  hdu.role = role_of(header, &is_known);
  astro_fits_get_integer(header, "EXTVER", &hdu.version);
  astro_fits_get_double(header, "BSCALE", &hdu.scale);
  astro_fits_get_double(header, "BZERO", &hdu.zero);
  hdu.has_blank = astro_fits_get_integer(header, "BLANK", &hdu.blank);
  read_unit(r, &hdu, contents);
  if (!read_axes(r, &hdu, error))
    return FALSE;
  there -= MIN(there, header->data);
  if (header->bytes > there)
    return astro_fits_wrong(r->file, error,
                            "cut short: the header announces %" G_GUINT64_FORMAT
                            " bytes of an image but the file ends after %" G_GUINT64_FORMAT
                            " of them",
                            header->bytes, there);
  g_array_append_val(r->hdus, hdu);
  return TRUE;
}

/* Extensions with other names or shapes do not belong to this stream. */
static gboolean belongs(const AstroFitsImageReader *r, const AstroFitsHeader *header)
{
  const AstroFitsHeader *first = g_array_index(r->hdus, AstroFitsImageHdu, 0).header;
  gboolean is_known;
  role_of(header, &is_known);
  return is_known && header->bitpix == first->bitpix && header->axes[0] == first->axes[0] &&
         header->axes[1] == first->axes[1];
}

static gboolean find_hdus(AstroFitsImageReader *r, AstroFitsContents *contents, GError **error)
{
  guint index;
  const AstroFitsHeader *header = first_image(r->file, &index);
  if (!add_hdu(r, header, contents, error))
    return FALSE;
  while ((header = astro_fits_file_header(r->file, ++index)))
    if (is_image(header, index) && belongs(r, header) && !add_hdu(r, header, contents, error))
      return FALSE;
  return TRUE;
}

/* The HDUs of an image have the same EXTVER and different roles. */
static guint count_of_image(const AstroFitsImageReader *r, guint first)
{
  const AstroFitsImageHdu *hdus = (const AstroFitsImageHdu *)(gpointer)r->hdus->data;
  for (guint n = 1; first + n < r->hdus->len; n++) {
    if (hdus[first + n].version != hdus[first].version)
      return n;
    for (guint i = 0; i < n; i++)
      if (hdus[first + i].role == hdus[first + n].role)
        return n;
  }
  return r->hdus->len - first;
}

/* The names of an image's products; NULL and an error if its number of channels differs. */
static char **read_image(AstroFitsImageReader *r, guint first, GError **error)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < r->per_image; i++) {
    AstroFitsImageHdu *hdu = &g_array_index(r->hdus, AstroFitsImageHdu, first + i);
    if (hdu->channel.n != r->channels) {
      astro_fits_wrong(r->file, error,
                       "an extension has %" G_GUINT64_FORMAT
                       " channels, expected %" G_GUINT64_FORMAT ", as in the first image",
                       hdu->channel.n, r->channels);
      return NULL;
    }
    if (!read_products(r, hdu, names, error))
      return NULL;
  }
  g_ptr_array_add(names, NULL);
  return g_strdupv((char **)names->pdata);
}

static gboolean read_images(AstroFitsImageReader *r, AstroFitsContents *contents, GError **error)
{
  r->per_image = count_of_image(r, 0);
  r->channels = g_array_index(r->hdus, AstroFitsImageHdu, 0).channel.n;
  for (guint first = 0; first < r->hdus->len; first += r->per_image) {
    guint n = count_of_image(r, first);
    if (n != r->per_image)
      return astro_fits_wrong(r->file, error, "image %u has %u HDUs, expected %u like the first",
                              first / r->per_image + 1, n, r->per_image);
    g_auto(GStrv) names = read_image(r, first, error);
    if (!names)
      return FALSE;
    if (first == 0)
      contents->grid.products = g_steal_pointer(&names);
    else if (!g_strv_equal((const char *const *)names,
                           (const char *const *)contents->grid.products))
      return astro_fits_wrong(r->file, error, "image %u has other products than the first",
                              first / r->per_image + 1);
  }
  r->pols = g_strv_length(contents->grid.products);
  return TRUE;
}

/* ---- the stream ---- */

static void describe_band(AstroFitsImageReader *r, AstroStream *stream)
{
  const AstroFitsImageAxis *axis = &g_array_index(r->hdus, AstroFitsImageHdu, 0).channel;
  double middle = axis->value + ((axis->n + 1) * 0.5 - axis->pixel) * axis->delta;
  r->flip_channels = axis->value > 0 && axis->delta < 0;
  if (!(axis->value > 0) || !(middle > 0) || !isfinite(middle))
    return;
  stream->frequency = middle;
  stream->bandwidth = fabs(axis->delta) * (double)axis->n;
}

static gboolean describe(AstroFitsImageReader *r, AstroStream *stream, GError **error)
{
  guint64 samples;
  if (r->width > G_MAXINT || r->height > G_MAXINT || r->channels > G_MAXINT ||
      !g_uint64_checked_mul(&samples, r->width * r->height, r->channels) ||
      !g_uint64_checked_mul(&samples, samples, r->pols * sizeof(double)) || samples > G_MAXSSIZE)
    return astro_fits_wrong(r->file, error, "the image is too large for any memory");
  stream->quantity = ASTRO_QUANTITY_IMAGE;
  stream->format = r->bitpix == -64 || r->bitpix >= 32 ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_F32LE;
  stream->layout =
      (AstroLayout){ 4,
                     { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_POL, ASTRO_AXIS_Y, ASTRO_AXIS_X },
                     { r->channels, r->pols, r->height, r->width } };
  if (r->channels == 1)
    stream->layout = (AstroLayout){ 3,
                                    { ASTRO_AXIS_POL, ASTRO_AXIS_Y, ASTRO_AXIS_X },
                                    { r->pols, r->height, r->width } };
  stream->rate_d = 1;
  describe_band(r, stream);
  return TRUE;
}

/* CASA gives every plane of a cube its own beam, in a table after the image. */
static void note_beams(const AstroFitsImageReader *r, const AstroFitsHeader *first,
                       AstroFitsContents *contents)
{
  double major;
  if (astro_fits_file_find_table(r->file, "BEAMS") && !astro_fits_get_double(first, "BMAJ", &major))
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "read without a beam: table BEAMS has one for each plane, expected "
                             "one for all (BMAJ, BMIN)");
}

/* Notes channels in velocities or wavelengths, or in an unknown unit. */
static void note_channels(const AstroFitsImageReader *r, AstroFitsContents *contents)
{
  const AstroFitsImageHdu *first = &g_array_index(r->hdus, AstroFitsImageHdu, 0);
  const char *type = "", *unit = "";
  astro_fits_get_string_n(first->header, "CTYPE", first->channel.number, &type);
  astro_fits_get_string_n(first->header, "CUNIT", first->channel.number, &unit);
  if (first->channel.n == 1 || contents->stream.frequency > 0 || !type[0] ||
      g_str_equal(type, "CHANNEL"))
    return;
  g_autofree char *told =
      g_strdup_printf(unit[0] ? "\"%s\" in units of \"%s\"" : "\"%s\"", type, unit);
  g_autofree char *valid = g_utf8_make_valid(told, -1);
  astro_fits_contents_note(
      contents, astro_fits_file_name(r->file),
      "axis %u is %s, expected FREQ in Hz above 0: channels get no frequencies",
      first->channel.number, valid);
}

/* The frame of the frequencies according to the header, and the card that says so: before SPECSYS
 * existed it was part of the axis's name. */
static const char *frame_of(const AstroFitsImageReader *r, const AstroFitsHeader *first,
                            char **card)
{
  const guint number = g_array_index(r->hdus, AstroFitsImageHdu, 0).channel.number;
  const char *frame = "", *type = "";
  *card = g_strdup("SPECSYS");
  if (astro_fits_get_string(first, "SPECSYS", &frame))
    return frame;
  astro_fits_get_string_n(first, "CTYPE", number, &type);
  if (!g_str_has_prefix(type, "FREQ-"))
    return "";
  g_free(*card);
  *card = g_strdup_printf("CTYPE%u", number);
  return type + strlen("FREQ-");
}

/* Frequencies in a stream are topocentric, and are written as such. */
static void note_frame(const AstroFitsImageReader *r, const AstroFitsHeader *first,
                       AstroFitsContents *contents)
{
  g_autofree char *card = NULL;
  const char *frame = frame_of(r, first, &card);
  double line = 0;
  if (frame[0] && !g_str_has_prefix(frame, "TOP") && !g_str_has_prefix(frame, "OBS")) {
    g_autofree char *valid = g_utf8_make_valid(frame, -1);
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "frequencies are in frame %s (%s), expected TOPOCENT: they are "
                             "not converted, and would be written as TOPOCENT",
                             valid, card);
  }
  if ((astro_fits_get_double(first, "RESTFRQ", &line) ||
       astro_fits_get_double(first, "RESTFREQ", &line)) &&
      line > 0)
    astro_fits_contents_note(contents, astro_fits_file_name(r->file),
                             "the rest frequency of %.10g Hz (RESTFRQ) is not passed on", line);
}

gboolean astro_fits_image_read_headers(AstroFitsImageReader *r, AstroFitsContents *contents,
                                       GError **error)
{
  if (!find_hdus(r, contents, error))
    return FALSE;
  const AstroFitsHeader *first = g_array_index(r->hdus, AstroFitsImageHdu, 0).header;
  r->width = first->axes[0];
  r->height = first->axes[1];
  r->bitpix = first->bitpix;
  contents->grid.size = contents->grid.image_size = MIN(r->width, G_MAXUINT);
  if (!read_images(r, contents, error) || !describe(r, &contents->stream, error))
    return FALSE;
  note_beams(r, first, contents);
  note_channels(r, contents);
  note_frame(r, first, contents);
  return TRUE;
}
