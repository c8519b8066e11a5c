/* Compares every kernel that this machine can run with the reference of its stage. */
#include "graphs/qualify-exact.h"
#include "core/backend/cpu.h"
#include "graphs/qualify-call.h"

#include <math.h>
#include <stdlib.h>

#include "core/kit/pages.h"

static const AstroBackend *find_kind(const AstroQualifyStage *stage, AstroBackendKind kind)
{
  for (guint i = 0; stage->backends[i]; i++)
    if (stage->backends[i]->kind == kind)
      return stage->backends[i];
  return NULL;
}

/* ---- one case ---- */

static gboolean run_call(AstroQualifyCall *call, const AstroBackend *backend,
                         const AstroQualifyCase *c, gconstpointer samples, AstroDevice *device,
                         gconstpointer *out, GError **error)
{
  return astro_qualify_call_open(call, backend, c, samples, device, error) &&
         astro_qualify_call_run(call, error) && (*out = astro_qualify_call_fetch(call, error));
}

/* A backend that says that nothing was lost need not write the counts. */
static guint32 count_of(const AstroQualifyCall *call, gsize i)
{
  return call->result.complete ? call->c->full : call->counts[i];
}

static gboolean counts_differ(const AstroQualifyCall *a, const AstroQualifyCall *b)
{
  for (gsize i = 0; i < a->c->n_counts; i++)
    if (count_of(a, i) != count_of(b, i))
      return TRUE;
  return FALSE;
}

typedef struct {
  const AstroQualifyStage *stage;
  const AstroBackend *backend;
  AstroDevice *device;
  AstroQualifyResult *result;
  guint cases, refused;
} Comparison;

static void blame(Comparison *comparison, const AstroQualifyCase *c, const char *what)
{
  AstroQualifyResult *result = comparison->result;
  result->state = ASTRO_QUALIFY_SHORT;
  if (!result->remark)
    result->remark = g_strdup_printf("%s: %s", c->shape, what);
}

static void compare_outputs(Comparison *comparison, const AstroQualifyCall *expected,
                            gconstpointer good, const AstroQualifyCall *found, gconstpointer out)
{
  const AstroQualifyCase *c = expected->c;
  const double deviation = astro_qualify_error(
      c->to, c->samples_out * astro_format_info(c->to)->bytes, c->limit, good, out);
  comparison->result->value = fmax(comparison->result->value, deviation);
  comparison->result->limit = fmax(comparison->result->limit, c->limit);
  if (deviation > c->limit)
    blame(comparison, c, "differs from the reference");
  else if (counts_differ(expected, found))
    blame(comparison, c, "its counts of good samples differ from the reference's");
  else if (expected->result.clipped != found->result.clipped && c->limit <= 0)
    blame(comparison, c, "its count of clipped samples differs from the reference's");
}

/* A shape that the reference does not take is none; a device may not take some that the host does.
 * Where one refuses the samples, as sums that do not fit, both must. */
static void compare(Comparison *comparison, const AstroQualifyCase *c, gconstpointer samples)
{
  const AstroBackend *reference = find_kind(comparison->stage, ASTRO_BACKEND_REFERENCE);
  AstroQualifyCall expected = { 0 }, found = { 0 };
  gconstpointer good = NULL, out = NULL;
  g_autoptr(GError) of_reference = NULL, of_backend = NULL;
  if (!reference->shape(c->config, NULL))
    return;
  if (!comparison->backend->shape(c->config, NULL)) {
    comparison->refused++;
    return;
  }
  const gboolean is_good = run_call(&expected, reference, c, samples, NULL, &good, &of_reference);
  const gboolean ran =
      run_call(&found, comparison->backend, c, samples, comparison->device, &out, &of_backend);
  comparison->cases++;
  if (is_good && ran)
    compare_outputs(comparison, &expected, good, &found, out);
  else if (is_good)
    blame(comparison, c, of_backend->message);
  else if (ran)
    blame(comparison, c, "it takes samples that the reference refuses");
  astro_qualify_call_close(&expected);
  astro_qualify_call_close(&found);
}

