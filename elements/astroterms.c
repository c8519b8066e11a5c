/**
 * SECTION:element-astroterms
 *
 * Makes one image of the channels of an image cube, by fitting a polynomial in frequency to every
 * pixel: multi-frequency synthesis. Channels count by their sums of weights. With terms=1 it is
 * their weighted mean. With terms=2 it is the value at the middle of the band, and for each plain
 * product (I, not I-MODEL or I-RESIDUAL) the slope, I-SLOPE, and the spectral index, I-INDEX; with
 * terms=3 the curvature too, I-CURVATURE. A pixel at frequency f is I + I-SLOPE x + I-CURVATURE
 * x^2 with x = f / middle - 1, so slopes are in the unit of the image. The spectral index is
 * I-SLOPE / I, and NaN where I is not above cut times the noise. Of a point-spread function the
 * mean is given.
 *
 * Channels without visibilities (of weight 0, or NaN alone) are left out. If fewer channels than
 * terms are left, that is an error. Elsewhere a pixel that is NaN in any channel is NaN. The noise
 * of a cleaned image is that of the mean of channels whose noise is independent.
 *
 * astroclean restores all channels with one beam. In a dirty cube the beam changes from channel to
 * channel, and the spectra are not those of the sky.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder size=1024 cell=2 \
 *   per-channel=true ! astrofft ! astroimage ! astroclean join=true spectral-terms=2 ! \
 *   astroterms terms=2 ! astrofitssink location=spectra.fits
 * ]|
 */
#include "config.h"
#include "elements/astroterms.h"

#include <math.h>

#include "core/kit/polynomial.h"
#include "core/memory/memory.h"
#include "core/stream/grid.h"
#include "core/terms/terms.h"
#include "elements/astroterms-caps.h"
#include "elements/base/astrofields.h"

typedef struct {
  guint terms;
  double cut;
} Settings;

struct _AstroTerms {
  AstroStage parent;
  Settings set; /* properties */

  AstroGrid grid; /* of the input's caps */
  AstroTermsConfig config;
  gboolean warned_of_weights;
};

G_DEFINE_TYPE(AstroTerms, astro_terms, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astroterms, "astroterms", GST_RANK_NONE, ASTRO_TYPE_TERMS)

/* ---- negotiation ---- */

static Settings settings_of(AstroTerms *self)
{
  Settings now;
  astro_fields_copy_numbers(self, &now, &self->set, sizeof now);
  return now;
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  const Settings set = settings_of(ASTRO_TERMS(trans));
  GstCaps *result = gst_caps_copy(caps);
  for (guint i = 0; i < gst_caps_get_size(result); i++)
    if (direction == GST_PAD_SINK)
      astro_terms_describe_output(gst_caps_get_structure(result, i), set.terms);
    else
      astro_terms_describe_input(gst_caps_get_structure(result, i));
  return astro_stage_filter_caps(result, filter);
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroTerms *self = ASTRO_TERMS(trans);
  g_autoptr(GError) error = NULL;

  astro_grid_clear(&self->grid);
  if (!astro_grid_from_image_caps(&self->grid, in, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message),
                      ("caps: %" GST_PTR_FORMAT, in));
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_terms_parent_class)->set_caps(trans, in, out);
}

static gboolean configure(AstroStage *stage, gpointer given, gboolean *pass_through, GError **error)
{
  AstroTerms *self = ASTRO_TERMS(stage);
  const AstroStream *in = astro_stage_in(stage);
  const Settings set = settings_of(self);

  if (!astro_image_check_layout(in, error))
    return FALSE;
  self->config = (AstroTermsConfig){
    .format = in->format,
    .width = (guint)astro_stream_extent(in, ASTRO_AXIS_X),
    .height = (guint)astro_stream_extent(in, ASTRO_AXIS_Y),
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .terms = set.terms,
    .frequency = in->frequency,
    .bandwidth = in->bandwidth,
    .cut = set.cut,
  };
  self->warned_of_weights = FALSE;
  if (!astro_terms_read_products(&self->config, self->grid.products, error))
    return FALSE;
  *(AstroTermsConfig *)given = self->config;
  return astro_stage_check_extent(stage, ASTRO_AXIS_POL, astro_terms_products_out(&self->config),
                                  error);
}

/* ---- work ---- */

/* How much each channel counts; NULL: nothing says. */
static const double *weights_of(AstroTerms *self, const AstroImageMeta *meta)
{
  const guint n = self->config.channels * self->config.products;
  double sum = 0;
  for (guint i = 0; meta && meta->n_weights == n && i < n; i++)
    sum += meta->weights[i];
  if (sum > 0)
    return meta->weights;
  if (self->config.channels > 1 && !self->warned_of_weights)
    GST_ELEMENT_WARNING(self, STREAM, FAILED,
                        ("the image does not say how much weight its %u channels have, so all of "
                         "them count the same",
                         self->config.channels),
                        (NULL));
  self->warned_of_weights = TRUE;
  return NULL;
}

