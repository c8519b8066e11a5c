/**
 * SECTION:element-astroimage
 *
 * Makes images of transformed grids (a uvgrid of layout pol:y:x, with channel and plane before
 * it). It cuts out the middle of the padded grid, divides by the transform of the function that
 * visibilities were spread with and by the sums of weights, corrects w-planes for their w and adds
 * them up; an image leaves with its last plane. Right ascension increases to the left. Values are
 * in Jy/beam if the observation says how the visibilities relate to Jy; else they are in the unit
 * of the visibilities, and no element downstream calls that Jy.
 *
 * Grids with touched-only=true may have their rows transformed and their columns not (layout
 * pol:v:x, with the same axes before it; astrofft makes them if nobody else reads them). Columns
 * are then transformed here, a few at a time, and added to the image before they leave the caches.
 *
 * stokes=IQUV, or some of these letters, makes Stokes parameters of XX:XY:YX:YY, RR:RL:LR:LL or
 * some of them. Otherwise products stay as they are; of XY and the like only the real parts are
 * used. A product of a channel without any weight is NaN; an image without any weight is an error.
 * If the grid is no larger than an image of even size, the first column repeats the one on the
 * other side of the grid.
 *
 * psf=true (or an element downstream that wants it, such as astroclean) asks the gridder for the
 * point-spread function, which becomes the last product, PSF. An ellipse is fitted to its main
 * lobe (with several channels, that of the middle one, or of the nearest one that has
 * visibilities). This beam goes into the image's headers and into an element message "astro-image"
 * with major and minor (full widths at half maximum) and angle (from north through east), in
 * degrees.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder size=1024 cell=2 ! astrofft ! \
 *   astroimage psf=true ! astrofitssink location=a.fits
 * ]|
 */
#include "config.h"
#include "elements/astroimage.h"

#include "core/image/image.h"
#include "core/memory/memory.h"
#include "elements/base/astrofields.h"
#include "elements/astroimage-beam.h"
#include "elements/astroimage-caps.h"
#include "elements/base/astroreader.h"

struct _AstroImage {
  AstroStage parent;
  /* properties */
  gboolean psf;
  char *stokes;

  AstroGrid grid;        /* from the input's caps */
  gboolean touched_only; /* from them too: rows without a touched tile are undefined */
  AstroImageConfig config;
  GstBuffer *image; /* being made: some of its planes are added */
  guint next_plane;
  GstClockTime begin; /* when the image begins */
  guint64 images;
  AstroImageBeam beam;
};

G_DEFINE_TYPE(AstroImage, astro_image, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astroimage, "astroimage", GST_RANK_NONE, ASTRO_TYPE_IMAGE)

/* ---- negotiation ---- */

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  AstroImage *self = ASTRO_IMAGE(trans);
  g_autofree char *stokes = astro_fields_copy_text(self, &self->stokes);
  /* A wide image is only for a reader that asks for it. */
  const gboolean wide = astro_reader_takes(GST_BASE_TRANSFORM_SRC_PAD(self), ASTRO_TAKES_WIDE_PSF);
  GstCaps *result = direction == GST_PAD_SINK ? astro_image_caps_of_grids(caps, stokes)
                                              : astro_image_caps_to_grids(caps, self->psf, wide);
  return astro_stage_filter_caps(result, filter);
}

static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  return gst_caps_fixate(othercaps);
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroImage *self = ASTRO_IMAGE(trans);
  g_autoptr(GError) error = NULL;
  AstroGrid grid = { 0 };

  if (!astro_image_check_transform(in, &error) || !astro_grid_from_caps(&grid, in, &error)) {
    astro_grid_clear(&grid);
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message),
                      ("caps: %" GST_PTR_FORMAT, in));
    return FALSE;
  }
  const GstStructure *s = gst_caps_get_structure(in, 0);
  self->touched_only = astro_field_is_true(s, "touched-only");
  /* An unfinished image of the old grid is dropped, with an error, before the new caps hold. */
  AstroGrid old = self->grid;
  self->grid = grid;
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_image_parent_class)->set_caps(trans, in, out);
  astro_grid_clear(&old);
  return ok;
}

static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  if (!GST_BASE_TRANSFORM_CLASS(astro_image_parent_class)->propose_allocation(trans, decide, query))
    return FALSE;
  astro_reader_take_image_only(query);
  return TRUE;
}

