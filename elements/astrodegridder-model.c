/* Reads a model's images, and compares them with the visibilities that they are to predict. */
#include "config.h"
#include "elements/astrodegridder-model.h"

#include <math.h>
#include <string.h>

#include "core/fits/fits.h"
#include "core/gridder/degrid/images.h"
#include "core/kit/pages.h"
#include "core/kit/units.h"
#include "core/stream/uvw.h"

#define SUFFIX "-MODEL"
#define SAME_PLACE 0.01   /* pixels */
#define SAME_CHANNEL 0.01 /* of a channel's width */

void astro_model_file_clear(AstroModelFile *model)
{
  g_free(model->path);
  g_free(model->products);
  astro_grid_clear(&model->grid);
  g_clear_pointer(&model->observation, astro_observation_unref);
  free(model->pixels);
  memset(model, 0, sizeof *model);
}

gboolean astro_model_file_is_jansky(const AstroModelFile *model)
{
  return astro_history_is_jansky(&model->observation->done);
}

guint astro_model_file_channels(const AstroModelFile *model)
{
  return (guint)astro_stream_extent(&model->stream, ASTRO_AXIS_CHANNEL);
}

/* ---- reading ---- */

static gboolean is_per_pixel(const AstroFitsContents *contents)
{
  g_autofree char *unit = g_ascii_strdown(contents->unit ? contents->unit : "", -1);
  return strstr(unit, "/pix") != NULL;
}

/* Extensions named MODEL are the model; else it is the image itself, if that is per pixel. */
static gboolean choose_products(AstroModelFile *model, const AstroFitsContents *contents,
                                GError **error)
{
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  gboolean any = FALSE;
  model->n_in_file = g_strv_length(contents->grid.products);
  model->products = g_new(guint, model->n_in_file);
  for (guint i = 0; i < model->n_in_file; i++)
    any |= g_str_has_suffix(contents->grid.products[i], SUFFIX);
  if (!any && !is_per_pixel(contents))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "%s has an image with BUNIT %s, expected a model in Jy/pixel, as astroclean output=model "
        "and output=all make it",
        model->path, contents->unit ? contents->unit : "missing");
  for (guint i = 0; i < model->n_in_file; i++) {
    const char *name = contents->grid.products[i];
    if (any ? !g_str_has_suffix(name, SUFFIX) : strchr(name, '-') || g_str_equal(name, "PSF"))
      continue;
    model->products[model->n_products++] = i;
    g_ptr_array_add(names, g_strndup(name, strlen(name) - (any ? strlen(SUFFIX) : 0)));
  }
  if (model->n_products == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "%s has no image of a model",
                               model->path);
  g_ptr_array_add(names, NULL);
  model->grid.products = g_strdupv((char **)names->pdata);
  return TRUE;
}

static gboolean describe(AstroModelFile *model, const AstroFitsContents *contents, GError **error)
{
  const AstroStream *s = &contents->stream;
  const guint64 width = astro_stream_extent(s, ASTRO_AXIS_X),
                height = astro_stream_extent(s, ASTRO_AXIS_Y);
  if (s->quantity != ASTRO_QUANTITY_IMAGE)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "%s has %s, expected an image",
                               model->path, astro_quantity_name(s->quantity));
  if (width != height)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s has %" G_GUINT64_FORMAT " x %" G_GUINT64_FORMAT
                               " pixels, expected a square",
                               model->path, width, height);
  if (contents->observation->done.primary_beam)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s was divided by a primary beam (%s): expected the model as the "
                               "array sees it",
                               model->path, contents->observation->done.primary_beam);
  if (!contents->observation->has_phase_centre || !(contents->grid.pixel > 0))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s does not say where its pixels are in the sky, expected "
                               "RA---SIN and DEC--SIN in degrees, with north up%s%s%s",
                               model->path, contents->note ? " (" : "",
                               contents->note ? contents->note : "", contents->note ? ")" : "");
  model->stream = *s;
  model->observation = astro_observation_ref(contents->observation);
  model->grid = (AstroGrid){ .image_size = (guint)width,
                             .pixel = contents->grid.pixel,
                             .centre_l = contents->grid.centre_l,
                             .centre_m = contents->grid.centre_m };
  return choose_products(model, contents, error);
}