/* The noise of the mean of channels whose noise is independent, and a bound to the sidelobes that
 * are left in it. */
static AstroImageLevels levels_of(const AstroTermsConfig *config, const AstroImageMeta *from,
                                  guint product)
{
  double sum = 0, square = 0, left = 0;
  for (guint channel = 0; channel < config->channels; channel++) {
    const guint at = channel * config->products + product;
    const double weight = from->weights[at];
    sum += weight;
    square += pow(weight * from->levels[at].noise, 2);
    left += weight * from->levels[at].left;
  }
  return sum > 0 ? (AstroImageLevels){ sqrt(square) / sum, left / sum } : (AstroImageLevels){ 0 };
}

static double weight_of(const AstroTermsConfig *config, const AstroImageMeta *from, guint product)
{
  double sum = 0;
  for (guint channel = 0; channel < config->channels; channel++)
    sum += from->weights[channel * config->products + product];
  return sum;
}

static void describe(const AstroTerms *self, const AstroImageMeta *from, GstBuffer *out)
{
  const AstroTermsConfig *config = &self->config;
  const guint n = astro_terms_products_out(config);
  if (!from)
    return;
  AstroImageMeta *to = astro_buffer_add_image(out, n);
  to->has_beam = from->has_beam;
  to->major = from->major;
  to->minor = from->minor;
  to->angle = from->angle;
  to->sidelobe = from->sidelobe;
  to->border = from->border;
  to->cleaned = from->cleaned;
  for (guint i = 0; i < n && from->n_weights == config->channels * config->products; i++) {
    const AstroTermsProduct product = astro_terms_product(config, i);
    to->weights[i] = weight_of(config, from, product.product);
    if (product.kind == ASTRO_TERMS_VALUE)
      to->levels[i] = levels_of(config, from, product.product);
  }
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroTerms *self = ASTRO_TERMS(stage);
  const AstroImageMeta *meta = astro_buffer_get_image(in);
  const AstroTermsArguments arguments = { weights_of(self, meta) };

  for (guint64 i = 0; i < steps; i++) {
    g_autoptr(GstBuffer) part = astro_buffer_part(in, i, steps);
    GstBuffer *out =
        astro_stage_new_buffer(stage, astro_stream_step_bytes(astro_stage_out(stage)), error);
    if (!out || !astro_stage_submit(stage, part, out, &arguments, error)) {
      gst_clear_buffer(&out);
      return FALSE;
    }
    describe(self, meta, out);
    GST_BUFFER_PTS(out) = GST_BUFFER_PTS(part);
    GST_BUFFER_DURATION(out) = GST_BUFFER_DURATION(part);
    astro_stage_emit(stage, out, first + i, 1);
  }
  return TRUE;
}

static gboolean stop(GstBaseTransform *trans)
{
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_terms_parent_class)->stop(trans);
  astro_grid_clear(&ASTRO_TERMS(trans)->grid);
  return ok;
}

static const AstroField fields[] = {
  ASTRO_UINT(AstroTerms, set.terms, "terms", "Terms",
             "Terms of the polynomial in frequency: 1 for the mean alone, 2 for slopes and "
             "spectral indexes, 3 for curvatures too; at most as many as channels",
             1, ASTRO_POLYNOMIAL_MOST_TERMS, 2),
  ASTRO_DOUBLE(AstroTerms, set.cut, "cut", "Cut",
               "Spectral indexes are given where the image is above this many times its noise", 0,
               G_MAXDOUBLE, 5),
  { 0 },
};

static void astro_terms_class_init(AstroTermsClass *klass)
{
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);
  static const AstroQuantity images[] = { ASTRO_QUANTITY_IMAGE, ASTRO_QUANTITY_UNKNOWN };

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_same;
  trans->set_caps = set_caps;
  trans->stop = stop;
  stage->stage = "terms";
  stage->backends = astro_terms_backends;
  stage->tell_memory = astro_terms_memory;
  stage->tell_work = astro_terms_work;
  stage->configure = configure;
  stage->feed = feed;
  astro_stage_class_add_pads(stage, images, images);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Spectral terms", "Filter/Converter",
      "Makes one image of all channels, with slopes and spectral indexes", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "images F32LE F64LE: channel:pol:y:x or pol:y:x");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "images of the same format: pol:y:x");
}

static void astro_terms_init(AstroTerms *self)
{
  astro_fields_set_defaults(self);
}
