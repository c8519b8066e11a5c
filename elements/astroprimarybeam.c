/**
 * SECTION:element-astroprimarybeam
 *
 * Divides images by the primary beam of the antennas, which makes fluxes true that astroclean finds
 * as the array sees them. Each channel of a cube is divided by the beam at its own frequency, so
 * this belongs upstream of astroterms, whose spectral indexes are then those of the sky; without a
 * channel axis it is the beam at the middle of the band. I, Stokes parameters and correlations,
 * their models and residuals are divided by one beam. The point-spread function passes as it is.
 * The list that components= of astroclean writes is of fluxes as the array sees them, as its users
 * need it for visibilities.
 *
 * beam=airy is that of an evenly lit dish, of diameter=; beam=gaussian has a full width at half
 * maximum of fwhm= degrees at of-frequency= (0: at the middle of the band), and is narrower at
 * higher frequencies; beam=file reads a picture of the beam from a FITS file (location=): of power,
 * 1 at its peak, with north up, and with the pointing in its phase centre. Of a file with one
 * channel the picture shrinks with frequency as the others do; one with as many channels as the
 * image has a beam for each.
 *
 * Antennas point at the phase centre, or at pointing=. Pixels where the beam is below cut (0.1 of
 * its peak) become NaN, and if no pixel is left, a warning says so. Noise grows towards the edges
 * as the beam falls, so the level that astroclean measured is not passed on. Headers of FITS images
 * say what they were divided by (PRIMBEAM); to divide them again, to clean them or to predict
 * visibilities from them is refused.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder size=1024 cell=2 ! astrofft ! \
 *   astroimage ! astroclean ! astroprimarybeam beam=airy diameter=25 ! \
 *   astrofitssink location=true.fits
 * ]|
 */
#include "config.h"
#include "elements/astroprimarybeam.h"

#include <math.h>
#include <string.h>

#include "core/kit/enum.h"
#include "core/kit/units.h"
#include "core/lib/sky/setup.h"
#include "core/memory/memory.h"
#include "core/primarybeam/primarybeam.h"
#include "core/stream/grid.h"
#include "core/stream/uvw.h"
#include "elements/base/astroimagefile.h"
#include "elements/base/astrofields.h"

struct _AstroPrimaryBeam {
  AstroStage parent;
  /* properties */
  AstroPrimaryBeamKind kind;
  double diameter, fwhm, of_frequency, cut;
  char *location, *pointing;

  AstroGrid grid; /* of the input's caps */
  AstroPrimaryBeamConfig config;
  AstroImageFile file;
  AstroPrimaryBeamMap map;
  float *values;       /* of the map: the file's first product alone */
  double direction[3]; /* where the antennas point */
  gboolean said_empty;
};

G_DEFINE_TYPE(AstroPrimaryBeam, astro_primary_beam, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astroprimarybeam, "astroprimarybeam", GST_RANK_NONE,
                            ASTRO_TYPE_PRIMARY_BEAM)

ASTRO_STATIC_ENUM_TYPE(astro_primary_beam_kind_get_type, "AstroPrimaryBeamKind",
                       { ASTRO_PRIMARY_BEAM_AIRY, "That of an evenly lit dish", "airy" },
                       { ASTRO_PRIMARY_BEAM_GAUSSIAN, "A Gaussian", "gaussian" },
                       { ASTRO_PRIMARY_BEAM_MAP, "A picture in a FITS file", "file" })

/* ---- the file ---- */

static void forget_file(AstroPrimaryBeam *self)
{
  astro_image_file_clear(&self->file);
  g_clear_pointer(&self->values, g_free);
}

/* Keeps the first product. */
static void take_values(AstroPrimaryBeam *self)
{
  const AstroImageFile *file = &self->file;
  const gsize n = (gsize)file->width * file->height;
  self->values = g_new(float, n * file->channels);
  for (guint channel = 0; channel < file->channels; channel++)
    memcpy(self->values + channel * n, file->pixels + channel * file->products * n,
           n * sizeof(float));
}

