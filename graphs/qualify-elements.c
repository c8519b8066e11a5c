/* Compares elements with their references in pipelines. Those upstream of them may differ in the
 * last bit from one level of the CPU to another, so that the reference runs again at each. */
#include "graphs/qualify-elements.h"
#include "core/backend/cpu.h"
#include "core/backend/module.h"
#include "graphs/qualify-play.h"

#include <math.h>
#include <string.h>

#define TOLD_LIMIT 1e-6 /* of numbers in messages */
#define MODEL "model.fits"

const char *astro_qualify_element_stage(const AstroQualifyElement *row)
{
  return g_str_equal(row->element, "astrocatsrc") ? "uniform" : row->element + strlen("astro");
}

/* ---- lines ---- */

static char *expand_one(const char *inside, AstroCaseKind kind, GRand *rand)
{
  if (strchr(inside, '|')) {
    g_auto(GStrv) words = g_strsplit(inside, "|", -1);
    return g_strdup(words[g_rand_int_range(rand, 0, (gint)g_strv_length(words))]);
  }
  g_auto(GStrv) ends = g_strsplit(inside, "-", 2);
  return g_strdup_printf("%u", astro_qualify_size(kind, rand, (guint)strtoul(ends[0], NULL, 10),
                                                  (guint)strtoul(ends[1], NULL, 10)));
}

char *astro_qualify_element_expand(const AstroQualifyElement *row, AstroCaseKind kind, GRand *rand)
{
  GString *line = g_string_new(NULL);
  const char *rest = kind == ASTRO_CASE_TIMED ? row->timed : row->line;
  for (const char *open; (open = strchr(rest, '{'));) {
    const char *close = strchr(open, '}');
    g_autofree char *inside = g_strndup(open + 1, (gsize)(close - open) - 1);
    g_autofree char *word = expand_one(inside, kind, rand);
    g_string_append_len(line, rest, open - rest);
    g_string_append(line, word);
    rest = close + 1;
  }
  g_string_append(line, rest);
  return g_string_free(line, FALSE);
}

char *astro_qualify_element_line(const AstroQualifyElement *row, const char *expanded,
                                 const char *backend, const char *folder)
{
  g_autofree char *model = g_build_filename(folder, MODEL, NULL);
  g_autofree char *stage = g_strdup_printf("%s name=it backend=%s", row->element, backend);
  GString *line = g_string_new(expanded);
  g_string_replace(line, "STAGE", stage, 0);
  g_string_replace(line, "$MODEL", model, 0);
  g_string_append(line, " ! fakesink name=end sync=false async=false");
  return g_string_free(line, FALSE);
}

char *astro_qualify_element_model(const AstroQualifyElement *row, const char *folder)
{
  static const AstroQualifyPlay nothing = { 0 };
  g_autofree char *model = g_build_filename(folder, MODEL, NULL), *line = NULL;
  if (!row->model || g_file_test(model, G_FILE_TEST_EXISTS))
    return NULL;
  line = g_strdup_printf("%s ! astrofitssink location=%s", row->model, model);
  return astro_qualify_play(line, &nothing);
}

/* ---- one case ---- */

static char *run(const AstroQualifyElement *row, const char *expanded, const char *backend,
                 const char *folder, AstroQualifyOutput *output)
{
  g_autofree char *line = astro_qualify_element_line(row, expanded, backend, folder);
  return astro_qualify_collect(line, output);
}

static gboolean counts_differ(const AstroQualifyOutput *a, const AstroQualifyOutput *b)
{
  return a->counts->len != b->counts->len ||
         (a->counts->len > 0 &&
          memcmp(a->counts->data, b->counts->data, a->counts->len * sizeof(guint32)) != 0);
}

static gboolean told_differs(const AstroQualifyOutput *a, const AstroQualifyOutput *b)
{
  for (guint i = 0; a->told->len == b->told->len && i < a->told->len; i++) {
    const double x = g_array_index(a->told, double, i), y = g_array_index(b->told, double, i);
    if (fabs(x - y) > TOLD_LIMIT * fabs(x))
      return TRUE;
  }
  return a->told->len != b->told->len;
}

static void blame(AstroQualifyResult *result, const char *expanded, const char *what)
{
  result->state = ASTRO_QUALIFY_SHORT;
  if (!result->remark)
    result->remark = g_strdup_printf("%s: %s", expanded, what);
}

static double limit_of(const AstroQualifyElement *row, const char *expanded, const char *backend)
{
  static const char key[] = "accuracy=";
  const double limit = g_str_equal(backend, "cuda") ? row->device_limit : row->limit;
  const char *accuracy = row->of_accuracy > 0 ? strstr(expanded, key) : NULL;
  return accuracy ? fmax(limit, row->of_accuracy * g_ascii_strtod(accuracy + strlen(key), NULL))
                  : limit;
}

static double part_of(double limit, double deviation)
{
  return limit > 0 ? deviation / limit : deviation;
}

