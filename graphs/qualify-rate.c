/* Times a stage beside what the machine allows, in the same run. */
#include "graphs/qualify-exact.h"
#include "graphs/qualify-call.h"
#include "graphs/qualify-meter.h"

#include <math.h>
#include <stdlib.h>

#include "core/kit/pages.h"

#define CALLS 9
#define LEAST 0.01    /* of the bound: far below what kernels reach */
#define OVERHEAD 0.01 /* of a call: copies of little, launches, threads that wake */

/* Seconds that the machine takes at best. */
static double bound_of(const AstroQualifyStage *stage, const AstroQualifyCase *c,
                       const AstroMachineUnit *unit)
{
  AstroWork work = { 0 };
  double arithmetic = 0;
  stage->tell(c->config, &c->steps, &work);
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++) {
    double rate = unit->operations[i];
    if (rate <= 0)
      rate = unit->operations[ASTRO_ARITHMETIC_FLOAT];
    if (rate > 0)
      arithmetic += work.operations[i] / rate;
  }
  const double bytes = (double)c->samples_in * astro_format_info(c->from)->bytes +
                       (double)c->samples_out * astro_format_info(c->to)->bytes;
  return fmax(arithmetic, bytes / unit->bandwidth);
}

/* FALSE: a call failed. */
static gboolean time_calls(AstroQualifyCall *call, double bound, AstroQualifyResult *result)
{
  double seconds[CALLS];
  g_autoptr(GError) error = NULL;
  g_autofree char *joules = NULL;
  AstroQualifyMeter *meter = astro_qualify_meter_start();
  for (guint i = 0; i <= CALLS; i++) { /* the first warms up */
    const gint64 start = g_get_monotonic_time();
    if (!astro_qualify_call_run(call, &error)) {
      result->state = ASTRO_QUALIFY_SHORT;
      result->remark = g_strdup(error->message);
      break;
    }
    seconds[i ? i - 1 : 0] = (double)(g_get_monotonic_time() - start) * 1e-6;
  }
  joules = astro_qualify_meter_stop(meter, CALLS + 1);
  if (result->remark)
    return FALSE;
  qsort(seconds, CALLS, sizeof *seconds, astro_qualify_compare_doubles);
  result->remark = g_strdup_printf("%s: %.3g ms (%.3g to %.3g), where the machine allows %.3g ms%s",
                                   call->c->shape, 1e3 * seconds[CALLS / 2], 1e3 * seconds[0],
                                   1e3 * seconds[CALLS - 1], 1e3 * bound, joules);
  astro_qualify_judge_rate(result, seconds[CALLS / 2], bound, LEAST, OVERHEAD);
  return TRUE;
}

static void time_rounds(AstroQualifyCall *call, double bound, AstroQualifyResult *result)
{
  for (guint i = 0; i < ASTRO_QUALIFY_ROUNDS; i++) {
    g_clear_pointer(&result->remark, g_free);
    if (!time_calls(call, bound, result) || result->state != ASTRO_QUALIFY_SHORT)
      return;
  }
}

AstroQualifyResult *astro_qualify_rate_of(const AstroQualifyStage *stage,
                                          const AstroBackend *backend, AstroDevice *device,
                                          const AstroMachine *machine, guint32 seed)
{
  g_autofree char *subject =
      g_strdup_printf("%s %s", stage->stage, astro_backend_kind_name(backend->kind));
  AstroQualifyResult *result = astro_qualify_result_new("rate", subject);
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  g_autoptr(GError) error = NULL;
  AstroQualifyCase c;
  AstroQualifyCall call = { 0 };
  astro_qualify_case_init(&c, stage, ASTRO_CASE_TIMED, rand);
  gpointer samples = astro_pages_alloc(c.samples_in * astro_format_info(c.from)->bytes);
  result->limit = LEAST;
  if (samples)
    astro_qualify_fill(&c, ASTRO_CASE_TIMED, samples, rand);
  if (samples && backend->shape(c.config, &error) &&
      astro_qualify_call_open(&call, backend, &c, samples, device, &error)) {
    time_rounds(&call, bound_of(stage, &c, device ? &machine->gpu : &machine->host), result);
  } else {
    result->state = ASTRO_QUALIFY_NOT_RUN;
    result->remark = g_strdup(error ? error->message : "there is no memory for its samples");
  }
  astro_qualify_call_close(&call);
  free(samples);
  astro_qualify_case_clear(&c);
  return result;
}

void astro_qualify_rate(const AstroQualifyStage *stage, const AstroMachine *machine, guint32 seed,
                        GPtrArray *results)
{
  const AstroBackend *cuda = astro_module_backend(stage->stage);
  g_autoptr(AstroDevice) device =
      cuda && machine->gpu.bandwidth > 0 ? astro_device_open(0, NULL) : NULL;
  for (guint i = 0; stage->backends[i]; i++)
    if (stage->backends[i]->kind == ASTRO_BACKEND_CPU)
      g_ptr_array_add(results,
                      astro_qualify_rate_of(stage, stage->backends[i], NULL, machine, seed));
  if (device)
    g_ptr_array_add(results, astro_qualify_rate_of(stage, cuda, device, machine, seed));
}