static gboolean read_file(AstroPrimaryBeam *self, GError **error)
{
  g_autofree char *path = astro_fields_copy_text(self, &self->location);
  AstroImageFile *file = &self->file;
  forget_file(self);
  if (!astro_field_given(path))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "beam=file without location, expected a FITS file with a picture of "
                               "the beam");
  if (!astro_image_file_open(file, path, error))
    return FALSE;
  const AstroGrid *grid = &file->contents->grid;
  if (!(grid->pixel > 0))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "%s does not say how large its pixels are, expected CDELT in degrees", path);
  if (file->channels == 1 && self->config.channels > 1 && !(file->contents->stream.frequency > 0))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s does not say at which frequency the beam was measured, and the "
                               "image has %u channels: expected an axis FREQ",
                               path, self->config.channels);
  if (!astro_image_file_read_pixels(file, error))
    return FALSE;
  take_values(self);
  self->map = (AstroPrimaryBeamMap){ .values = self->values,
                                     .width = file->width,
                                     .height = file->height,
                                     .pixel = grid->pixel,
                                     .centre_l = grid->centre_l,
                                     .centre_m = grid->centre_m,
                                     .frequency = file->contents->stream.frequency };
  self->config.map_channels = file->channels;
  return TRUE;
}

/* ---- negotiation ---- */

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroPrimaryBeam *self = ASTRO_PRIMARY_BEAM(trans);
  g_autoptr(GError) error = NULL;

  astro_grid_clear(&self->grid);
  if (!astro_grid_from_image_caps(&self->grid, in, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message),
                      ("caps: %" GST_PTR_FORMAT, in));
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_primary_beam_parent_class)->set_caps(trans, in, out);
}

/* Slopes and indexes hold what the beam does over the band, and dividing cannot take that out. */
static gboolean read_products(const AstroPrimaryBeam *self, AstroPrimaryBeamConfig *config,
                              GError **error)
{
  static const char *const spectral[] = { "-SLOPE", "-CURVATURE", "-INDEX" };
  char **names = self->grid.products;
  config->products = g_strv_length(names);
  for (guint i = 0; i < MIN(config->products, ASTRO_PRIMARY_BEAM_MOST_PRODUCTS); i++) {
    config->kept |= (g_str_equal(names[i], ASTRO_PRODUCT_PSF) ? 1U : 0U) << i;
    for (guint k = 0; k < G_N_ELEMENTS(spectral); k++)
      if (g_str_has_suffix(names[i], spectral[k]))
        return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                   "the image has %s, which depends on how the beam changes over "
                                   "the band: expected astroprimarybeam upstream of astroterms",
                                   names[i]);
  }
  return TRUE;
}

static gboolean configure(AstroStage *stage, gpointer given, gboolean *pass_through, GError **error)
{
  AstroPrimaryBeam *self = ASTRO_PRIMARY_BEAM(stage);
  const AstroStream *in = astro_stage_in(stage);

  if (!astro_image_check_layout(in, error))
    return FALSE;
  self->config = (AstroPrimaryBeamConfig){
    .format = in->format,
    .width = (guint)astro_stream_extent(in, ASTRO_AXIS_X),
    .height = (guint)astro_stream_extent(in, ASTRO_AXIS_Y),
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .pixel = self->grid.pixel,
    .centre_l = self->grid.centre_l,
    .centre_m = self->grid.centre_m,
    .frequency = in->frequency,
    .bandwidth = in->bandwidth,
    .cut = self->cut,
    .kind = self->kind,
    .diameter = self->diameter,
    .fwhm = self->fwhm * ASTRO_DEGREE,
    .of_frequency = self->of_frequency > 0 ? self->of_frequency : in->frequency,
    .map_channels = 1,
  };
  self->said_empty = FALSE;
  if (!read_products(self, &self->config, error) ||
      (self->config.kind == ASTRO_PRIMARY_BEAM_MAP && !read_file(self, error)))
    return FALSE;
  *(AstroPrimaryBeamConfig *)given = self->config;
  return TRUE;
}

