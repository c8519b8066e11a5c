/* Graphs write visibilities as the output's name says, and several such files, of one kind or of
 * all, make one image. */
#include "tests/graphs/program.h"

static const struct {
  const char *suffix, *format;
} kinds[] = {
  { "uvfits", "UVFITS" },
#ifdef HAVE_HDF5
  { "uvh5", "uvh5" },
#endif
#ifdef HAVE_CASACORE
  { "ms", "Measurement Set" },
#endif
};

static void write_night(const char *suffix, const char *format, guint hour)
{
  g_auto(Result) made = run("run --quiet synthesis stations=6 size=64 channels=2 duration=180 "
                            "integration=60 start=2026-11-20T%u:00:00 output=%u.%s",
                            hour, hour, suffix);
  g_autofree char *told = g_strdup_printf("%u.%s: format %s, stations 6, baselines 21, channels 2, "
                                          "products 4, integrations 3, start 2026-11-20T%u:00:00Z",
                                          hour, suffix, format, hour);
  g_assert_cmpint(made.status, ==, 0);
  g_assert_nonnull(strstr(made.out, told));
}

static void test_image(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    const char *suffix = kinds[i].suffix;
    write_night(suffix, kinds[i].format, 10);
    write_night(suffix, kinds[i].format, 12);
    g_auto(Result) image =
        run("run --quiet image input=12.%s,10.%s size=64 weighting=uniform", suffix, suffix);
    if (skips(&image))
      return;
    g_assert_cmpint(image.status, ==, 0);
    g_assert_nonnull(strstr(image.out, "holds visibilities"));
    g_assert_nonnull(strstr(image.out, "files 2"));
    g_assert_nonnull(strstr(image.out, "start 2026-11-20T10:00:00Z, seconds 7380"));
    g_auto(Result) twice = run("run --quiet image input=12.%s,12.%s size=64", suffix, suffix);
    assert_refused(&twice, 1, "files of one stream follow each other in time");
  }
}

/* A night in each kind of file. */
static void test_kinds(void)
{
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    write_night(kinds[i].suffix, kinds[i].format, 10 + 2 * i);
    g_string_append_printf(names, "%s%u.%s", i ? " " : "", 10 + 2 * i, kinds[i].suffix);
  }
  g_autofree char *files = g_strdup_printf("files %u", (guint)G_N_ELEMENTS(kinds));
  g_auto(Result) image =
      run("run --quiet image input='%s' size=64 weighting=briggs output=kinds.fits", names->str);
  if (skips(&image))
    return;
  g_assert_cmpint(image.status, ==, 0);
  g_assert_true(G_N_ELEMENTS(kinds) == 1 || strstr(image.out, files));
  g_assert_nonnull(strstr(image.out, "kinds.fits: format FITS image, images 1"));
}

#ifdef HAVE_CASACORE
/* A column is written into a set that exists, which is a folder; a new set is not made over it. */
static void test_column(void)
{
  write_night("ms", "Measurement Set", 10);
  write_file("column.graph",
             "astromssrc location=10.ms ! astromssink location=10.ms column=MODEL_DATA\n", -1);
  write_file("over.graph", "astromssrc location=10.ms ! astromssink location=10.ms\n", -1);
  g_auto(Result) column = run("run --quiet ./column.graph");
  g_assert_cmpstr(column.status ? column.err : "", ==, "");
  g_auto(Result) over = run("run --quiet ./over.graph");
  assert_refused(&over, 1, "10.ms, which is a folder");
}
#endif

static void add_tests(void)
{
  g_test_add_func("/visibilities/kinds", test_kinds);
  g_test_add_func("/visibilities/image", test_image);
#ifdef HAVE_CASACORE
  g_test_add_func("/visibilities/column", test_column);
#endif
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