static gboolean configure(AstroStage *stage, gpointer given, gboolean *pass_through, GError **error)
{
  AstroImage *self = ASTRO_IMAGE(stage);
  const AstroStream *in = astro_stage_in(stage);
  g_autofree char *stokes = astro_fields_copy_text(self, &self->stokes);
  gboolean rows;

  if (!astro_image_find_layout(&in->layout, self->touched_only, &rows, error))
    return FALSE;
  self->config = (AstroImageConfig){ .from = in->format,
                                     .to = astro_stage_out(stage)->format,
                                     .grid = self->grid,
                                     .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
                                     .n_in = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
                                     .transforms_v = rows };
  self->config.grid.products = NULL;
  self->config.n_out = astro_image_products(&self->grid, stokes, self->config.products, error);
  if (!self->config.n_out ||
      !astro_stage_check_extent(stage, ASTRO_AXIS_POL, self->config.n_out, error))
    return FALSE;
  astro_image_beam_prepare(&self->beam, &self->config);
  *(AstroImageConfig *)given = self->config;
  return TRUE;
}

/* ---- work ---- */

static void forget(AstroImage *self)
{
  gst_clear_buffer(&self->image);
  self->next_plane = 0;
}

static gboolean check_weights(const AstroImage *self, const AstroGridMeta *meta, GError **error)
{
  guint n = self->config.channels * self->config.n_in;

  if (!meta)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_SIZE,
        "a grid without the sums of its weights (AstroGridMeta), expected one from astrogridder "
        "that astrofft has transformed along both axes");
  if (meta->n_weights != n)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_SIZE,
        "a grid with the sums of %u weights, expected %u channels x %u products", meta->n_weights,
        self->config.channels, self->config.n_in);
  for (guint i = 0; i < n; i++)
    if (meta->weights[i] > 0)
      return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "no visibilities: all sums of weights are 0 (%" G_GUINT64_FORMAT
                             " flagged, %" G_GUINT64_FORMAT " outside the grid, %" G_GUINT64_FORMAT
                             " not finite)",
                             meta->flagged, meta->outside, meta->not_finite);
}

static void add_weights(const AstroImage *self, const AstroGridMeta *grid, AstroImageMeta *image)
{
  const AstroImageConfig *config = &self->config;
  for (guint channel = 0; channel < config->channels; channel++)
    for (guint i = 0; i < config->n_out; i++)
      for (guint k = 0; k < config->products[i].n_terms; k++)
        image->weights[channel * config->n_out + i] +=
            grid->weights[channel * config->n_in + config->products[i].terms[k].product];
}

static void emit(AstroImage *self, const AstroGridMeta *grid, GstBuffer *last)
{
  AstroImageMeta *meta =
      astro_buffer_add_image(self->image, self->config.channels * self->config.n_out);

  add_weights(self, grid, meta);
  astro_image_beam_fit(&self->beam, GST_ELEMENT(self), &self->config, self->image, meta);
  GST_BUFFER_PTS(self->image) = self->begin;
  if (GST_CLOCK_TIME_IS_VALID(self->begin) && GST_BUFFER_PTS_IS_VALID(last) &&
      GST_BUFFER_DURATION_IS_VALID(last))
    GST_BUFFER_DURATION(self->image) =
        GST_BUFFER_PTS(last) + GST_BUFFER_DURATION(last) - self->begin;
  astro_stage_emit(ASTRO_STAGE(self), g_steal_pointer(&self->image), self->images++, 1);
  self->next_plane = 0;
}

/* The factor that makes values Jy; 0: not known. */
static double jansky_of(AstroImage *self)
{
  const AstroObservation *observation = astro_stage_observation(ASTRO_STAGE(self));
  return observation ? astro_history_jansky(&observation->done) : 0;
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  observation->done.scale = observation->done.scale > 0 ? 1 : 0;
  return TRUE;
}

