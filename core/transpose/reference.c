/* The definition: each sample of the output is the input's sample at the same step of every axis.
 */
#include "core/transpose/check.h"

#include "core/backend/instance.h"
#include <string.h>

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c";
  return astro_instance_new(&astro_transpose_reference, sizeof(AstroTransposeConfig), config,
                            error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  const AstroTransposeConfig *config = arguments ? arguments : instance;
  if (!astro_transpose_check_blocks(config, in, n_in, out, n_out, error))
    return FALSE;

  guint n = config->n_axes;
  gsize stride[ASTRO_MAX_AXES], samples = 1;
  for (guint i = n; i-- > 0;) {
    stride[i] = samples;
    samples *= config->extents[i];
  }
  for (gsize to = 0; to < samples; to++) {
    gsize from = 0, rest = to;
    for (guint i = n; i-- > 0;) {
      guint axis = config->order[i];
      from += rest % config->extents[axis] * stride[axis];
      rest /= config->extents[axis];
    }
    memcpy((guint8 *)out->data + to * config->sample_bytes,
           (const guint8 *)in->data + from * config->sample_bytes, config->sample_bytes);
  }
  return TRUE;
}

const AstroBackend astro_transpose_reference = {
  .stage = "transpose",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroTransposeConfig),
  .shape = astro_transpose_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