/* ---- the observation ---- */

static gboolean point(AstroPrimaryBeam *self, const AstroObservation *observation, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->pointing);
  memcpy(self->direction, ((const double[]){ 0, 0, 1 }), sizeof self->direction);
  if (!astro_field_given(text))
    return TRUE;
  if (!observation || !observation->has_phase_centre)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pointing is set, and the image does not say where it is: expected "
                               "a phase centre");
  g_autoptr(AstroObservation) there = astro_observation_new(0);
  if (!astro_setup_point(there, "pointing", text, error))
    return FALSE;
  astro_lmn_from_direction(observation, there->phase_ra, there->phase_dec, self->direction);
  return self->direction[2] > 0 ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pointing %s is 90 degrees or more from the image's phase centre",
                             text);
}

static char *tell_beam(const AstroPrimaryBeam *self)
{
  const AstroPrimaryBeamConfig *config = &self->config;
  g_autofree char *name = self->file.path ? g_path_get_basename(self->file.path) : NULL;
  switch (config->kind) {
  case ASTRO_PRIMARY_BEAM_AIRY:
    return g_strdup_printf("airy %g m, cut %g", config->diameter, config->cut);
  case ASTRO_PRIMARY_BEAM_GAUSSIAN:
    return g_strdup_printf("gaussian %.6g deg at %.9g Hz, cut %g", config->fwhm * ASTRO_DEGREES,
                           config->of_frequency, config->cut);
  default:
    return g_strdup_printf("file %s, cut %g", name, config->cut);
  }
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  const AstroPrimaryBeam *self = ASTRO_PRIMARY_BEAM(stage);
  AstroHistory *done = &observation->done;
  if (done->primary_beam)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the image was divided by a primary beam before (%s): expected one "
                               "that was not",
                               done->primary_beam);
  g_autofree char *beam = tell_beam(self);
  astro_history_set_text(&done->primary_beam, beam);
  return TRUE;
}

/* ---- work ---- */

/* There is no longer one noise for all of the image, and residuals are larger towards
 * the edges, by up to 1 / cut. */
static void describe(const AstroPrimaryBeam *self, const AstroImageMeta *from, GstBuffer *out)
{
  if (!from)
    return;
  AstroImageMeta *to = astro_buffer_add_image(out, from->n_weights);
  to->has_beam = from->has_beam;
  to->major = from->major;
  to->minor = from->minor;
  to->angle = from->angle;
  to->sidelobe = from->sidelobe;
  to->border = from->border;
  to->cleaned = from->cleaned;
  for (guint i = 0; i < from->n_weights; i++) {
    to->weights[i] = from->weights[i];
    to->levels[i].left = from->levels[i].left / self->config.cut;
  }
}

static gboolean has_pixels(const AstroPrimaryBeamConfig *config, const GstMapInfo *map)
{
  const gsize n = (gsize)config->width * config->height;
  for (gsize i = 0; i < n; i++)
    if (isfinite(config->format == ASTRO_FORMAT_F64LE
                     ? ((const double *)(gpointer)map->data)[i]
                     : (double)((const float *)(gpointer)map->data)[i]))
      return TRUE;
  return FALSE;
}