static void run_case(Comparison *comparison, AstroCaseKind kind, guint32 seed)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  AstroQualifyCase c;
  astro_qualify_case_init(&c, comparison->stage, kind, rand);
  gpointer samples = astro_pages_alloc(MAX(c.samples_in, 1) * astro_format_info(c.from)->bytes);
  if (samples) {
    astro_qualify_fill(&c, kind, samples, rand);
    compare(comparison, &c, samples);
  }
  free(samples);
  astro_qualify_case_clear(&c);
}

static void run_cases(Comparison *comparison, guint cases, guint32 seed)
{
  AstroQualifyResult *result = comparison->result;
  for (guint kind = 0; kind < ASTRO_CASE_TIMED; kind++)
    for (guint i = 0; i < cases; i++)
      run_case(comparison, (AstroCaseKind)kind, seed + 1000 * kind + i);
  if (result->remark)
    return;
  if (comparison->cases == 0) {
    result->state = ASTRO_QUALIFY_NOT_RUN;
    result->remark = g_strdup("it takes none of these shapes");
    return;
  }
  result->remark = comparison->refused ? g_strdup_printf("%u shapes, and %u that it does not take",
                                                         comparison->cases, comparison->refused)
                                       : g_strdup_printf("%u shapes", comparison->cases);
}

AstroQualifyResult *astro_qualify_backend(const AstroQualifyStage *stage,
                                          const AstroBackend *backend, const char *id, guint cases,
                                          guint32 seed)
{
  Comparison comparison = { .stage = stage, .backend = backend };
  comparison.result = astro_qualify_result_new("exact", id);
  run_cases(&comparison, cases, seed);
  return comparison.result;
}

/* ---- all kernels ---- */

/* The kernels that the cpu backend takes up to a level. */
static void compare_level(const AstroQualifyStage *stage, AstroCpuLevel level, guint cases,
                          guint32 seed, GPtrArray *results)
{
  Comparison comparison = { .stage = stage, .backend = find_kind(stage, ASTRO_BACKEND_CPU) };
  comparison.result = astro_qualify_result_new("exact", "");
  g_setenv("ASTRO_CPU", astro_cpu_level_name(level), TRUE);
  run_cases(&comparison, cases, seed);
  g_free(comparison.result->subject);
  comparison.result->subject =
      g_strdup_printf("%s cpu, kernels up to %s", stage->stage, astro_cpu_level_name(level));
  g_ptr_array_add(results, comparison.result);
}

static void compare_device(const AstroQualifyStage *stage, guint cases, guint32 seed,
                           GPtrArray *results)
{
  g_autoptr(GError) error = NULL;
  const AstroModule *module = astro_module_get(&error);
  const AstroBackend *backend = module ? astro_module_backend(stage->stage) : NULL;
  g_autofree char *subject = g_strdup_printf("%s cuda", stage->stage);
  g_autoptr(AstroDevice) device = backend ? astro_device_open(0, &error) : NULL;
  Comparison comparison = { .stage = stage, .backend = backend, .device = device };
  if (module && !backend)
    return; /* this stage has none */
  comparison.result = astro_qualify_result_new("exact", subject);
  g_ptr_array_add(results, comparison.result);
  if (device) {
    run_cases(&comparison, cases, seed);
    return;
  }
  comparison.result->state = ASTRO_QUALIFY_NOT_RUN;
  comparison.result->remark = g_strdup(error ? error->message : "there is no device");
}

void astro_qualify_exact(const AstroQualifyStage *stage, guint cases, guint32 seed,
                         GPtrArray *results)
{
  g_autofree char *before = g_strdup(g_getenv("ASTRO_CPU"));
  const AstroCpuLevel best = astro_cpu_level();
  for (guint level = 0; level <= best; level++)
    compare_level(stage, (AstroCpuLevel)level, cases, seed, results);
  if (before)
    g_setenv("ASTRO_CPU", before, TRUE);
  else
    g_unsetenv("ASTRO_CPU");
  compare_device(stage, cases, seed, results);
}
