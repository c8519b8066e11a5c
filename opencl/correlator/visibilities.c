/* The OpenCL correlator's visibilities. */
#include "config.h"
#include "opencl/correlator/instance.h"

#include "core/correlator/parts.h"

static const char text[] =
#include "opencl/correlator/visibilities.cl.h"
    ;

/* As in visibilities.cl. */
typedef struct {
  cl_ulong products, baselines, samples, stations;
  cl_uint pols, step, groups;
  cl_uint is_full, has_sums;
  cl_uint tables;
} Dump;

typedef struct {
  cl_ulong n, per_count, per_channel;
  cl_ulong samples[2];
  cl_uint has_counts[2];
} Join;

/* Sums of so many samples of bytes fit an int32 in any case. */
#define SAFE_SAMPLES 65535

static gboolean is_mean(const Correlator *self)
{
  return self->config.to == ASTRO_FORMAT_CF32LE;
}

gboolean astro_opencl_correlator_open_visibilities(Correlator *self, GError **error)
{
  AstroDevice *device = self->place.device;
  const AstroOpenclProgram program = { "correlator", text, self->is_float || is_mean(self) };
  const char *options = self->is_float  ? "-DKEPT=double -DOUT=float -DIS_MEAN"
                        : is_mean(self) ? "-DKEPT=long -DOUT=float -DIS_MEAN"
                                        : "-DKEPT=long -DOUT=int";
  return (self->check = astro_opencl_kernel(device, &program, options, "check", error)) &&
         (self->dump = astro_opencl_kernel(device, &program, options, "dump_sums", error)) &&
         (self->join = astro_opencl_kernel(device, &program, options, "join", error));
}

static gboolean launch(Correlator *self, cl_kernel kernel, const AstroOpenclArgument *arguments,
                       guint n_arguments, guint64 items, GError **error)
{
  return astro_opencl_launch_items(&self->place, kernel, arguments, n_arguments, items, 64, error);
}

/* Reads what a kernel has left in `failed`: the host waits. */
static gboolean read_failed(Correlator *self, gint *failed, GError **error)
{
  AstroDevice *device = self->place.device;
  return device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_DOWN, failed, self->failed,
                                   sizeof *failed, error) &&
         astro_opencl_drain(&self->place, error);
}

/* Whether sums over so many samples could be too large for CI32LE. */
static gboolean may_fail(const Correlator *self, guint64 samples)
{
  return !is_mean(self) && (self->config.from == ASTRO_FORMAT_CI16LE || samples > SAFE_SAMPLES);
}

static gboolean check(Correlator *self, const Dump *dump, GError **error)
{
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(self->sums), OPENCL_FACE(self->failed),
                                            OPENCL_VALUE(*dump) };
  gint failed = 0;
  if (!astro_opencl_fill(&self->place, self->failed, 0, sizeof failed, error) ||
      !launch(self, self->check, arguments, G_N_ELEMENTS(arguments), dump->products * dump->groups,
              error) ||
      !read_failed(self, &failed, error))
    return FALSE;
  const guint group = dump->groups - (guint)failed;
  return !failed || astro_correlator_refuse_sum(&self->config, &self->counts,
                                                group * self->config.channel_step, error);
}

gboolean astro_opencl_correlator_dump(Correlator *self, gpointer out, GError **error)
{
  const AstroCorrelatorConfig *config = &self->config;
  const AstroCorrelatorCounts *counts = &self->counts;
  const Dump dump = {
    .products = self->products,
    .baselines = counts->baselines,
    .samples = counts->samples,
    .stations = config->stations,
    .pols = config->pols,
    .step = config->channel_step,
    .groups = config->channels / config->channel_step,
    .is_full = config->triangle == ASTRO_TRIANGLE_FULL,
    .has_sums = (cl_uint)self->have_sums,
    .tables = counts->tables,
  };
  if ((may_fail(self, counts->samples * dump.step) && !check(self, &dump, error)) ||
      !astro_opencl_send(&self->place, "correlator", &self->upload[0], counts->lost,
                         counts->tables * counts->baselines * sizeof *counts->lost, error))
    return FALSE;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(self->sums),
                                            OPENCL_FACE(self->upload[0].face), OPENCL_FACE(out),
                                            OPENCL_VALUE(dump) };
  return launch(self, self->dump, arguments, G_N_ELEMENTS(arguments), dump.products * dump.groups,
                error);
}

static gboolean join_sums(Correlator *self, gpointer values, gpointer others, const Join *join,
                          GError **error)
{
  const guint channels = self->config.channels / self->config.channel_step;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(values), OPENCL_FACE(others),
                                            OPENCL_FACE(self->failed), OPENCL_VALUE(*join) };
  gint failed = 0;
  if (!astro_opencl_fill(&self->place, self->failed, 0, sizeof failed, error) ||
      !launch(self, self->join, arguments, G_N_ELEMENTS(arguments), join->n, error))
    return FALSE;
  if (!may_fail(self, join->samples[0] + join->samples[1]))
    return TRUE;
  if (!read_failed(self, &failed, error))
    return FALSE;
  return !failed || astro_correlator_refuse_join(channels - (guint)failed, error);
}

static gboolean join_means(Correlator *self, gpointer values, gpointer others, const Join *join,
                           GError **error)
{
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(values), OPENCL_FACE(others),
                                            OPENCL_FACE(self->upload[0].face),
                                            OPENCL_FACE(self->upload[1].face),
                                            OPENCL_VALUE(*join) };
  return launch(self, self->join, arguments, G_N_ELEMENTS(arguments), join->n, error);
}

gboolean astro_opencl_correlator_join(Correlator *self, const AstroBlock *in, guint n_in,
                                      const AstroBlock *out, guint n_out,
                                      const AstroCorrelatorPart parts[2], GError **error)
{
  const AstroCorrelatorConfig *config = &self->config;
  const guint64 n = astro_correlator_output_bytes(config) / (2 * sizeof(float));
  const guint64 per_count = (guint64)config->pols * config->pols;
  Join join = { .n = n,
                .per_count = per_count,
                .per_channel = n / (config->channels / config->channel_step) };
  if (!astro_correlator_check_join(config, in, n_in, out, n_out, error))
    return FALSE;
  for (guint i = 0; i < 2; i++) {
    join.samples[i] = parts[i].samples;
    join.has_counts[i] = parts[i].counts && is_mean(self);
    if (join.has_counts[i] &&
        !astro_opencl_send(&self->place, "correlator", &self->upload[i], parts[i].counts,
                           n / per_count * sizeof *parts[i].counts, error))
      return FALSE;
  }
  return is_mean(self) ? join_means(self, out->data, in->data, &join, error)
                       : join_sums(self, out->data, in->data, &join, error);
}
