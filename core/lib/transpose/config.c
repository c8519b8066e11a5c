/* Checks configurations, makes them from layouts, and simplifies them. */
#include "core/lib/transpose/config.h"

#include "core/backend/backend.h"

gboolean astro_transpose_check(const AstroTransposeConfig *config, gsize *bytes, GError **error)
{
  gsize sample = config->sample_bytes, total = sample;
  guint seen = 0;

  if (config->n_axes < 1 || config->n_axes > ASTRO_MAX_AXES)
    return astro_backend_refuse(error, "transpose: %u axes, expected 1 to %d", config->n_axes,
                                ASTRO_MAX_AXES);
  if (sample < 1 || sample > 16 || (sample & (sample - 1)))
    return astro_backend_refuse(
        error, "transpose: samples of %" G_GSIZE_FORMAT " bytes, expected 1, 2, 4, 8 or 16",
        sample);
  for (guint i = 0; i < config->n_axes; i++) {
    if (config->order[i] >= config->n_axes)
      return astro_backend_refuse(error, "transpose: place %u of the output names axis %u of %u", i,
                                  config->order[i], config->n_axes);
    if (seen & 1u << config->order[i])
      return astro_backend_refuse(error, "transpose: the output names axis %u twice",
                                  config->order[i]);
    seen |= 1u << config->order[i];
    if (!config->extents[i])
      return astro_backend_refuse(error, "transpose: axis %u has no steps", i);
    if (!g_size_checked_mul(&total, total, config->extents[i]) || total > G_MAXSSIZE)
      return astro_backend_refuse(error,
                                  "transpose: the block has more bytes than can be addressed");
  }
  *bytes = total;
  return TRUE;
}

/* The first place of the axis in the layout that is not yet taken: a layout may have an axis twice,
 * and these keep their order. */
static gint find_free(const AstroLayout *layout, AstroAxis axis, guint taken)
{
  for (guint i = 0; i < layout->n_axes; i++)
    if (layout->axes[i] == axis && !(taken & 1u << i))
      return i;
  return -1;
}

gboolean astro_transpose_config(AstroTransposeConfig *config, const AstroLayout *from,
                                const AstroLayout *to, gsize sample_bytes, GError **error)
{
  gboolean fits = from->n_axes == to->n_axes && from->n_axes <= ASTRO_MAX_AXES;
  guint taken = 0;

  *config = (AstroTransposeConfig){ .n_axes = from->n_axes, .sample_bytes = sample_bytes };
  for (guint i = 0; fits && i < to->n_axes; i++) {
    gint at = find_free(from, to->axes[i], taken);
    fits = at >= 0 && (!to->extents[i] || to->extents[i] == from->extents[at]);
    if (fits) {
      taken |= 1u << at;
      config->order[i] = at;
      config->extents[at] = from->extents[at];
    }
  }
  if (!fits) {
    g_autofree char *from_text = astro_layout_to_string(from),
                    *to_text = astro_layout_to_string(to);
    return astro_backend_refuse(error,
                                "transpose: %s is not a permutation of %s with the same extents",
                                to_text, from_text);
  }
  gsize bytes;
  return astro_transpose_check(config, &bytes, error);
}

/* Removes the axis; those behind it move up. */
static void drop_axis(AstroTransposeConfig *config, guint axis)
{
  guint kept = 0;
  for (guint i = 0; i < config->n_axes; i++)
    if (config->order[i] != axis)
      config->order[kept++] = config->order[i] - (config->order[i] > axis);
  config->n_axes--;
  for (guint i = axis; i < config->n_axes; i++)
    config->extents[i] = config->extents[i + 1];
}

void astro_transpose_simplify(AstroTransposeConfig *config)
{
  for (guint i = config->n_axes; i-- > 0;)
    if (config->extents[i] == 1)
      drop_axis(config, i);
  for (guint i = config->n_axes; i-- > 1;)
    if (config->order[i] == config->order[i - 1] + 1) {
      guint axis = config->order[i];
      config->extents[axis - 1] *= config->extents[axis];
      drop_axis(config, axis);
    }
  guint last = config->n_axes - 1;
  if (config->n_axes && config->order[last] == last) {
    guint64 steps = config->extents[last];
    if (!(steps & (steps - 1)) && steps <= 16 && config->sample_bytes * steps <= 16) {
      config->sample_bytes *= steps;
      drop_axis(config, last);
    }
  }
}
