/* The reference backend: the beam of every pixel by its formula. */
#include "config.h"
#include "core/backend/count.h"
#include "core/backend/instance.h"
#include "core/primarybeam/check.h"

#include <math.h>

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "formula";
  return astro_instance_new(&astro_primary_beam_reference, sizeof(AstroPrimaryBeamConfig), config,
                            error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer given, AstroResult *result, GError **error)
{
  const AstroPrimaryBeamConfig *config = instance;
  const AstroPrimaryBeamArguments *arguments = given;
  const gboolean is_double = config->format == ASTRO_FORMAT_F64LE;
  gsize at = 0;
  if (!astro_primary_beam_check_call(config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  for (guint channel = 0; channel < config->channels; channel++)
    for (guint product = 0; product < config->products; product++)
      for (guint y = 0; y < config->height; y++)
        for (guint x = 0; x < config->width; x++, at++) {
          const double beam =
              astro_primary_beam_at(config, arguments, channel, astro_primary_beam_l(config, x),
                                    astro_primary_beam_m(config, y));
          ASTRO_COUNT(1);
          const double divisor = config->kept >> product & 1 ? 1 : beam >= config->cut ? beam : NAN;
          if (is_double)
            ((double *)out->data)[at] = ((double *)in->data)[at] / divisor;
          else
            ((float *)out->data)[at] = (float)((double)((float *)in->data)[at] / divisor);
        }
  return TRUE;
}

const AstroBackend astro_primary_beam_reference = {
  .stage = "primary-beam",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroPrimaryBeamConfig),
  .shape = astro_primary_beam_check,
  .create = create,
  .submit = submit,
  .destroy = g_free,
  .in_place = TRUE,
};
