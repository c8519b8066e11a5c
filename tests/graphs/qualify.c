/* gst-astro qualify: a quick report holds on this machine, and a defect that is planted in an
 * element is caught; planted.c has those of kernels. */
#include "core/sideband/sideband.h"
#include "elements/base/astrostage.h"
#include "graphs/qualify-elements.h"
#include "graphs/qualify-exact.h"
#include "tests/graphs/program.h"

/* A defect that is planted in an element: the plugin's own backend, but for one shape. */
static const AstroBackend *good_sideband;

static gboolean submit_sideband(gpointer instance, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out, gconstpointer arguments,
                                AstroResult *result, GError **error)
{
  const AstroSidebandConfig *config = instance;
  if (!good_sideband->submit(instance, in, n_in, out, n_out, arguments, result, error))
    return FALSE;
  if (astro_stream_extent(&config->stream, ASTRO_AXIS_STATION) == 7)
    ((guint8 *)out->data)[0] ^= 1;
  return TRUE;
}

static const AstroQualifyElement *element_row(const char *element)
{
  for (const AstroQualifyElement *row = astro_qualify_elements; row->element; row++)
    if (g_str_equal(row->element, element))
      return row;
  return NULL;
}

static AstroQualifyResult *look_at_sideband(void)
{
  g_autoptr(GPtrArray) results = g_ptr_array_new();
  astro_qualify_element_exact(element_row("astrosideband"), 12, 1, folder, results);
  for (guint i = 1; i < results->len; i++)
    astro_qualify_result_free(results->pdata[i]);
  return results->pdata[0];
}

static void test_planted_element(void)
{
  g_autoptr(GstElementFactory) factory = gst_element_factory_find("astrosideband");
  g_autoptr(GstPluginFeature) loaded = gst_plugin_feature_load(GST_PLUGIN_FEATURE(factory));
  AstroStageClass *klass =
      g_type_class_ref(gst_element_factory_get_element_type(GST_ELEMENT_FACTORY(loaded)));
  const AstroBackend *const *good = klass->backends;
  AstroBackend planted;
  const AstroBackend *backends[] = { NULL, &planted, NULL };
  for (guint i = 0; good[i]; i++)
    if (good[i]->kind == ASTRO_BACKEND_CPU)
      good_sideband = good[i];
    else
      backends[0] = good[i];
  planted = *good_sideband;
  planted.submit = submit_sideband;
  g_setenv("ASTRO_CPU", "c", TRUE);
  AstroQualifyResult *before = look_at_sideband();
  klass->backends = backends;
  AstroQualifyResult *off = look_at_sideband();
  klass->backends = good;
  g_unsetenv("ASTRO_CPU");
  g_type_class_unref(klass);
  g_assert_cmpint(before->state, ==, ASTRO_QUALIFY_PASS);
  g_assert_cmpstr(before->remark, ==, "36 pipelines");
  g_assert_cmpint(off->state, ==, ASTRO_QUALIFY_SHORT);
  g_assert_nonnull(strstr(off->remark, "stations=7 "));
  g_assert_nonnull(strstr(off->remark, "differs from the reference"));
  astro_qualify_result_free(before);
  astro_qualify_result_free(off);
}

/* ---- rows ---- */

static gboolean has_row(const char *element)
{
  for (const AstroQualifyStage *stage = astro_qualify_stages; stage->stage; stage++)
    if (g_str_equal(element + strlen("astro"), stage->stage))
      return TRUE;
  return element_row(element) != NULL;
}

/* Every element that has backends is compared with its reference. */
static void test_rows(void)
{
  GList *factories = gst_registry_get_feature_list(gst_registry_get(), GST_TYPE_ELEMENT_FACTORY);
  guint n = 0;
  for (GList *at = factories; at; at = at->next) {
    const char *name = GST_OBJECT_NAME(at->data);
    if (!g_str_has_prefix(name, "astro"))
      continue;
    g_autoptr(GstElement) element = gst_element_factory_make(name, NULL);
    gst_object_ref_sink(element);
    if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), "active-backend"))
      continue;
    g_test_message("%s", name);
    g_assert_true(has_row(name));
    n++;
  }
  gst_plugin_feature_list_free(factories);
  g_assert_cmpuint(n, >, 20);
}

/* ---- the command ---- */

/* NULL: the sources are not here. */
static char *read_requirements(void)
{
  const char *source = g_getenv("G_TEST_SRCDIR");
  g_autofree char *path = g_build_filename(source ? source : ".", "doc", "requirements.md", NULL);
  char *text = NULL;
  g_file_get_contents(path, &text, NULL, NULL);
  return text;
}

static guint count_of(const char *text, const char *what)
{
  guint n = 0;
  for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
    n++;
  return n;
}

/* A report names the tests of each requirement as the page of requirements has them, and no
 * others. */
