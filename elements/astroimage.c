/**
 * SECTION:element-astroimage
 *
 * Makes images in Jy/beam of transformed grids (uvgrid of layout pol:y:x, with channel and plane
 * before it): cuts out the padded grid's middle, divides by the transform of what visibilities were
 * spread with and by the sums of weights, and turns w-planes to w = 0 and adds them up: an image
 * leaves with its last plane. Right ascension runs to the left.
 *
 * Of grids with image-only=true and touched-only=true rows alone may be transformed (layout
 * pol:v:x, with the same axes before it; see astrofft, which makes them where nobody else reads
 * them): their columns are transformed here, a few at a time, and added to the image before they
 * leave the caches.
 *
 * stokes makes Stokes parameters of XX:XY:YX:YY, RR:RL:LR:LL or some of them; without it products
 * stay as they are, of XY and the like the real parts. A product of a channel without any weight is
 * NaN; an image without any is an error. Where the grid is no larger than an image of even size,
 * the first column repeats what the grid has on its other side.
 *
 * psf=true (or an element downstream that wants it, such as astroclean) asks the gridder for the
 * point-spread function, which becomes the last product, PSF. An ellipse is fitted to its main lobe
 * (of several channels: to that of the middle one, or the one next to it that has visibilities):
 * the beam goes into the image's headers and into an element message "astro-image" with major and
 * minor (full widths at half maximum) and angle (from north through east), degrees.
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
#include "core/units.h"
#include "elements/astrofields.h"

struct _AstroImage {
  AstroStage parent;
  /* properties */
  gboolean psf;
  char *stokes;

  AstroGrid grid;         /* of the input's caps */
  gboolean promises_rows; /* they agree on image-only and touched-only */
  AstroImageConfig config;
  GstBuffer *image; /* whose planes come */
  guint next_plane;
  GstClockTime begin; /* of the image */
  guint64 images;
  gboolean warned; /* of the beam */
  /* The point-spread function about its peak: alone what the fit of the beam needs of an image that
   * may be on a device. */
  gint psf_index;    /* among the image's products; -1: it has none */
  guint psf_product; /* that of the channel that the beam is of, among those of all channels */
  guint middle_size;
  gpointer middle;
};

enum { PROP_PSF = ASTRO_STAGE_N_PROPERTIES, PROP_STOKES };

#define MIDDLE 256 /* pixels: beams have a few */

G_DEFINE_TYPE(AstroImage, astro_image, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astroimage, "astroimage", GST_RANK_NONE, ASTRO_TYPE_IMAGE)

/* ---- negotiation ---- */

/* rows: transformed along u alone. */
static const struct {
  const char *grid, *image;
  gboolean rows;
} layouts[] = {
  { "pol:y:x", "pol:y:x" },
  { "plane:pol:y:x", "pol:y:x" },
  { "channel:pol:y:x", "channel:pol:y:x" },
  { "plane:channel:pol:y:x", "channel:pol:y:x" },
  { "pol:v:x", "pol:y:x", TRUE },
  { "plane:pol:v:x", "pol:y:x", TRUE },
  { "channel:pol:v:x", "channel:pol:y:x", TRUE },
  { "plane:channel:pol:v:x", "channel:pol:y:x", TRUE },
};

/* Names to a layout; as it was where there are none. */
static void take_layouts(GstStructure *s, GValue *list)
{
  if (gst_value_list_get_size(list))
    gst_structure_take_value(s, "layout", list);
  else
    g_value_unset(list);
}

static void set_image_layouts(GstStructure *s, const GValue *given)
{
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++)
    if (astro_name_is_in(given, layouts[i].grid))
      astro_name_append(&list, layouts[i].image);
  if (gst_value_list_get_size(&list))
    gst_structure_remove_field(s, "planes");
  take_layouts(s, &list);
}

static void set_grid_layouts(GstStructure *s, const GValue *given, gboolean rows)
{
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++)
    if (layouts[i].rows == rows && astro_name_is_in(given, layouts[i].image))
      astro_name_append(&list, layouts[i].grid);
  take_layouts(s, &list);
}

