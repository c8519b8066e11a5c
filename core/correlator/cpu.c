/* The CPU backend: spectra whose rows are not contiguous are gathered first; then they are added to
 * the sums of an integration panel by panel. */
#include "core/backend/threads.h"
#include "core/kit/pages.h"
#include "core/correlator/gather.h"
#include "core/correlator/packed-products.h"
#include "core/correlator/parts.h"
#include <stdlib.h>

enum {
  GATHERED_STEPS = 1024, /* number wanted, if GATHERED_BYTES allows it */
  LEAST_GATHERED = 64,   /* smallest number of steps */
  LEAST_IN_PLACE = 256,  /* fewer steps are gathered */
};
#define GATHERED_BYTES ((gsize)64 << 20) /* for all channels */

typedef struct {
  AstroCorrelatorConfig config;
  AstroCorrelatorPanels *panels;
  const AstroCorrelatorPlan *plan;
  AstroCorrelatorSums sums;
  AstroCorrelatorCounts counts;
  guint threads;
  guint8 *gathered; /* channel:time:station:pol; allocated when first needed */
  guint64 gathered_steps, capacity;
} Cpu;

static gsize row_bytes(const Cpu *self)
{
  return self->plan->inputs * self->plan->sample_bytes;
}

/* Adds spectra to the sums; or, if they are all of an integration to be dumped, makes its
 * visibilities directly and returns TRUE. */
static gboolean correlate(Cpu *self, const AstroCorrelatorSpectra *spectra, float *dump)
{
  const gboolean whole = dump && self->counts.samples == spectra->count &&
                         astro_correlator_plain(&self->config, &self->counts) &&
                         astro_correlator_panels_make_means(self->panels, spectra->count);
  astro_correlator_panels_add(self->panels, spectra, self->sums, whole ? dump : NULL);
  return whole;
}

static gboolean correlate_gathered(Cpu *self, float *dump)
{
  gsize row = row_bytes(self);
  const AstroCorrelatorSpectra spectra = { self->gathered, self->capacity * row, row,
                                           self->gathered_steps };
  self->gathered_steps = 0;
  return correlate(self, &spectra, dump);
}

static gboolean need_gathered(Cpu *self, GError **error)
{
  if (!self->gathered)
    self->gathered = astro_pages_alloc(self->capacity * self->config.channels * row_bytes(self));
  if (!self->gathered)
    astro_backend_no_memory(error,
                            "no memory to gather %" G_GUINT64_FORMAT " spectra of %u channels",
                            self->capacity, self->config.channels);
  return self->gathered != NULL;
}

static void add_gathered(Cpu *self, const guint8 *in, const AstroCorrelatorStrides *strides,
                         const AstroCorrelatorArguments *arguments, gboolean loss)
{
  gsize row = row_bytes(self);
  for (guint64 done = 0; done < arguments->count;) {
    AstroCorrelatorGather gather = {
      .to = self->gathered + self->gathered_steps * row,
      .to_channel = self->capacity * row,
      .to_time = row,
      .from = in + (arguments->first + done) * strides->time,
      .strides = *strides,
      .channels = self->config.channels,
      .stations = self->config.stations,
      .pols = self->config.pols,
      .count = MIN(arguments->count - done, self->capacity - self->gathered_steps),
      .sample_bytes = self->plan->sample_bytes,
    };
    astro_correlator_gather(&gather, self->threads);
    if (loss)
      astro_correlator_blank(&gather, arguments, done, self->threads);
    done += gather.count;
    self->gathered_steps += gather.count;
    if (self->gathered_steps == self->capacity)
      correlate_gathered(self, NULL);
  }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Cpu *self = instance;
  const AstroCorrelatorArguments *arguments = argument;
  const AstroCorrelatorTold told = { result, arguments->n_counts };
  AstroCorrelatorStrides strides;
  gboolean loss, dumped = FALSE;

  if (arguments->parts)
    return astro_correlator_join(&self->config, in, n_in, out, n_out, arguments->parts,
                                 self->threads, error);
  if (!astro_correlator_check_blocks(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->begin) {
    astro_correlator_clear(&self->config, self->sums, &self->counts);
    self->gathered_steps = 0;
  }
  astro_correlator_strides(&strides, &self->config, arguments->steps);
  float *dump = arguments->dump ? out[0].data : NULL;
  const gboolean enough = arguments->count >= MIN(self->capacity, LEAST_IN_PLACE) ||
                          (dump && arguments->count > 0 && self->counts.samples == 0);
  const gboolean in_place =
      enough && astro_correlator_has_rows(&strides, self->config.pols, self->config.stations,
                                          self->plan->sample_bytes);
  if (((!in_place || arguments->valid) && !need_gathered(self, error)) ||
      !astro_correlator_counts_add(&self->counts, arguments, &loss, error))
    return FALSE;
  if (in_place && !loss) {
    const AstroCorrelatorSpectra spectra = {
      .first = (const guint8 *)in[0].data + arguments->first * strides.time,
      .channel = strides.channel,
      .time = strides.time,
      .count = arguments->count,
    };
    dumped = correlate(self, &spectra, dump);
  } else if (arguments->count > 0) {
    add_gathered(self, in[0].data, &strides, arguments, loss);
  }
  if (!dump)
    return TRUE;
  if (dumped || correlate_gathered(self, dump)) {
    astro_correlator_end(&self->config, &self->counts, &told);
    return TRUE;
  }
  return astro_correlator_dump(&self->config, self->sums, &self->counts, out[0].data,
                               self->plan->kernel->means, self->threads, &told, error);
}

static void destroy(gpointer instance)
{
  Cpu *self = instance;
  g_clear_pointer(&self->panels, astro_correlator_panels_free);
  astro_correlator_sums_free(&self->sums, &self->config);
  free(self->gathered);
  astro_correlator_counts_free(&self->counts);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_correlator_shape(config, error))
    return NULL;
  Cpu *self = g_new0(Cpu, 1);
  self->config = *(const AstroCorrelatorConfig *)config;
  self->threads = place ? place->threads : 0;
  astro_correlator_counts_init(&self->counts, &self->config);
  self->panels = astro_correlator_panels_new(&self->config, self->threads, error);
  if (!self->panels || !astro_correlator_sums_new(&self->sums, &self->config, error)) {
    destroy(self);
    return NULL;
  }
  self->plan = astro_correlator_panels_plan(self->panels);
  gsize step_bytes = self->config.channels * row_bytes(self);
  self->capacity = CLAMP(GATHERED_BYTES / step_bytes, LEAST_GATHERED, GATHERED_STEPS);
  if (variant)
    *variant = self->plan->kernel->variant.name;
  return self;
}

const AstroBackend astro_correlator_cpu = {
  .stage = "correlator",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroCorrelatorConfig),
  .shape = astro_correlator_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};

const AstroBackend *const astro_correlator_backends[] = { &astro_correlator_cpu,
                                                          &astro_correlator_reference, NULL };