static gboolean read_pixels(AstroModelFile *model, AstroFitsReader *reader, GError **error)
{
  const AstroStream *s = &model->stream;
  const gsize n = (gsize)model->grid.image_size * model->grid.image_size * model->n_in_file *
                  astro_model_file_channels(model);
  AstroFitsFrame frame = { .data = astro_pages_alloc(n * astro_format_info(s->format)->bytes) };
  gboolean end = FALSE;
  model->pixels = frame.data;
  if (!frame.data)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "no memory for the %" G_GSIZE_FORMAT " pixels of %s", n,
                               model->path);
  if (astro_fits_reader_read(reader, &frame, &end, error))
    return TRUE;
  return !end ? FALSE
              : astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "%s has no image", model->path);
}

gboolean astro_model_file_read(AstroModelFile *model, const char *path, GError **error)
{
  const AstroFitsOptions options = { .takes_models = TRUE };
  memset(model, 0, sizeof *model);
  g_autoptr(AstroFitsReader) reader = astro_fits_reader_open(path, &options, error);
  if (!reader)
    return FALSE;
  model->path = g_strdup(path);
  return describe(model, astro_fits_reader_contents(reader), error) &&
         read_pixels(model, reader, error);
}

gpointer astro_model_file_pick(const AstroModelFile *model, gboolean to_double, char **checksum,
                               GError **error)
{
  const AstroModelImages images = {
    .pixels = model->pixels,
    .is_double = astro_format_is_double(model->stream.format),
    .channels = astro_model_file_channels(model),
    .products = model->n_in_file,
    .n = (gsize)model->grid.image_size * model->grid.image_size,
  };
  gpointer picked =
      astro_model_images_pick(&images, model->products, model->n_products, to_double, error);
  if (picked)
    *checksum = astro_model_images_checksum(picked, images.n * images.channels * model->n_products *
                                                        (to_double ? 8 : 4));
  else
    g_prefix_error(error, "%s: ", model->path);
  return picked;
}

/* ---- comparing ---- */

static double channel_width(const AstroStream *s)
{
  return s->bandwidth / (double)astro_stream_extent(s, ASTRO_AXIS_CHANNEL);
}

gboolean astro_model_file_check_band(const AstroModelFile *model, const AstroStream *in,
                                     GError **error)
{
  const AstroStream *m = &model->stream;
  const guint64 channels = astro_stream_extent(in, ASTRO_AXIS_CHANNEL);
  const guint of_model = astro_model_file_channels(model);
  const double apart = fabs(m->frequency - in->frequency),
               tolerance = SAME_CHANNEL * channel_width(in);
  if (of_model > 1 && of_model != channels)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s has %u channels and the visibilities have %" G_GUINT64_FORMAT
                               ": expected as many, or one for all",
                               model->path, of_model, channels);
  /* A file need not say its frequency: its one image then stands for any. */
  if (m->frequency == 0 && of_model == 1)
    return TRUE;
  if (of_model == 1 ? apart <= (m->bandwidth + in->bandwidth) / 2 + tolerance
                    : apart <= tolerance &&
                          fabs(channel_width(m) - channel_width(in)) * of_model <= tolerance)
    return TRUE;
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_CAPS,
      "%s is of %.9g Hz with %.9g Hz of bandwidth and the visibilities are of %.9g Hz with %.9g "
      "Hz: expected %s",
      model->path, m->frequency, m->bandwidth, in->frequency, in->bandwidth,
      of_model == 1 ? "bands that overlap" : "the same channels");
}

static double distance(const AstroObservation *a, const AstroObservation *b)
{
  double lmn[3];
  astro_lmn_from_direction(a, b->phase_ra, b->phase_dec, lmn);
  return hypot(hypot(lmn[0], lmn[1]), 1 - lmn[2]);
}

gboolean astro_model_file_check_centre(const AstroModelFile *model, const AstroObservation *came,
                                       GError **error)
{
  const AstroObservation *m = model->observation;
  if (!came->has_phase_centre)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the observation has no phase centre");
  if (distance(m, came) <= SAME_PLACE * model->grid.pixel)
    return TRUE;
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_CAPS,
      "%s has its phase centre at %.7f,%.7f and the visibilities have theirs at %.7f,%.7f degrees: "
      "expected the same; astrophaseshift centre=%.9g,%.9g in front of this moves the visibilities",
      model->path, m->phase_ra * ASTRO_DEGREES, m->phase_dec * ASTRO_DEGREES,
      came->phase_ra * ASTRO_DEGREES, came->phase_dec * ASTRO_DEGREES, m->phase_ra * ASTRO_DEGREES,
      m->phase_dec * ASTRO_DEGREES);
}