static void set_formats(GstStructure *s, gboolean to_src)
{
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  astro_format_append(&list, to_src ? ASTRO_FORMAT_F32LE : ASTRO_FORMAT_CF32LE);
  astro_format_append(&list, to_src ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_CF64LE);
  gst_structure_take_value(s, "format", &list);
}

/* What a grid's caps say of the image. */
static void describe_image(const AstroImage *self, GstCaps *given, GstStructure *s)
{
  AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS];
  g_autofree char *stokes = astro_fields_copy_text(&self->stokes);
  AstroGrid grid;
  guint n;

  if (!astro_grid_from_caps(&grid, given, NULL) ||
      !(n = astro_image_products(&grid, stokes, products, NULL))) {
    astro_grid_clear(&grid);
    return;
  }
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < n; i++)
    g_string_append_printf(names, "%s%s", i ? ":" : "", products[i].name);
  gst_structure_set(s, "width", G_TYPE_INT, (gint)grid.image_size, "height", G_TYPE_INT,
                    (gint)grid.image_size, "pols", G_TYPE_INT, (gint)n, "pixel", G_TYPE_DOUBLE,
                    grid.pixel, "products", G_TYPE_STRING, names->str, "centre-l", G_TYPE_DOUBLE,
                    grid.centre_l, "centre-m", G_TYPE_DOUBLE, grid.centre_m, "psf", G_TYPE_BOOLEAN,
                    astro_grid_find(&grid, ASTRO_PRODUCT_PSF) >= 0, NULL);
  astro_grid_clear(&grid);
}

/* Of caps that are fixed and wrong the image has the same shape, and set_caps says what is wrong.
 */
static GstStructure *image_of(const AstroImage *self, const GstStructure *given)
{
  g_autoptr(GstCaps) caps = gst_caps_new_full(gst_structure_copy(given), NULL);
  GstStructure *s = gst_structure_copy(given);

  gst_structure_set_name(s, astro_quantity_media_type(ASTRO_QUANTITY_IMAGE));
  gst_structure_remove_fields(s, "cell", "image-size", "image-only", "touched-only", "spread",
                              "support", "beta", "oversampling", "interpolated", "rate", NULL);
  if (!gst_caps_is_fixed(caps))
    gst_structure_remove_fields(s, "width", "height", "pols", "products", NULL);
  else
    describe_image(self, caps, s);
  set_formats(s, TRUE);
  set_image_layouts(s, gst_structure_get_value(given, "layout"));
  return s;
}

static GstStructure *grid_of(const AstroImage *self, const GstStructure *given)
{
  GstStructure *s = gst_structure_new_empty(astro_quantity_media_type(ASTRO_QUANTITY_UVGRID));

  if (self->psf || astro_field_is_true(given, "psf"))
    gst_structure_set(s, "psf", G_TYPE_BOOLEAN, TRUE, NULL);
  return s;
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  const AstroImage *self = ASTRO_IMAGE(trans);
  GstCaps *result = gst_caps_new_empty(), *others = gst_caps_new_empty();

  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure *given = gst_caps_get_structure(caps, i);
    if (direction == GST_PAD_SINK) {
      gst_caps_append_structure(result, image_of(self, given));
      continue;
    }
    GstStructure *s = grid_of(self, given);
    /* Any other grid is taken last, and refused where an error can say why. */
    gst_caps_append_structure(others, gst_structure_copy(s));
    set_formats(s, FALSE);
    /* Nothing but the image is read: better if nothing else is made, and best if columns are left
     * to us. */
    GstStructure *best = gst_structure_copy(s);
    set_grid_layouts(best, gst_structure_get_value(given, "layout"), TRUE);
    gst_structure_set(best, "image-only", G_TYPE_BOOLEAN, TRUE, "touched-only", G_TYPE_BOOLEAN,
                      TRUE, NULL);
    gst_caps_append_structure(result, best);
    set_grid_layouts(s, gst_structure_get_value(given, "layout"), FALSE);
    best = gst_structure_copy(s);
    gst_structure_set(best, "image-only", G_TYPE_BOOLEAN, TRUE, NULL);
    gst_caps_append_structure(result, best);
    gst_caps_append_structure(result, s);
  }
  gst_caps_append(result, others);
  return astro_stage_filter_caps(result, filter);
}

