/* astrofitssink with max-file-duration: the files in their turn hold every frame once. */
#include "tests/elements/elements.h"
#include "tests/elements/running.h"

#include <gio/gio.h>
#include <glib/gstdio.h>

#define VISIBILITIES                                                                               \
  "astrovissrc stations=4 pols=2 bandwidth=1e6 channels=4 integration=10 num-buffers=%u "          \
  "start-time=2026-11-20T23:59:00"
#define VOLTAGES                                                                                   \
  "astroskysrc stations=2 pols=2 bandwidth=1e5 block-steps=10000 duration=1.05 "                   \
  "start-time=2026-11-20T12:00:00 ! application/x-astro-voltages,format=CI8"

/* The stream that one file would hold. */
static GByteArray *read_file(const char *name)
{
  g_autofree char *line = g_strdup_printf("astrofitssrc location=%s", name);
  return test_run_line(line);
}

static void check_parts(const char *line, const char *sink, const char *const *names)
{
  g_autofree char *whole = g_strdup_printf("%s ! astrofitssink location=parts-whole.fits", line);
  g_autofree char *parts = g_strdup_printf("%s ! astrofitssink %s", line, sink);
  g_autofree char *failed = test_launch(whole), *also = test_launch(parts);
  g_assert_cmpstr(failed, ==, NULL);
  g_assert_cmpstr(also, ==, NULL);
  g_autoptr(GByteArray) all = g_byte_array_new(), wanted = read_file("parts-whole.fits");
  for (; *names; names++) {
    g_autoptr(GByteArray) part = read_file(*names);
    g_test_message("%s: %u bytes", *names, part->len);
    g_assert_cmpuint(part->len, >, 0);
    g_byte_array_append(all, part->data, part->len);
    g_unlink(*names);
  }
  g_assert_cmpmem(all->data, all->len, wanted->data, wanted->len);
  g_unlink("parts-whole.fits");
}

/* 11 integrations of 10 s, four to a file. */
static void test_visibilities(void)
{
  g_autofree char *line = g_strdup_printf(VISIBILITIES, 11);
  static const char *const timed[] = { "parts-20261120T235900.000000.fits",
                                       "parts-20261120T235940.000000.fits",
                                       "parts-20261121T000020.000000.fits", NULL };
  static const char *const named[] = { "p00000.uvfits", "p00001.uvfits", "p00002.uvfits", NULL };
  check_parts(line, "location=parts.fits max-file-duration=40000000000", timed);
  check_parts(line, "location=p%i.uvfits max-file-duration=49000000000", named);
}

/* Voltages keep their times within the observation. */
static void test_voltages(void)
{
  static const char *const all[] = { "v-120000.000000.fits", "v-120000.500000.fits",
                                     "v-120001.000000.fits", NULL };
  check_parts(VOLTAGES, "location=v-%H%M%S.%f.fits max-file-duration=500000000", all);
}

static void test_refusals(void)
{
  g_autofree char *line = g_strdup_printf(VISIBILITIES, 11);
  static const char *const bad[][2] = {
    { "location=r%k.fits max-file-duration=1000000000", "%k" },
    { "location=%Y.fits max-file-duration=20000000000", "already named 2026.fits" },
    { "location=/nowhere/r%i.fits max-file-duration=20000000000", "/nowhere/r00000.fits" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autofree char *whole = g_strdup_printf("%s ! astrofitssink %s", line, bad[i][0]);
    test_refused(whole, bad[i][1]);
  }
  g_autoptr(GByteArray) first = read_file("2026.fits"); /* it was complete */
  g_assert_cmpuint(first->len, >, 0);
  g_unlink("2026.fits");
  /* Without the option a percent sign is one. */
  g_autofree char *plain = g_strdup_printf("%s ! astrofitssink location=100%%k.fits", line);
  g_autofree char *failed = test_launch(plain);
  g_assert_cmpstr(failed, ==, NULL);
  g_assert_cmpint(g_unlink("100%k.fits"), ==, 0);
}

/* The file at work when the pipeline stops without EOS is completed. */
static void test_stopped(void)
{
  GstElement *pipeline = gst_parse_launch(
      "astrovissrc stations=4 pols=2 bandwidth=1e6 channels=4 integration=10 name=source "
      "start-time=2026-11-20T23:59:00 ! identity error-after=7 ! "
      "astrofitssink location=stopped-%i.fits max-file-duration=40000000000",
      NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autofree char *error = test_wait(pipeline);
  g_assert_nonnull(error);
  test_stop(pipeline);
  g_autoptr(GByteArray) first = read_file("stopped-00000.fits");
  g_autoptr(GByteArray) second = read_file("stopped-00001.fits");
  g_assert_cmpuint(first->len / 4, ==, second->len / 2);
  g_unlink("stopped-00000.fits");
  g_unlink("stopped-00001.fits");
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/astrofits-parts/visibilities", test_visibilities);
  g_test_add_func("/astrofits-parts/voltages", test_voltages);
  g_test_add_func("/astrofits-parts/refusals", test_refusals);
  g_test_add_func("/astrofits-parts/stopped", test_stopped);
  return g_test_run();
}
