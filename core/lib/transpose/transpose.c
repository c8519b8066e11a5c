#include "core/lib/transpose/transpose.h"
#include "core/lib/transpose/check.h"
#include "core/lib/transpose/plan.h"

/* The place of the axis in the layout that is not yet taken: an axis may stand in a layout twice,
 * and then the first is the first. */
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
    return astro_backend_refuse(error, "transpose: %s is no permutation of %s of the same extents",
                                to_text, from_text);
  }
  gsize bytes;
  return astro_transpose_check(config, &bytes, error);
}

/* Takes the axis out; those behind it move up. */
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

const AstroTransposeKernels *astro_transpose_kernels(void)
{
  static const AstroTransposeKernels *const variants[] = ASTRO_KERNELS(astro_transpose_kernels);
  return ASTRO_KERNELS_PICK(variants);
}

typedef struct {
  AstroTransposeConfig config;
  const AstroTransposeKernels *kernels;
  guint threads;
} Instance;

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_transpose_shape(config, error))
    return NULL;
  Instance *instance = g_new(Instance, 1);
  instance->config = *(const AstroTransposeConfig *)config;
  instance->kernels = astro_transpose_kernels();
  instance->threads = place->threads;
  *variant = instance->kernels->variant.name;
  return instance;
}

static gboolean submit(gpointer data, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gpointer arguments, GError **error)
{
  Instance *instance = data;
  const AstroTransposeConfig *config = arguments ? arguments : &instance->config;
  AstroTransposePlan plan;

  if (!astro_transpose_check_blocks(config, in, n_in, out, n_out, error))
    return FALSE;
  astro_transpose_plan(&plan, NULL, config);
  astro_transpose_run(&plan, instance->kernels, instance->threads, out->data, in->data);
  return TRUE;
}

const AstroBackend astro_transpose_cpu = {
  .stage = "transpose",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroTransposeConfig),
  .shape = astro_transpose_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};

const AstroBackend *const astro_transpose_backends[] = {
  &astro_transpose_reference,
  &astro_transpose_cpu,
  NULL,
};