static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  return gst_caps_fixate(othercaps);
}

/* astrofft's output tells where it was asked for anything but what makes a sky. */
static gboolean check_transform(const GstCaps *caps, GError **error)
{
  static const char *const unusual[] = { "direction", "centred" };
  const GstStructure *s = gst_caps_get_structure(caps, 0);

  for (guint i = 0; i < G_N_ELEMENTS(unusual); i++)
    if (gst_structure_has_field(s, unusual[i])) {
      g_autofree char *value = gst_value_serialize(gst_structure_get_value(s, unusual[i]));
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "a grid transformed with %s=%s, expected a forward, centred "
                                 "transform (astrofft without its properties)",
                                 unusual[i], value);
    }
  return TRUE;
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroImage *self = ASTRO_IMAGE(trans);
  g_autoptr(GError) error = NULL;
  AstroGrid grid = { 0 };

  if (!check_transform(in, &error) || !astro_grid_from_caps(&grid, in, &error)) {
    astro_grid_clear(&grid);
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message),
                      ("caps: %" GST_PTR_FORMAT, in));
    return FALSE;
  }
  const GstStructure *s = gst_caps_get_structure(in, 0);
  self->promises_rows =
      astro_field_is_true(s, "image-only") && astro_field_is_true(s, "touched-only");
  /* What is held of the old grid is dropped with an error before this is. */
  AstroGrid old = self->grid;
  self->grid = grid;
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_image_parent_class)->set_caps(trans, in, out);
  astro_grid_clear(&old);
  return ok;
}

static void make_middle(AstroImage *self)
{
  const AstroImageConfig *config = &self->config;

  g_clear_pointer(&self->middle, g_free);
  self->psf_index = -1;
  self->middle_size = MIN(config->grid.image_size, MIDDLE);
  for (guint i = 0; i < config->n_out; i++)
    if (g_str_equal(config->products[i].name, ASTRO_PRODUCT_PSF))
      self->psf_index = (gint)i;
  if (self->psf_index >= 0)
    self->middle = g_malloc_n(self->middle_size, self->middle_size * sizeof(double));
}

static gboolean configure(AstroStage *stage, gpointer given, gboolean *pass_through, GError **error)
{
  AstroImage *self = ASTRO_IMAGE(stage);
  const AstroStream *in = astro_stage_in(stage);
  g_autofree char *layout = astro_layout_to_string(&in->layout);
  g_autofree char *stokes = astro_fields_copy_text(&self->stokes);
  guint kind = 0;

  while (kind < G_N_ELEMENTS(layouts) && !g_str_equal(layout, layouts[kind].grid))
    kind++;
  if (kind == G_N_ELEMENTS(layouts) || (layouts[kind].rows && !self->promises_rows))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "a uvgrid of layout %s, expected pol:y:x, with channel, plane or plane:channel "
        "before it, or v:x with image-only=true and touched-only=true%s",
        layout,
        astro_layout_find(&in->layout, ASTRO_AXIS_U) >= 0
            ? ": astrofft must stand before astroimage"
            : "");
  self->config = (AstroImageConfig){ .from = in->format,
                                     .to = astro_stage_out(stage)->format,
                                     .grid = self->grid,
                                     .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
                                     .n_in = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
                                     .transforms_v = layouts[kind].rows };
  self->config.grid.products = NULL;
  self->config.n_out = astro_image_products(&self->grid, stokes, self->config.products, error);
  if (!self->config.n_out ||
      !astro_stage_check_extent(stage, ASTRO_AXIS_POL, self->config.n_out, error))
    return FALSE;
  make_middle(self);
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
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "a grid without the sums of its weights (AstroGridMeta)");
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

