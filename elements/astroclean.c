/**
 * SECTION:element-astroclean
 *
 * Deconvolution by minor cycles: subtracts the point-spread function from the highest point of an
 * image again and again (Hogbom), or a component of the size that fits best (scales, as WSClean has
 * them). It asks upstream for the point-spread function (psf=true). Every product is cleaned by
 * itself, and every channel too unless join=true.
 *
 * join=true cleans the channels of a cube together (astrogridder per-channel=true makes one).
 * Sources are looked for in the mean of the channels, weighted by their sums of weights, which is
 * deeper than any channel. At each peak every channel's own point-spread function is subtracted,
 * with a flux that follows a polynomial in frequency of spectral-terms terms, fitted to the
 * channels there; with 0 terms each channel has a flux of its own. Thresholds and noise are those
 * of the mean. Channels without visibilities are left out. astroterms makes one image of the
 * channels, with the slope of the spectrum, from the result.
 *
 * It does not go back to the visibilities. Major cycles do that in the rounds of a graph (gst-astro
 * run image cycles=3): peak-fraction ends the minor cycles before their errors matter, the model is
 * subtracted from the visibilities, and the next image, of what is left, is cleaned with model=,
 * the model so far.
 *
 * mask, a FITS image, and auto-mask say where sources are looked for. auto-mask=5 finds what is
 * above five times the noise around it, which is measured in squares of 25 beams, and then cleans
 * those pixels alone down to the threshold: faint sources are found in quiet parts of the image,
 * artefacts around bright ones are not taken for sources, and the noise is not cleaned.
 *
 * components writes the pixels of the model (of I; the mean of the channels) as lines "ra dec
 * flux", for sky= of astrovissrc and others. A sky has no negative fluxes: such pixels are left
 * out, and "astro-file" says how many and how much.
 *
 * output=restored gives the model convolved with the beam, plus the residual; model (Jy per pixel)
 * and residual give one of them alone; all gives the three and the point-spread function, as
 * products I, I-MODEL, I-RESIDUAL and PSF.
 *
 * To reach from any source to every pixel, the point-spread function has to be twice as large as
 * the image. Where astrogridder, astrofft and astroimage stand in one line upstream, astroclean
 * asks them for that (wide-psf=true in caps): their grids and images are then twice as large as
 * astrogridder's size, and astroclean cleans and passes on the middle. The grid takes four times
 * the memory; wide-psf=false on astroclean avoids that. Other images (from a file, from a tee with
 * other branches, or from algorithm=wprojection, whose convolution functions would be four times as
 * large) come with a point-spread function no larger than themselves. Then sources are looked for
 * only inside a border of a quarter of the image, where subtraction is exact, and a warning says
 * so. A smaller border is less exact towards the edges. Pixels that are NaN are masked: no sources
 * are looked for there, and they stay NaN.
 *
 * The cycles end when no peak is above threshold, a flux (0.01, 10mJy) or so many times the noise
 * (3sigma), or, if that is not set, above auto-threshold times the noise: beyond that they would
 * subtract noise and make the image look better than it is. The noise is estimated from the
 * residual (by its median, which sources hardly move) at the moment when nothing stands out any
 * more, and is passed on with the image, for astromeasure. The cycles also end, with a warning,
 * when peaks grow to twice the lowest peak so far. That happens with too high a gain, with
 * calibration errors, or in a field so much larger than what few stations can resolve that
 * sidelobes are taken for sources.
 *
 * An element message "astro-clean" for each product and channel gives the iterations, the peak
 * left (Jy/beam), the noise (Jy/beam), the flux found (Jy), and in end the reason why the
 * cycles ended: iterations, threshold, noise, peak-fraction, diverged, interrupted (by the user:
 * the image shows the cycles done so far, with a warning), or empty if all pixels are NaN.
 * With join=true there is one message more for each product, about the mean: it has channels, their
 * number, in place of channel.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder size=2048 cell=2 ! astrofft ! \
 *   astroimage ! astroclean iterations=5000 threshold=0.001 ! astrofitssink location=a.fits
 * ]|
 */
#include "config.h"
#include "elements/astroclean.h"
#include "elements/astroclean-caps.h"
#include "elements/astroclean-files.h"
#include "elements/astroclean-told.h"

