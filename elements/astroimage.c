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
 * With devices=0,1 or all, each GPU adds up the planes that lie on it, as those of astrogridder and
 * astrofft with the same devices do, others in turn; with its last plane an image is added up from
 * what all have made. It is that of one GPU but for the rounding of these sums.
 *
 * Of grids that several processes share (share= of astrogridder), each makes an image of its part,
 * and astroreduce has to come next: it adds them up, and the sum goes on at one of them.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder size=1024 cell=2 ! astrofft ! \
 *   astroimage psf=true ! astrofitssink location=a.fits
 * ]|
 */
#include "config.h"
#include "elements/astroimage.h"

#include "core/image/image.h"
#include "core/backend/device-list.h"
#include "core/memory/memory.h"
#include "elements/base/astrofields.h"
#include "elements/astroimage-beam.h"
#include "elements/astroimage-caps.h"
#include "elements/base/astrohandout.h"
#include "elements/base/astrolanes.h"
#include "elements/base/astroreader.h"
#include "elements/base/astroshares.h"

struct _AstroImage {
  AstroStage parent;
  /* properties */
  gboolean psf;
  char *stokes;

  AstroGrid grid;        /* from the input's caps */
  gboolean touched_only; /* from them too: rows without a touched tile are undefined */
  guint shares;          /* and: grids are parts, of which so many are added up */
  AstroImageConfig config;
  GstBuffer *images_of[ASTRO_MOST_DEVICES]; /* of the planes that each device has added */
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
  gboolean psf;
  /* A wide image is only for a reader that asks for it. */
  const gboolean wide = astro_reader_takes(GST_BASE_TRANSFORM_SRC_PAD(self), ASTRO_TAKES_WIDE_PSF);
  astro_fields_copy_numbers(self, &psf, &self->psf, sizeof psf);
  GstCaps *result = direction == GST_PAD_SINK ? astro_image_caps_of_grids(caps, stokes)
                                              : astro_image_caps_to_grids(caps, psf, wide);
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
  self->shares = astro_shares_of(s);
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
  for (guint i = 0; i < G_N_ELEMENTS(self->images_of); i++)
    gst_clear_buffer(&self->images_of[i]);
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

/* The image is linear in the grid: images of its parts are added up where they are complete. */
static gboolean add_shares(AstroImage *self, GstBuffer *image, gboolean *is_here, GError **error)
{
  const gboolean is_double = self->config.to == ASTRO_FORMAT_F64LE;
  const gsize bytes = astro_format_info(self->config.to)->bytes;
  GstMapInfo map;
  *is_here = TRUE;
  if (self->shares <= 1)
    return TRUE;
  if (!gst_buffer_map(image, &map, GST_MAP_READWRITE))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE, "no memory to add up an image");
  const AstroSharesPart parts[] = { { map.data, map.size / bytes, is_double },
                                    { self->beam.middle, (guint64)self->beam.size * self->beam.size,
                                      is_double } };
  const gboolean ok = astro_shares_sum(GST_BASE_TRANSFORM_SRC_PAD(self), self->shares, parts,
                                       self->beam.middle ? 2 : 1, is_here, error);
  gst_buffer_unmap(image, &map);
  return ok;
}

static void emit(AstroImage *self, GstBuffer *image, const AstroGridMeta *grid, GstBuffer *last)
{
  AstroImageMeta *meta = astro_buffer_add_image(image, self->config.channels * self->config.n_out);

  add_weights(self, grid, meta);
  astro_image_beam_fit(&self->beam, GST_ELEMENT(self), &self->config, image, meta);
  GST_BUFFER_PTS(image) = self->begin;
  if (GST_CLOCK_TIME_IS_VALID(self->begin) && GST_BUFFER_PTS_IS_VALID(last) &&
      GST_BUFFER_DURATION_IS_VALID(last))
    GST_BUFFER_DURATION(image) = GST_BUFFER_PTS(last) + GST_BUFFER_DURATION(last) - self->begin;
  astro_stage_emit(ASTRO_STAGE(self), image, self->images++, 1);
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

/* ---- several devices ---- */

/* Adds what the other devices have made to the image of a lane. */
static gboolean gather(AstroImage *self, guint lane, GError **error)
{
  static const AstroImageArguments arguments = { .adds_image = TRUE };
  GstBuffer **image = &self->images_of[lane];
  for (guint i = 0; i < G_N_ELEMENTS(self->images_of); i++) {
    GstBuffer **other = &self->images_of[i];
    if (i == lane || !*other)
      continue;
    if (!*image)
      *image = g_steal_pointer(other);
    else if (!astro_stage_submit_part(ASTRO_STAGE(self), *other, *image, &arguments, FALSE, FALSE,
                                      error))
      return FALSE;
    gst_clear_buffer(other);
  }
  return TRUE;
}

/* ---- planes ---- */

static void begin_image(AstroImage *self, GstBuffer *in, const AstroGridMeta *meta)
{
  forget(self); /* left by a submit that was given up */
  astro_image_beam_choose(&self->beam, &self->config, meta->weights);
  self->begin = GST_BUFFER_PTS(in);
}

static gboolean submit_plane(AstroImage *self, const AstroStageBlocks *blocks,
                             AstroImageArguments *arguments, guint lane, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  GstBuffer **image = &self->images_of[lane];
  AstroStageBlocks all = *blocks;
  if (arguments->last && !gather(self, lane, error))
    return FALSE;
  arguments->first = !*image;
  if (!*image && !(*image = astro_stage_new_buffer(
                       stage, astro_stream_step_bytes(astro_stage_out(stage)), error)))
    return FALSE;
  all.out[0] = *image;
  astro_stage_result(stage)->middle = self->beam.middle;
  return astro_stage_submit_blocks(stage, &all, arguments, arguments->first, arguments->last,
                                   error);
}

static gboolean add_plane(AstroImage *self, GstBuffer *in, GstBuffer *touched,
                          const AstroGridMeta *meta, guint plane, guint planes, double w,
                          GError **error)
{
  if (plane != self->next_plane)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "plane %u of %u of a grid came where plane %u was expected", plane,
                               planes, self->next_plane);
  if (plane == 0)
    begin_image(self, in, meta);
  g_autofree double *weights =
      astro_image_weights(&self->config, &self->grid, meta->weights, jansky_of(self));
  AstroImageArguments arguments = { .w = w,
                                    .w_step = meta->w_step,
                                    .weights = weights,
                                    .last = plane == planes - 1,
                                    .middle_size = self->beam.middle ? self->beam.size : 0,
                                    .middle_product = self->beam.product };
  const AstroStageBlocks blocks = { { in, touched }, { NULL } };
  const guint lane = astro_stage_take_nearest_lane(ASTRO_STAGE(self), in, plane);
  if (!submit_plane(self, &blocks, &arguments, lane, error))
    return FALSE;
  self->next_plane++;
  gboolean is_here;
  if (arguments.last && !add_shares(self, self->images_of[lane], &is_here, error))
    return FALSE;
  if (arguments.last && is_here)
    emit(self, g_steal_pointer(&self->images_of[lane]), meta, in);
  else if (arguments.last)
    forget(self);
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

  if (came == 0)
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
  astro_stage_class_add_devices(stage);
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
  astro_stage_hand_out_when_done(ASTRO_STAGE(self));
}
