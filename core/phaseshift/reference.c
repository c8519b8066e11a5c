/* The reference backend: the formula, value by value. */
#include "config.h"
#include "core/phaseshift/check.h"

#include "core/backend/count.h"
#include "core/backend/instance.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* in and out may be the same. */
static void rotate_value(AstroFormat format, gconstpointer in, gpointer out, double complex by)
{
  if (format == ASTRO_FORMAT_CF64LE) {
    double complex value;
    memcpy(&value, in, sizeof value);
    value *= by;
    memcpy(out, &value, sizeof value);
  } else {
    float complex value;
    memcpy(&value, in, sizeof value);
    value = (float complex)(value * by);
    memcpy(out, &value, sizeof value);
  }
}

static void rotate_channel(const AstroPhaseshiftConfig *config,
                           const AstroPhaseshiftArguments *arguments, guint64 step, guint channel,
                           const guint8 *in, guint8 *out)
{
  const AstroPhaseshiftSize size = astro_phaseshift_size(&config->in);
  const gsize bytes = astro_stream_sample_bytes(&config->out);
  const double wavenumber = astro_phaseshift_wavenumber(&config->in, channel);
  const double *nearer = arguments->nearer + step * size.stations;
  if (config->in.format == ASTRO_FORMAT_CI32LE) {
    astro_phaseshift_means(config, arguments, step, channel, in, out);
    in = out;
  }
  for (guint i = 0; i < size.stations; i++)
    for (guint j = 0; j <= i; j++) {
      const double complex by = cexp(I * wavenumber * (nearer[i] - nearer[j]));
      for (guint v = 0; v < size.values; v++, in += bytes, out += bytes) {
        ASTRO_COUNT(6);
        rotate_value(config->out.format, in, out, by);
      }
    }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const AstroPhaseshiftConfig *config = instance;
  const AstroPhaseshiftArguments *arguments = data;
  const AstroPhaseshiftSize size = astro_phaseshift_size(&config->in);
  const gsize from = size.baselines * size.values * astro_stream_sample_bytes(&config->in),
              to = size.baselines * size.values * astro_stream_sample_bytes(&config->out);
  if (!astro_phaseshift_check(config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  for (guint64 step = 0; step < arguments->steps; step++)
    for (guint channel = 0; channel < size.channels; channel++) {
      const guint64 at = step * size.channels + channel;
      rotate_channel(config, arguments, step, channel, (const guint8 *)in->data + at * from,
                     (guint8 *)out->data + at * to);
    }
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c";
  return astro_instance_new(&astro_phaseshift_reference, sizeof(AstroPhaseshiftConfig), config,
                            error);
}

const AstroBackend astro_phaseshift_reference = {
  .stage = "phaseshift",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroPhaseshiftConfig),
  .shape = astro_phaseshift_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
  .in_place = TRUE,
};