#include "core/clean/clean.h"
#include "core/clean/memory.h"
#include "core/clean/components.h"
#include "core/clean/threshold.h"
#include "core/kit/lines.h"
#include "core/kit/enum.h"
#include "core/kit/polynomial.h"
#include "core/image/image.h"
#include "core/memory/memory.h"
#include "core/stream/grid.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroreader.h"

typedef struct {
  AstroCleanOutput output;
  double gain, auto_threshold;
  double auto_mask, peak_fraction;
  guint iterations;
  gint border; /* -1: as small as stays exact */
  gboolean wide_psf;
  gboolean join;
  guint spectral_terms;
} Settings;

struct _AstroClean {
  AstroStage parent;
  /* properties */
  Settings set;
  char *threshold, *scales, *mask_file, *model_file, *components;

  AstroGrid grid; /* of the input's caps */
  AstroCleanConfig config;
  char *list;         /* the file of components to write; NULL: none */
  guint8 *mask;       /* NULL: none */
  float *start;       /* the model from a file; NULL: none */
  gboolean has_files; /* they were read for the image as its caps say now */
  gboolean warned_of_weights;
};

G_DEFINE_TYPE(AstroClean, astro_clean, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astroclean, "astroclean", GST_RANK_NONE, ASTRO_TYPE_CLEAN)

ASTRO_STATIC_ENUM_TYPE(astro_clean_output_get_type, "AstroCleanOutput",
                       { ASTRO_CLEAN_RESTORED,
                         "The model convolved with the beam, plus the residual", "restored" },
                       { ASTRO_CLEAN_MODEL, "The model, Jy per pixel", "model" },
                       { ASTRO_CLEAN_RESIDUAL, "The residual", "residual" },
                       { ASTRO_CLEAN_ALL, "All three, and the point-spread function", "all" })

/* ---- negotiation ---- */

static Settings settings_of(AstroClean *self)
{
  Settings now;
  astro_fields_copy_numbers(self, &now, &self->set, sizeof now);
  return now;
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  const Settings set = settings_of(ASTRO_CLEAN(trans));
  GstCaps *result = direction == GST_PAD_SINK ? gst_caps_copy(caps) : gst_caps_new_empty();

  for (guint i = 0; i < gst_caps_get_size(caps); i++)
    if (direction == GST_PAD_SINK)
      astro_clean_describe_output(gst_caps_get_structure(result, i), set.output);
    else /* a wide point-spread function serves nothing but cleaning */
      astro_clean_append_input(gst_caps_get_structure(caps, i), set.wide_psf && set.iterations > 0,
                               result);
  return astro_stage_filter_caps(result, filter);
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroClean *self = ASTRO_CLEAN(trans);
  g_autoptr(GError) error = NULL;

  astro_grid_clear(&self->grid);
  if (!astro_grid_from_caps(&self->grid, in, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message),
                      ("caps: %" GST_PTR_FORMAT, in));
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_clean_parent_class)->set_caps(trans, in, out);
}

static gboolean read_scales(AstroClean *self, AstroCleanConfig *config, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->scales);
  g_auto(GStrv) words = g_strsplit(text ? text : "", ",", -1);
  for (guint i = 0; words[i]; i++) {
    double scale;
    if (!*g_strstrip(words[i]) && !words[1])
      return TRUE;
    if (config->n_scales == ASTRO_CLEAN_MOST_SCALES || !astro_number_parse(words[i], &scale))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "scales \"%s\", expected up to %u numbers of pixels separated by "
                                 "commas, such as 0,5,10",
                                 text, ASTRO_CLEAN_MOST_SCALES);
    config->scales[config->n_scales++] = scale;
  }
  /* a single scale of 0 is what there is without scales */
  if (config->n_scales == 1 && config->scales[0] == 0)
    config->n_scales = 0;
  return TRUE;
}

static gboolean read_threshold(AstroClean *self, AstroCleanConfig *config, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->threshold);
  if (!astro_clean_threshold_parse(text, &config->threshold, &config->auto_threshold, error))
    return FALSE;
  if (config->threshold > 0)
    config->auto_threshold = 0;
  return TRUE;
}