static void assert_tests_named(const char *json, const char *page)
{
  g_autofree char *text = read_requirements();
  g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
  guint rows = 0;
  for (guint i = 0; lines[i]; i++) {
    g_auto(GStrv) cells = g_strsplit(lines[i], "|", -1);
    if (!g_str_has_prefix(lines[i], "| `") || g_strv_length(cells) < 5)
      continue;
    g_auto(GStrv) words = g_strsplit(cells[4], "`", -1);
    g_autoptr(GString) listed = g_string_new(NULL), plain = g_string_new("<p>tests: ");
    for (guint k = 1; words[k] && words[k + 1]; k += 2) {
      g_string_append_printf(listed, "%s\"%s\"", k > 1 ? ", " : "", words[k]);
      g_string_append_printf(plain, "%s%s", k > 1 ? " " : "", words[k]);
    }
    g_auto(GStrv) name = g_strsplit(cells[1], "`", -1);
    g_autofree char *row =
        g_strdup_printf("{\"requirement\": \"%s\", \"tests\": [%s]}", name[1], listed->str);
    g_string_append(plain, "</p>");
    g_assert_nonnull(strstr(json, row));
    g_assert_nonnull(strstr(page, plain->str));
    rows++;
  }
  if (text)
    g_assert_cmpuint(rows, ==, count_of(json, "\"tests\": ["));
}

/* An old report in which the rates of power were higher than any machine's, and what it lacks. */
static void test_quick(void)
{
  write_file("old.json",
             "{\"results\": [\n"
             "{\"requirement\": \"rate\", \"subject\": \"power cpu\", \"state\": \"pass\", "
             "\"value\": 1000, \"limit\": 0.01, \"remark\": \"\"},\n"
             "{\"requirement\": \"exact\", \"subject\": \"magic\", \"state\": \"pass\", "
             "\"value\": 0, \"limit\": 0, \"remark\": \"\"}\n]}\n",
             -1);
  g_auto(Result) result = run("qualify --quick --quiet --output report --compare old.json");
  g_autofree char *json = in_folder("report.json"), *html = in_folder("report.html");
  g_autofree char *text = NULL, *page = NULL;
  g_assert_cmpstr(result.err, ==, "");
  g_assert_nonnull(strstr(result.out, " 0 short, "));
  g_assert_cmpint(result.status, ==, 1); /* worse than the old one */
  g_assert_nonnull(strstr(result.out, "worse: rate: power cpu: "));
  g_assert_nonnull(strstr(result.out, "worse: exact: magic: it held, and is no longer looked at"));
  g_assert_true(g_file_get_contents(json, &text, NULL, NULL));
  g_assert_true(g_file_get_contents(html, &page, NULL, NULL));
  g_assert_nonnull(strstr(text,
                          "{\"requirement\": \"losses\", \"subject\": \"dumps of visibilities\", "
                          "\"state\": \"pass\", \"value\": 100, \"limit\": 100"));
  g_assert_nonnull(strstr(text, "\"seed\": 20261126"));
  g_assert_nonnull(strstr(page, "<h2>exact: "));
  g_assert_null(strstr(page, "http"));
  g_assert_null(strstr(page, "src="));
  assert_tests_named(text, page);
}

static void test_refused(void)
{
  write_file("not.json", "{}\n", -1);
  g_auto(Result) missing = run("qualify --quick --quiet --compare nowhere.json");
  assert_refused(&missing, 1, "nowhere.json");
  g_auto(Result) other = run("qualify --quick --quiet --compare not.json");
  assert_refused(&other, 1, "not.json: it has no results, expected the JSON of gst-astro qualify");
  g_auto(Result) place = run("qualify --quick --quiet --output nowhere/report");
  assert_refused(&place, 1, "folder nowhere does not exist");
}

/* Each requirement that a report names is described, with its tests, which exist. */
static void test_requirements(void)
{
  static const char *const requirements[] = { "exact",  "rate",  "image",  "adjoint",
                                              "losses", "stops", "energy", "peers" };
  const char *source = g_getenv("G_TEST_SRCDIR");
  g_autofree char *text = read_requirements();
  if (!text) {
    g_test_skip("the sources are not here");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(requirements); i++) {
    g_autofree char *row = g_strdup_printf("| `%s` |", requirements[i]);
    g_assert_nonnull(strstr(text, row));
  }
  g_autoptr(GRegex) link = g_regex_new("`(tests/[^`]*)`", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  g_assert_true(g_regex_match(link, text, 0, &match));
  for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
    g_autofree char *name = g_match_info_fetch(match, 1);
    g_autofree char *file = g_build_filename(source ? source : ".", name, NULL);
    g_assert_true(g_file_test(file, G_FILE_TEST_EXISTS));
  }
}

static void add_tests(void)
{
  gst_init(NULL, NULL);
  g_test_add_func("/qualify/planted-element", test_planted_element);
  g_test_add_func("/qualify/rows", test_rows);
  g_test_add_func("/qualify/quick", test_quick);
  g_test_add_func("/qualify/refused", test_refused);
  g_test_add_func("/qualify/requirements", test_requirements);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
