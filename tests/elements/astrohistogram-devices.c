/* astrohistogram on several devices: their counts together are those of one. */
#include "core/backend/module.h"
#include "core/histogram/histogram.h"
#include "tests/elements/astrohistogram.h"
#include "tests/elements/fake-devices.h"

#include <glib/gstdio.h>
#include <math.h>

#define BAND " footprint=band:0,30,0,20 "
#define BINS " min-angle=1 max-angle=1000 bins-per-decade=5 "

#define DATA "points=500 seed=1" BAND
#define RANDOM "astrocatsrc points=300 catalogues=3 seed=2" BAND

static char *line_of(const char *settings, const char *data)
{
  return g_strdup_printf("astrohistogram name=h %s" BINS "! appsink name=out "
                         "astrocatsrc %s ! h.data " RANDOM "! h.random",
                         settings, data);
}

static GPtrArray *count_line(const char *line)
{
  g_autofree char *message = NULL;
  GPtrArray *samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpuint(samples->len, ==, 1);
  return samples;
}

static GPtrArray *count(const char *settings, const char *data)
{
  g_autofree char *line = line_of(settings, data);
  return count_line(line);
}

static void assert_same(GPtrArray *one, GPtrArray *all, gboolean exact)
{
  for (guint i = 0; i < one->len; i++) {
    gsize bytes, bytes_all;
    g_autofree guint8 *a = test_sample_data(one, i, &bytes),
                      *b = test_sample_data(all, i, &bytes_all);
    g_assert_cmpuint(bytes, ==, bytes_all);
    if (exact)
      g_assert_cmpmem(a, bytes, b, bytes);
    for (gsize k = 0; k < bytes / sizeof(double) && !exact; k++) {
      const double x = ((const double *)a)[k], y = ((const double *)b)[k];
      g_assert_cmpfloat(fabs(x - y), <=, 1e-12 * fabs(x));
    }
  }
}

static void test_same(void)
{
  static const char *const settings[] = { "", " regions=7", " method=brute", " split=2" };
  g_autofree char *several = g_strconcat("devices=", test_several_devices(), NULL);
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    g_autofree char *one = g_strconcat("backend=cuda", settings[i], NULL),
                    *all = g_strconcat(several, settings[i], NULL),
                    *host = g_strconcat("backend=cpu", settings[i], NULL);
    g_autoptr(GPtrArray) alone = count(one, DATA);
    g_autoptr(GPtrArray) shared = count(all, DATA);
    g_autoptr(GPtrArray) cpu = count(host, DATA);
    assert_same(alone, shared, TRUE);
    assert_same(cpu, shared, TRUE);
  }
}

/* Sums of weights are added in another order. */
static void test_weights(void)
{
  g_autofree char *all = g_strconcat("devices=", test_several_devices(), NULL);
  g_autofree char *folder = g_dir_make_tmp("devices-XXXXXX", NULL),
                  *path = g_build_filename(folder, "data.csv", NULL),
                  *data = g_strdup_printf("location=%s weight-column=weight", path);
  g_autoptr(GString) text = g_string_new("ra,dec,weight\n");
  for (guint i = 0; i < 400; i++)
    g_string_append_printf(text, "%.3f,%.3f,%.2f\n", i % 30 + 0.037 * i / 13, i % 20 + 0.001 * i,
                           0.3 + (i % 7) * 0.11);
  g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
  g_autoptr(GPtrArray) alone = count("backend=cuda", data);
  g_autoptr(GPtrArray) shared = count(all, data);
  assert_same(alone, shared, FALSE);
  g_unlink(path);
  g_rmdir(folder);
}

/* A line with each kind of place in it: one device and several give what the host gives. */
static void check_line(const char *line, gboolean exact)
{
  g_autofree char *one = g_strdup_printf(line, "backend=cuda"),
                  *several = g_strconcat("devices=", test_several_devices(), NULL),
                  *all = g_strdup_printf(line, several),
                  *host = g_strdup_printf(line, "backend=cpu");
  g_autoptr(GPtrArray) cpu = count_line(host);
  g_autoptr(GPtrArray) alone = count_line(one);
  g_autoptr(GPtrArray) shared = count_line(all);
  assert_same(cpu, alone, exact);
  assert_same(cpu, shared, exact);
}