static gboolean configure(AstroStage *stage, gpointer given, gboolean *pass_through, GError **error)
{
  AstroClean *self = ASTRO_CLEAN(stage);
  const AstroStream *in = astro_stage_in(stage);
  g_autofree char *names = g_strjoinv(":", self->grid.products);
  guint pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL);
  const Settings set = settings_of(self); /* once: another thread may set them */

  if (!astro_image_check_layout(in, error))
    return FALSE;
  if (pols < 2 || astro_grid_find(&self->grid, ASTRO_PRODUCT_PSF) != (gint)pols - 1)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "an image of products %s, expected at least one and the point-spread function "
        "(PSF) after them: astroimage psf=true makes it",
        names);
  if (set.join && astro_stream_extent(in, ASTRO_AXIS_CHANNEL) == 1)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "join=true and an image of one channel: expected a cube of several, "
                               "which astrogridder per-channel=true makes, or join=false");
  const guint size = astro_grid_wanted(&self->grid);
  self->config = (AstroCleanConfig){
    .format = in->format,
    .size = size,
    .in_size = self->grid.size,
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .products = pols - 1,
    .gain = set.gain,
    .iterations = set.iterations,
    .auto_threshold = set.auto_threshold,
    .border = set.border < 0 ? astro_clean_exact_border(size, self->grid.size) : (guint)set.border,
    .output = set.output,
    .auto_mask = set.auto_mask,
    .fraction = set.peak_fraction,
    .joined = set.join,
    .spectral_terms = set.spectral_terms,
    .frequency = in->frequency,
    .bandwidth = in->bandwidth,
  };
  if (!read_threshold(self, &self->config, error) || !read_scales(self, &self->config, error))
    return FALSE;
  self->has_files = FALSE;
  self->warned_of_weights = FALSE;
  *(AstroCleanConfig *)given = self->config;
  if (set.border < 0 && self->config.border > 0 && set.wide_psf && self->config.iterations > 0)
    astro_clean_warn_of_narrow_psf(GST_ELEMENT(self), &self->config);
  return astro_stage_check_extent(stage, ASTRO_AXIS_X, size, error) &&
         astro_stage_check_extent(stage, ASTRO_AXIS_POL, astro_clean_products_out(&self->config),
                                  error);
}

/* ---- files ---- */

static void forget_files(AstroClean *self)
{
  g_clear_pointer(&self->mask, g_free);
  g_clear_pointer(&self->start, g_free);
  g_clear_pointer(&self->list, g_free);
  self->has_files = FALSE;
}

static gboolean check_components(AstroClean *self, GError **error)
{
  const AstroObservation *observation = astro_stage_observation(ASTRO_STAGE(self));
  if (!g_str_equal(self->grid.products[0], "I"))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "components are fluxes of I, and the image is of %s: expected I "
                               "first",
                               self->grid.products[0]);
  if (!observation || !observation->has_phase_centre)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "components have places on the sky, and the image does not say "
                               "where it is: expected a phase centre");
  return TRUE;
}

/* Caps come before the observation, which says where the image is, so this waits for the first
 * image. */
static gboolean read_files(AstroClean *self, GError **error)
{
  const AstroCleanImageShape shape = { .grid = &self->grid,
                                       .size = self->config.size,
                                       .channels = self->config.channels,
                                       .products = self->config.products,
                                       .observation = astro_stage_observation(ASTRO_STAGE(self)) };
  g_autofree char *mask = astro_fields_copy_text(self, &self->mask_file);
  g_autofree char *model = astro_fields_copy_text(self, &self->model_file);
  g_autofree char *list = astro_fields_copy_text(self, &self->components);
  forget_files(self);
  if (astro_field_given(list) && !check_components(self, error))
    return FALSE;
  if (astro_field_given(mask) && !(self->mask = astro_clean_read_mask(mask, &shape, error)))
    return FALSE;
  if (astro_field_given(model) && !(self->start = astro_clean_read_model(model, &shape, error)))
    return FALSE;
  self->list = astro_field_given(list) ? g_steal_pointer(&list) : NULL;
  self->has_files = TRUE;
  return TRUE;
}

/* The files have to fit the place of the new one, too. */
static gboolean observed(AstroStage *stage, GError **error)
{
  const AstroObservation *observation = astro_stage_observation(stage);
  ASTRO_CLEAN(stage)->has_files = FALSE;
  if (observation && observation->done.primary_beam)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the image was divided by a primary beam (%s), and its sources no "
                               "longer look like the point-spread function: expected "
                               "astroprimarybeam downstream of astroclean",
                               observation->done.primary_beam);
  return TRUE;
}