/* The beam is that of the middle channel, or of the nearest to it that has any weight. */
static void choose_psf(AstroImage *self, const double *weights)
{
  const AstroImageConfig *config = &self->config;
  const guint middle = config->channels / 2;

  if (self->psf_index < 0)
    return;
  self->psf_product = middle * config->n_out + (guint)self->psf_index;
  for (guint i = 0; i < 2 * config->channels; i++) {
    const guint channel = i % 2 ? middle - (i + 1) / 2 : middle + i / 2; /* wraps round below 0 */
    if (channel >= config->channels ||
        !(weights[channel * config->n_in + config->products[self->psf_index].terms[0].product] > 0))
      continue;
    self->psf_product = channel * config->n_out + (guint)self->psf_index;
    return;
  }
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

/* Where the main lobe is wider than the middle the whole image is looked at. */
static gboolean fit_lobe(AstroImage *self, AstroImageMeta *meta)
{
  const AstroImageConfig *config = &self->config;
  gsize pixels = (gsize)config->grid.image_size * config->grid.image_size;
  gboolean cut,
      found = astro_image_fit_beam(config->to, self->middle, self->middle_size, config->grid.pixel,
                                   &meta->major, &meta->minor, &meta->angle, &cut);
  GstMapInfo map;

  if (!cut || self->middle_size == config->grid.image_size ||
      !gst_buffer_map(self->image, &map, GST_MAP_READ))
    return found;
  found = astro_image_fit_beam(
      config->to,
      map.data + (gsize)self->psf_product * pixels * astro_format_info(config->to)->bytes,
      config->grid.image_size, config->grid.pixel, &meta->major, &meta->minor, &meta->angle, NULL);
  gst_buffer_unmap(self->image, &map);
  return found;
}

#define LEAST_ACROSS 2 /* pixels of a beam, for sources between them to be found */

/* Each image of a stream would say the same. */
static void warn_of_beam(AstroImage *self, const AstroImageMeta *meta)
{
  const double arcsec = ASTRO_DEGREES * 3600, cell = self->config.grid.pixel * arcsec;
  const double enough = meta->minor * arcsec / LEAST_ACROSS;
  if (self->warned || (meta->has_beam && cell <= enough))
    return;
  self->warned = TRUE;
  if (meta->has_beam)
    GST_ELEMENT_WARNING(self, STREAM, FAILED,
                        ("the beam of %.4g x %.4g arcsec is narrower than two pixels: sources "
                         "between them may not be found",
                         meta->major * arcsec, meta->minor * arcsec),
                        ("cell %.4g arcsec, expected at most %.3g arcsec, which is a field-of-view "
                         "of %.3g degrees",
                         cell, enough, enough * self->config.grid.image_size / 3600));
  else
    GST_ELEMENT_WARNING(self, STREAM, FAILED,
                        ("no beam can be fitted to the point-spread function"),
                        ("expected a main lobe of several pixels of %.4g arcsec", cell));
}

/* Of the PSF, if the image has one. */
static void fit_beam(AstroImage *self, AstroImageMeta *meta)
{
  if (self->psf_index < 0)
    return;
  meta->has_beam = fit_lobe(self, meta);
  warn_of_beam(self, meta);
  if (!meta->has_beam)
    return;
  GstStructure *s = gst_structure_new(
      "astro-image", "major", G_TYPE_DOUBLE, meta->major * ASTRO_DEGREES, "minor", G_TYPE_DOUBLE,
      meta->minor * ASTRO_DEGREES, "angle", G_TYPE_DOUBLE, meta->angle * ASTRO_DEGREES, NULL);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), s));
}

