/* The reference backend: value by value. */
#include "config.h"
#include "core/join/check.h"

#include "core/backend/instance.h"

#include <string.h>

static gboolean holds(const AstroJoinAxes *axes, const AstroJoinPiece *piece,
                      const guint64 index[ASTRO_MAX_AXES], guint64 from[ASTRO_MAX_AXES])
{
  for (guint i = 0; i < axes->shape.n_axes; i++) {
    guint64 to, first, n;
    astro_join_piece_range(axes, piece, i, &to, &first, &n);
    if (index[i] < to || index[i] >= to + n)
      return FALSE;
    from[i] = index[i] - to + first;
  }
  return TRUE;
}

static void copy_value(const AstroJoinAxes *axes, const AstroJoinPiece *piece, const AstroBlock *in,
                       const guint64 from[ASTRO_MAX_AXES], guint8 *to, gsize bytes)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES], at = 0;
  astro_join_piece_shape(axes, piece, &shape);
  astro_layout_strides(&shape, strides);
  for (guint i = 0; i < shape.n_axes; i++)
    at += from[i] * strides[i];
  if (in->data)
    memcpy(to, (const guint8 *)in->data + at * bytes, bytes);
  else
    memset(to, 0, bytes);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const AstroJoinConfig *config = instance;
  const AstroJoinArguments *arguments = data;
  const gsize bytes = astro_stream_sample_bytes(&config->out);
  AstroJoinAxes axes;

  if (!astro_join_check(config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  astro_join_axes(config, arguments->steps, &axes);
  for (guint64 sample = 0, n = astro_layout_samples(&axes.shape); sample < n; sample++) {
    guint64 index[ASTRO_MAX_AXES], from[ASTRO_MAX_AXES], rest = sample;
    for (guint i = axes.shape.n_axes; i-- > 0; rest /= axes.shape.extents[i])
      index[i] = rest % axes.shape.extents[i];
    for (guint k = 0; k < n_in; k++)
      if (holds(&axes, &arguments->pieces[k], index, from)) {
        copy_value(&axes, &arguments->pieces[k], &in[k], from, (guint8 *)out->data + sample * bytes,
                   bytes);
        break;
      }
  }
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c";
  return astro_instance_new(&astro_join_reference, sizeof(AstroJoinConfig), config, error);
}

const AstroBackend astro_join_reference = {
  .stage = "join",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroJoinConfig),
  .shape = astro_join_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
