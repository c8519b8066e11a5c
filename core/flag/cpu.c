/* The cpu backend. */
#include "config.h"
#include "core/flag/cpu.h"

#include "core/backend/instance.h"

#include <string.h>

static void forget(AstroFlagCpu *self)
{
  if (self->sums) {
    memset(self->sums, 0, self->n_parts * sizeof *self->sums);
    memset(self->squares, 0, self->n_parts * sizeof *self->squares);
    memset(self->good, 0, self->n_parts * sizeof *self->good);
  }
  if (self->amplitudes) /* all bits set is a NaN */
    memset(self->amplitudes, 0xff, self->n_parts * self->config.block * sizeof *self->amplitudes);
}

static void destroy(gpointer instance)
{
  AstroFlagCpu *self = instance;
  g_clear_pointer(&self->limits, astro_flag_limit_table_free);
  g_clear_pointer(&self->planes, astro_scratch_free);
  g_free(self->sums);
  g_free(self->squares);
  g_free(self->good);
  g_free(self->amplitudes);
  g_free(self);
}

static gboolean make_room(AstroFlagCpu *self, GError **error)
{
  const AstroFlagConfig *config = &self->config;
  const gsize n = self->n_parts;
  if (config->method == ASTRO_FLAG_KURTOSIS)
    self->limits = astro_flag_limit_table_new(config->false_alarm);
  if (!astro_flag_has_blocks(config))
    return TRUE;
  if (config->method == ASTRO_FLAG_THRESHOLD) {
    astro_flag_thresholds(&self->thresholds, config->threshold, config->longest);
    self->planes = astro_scratch_new(astro_flag_plane_bytes(config->block, self->shape.channels));
    self->amplitudes = g_try_new(float, n * config->block);
    return self->amplitudes ||
           astro_backend_no_memory(error,
                                   "no memory for the amplitudes of a block of %u steps of "
                                   "%" G_GSIZE_FORMAT " values",
                                   config->block, n);
  }
  self->sums = g_try_new(double, n);
  self->squares = g_try_new(double, n);
  self->good = g_try_new(guint32, n);
  return (self->sums && self->squares && self->good) ||
         astro_backend_no_memory(error, "no memory for the sums of %" G_GSIZE_FORMAT " values", n);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  static const AstroFlagKernels *const kernels[] = ASTRO_KERNELS(astro_flag_kernels);
  AstroFlagCpu *self = astro_instance_new(&astro_flag_cpu, sizeof *self, config, error);
  if (!self)
    return NULL;
  self->threads = place->threads;
  self->kernels = ASTRO_KERNELS_PICK(kernels);
  astro_flag_places(&self->shape, &self->config, 1);
  self->n_parts = self->shape.units * self->shape.parts * self->shape.channels;
  if (self->config.method != ASTRO_FLAG_LIST &&
      astro_format_info(self->config.in.format)->is_complex)
    astro_samples_init(&self->samples, self->config.in.format, ASTRO_FORMAT_CF32LE);
  if (!make_room(self, error)) {
    destroy(self);
    return NULL;
  }
  forget(self);
  *variant = self->kernels->variant.name;
  return self;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  AstroFlagCpu *self = instance;
  const AstroFlagConfig *config = &self->config;
  const AstroFlagArguments *arguments = data;
  AstroFlagWork work = { .self = self, .arguments = arguments, .in = n_in ? in->data : NULL };
  if (!astro_flag_check_blocks(config, in, n_in, n_out, arguments, result, error))
    return FALSE;
  if (arguments->begin)
    forget(self);
  astro_flag_places(&work.places, config, arguments->block_steps);
  astro_flag_counts(&work.counts, config, arguments->block_steps, arguments->meta, &work.places);
  if (n_in && self->sums)
    astro_flag_add_spectra(&work);
  else if (n_in && self->amplitudes)
    astro_flag_take_amplitudes(&work);
  if (!arguments->end)
    return TRUE;
  work.flags = ((AstroFlagVerdict *)result->own)->flags;
  if (self->sums)
    astro_flag_judge_spectra(&work);
  else if (self->amplitudes)
    astro_flag_judge_planes(&work, astro_flag_rows(config, arguments));
  else if (n_in)
    astro_flag_judge_power(&work);
  forget(self);
  return TRUE;
}

const AstroBackend astro_flag_cpu = {
  .stage = "flag",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroFlagConfig),
  .shape = astro_flag_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_flag_backends[] = { &astro_flag_cpu, &astro_flag_reference, NULL };