static void emit(AstroImage *self, const AstroGridMeta *grid, GstBuffer *last)
{
  AstroImageMeta *meta =
      astro_buffer_add_image(self->image, self->config.channels * self->config.n_out);

  add_weights(self, grid, meta);
  fit_beam(self, meta);
  GST_BUFFER_PTS(self->image) = self->begin;
  if (GST_CLOCK_TIME_IS_VALID(self->begin) && GST_BUFFER_PTS_IS_VALID(last) &&
      GST_BUFFER_DURATION_IS_VALID(last))
    GST_BUFFER_DURATION(self->image) =
        GST_BUFFER_PTS(last) + GST_BUFFER_DURATION(last) - self->begin;
  astro_stage_emit(ASTRO_STAGE(self), g_steal_pointer(&self->image), self->images++, 1);
  self->next_plane = 0;
}

static gboolean add_plane(AstroImage *self, GstBuffer *in, GstBuffer *touched,
                          const AstroGridMeta *meta, guint plane, guint planes, double w,
                          GError **error)
{
  if (plane == 0)
    choose_psf(self, meta->weights);
  AstroImageArguments arguments = { .w = w,
                                    .w_step = meta->w_step,
                                    .weights = meta->weights,
                                    .first = plane == 0,
                                    .last = plane == planes - 1,
                                    .middle = self->middle,
                                    .middle_size = self->middle_size,
                                    .middle_product = self->psf_product };

  if (plane != self->next_plane)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "plane %u of %u of a grid came where plane %u was due", plane,
                               planes, self->next_plane);
  if (arguments.first) {
    self->image = astro_stage_new_buffer(
        ASTRO_STAGE(self), astro_stream_step_bytes(astro_stage_out(ASTRO_STAGE(self))), error);
    self->begin = GST_BUFFER_PTS(in);
  }
  const AstroStageBlocks blocks = { { in, touched }, { self->image } };
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
                             "the stream ended before an image was whole: %u of its planes came",
                             came);
}

static void reset(AstroStage *stage)
{
  forget(ASTRO_IMAGE(stage));
  ASTRO_IMAGE(stage)->images = 0;
  ASTRO_IMAGE(stage)->warned = FALSE;
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_image_parent_class)->stop(trans);
  astro_grid_clear(&ASTRO_IMAGE(trans)->grid);
  return ok;
}

/* ---- properties ---- */

static const AstroField fields[] = {
  ASTRO_FIELD(PROP_PSF, AstroImage, psf),
  ASTRO_FIELD(PROP_STOKES, AstroImage, stokes),
  { 0 },
};

static void finalize(GObject *object)
{
  g_free(ASTRO_IMAGE(object)->stokes);
  g_free(ASTRO_IMAGE(object)->middle);
  G_OBJECT_CLASS(astro_image_parent_class)->finalize(object);
}

static void astro_image_class_init(AstroImageClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  static const AstroQuantity grids[] = { ASTRO_QUANTITY_UVGRID, ASTRO_QUANTITY_UNKNOWN };
  static const AstroQuantity images[] = { ASTRO_QUANTITY_IMAGE, ASTRO_QUANTITY_UNKNOWN };
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  g_object_class_install_property(
      object, PROP_PSF,
      g_param_spec_boolean("psf", "Point-spread function",
                           "Adds the point-spread function as product PSF, and fits the beam to it",
                           FALSE, flags));
  g_object_class_install_property(
      object, PROP_STOKES,
      g_param_spec_string("stokes", "Stokes parameters",
                          "Some of the letters IQUV, made of the grid's products (unset: the "
                          "products as they are)",
                          NULL, flags));
  trans->transform_caps = transform_caps;
  trans->fixate_caps = fixate_caps;
  trans->set_caps = set_caps;
  trans->stop = stop;
  stage->stage = "image";
  stage->backends = astro_image_backends;
  stage->configure = configure;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  astro_stage_class_add_pads(stage, grids, images);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Image", "Filter/Converter",
      "Makes images in Jy/beam of transformed grids of visibilities", ASTRO_AUTHOR);
}

static void astro_image_init(AstroImage *self)
{
}