static gboolean add_plane(AstroImage *self, GstBuffer *in, GstBuffer *touched,
                          const AstroGridMeta *meta, guint plane, guint planes, double w,
                          GError **error)
{
  if (plane == 0)
    astro_image_beam_choose(&self->beam, &self->config, meta->weights);
  g_autofree double *weights =
      astro_image_weights(&self->config, &self->grid, meta->weights, jansky_of(self));
  AstroImageArguments arguments = { .w = w,
                                    .w_step = meta->w_step,
                                    .weights = weights,
                                    .first = plane == 0,
                                    .last = plane == planes - 1,
                                    .middle_size = self->beam.middle ? self->beam.size : 0,
                                    .middle_product = self->beam.product };

  if (plane != self->next_plane)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "plane %u of %u of a grid came where plane %u was expected", plane,
                               planes, self->next_plane);
  if (arguments.first) {
    forget(self); /* left by a submit that was given up */
    self->image = astro_stage_new_buffer(
        ASTRO_STAGE(self), astro_stream_step_bytes(astro_stage_out(ASTRO_STAGE(self))), error);
    self->begin = GST_BUFFER_PTS(in);
  }
  const AstroStageBlocks blocks = { { in, touched }, { self->image } };
  astro_stage_result(ASTRO_STAGE(self))->middle = self->beam.middle;
  if (!self->image || !astro_stage_submit_blocks(ASTRO_STAGE(self), &blocks, &arguments,
                                                 arguments.first, arguments.last, error))
    return FALSE;
  self->next_plane++;
  if (arguments.last)
    emit(self, meta, in);
  return TRUE;
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroImage *self = ASTRO_IMAGE(stage);
  const AstroGridMeta *meta = astro_buffer_get_grid(in);
  guint64 n = steps * astro_stream_extent(astro_stage_in(stage), ASTRO_AXIS_PLANE);

  if (!check_weights(self, meta, error))
    return FALSE;
  guint planes = MAX(meta->planes, 1);
  for (guint64 i = 0; i < n; i++) {
    guint plane = (guint)((meta->plane + i) % planes);
    double w = meta->w + ((double)plane - (double)(meta->plane % planes)) * meta->w_step;
    g_autoptr(GstBuffer) part = astro_buffer_part(in, i, n);
    g_autoptr(GstBuffer) touched =
        astro_buffer_part(self->config.transforms_v ? meta->touched : NULL, i, n);
    if (n > 1) {
      GST_BUFFER_PTS(part) = GST_BUFFER_PTS(in);
      GST_BUFFER_DURATION(part) = GST_BUFFER_DURATION(in);
    }
    if (!add_plane(self, part, touched, meta, plane, planes, w, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean finish(AstroStage *stage, GError **error)
{
  AstroImage *self = ASTRO_IMAGE(stage);
  guint came = self->next_plane;

  if (!self->image)
    return TRUE;
  forget(self);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "the stream ended in the middle of an image: %u of its planes came",
                             came);
}

/* Who reads images is not asked: a copy of one in double precision, as astromeasure makes it, and a
 * picture of four bytes a pixel with its copy for a file. */
static guint64 tell_memory(gconstpointer configuration, guint threads)
{
  enum { READERS_BYTES = 2 * sizeof(double) + 2 * 4 };
  const AstroImageConfig *config = configuration;
  const guint64 size = astro_grid_wanted(&config->grid);
  return astro_image_memory(config, threads) + size * size * READERS_BYTES;
}

static void reset(AstroStage *stage)
{
  forget(ASTRO_IMAGE(stage));
  ASTRO_IMAGE(stage)->images = 0;
  ASTRO_IMAGE(stage)->beam.warned = FALSE;
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_image_parent_class)->stop(trans);
  astro_grid_clear(&ASTRO_IMAGE(trans)->grid);
  return ok;
}

/* ---- properties ---- */

static const AstroField fields[] = {
  ASTRO_BOOLEAN(AstroImage, psf, "psf", "Point-spread function",
                "Adds the point-spread function as product PSF, and fits the beam to it", FALSE),
  ASTRO_TEXT(
      AstroImage, stokes, "stokes", "Stokes parameters",
      "Some of the letters IQUV, made of the grid's products (unset: the products as they are)",
      NULL),
  { 0 },
};

static void finalize(GObject *object)
{
  astro_image_beam_clear(&ASTRO_IMAGE(object)->beam);
  G_OBJECT_CLASS(astro_image_parent_class)->finalize(object);
}

static void astro_image_class_init(AstroImageClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  static const char *const takes[] = { ASTRO_TAKES_ROWS, ASTRO_TAKES_WIDE_PSF, NULL };
  static const AstroQuantity grids[] = { ASTRO_QUANTITY_UVGRID, ASTRO_QUANTITY_UNKNOWN };
  static const AstroQuantity images[] = { ASTRO_QUANTITY_IMAGE, ASTRO_QUANTITY_UNKNOWN };

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = fixate_caps;
  trans->set_caps = set_caps;
  trans->propose_allocation = propose_allocation;
  trans->stop = stop;
  stage->stage = "image";
  stage->takes = takes;
  stage->backends = astro_image_backends;
  stage->tell_work = astro_image_work;
  stage->configure = configure;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->amend = amend;
  stage->tell_memory = tell_memory;
  astro_stage_class_add_pads(stage, grids, images);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Image", "Filter/Converter",
      "Makes images of transformed grids of visibilities, in Jy/beam where these are known in Jy",
      ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "grids CF32LE CF64LE that astrofft has transformed: "
                                        "plane:pol:y:x or pol:y:x, perhaps with channel");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "images F32LE F64LE: pol:y:x or channel:pol:y:x");
}

static void astro_image_init(AstroImage *self)
{
  astro_fields_set_defaults(self);
}
