/* The cpu backend: plans each block and runs the plan with the kernels of this machine. */
#include "core/lib/transpose/plan.h"

#include "core/backend/instance.h"
#include "core/transpose/check.h"

typedef struct {
  AstroTransposeConfig config;
  const AstroTransposeKernels *kernels;
  guint threads;
} Instance;

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Instance *instance = astro_instance_new(&astro_transpose_cpu, sizeof *instance, config, error);
  if (!instance)
    return NULL;
  instance->kernels = astro_transpose_kernels();
  instance->threads = place->threads;
  *variant = instance->kernels->variant.name;
  return instance;
}

static gboolean submit(gpointer data, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
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