static void warn_of_empty(AstroPrimaryBeam *self, GstBuffer *out)
{
  GstMapInfo map;
  if (self->said_empty || !gst_buffer_map(out, &map, GST_MAP_READ))
    return;
  if (!has_pixels(&self->config, &map)) {
    g_autofree char *beam = tell_beam(self);
    self->said_empty = TRUE;
    GST_ELEMENT_WARNING(self, STREAM, FAILED,
                        ("no pixel of the first channel is left: all are NaN, or outside of the "
                         "primary beam (%s). Check its size and pointing",
                         beam),
                        (NULL));
  }
  gst_buffer_unmap(out, &map);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroPrimaryBeam *self = ASTRO_PRIMARY_BEAM(stage);
  AstroPrimaryBeamArguments arguments = { .map = self->values ? &self->map : NULL };

  if (!point(self, astro_stage_observation(stage), error))
    return FALSE;
  memcpy(arguments.pointing, self->direction, sizeof arguments.pointing);
  for (guint64 i = 0; i < steps; i++) {
    g_autoptr(GstBuffer) part = astro_buffer_part(in, i, steps);
    GstBuffer *out =
        astro_stage_new_buffer(stage, astro_stream_step_bytes(astro_stage_out(stage)), error);
    if (!out || !astro_stage_submit(stage, part, out, &arguments, error)) {
      gst_clear_buffer(&out);
      return FALSE;
    }
    warn_of_empty(self, out);
    describe(self, astro_buffer_get_image(in), out);
    GST_BUFFER_PTS(out) = GST_BUFFER_PTS(part);
    GST_BUFFER_DURATION(out) = GST_BUFFER_DURATION(part);
    astro_stage_emit(stage, out, first + i, 1);
  }
  return TRUE;
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_primary_beam_parent_class)->stop(trans);
  astro_grid_clear(&ASTRO_PRIMARY_BEAM(trans)->grid);
  forget_file(ASTRO_PRIMARY_BEAM(trans));
  return ok;
}

static const AstroField fields[] = {
  ASTRO_ENUM(AstroPrimaryBeam, kind, "beam", "Beam", "The shape of the primary beam",
             astro_primary_beam_kind_get_type, ASTRO_PRIMARY_BEAM_AIRY),
  ASTRO_DOUBLE(AstroPrimaryBeam, diameter, "diameter", "Diameter",
               "beam=airy: diameter of the dish, m", 0, G_MAXDOUBLE, 0),
  ASTRO_DOUBLE(AstroPrimaryBeam, fwhm, "fwhm", "Full width at half maximum",
               "beam=gaussian: full width at half maximum of the power, degrees", 0, G_MAXDOUBLE,
               0),
  ASTRO_DOUBLE(AstroPrimaryBeam, of_frequency, "of-frequency", "Frequency of the width",
               "beam=gaussian: the frequency at which fwhm holds, Hz (0: the middle of the band)",
               0, G_MAXDOUBLE, 0),
  ASTRO_TEXT(AstroPrimaryBeam, location, "location", "Location",
             "beam=file: a FITS image of the beam's power, 1 at its peak", ""),
  ASTRO_TEXT(AstroPrimaryBeam, pointing, "pointing", "Pointing",
             "Where the antennas point, \"ra,dec\" in degrees or as 13:31:08.3,+30:30:33 (empty: "
             "at the phase centre)",
             ""),
  ASTRO_DOUBLE(AstroPrimaryBeam, cut, "cut", "Cut",
               "Pixels where the beam is below this part of its peak become NaN, 0 to 1", 0, 1,
               0.1),
  { 0 },
};

static void astro_primary_beam_class_init(AstroPrimaryBeamClass *klass)
{
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  static const AstroQuantity images[] = { ASTRO_QUANTITY_IMAGE, ASTRO_QUANTITY_UNKNOWN };

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  trans->set_caps = set_caps;
  trans->stop = stop;
  stage->stage = "primary-beam";
  stage->backends = astro_primary_beam_backends;
  stage->tell_work = astro_primary_beam_work;
  stage->configure = configure;
  stage->feed = feed;
  stage->amend = amend;
  astro_stage_class_add_pads(stage, images, images);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Primary beam", "Filter/Effect",
                                        "Divides images by the primary beam of the antennas",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "images F32LE F64LE: pol:y:x or channel:pol:y:x");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives", "the same");
}

static void astro_primary_beam_init(AstroPrimaryBeam *self)
{
  astro_fields_set_defaults(self);
}