/* The result keeps that one of several limits which was met most nearly. */
static void compare_outputs(AstroQualifyResult *result, const char *expanded, double limit,
                            const AstroQualifyOutput *expected, const AstroQualifyOutput *found)
{
  if (expected->values->len != found->values->len) {
    blame(result, expanded, "gives more or fewer values than the reference");
    return;
  }
  const double deviation = astro_qualify_error(expected->format, expected->values->len, limit,
                                               expected->values->data, found->values->data);
  if (part_of(limit, deviation) >= part_of(result->limit, result->value)) {
    result->value = deviation;
    result->limit = limit;
  }
  if (deviation > limit)
    blame(result, expanded, "differs from the reference");
  else if (counts_differ(expected, found))
    blame(result, expanded, "its counts of good samples differ from the reference's");
  else if (told_differs(expected, found))
    blame(result, expanded, "its messages differ from the reference's");
}

/* The backend must refuse all that the reference refuses. FALSE: nothing was compared. */
static gboolean compare(const AstroQualifyElement *row, const char *expanded, const char *backend,
                        const char *folder, AstroQualifyResult *result)
{
  AstroQualifyOutput expected, found;
  g_autofree char *of_reference = run(row, expanded, "reference", folder, &expected);
  g_autofree char *of_backend = run(row, expanded, backend, folder, &found);
  const gboolean is_compared = !of_reference && !of_backend && expected.values->len > 0;
  if (is_compared)
    compare_outputs(result, expanded, limit_of(row, expanded, backend), &expected, &found);
  else if (!of_reference && of_backend)
    blame(result, expanded, of_backend);
  else if (of_reference && !of_backend)
    blame(result, expanded, "it takes what the reference refuses");
  astro_qualify_output_clear(&expected);
  astro_qualify_output_clear(&found);
  return is_compared;
}

static void run_cases(const AstroQualifyElement *row, const char *backend, guint cases,
                      guint32 seed, const char *folder, AstroQualifyResult *result)
{
  guint n = 0;
  result->limit = g_str_equal(backend, "cuda") ? row->device_limit : row->limit;
  for (guint kind = 0; kind < ASTRO_CASE_TIMED; kind++)
    for (guint i = 0; i < cases; i++) {
      g_autoptr(GRand) rand = g_rand_new_with_seed(seed + 1000 * kind + i);
      g_autofree char *expanded = astro_qualify_element_expand(row, (AstroCaseKind)kind, rand);
      n += compare(row, expanded, backend, folder, result);
    }
  if (result->remark)
    return;
  if (n == 0)
    result->state = ASTRO_QUALIFY_NOT_RUN;
  result->remark =
      n ? g_strdup_printf("%u pipelines", n) : g_strdup("it takes none of these pipelines");
}

/* ---- all kernels ---- */

static AstroQualifyResult *add_result(const AstroQualifyElement *row, const char *what,
                                      GPtrArray *results)
{
  g_autofree char *subject = g_strdup_printf("%s %s", astro_qualify_element_stage(row), what);
  AstroQualifyResult *result = astro_qualify_result_new("exact", subject);
  g_ptr_array_add(results, result);
  return result;
}

static void compare_levels(const AstroQualifyElement *row, guint cases, guint32 seed,
                           const char *folder, GPtrArray *results)
{
  g_autofree char *before = g_strdup(g_getenv("ASTRO_CPU"));
  const AstroCpuLevel best = astro_cpu_level();
  for (guint level = 0; level <= best; level++) {
    const char *name = astro_cpu_level_name((AstroCpuLevel)level);
    g_autofree char *what = g_strdup_printf("cpu, kernels up to %s", name);
    g_setenv("ASTRO_CPU", name, TRUE);
    run_cases(row, "cpu", cases, seed, folder, add_result(row, what, results));
  }
  if (before)
    g_setenv("ASTRO_CPU", before, TRUE);
  else
    g_unsetenv("ASTRO_CPU");
}

static void compare_device(const AstroQualifyElement *row, guint cases, guint32 seed,
                           const char *folder, GPtrArray *results)
{
  g_autoptr(GError) error = NULL;
  const AstroModule *module = astro_module_get(&error);
  if (module && !astro_module_backend(astro_qualify_element_stage(row)))
    return; /* this stage has none */
  AstroQualifyResult *result = add_result(row, "cuda", results);
  g_autoptr(AstroDevice) device = module ? astro_device_open(0, &error) : NULL;
  if (device) {
    run_cases(row, "cuda", cases, seed, folder, result);
    return;
  }
  result->state = ASTRO_QUALIFY_NOT_RUN;
  result->remark = g_strdup(error ? error->message : "there is no device");
}

void astro_qualify_element_exact(const AstroQualifyElement *row, guint cases, guint32 seed,
                                 const char *folder, GPtrArray *results)
{
  g_autofree char *trouble = astro_qualify_element_model(row, folder);
  if (trouble) {
    AstroQualifyResult *result = add_result(row, "cpu", results);
    result->state = ASTRO_QUALIFY_SHORT;
    result->remark = g_steal_pointer(&trouble);
    return;
  }
  compare_levels(row, cases, seed, folder, results);
  compare_device(row, cases, seed, folder, results);
}