/* The list is of the last image. */
static gboolean write_components(AstroClean *self, const float *model, GError **error)
{
  const gsize n = (gsize)self->config.size * self->config.size;
  const AstroObservation *observation = astro_stage_observation(ASTRO_STAGE(self));
  AstroGrid image = self->grid; /* borrows all that it holds */
  AstroComponents written;
  image.size = self->config.size;
  if (!astro_components_write(self->list, &image, observation, model, self->config.channels,
                              self->config.products * n, &written, error))
    return FALSE;
  GstStructure *s = gst_structure_new("astro-file", "location", G_TYPE_STRING, self->list, "format",
                                      G_TYPE_STRING, "sky", "sources", G_TYPE_UINT, written.n,
                                      "flux", G_TYPE_DOUBLE, written.flux, NULL);
  if (written.n_negative)
    gst_structure_set(s, "left-out", G_TYPE_UINT, written.n_negative, "left-out-flux",
                      G_TYPE_DOUBLE, written.negative, NULL);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), s));
  return TRUE;
}

/* How much each channel counts; NULL: nothing says. */
static const double *weights_of(AstroClean *self, const AstroImageMeta *meta)
{
  const AstroCleanConfig *config = &self->config;
  const guint n = config->channels * (config->products + 1);
  double sum = 0;
  for (guint i = 0; meta && meta->n_weights == n && i < n; i++)
    sum += meta->weights[i];
  if (sum > 0)
    return meta->weights;
  if (config->joined && config->channels > 1 && !self->warned_of_weights)
    astro_clean_warn_of_weights(GST_ELEMENT(self), config);
  self->warned_of_weights = TRUE;
  return NULL;
}