#define SPACE "min-distance=400 max-distance=900 "

static void test_space(void)
{
  check_line("astrohistogram name=h kind=smu regions=5 %s ! appsink name=out "
             "astrocatsrc " DATA SPACE "! h.data " RANDOM SPACE "! h.random",
             TRUE);
  check_line("astrohistogram name=h kind=rppi max-separation=90 %s ! appsink name=out "
             "astrocatsrc " DATA SPACE "! h.data " RANDOM SPACE "! h.random",
             TRUE);
}

/* Positive scalars and weights, whose sums lose no digits, and bits of realisations. */
static void test_carried(void)
{
  g_autofree char *folder = g_dir_make_tmp("devices-XXXXXX", NULL),
                  *path = g_build_filename(folder, "data.csv", NULL), *fields = NULL, *bits = NULL;
  g_autoptr(GString) text = g_string_new("ra,dec,k,bits\n");
  for (guint i = 0; i < 400; i++)
    g_string_append_printf(text, "%.3f,%.3f,%.2f,%u\n", i % 30 + 0.037 * i / 13, i % 20 + 0.001 * i,
                           0.3 + (i % 7) * 0.11, i * 2654435761u);
  g_assert_true(g_file_set_contents(path, text->str, -1, NULL));
  fields = g_strdup_printf("astrohistogram name=h fields=kk %%s" BINS "! appsink name=out "
                           "astrocatsrc location=%s k-column=k ! h.data",
                           path);
  bits = g_strdup_printf("astrohistogram name=h %%s" BINS "! appsink name=out "
                         "astrocatsrc location=%s bitweight-columns=bits ! h.data " RANDOM
                         "! h.random",
                         path);
  check_line(fields, FALSE);
  check_line(bits, FALSE);
  g_unlink(path);
  g_rmdir(folder);
}

/* A device that fails ends the stream with an error that names it. */
static void test_failure(void)
{
  if (!test_devices_are_fake()) {
    g_test_skip("only a fake device fails when it is told to");
    return;
  }
  g_autoptr(AstroDevice) device = astro_device_open(1, NULL);
  g_autofree char *message = NULL, *line = line_of("devices=all", DATA);
  ((FakeDevice *)device)->lost = TRUE;
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_test_message("%s", message);
  g_assert_nonnull(strstr(message, "fake 1"));
  g_assert_cmpuint(samples->len, ==, 0);
}

static void test_refusals(void)
{
  static const struct {
    const char *settings, *says;
  } cases[] = {
    { "devices=0,99", "devices is \"0,99\": this machine has" },
    { "devices=x", "this cannot be read" },
    { "devices=0,0 backend=cpu", "devices=0,0 with backend=cpu" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *line = g_strconcat("astrocatsrc points=9 ! h.data astrohistogram name=h ",
                                        cases[i].settings, " ! fakesink", NULL);
    test_refused(line, cases[i].says);
  }
}

static void add_tests(void)
{
  if (!test_has_devices())
    return;
  g_test_add_func("/astrohistogram-devices/same", test_same);
  g_test_add_func("/astrohistogram-devices/weights", test_weights);
  g_test_add_func("/astrohistogram-devices/space", test_space);
  g_test_add_func("/astrohistogram-devices/carried", test_carried);
  g_test_add_func("/astrohistogram-devices/refused", test_refusals);
  g_test_add_func("/astrohistogram-devices/failure", test_failure); /* the last: it stays broken */
}

/* Without a GPU three fake devices take its place; a single GPU is shared by three. */
int main(int argc, char **argv)
{
  test_fake_devices("3");
  return test_run(argc, argv, add_tests);
}
