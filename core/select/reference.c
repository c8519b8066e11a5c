/* The reference backend: value by value. */
#include "config.h"
#include "core/select/check.h"

#include <string.h>

typedef struct {
  AstroSelectConfig config;
  guint64 *indices[ASTRO_MAX_AXES];
} Select;

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  const AstroSelectConfig *config = &((const Select *)instance)->config;
  const gsize bytes = astro_stream_sample_bytes(&config->in);
  guint64 straight[ASTRO_MAX_AXES], swapped[ASTRO_MAX_AXES];
  AstroSelectAxes axes;

  if (!astro_select_check(config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  astro_select_axes(config, ((const AstroSelectArguments *)arguments)->steps, &axes);
  astro_layout_strides(&axes.in, straight);
  astro_select_swap(&axes, straight, swapped);
  for (guint64 sample = 0, n = astro_layout_samples(&axes.out); sample < n; sample++) {
    guint64 index[ASTRO_MAX_AXES], at = 0, rest = sample;
    for (guint i = axes.out.n_axes; i-- > 0; rest /= axes.out.extents[i])
      index[i] = rest % axes.out.extents[i];
    const gboolean is_reversed =
        axes.has_reversed &&
        astro_select_is_reversed(&axes.pick[axes.baseline], index[axes.baseline]);
    const guint64 *strides = is_reversed ? swapped : straight;
    for (guint i = 0; i < axes.in.n_axes; i++)
      at += astro_select_from(&axes.pick[i], index[i]) * strides[i];
    const guint8 *from = (const guint8 *)in->data + at * bytes;
    guint8 *to = (guint8 *)out->data + sample * bytes;
    if (is_reversed)
      astro_select_conjugate(config->in.format, to, from);
    else
      memcpy(to, from, bytes);
  }
  return TRUE;
}

static gpointer create(gconstpointer data, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_select_shape(data, error))
    return NULL;
  Select *self = g_new0(Select, 1);
  self->config = *(const AstroSelectConfig *)data;
  for (guint i = 0; i < ASTRO_MAX_AXES; i++) {
    AstroSelectPick *pick = &self->config.pick[i];
    self->indices[i] = g_memdup2(pick->index, pick->n * sizeof *pick->index);
    pick->index = self->indices[i];
  }
  *variant = "c";
  return self;
}

static void destroy(gpointer instance)
{
  Select *self = instance;
  for (guint i = 0; i < ASTRO_MAX_AXES; i++)
    g_free(self->indices[i]);
  g_free(self);
}

const AstroBackend astro_select_reference = {
  .stage = "select",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroSelectConfig),
  .shape = astro_select_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
