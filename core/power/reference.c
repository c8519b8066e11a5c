/* The reference backend: the formula, sample by sample. All other backends are tested against it.
 */
#include "config.h"
#include "core/backend/count.h"
#include "core/lib/formats/half.h"
#include "core/power/check.h"

#include <complex.h>
#include <string.h>

typedef struct {
  AstroPowerConfig config;
  double *sums;  /* [station][product][channel] of the output */
  guint64 *good; /* samples behind them, [station][channel] */
} Reference;

static double complex read_sample(AstroFormat format, gconstpointer from)
{
  const gint8 *bytes = from;
  const gint16 *shorts = from;
  const guint16 *halves = from;
  const float *floats = from;
  switch (format) {
  case ASTRO_FORMAT_CI4:
    return CMPLX(bytes[0] >> 4, (gint8)((guint8)bytes[0] << 4) >> 4);
  case ASTRO_FORMAT_CI8:
    return CMPLX(bytes[0], bytes[1]);
  case ASTRO_FORMAT_CI16LE:
    return CMPLX(shorts[0], shorts[1]);
  case ASTRO_FORMAT_CF16LE:
    return CMPLX(astro_half_value(halves[0]), astro_half_value(halves[1]));
  default:
    return CMPLX((double)floats[0], (double)floats[1]);
  }
}

static double power_of(double complex x)
{
  ASTRO_COUNT(3);
  return creal(x) * creal(x) + cimag(x) * cimag(x);
}

/* Parts of x conj(y), written out: the complex multiplication of C treats infinities apart. */
static double cross_re(double complex x, double complex y)
{
  ASTRO_COUNT(3);
  return creal(x) * creal(y) + cimag(x) * cimag(y);
}

static double cross_im(double complex x, double complex y)
{
  ASTRO_COUNT(3);
  return cimag(x) * creal(y) - creal(x) * cimag(y);
}

/* The number that a product has for one sample. */
static double product_of(const char *name, double complex x, double complex y, guint pols,
                         gboolean is_circular)
{
  const char first = name[0];
  if (astro_power_is_square(name)) {
    g_autofree char *root = g_strndup(name, strlen(name) - strlen(ASTRO_POWER_SQUARE));
    const double value = product_of(root, x, y, pols, is_circular);
    ASTRO_COUNT(1);
    return value * value;
  }
  if (g_str_has_suffix(name, "-RE"))
    return cross_re(x, y);
  if (g_str_has_suffix(name, "-IM"))
    return cross_im(x, y);
  if (g_str_equal(name, "XX") || g_str_equal(name, "RR"))
    return power_of(x);
  if (g_str_equal(name, "YY") || g_str_equal(name, "LL"))
    return power_of(y);
  if (first == 'I') {
    ASTRO_COUNT(pols == 1 ? 0 : 2);
    return pols == 1 ? power_of(x) : (power_of(x) + power_of(y)) / 2;
  }
  if (first == (is_circular ? 'V' : 'Q')) {
    ASTRO_COUNT(2);
    return (power_of(x) - power_of(y)) / 2;
  }
  return first == (is_circular ? 'Q' : 'U') ? cross_re(x, y) : cross_im(x, y);
}

static void add_sample(Reference *self, const guint8 *at, gsize pol_bytes, guint s, guint c,
                       gboolean is_circular)
{
  const AstroPowerConfig *config = &self->config;
  const guint channels = config->channels / config->channel_step;
  const guint to = config->sum_stations ? 0 : s, channel = c / config->channel_step;
  const double complex x = read_sample(config->from, at),
                       y = config->pols == 2 ? read_sample(config->from, at + pol_bytes) : 0;
  ASTRO_COUNT(config->products.n);
  for (guint p = 0; p < config->products.n; p++)
    self->sums[((gsize)to * config->products.n + p) * channels + channel] +=
        product_of(config->products.names[p], x, y, config->pols, is_circular);
  self->good[(gsize)to * channels + channel]++;
}

static void forget(Reference *self)
{
  memset(self->sums, 0, astro_power_output_bytes(&self->config) / sizeof(float) * sizeof(double));
  memset(self->good, 0, astro_power_counts(&self->config) * sizeof *self->good);
}

static void end_integration(Reference *self, float *out, guint32 *counts)
{
  const AstroPowerConfig *config = &self->config;
  const guint channels = config->channels / config->channel_step;
  for (gsize i = 0; i < astro_power_counts(config); i++)
    counts[i] = (guint32)self->good[i];
  for (gsize i = 0; i < astro_power_counts(config) * config->products.n; i++) {
    const guint64 good = self->good[i / channels / config->products.n * channels + i % channels];
    ASTRO_COUNT(1);
    out[i] = good ? (float)(self->sums[i] / (double)good) : 0;
  }
  forget(self);
}

static void destroy(gpointer instance)
{
  Reference *self = instance;
  g_free(self->sums);
  g_free(self->good);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_power_shape(config, error))
    return NULL;
  Reference *self = g_new0(Reference, 1);
  self->config = *(const AstroPowerConfig *)config;
  self->sums = g_new0(double, astro_power_output_bytes(&self->config) / sizeof(float));
  self->good = g_new0(guint64, astro_power_counts(&self->config));
  if (variant)
    *variant = "double";
  return self;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Reference *self = instance;
  const AstroPowerConfig *config = &self->config;
  const AstroPowerArguments *arguments = argument;
  const gsize bytes = astro_format_info(config->from)->bytes;
  AstroPowerStrides strides;
  AstroPowerPiece piece = { 0 };

  if (!astro_power_check_blocks(config, in, n_in, out, n_out, arguments, result, error))
    return FALSE;
  if (arguments->begin)
    forget(self);
  astro_power_strides(&strides, config, arguments->steps);
  while (astro_power_next_piece(&piece, arguments)) {
    for (guint64 t = piece.from; n_in && t < piece.to; t++)
      for (guint s = 0; s < config->stations; s++)
        for (guint c = 0; c < config->channels; c++)
          if (astro_power_is_valid(arguments, t, c, s))
            add_sample(self,
                       (const guint8 *)in[0].data +
                           (t * strides.time + c * strides.channel + s * strides.station) * bytes,
                       strides.pol * bytes, s, c, arguments->is_circular);
    if (piece.ends)
      end_integration(self,
                      (float *)out[0].data +
                          piece.number * astro_power_output_bytes(config) / sizeof(float),
                      result->counts + piece.number * astro_power_counts(config));
  }
  return TRUE;
}

const AstroBackend astro_power_reference = {
  .stage = "power",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroPowerConfig),
  .shape = astro_power_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