static gboolean clean_image(AstroClean *self, GstBuffer *in, const AstroImageMeta *meta,
                            guint64 number, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  g_autofree AstroCleanResult *results =
      g_new0(AstroCleanResult, astro_clean_n_results(&self->config));
  if (!self->has_files && !read_files(self, error))
    return FALSE;
  AstroCleanArguments arguments = { .mask = self->mask, .start = self->start };
  g_autofree float *model = self->list
                                ? g_new(float, (gsize)self->config.size * self->config.size *
                                                   self->config.channels * self->config.products)
                                : NULL;

  arguments.model = model;
  arguments.weights = weights_of(self, meta);
  if (meta && meta->has_beam) {
    arguments.major = meta->major / self->grid.pixel;
    arguments.minor = meta->minor / self->grid.pixel;
    arguments.angle = meta->angle;
  } else if (astro_clean_needs_beam(&self->config)) {
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_SIZE,
        "the image has no beam to convolve the model with: expected one, or iterations=0, or "
        "output=model or output=residual");
  }
  GstBuffer *out =
      astro_stage_new_buffer(stage, astro_stream_step_bytes(astro_stage_out(stage)), error);
  astro_stage_result(stage)->cleaned = results;
  const gboolean done = out && astro_stage_submit(stage, in, out, &arguments, error);
  astro_stage_result(stage)->cleaned = NULL;
  if (!done) {
    gst_clear_buffer(&out);
    return FALSE;
  }
  astro_clean_tell_results(GST_ELEMENT(self), &self->config, self->grid.products, results);
  if (model && !write_components(self, model, error)) {
    gst_clear_buffer(&out);
    return FALSE;
  }
  astro_clean_describe(&self->config, in, meta, results, out);
  GST_BUFFER_PTS(out) = GST_BUFFER_PTS(in);
  GST_BUFFER_DURATION(out) = GST_BUFFER_DURATION(in);
  astro_stage_emit(stage, out, number, 1);
  return TRUE;
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  const AstroImageMeta *meta = astro_buffer_get_image(in);

  for (guint64 i = 0; i < steps; i++) {
    g_autoptr(GstBuffer) part = astro_buffer_part(in, i, steps);
    if (!clean_image(ASTRO_CLEAN(stage), part, meta, first + i, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_clean_parent_class)->stop(trans);
  astro_grid_clear(&ASTRO_CLEAN(trans)->grid);
  forget_files(ASTRO_CLEAN(trans));
  return ok;
}

/* ---- properties ---- */

static const AstroField fields[] = {
  ASTRO_ENUM(AstroClean, set.output, "output", "Output", "Images to output",
             astro_clean_output_get_type, ASTRO_CLEAN_RESTORED),
  ASTRO_DOUBLE(AstroClean, set.gain, "gain", "Gain",
               "Part of a peak that an iteration subtracts, 0 to 1", -G_MAXDOUBLE, G_MAXDOUBLE,
               0.1),
  ASTRO_UINT(AstroClean, set.iterations, "iterations", "Iterations",
             "Most iterations for each product and channel", 0, G_MAXUINT, 1000),
  ASTRO_TEXT(AstroClean, threshold, "threshold", "Threshold",
             "Ends when no peak is higher than this: a flux in Jy/beam, such as 0.01 or 10mJy, or "
             "times the noise, such as 3sigma (0: at auto-threshold)",
             "0"),
  ASTRO_DOUBLE(
      AstroClean, set.auto_threshold, "auto-threshold", "Automatic threshold",
      "Without a threshold: ends when no peak is above this many times the noise (0: goes on)",
      -G_MAXDOUBLE, G_MAXDOUBLE, 3),
  ASTRO_TEXT(
      AstroClean, scales, "scales", "Scales",
      "Sizes of components in pixels, ascending, 0 for points, such as 0,5,10 (empty: points "
      "alone)",
      ""),
  ASTRO_TEXT(AstroClean, mask_file, "mask", "Mask",
             "A FITS image of this size: sources are looked for only where it is not 0 (empty: "
             "everywhere)",
             ""),
  ASTRO_DOUBLE(AstroClean, set.auto_mask, "auto-mask", "Automatic mask",
               "First finds what is above this many times the noise around it, and then goes on to "
               "the threshold only there (0: everywhere)",
               -G_MAXDOUBLE, G_MAXDOUBLE, 0),
  ASTRO_DOUBLE(AstroClean, set.peak_fraction, "peak-fraction", "Fraction of the peak",
               "Ends when no peak is above this part of the first one, for major cycles (0: goes "
               "on)",
               -G_MAXDOUBLE, G_MAXDOUBLE, 0),
  ASTRO_TEXT(AstroClean, model_file, "model", "Model",
             "A FITS image with a model that is not in the image any more, as it was subtracted "
             "from the visibilities: it is added to what is found (empty: none)",
             ""),
  ASTRO_TEXT(AstroClean, components, "components", "Components",
             "A file to write with the pixels of the model as a sky, for astrovissrc and others "
             "(empty: none)",
             ""),
  ASTRO_BOOLEAN(AstroClean, set.join, "join", "Join channels",
                "Looks for sources in the weighted mean of all channels, and subtracts each in all "
                "of them; else every channel is cleaned by itself",
                FALSE),
  ASTRO_UINT(AstroClean, set.spectral_terms, "spectral-terms", "Spectral terms",
             "With join=true: terms of the polynomial in frequency that a source's spectrum is, 1 "
             "for the same flux in all channels, up to 3 (0: a flux of its own in each channel)",
             0, ASTRO_POLYNOMIAL_MOST_TERMS, 0),
  ASTRO_INT(AstroClean, set.border, "border", "Border",
            "Pixels along the edges where no sources are looked for (-1: none with a wide "
            "point-spread function, a quarter of the image without one)",
            -1, G_MAXINT, -1),
  ASTRO_BOOLEAN(
      AstroClean, set.wide_psf, "wide-psf", "Wide point-spread function",
      "Asks for a point-spread function twice as large as the image, to reach from any source to "
      "every pixel",
      TRUE),
  { 0 },
};

static void astro_clean_class_init(AstroCleanClass *klass)
{
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  static const char *const takes[] = { ASTRO_TAKES_WIDE_PSF, NULL };
  static const AstroQuantity images[] = { ASTRO_QUANTITY_IMAGE, ASTRO_QUANTITY_UNKNOWN };

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_same;
  trans->set_caps = set_caps;
  trans->stop = stop;
  stage->takes = takes;
  stage->stage = "clean";
  stage->tell_work = astro_clean_work;
  stage->backends = astro_clean_backends;
  stage->configure = configure;
  stage->feed = feed;
  stage->observed = observed;
  stage->keeps_part = TRUE;
  stage->tell_memory = astro_clean_memory;
  astro_stage_class_add_pads(stage, images, images);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Clean", "Filter/Converter",
      "Deconvolves images by minor cycles, of points or several scales", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "images F32LE F64LE with their point-spread function: pol:y:x or channel:pol:y:x");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives", "the same");
}

static void astro_clean_init(AstroClean *self)
{
  astro_fields_set_defaults(self);
}
