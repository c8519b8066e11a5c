/* The history of a stream, from its source to files and images: delays that nobody took out, a
 * bandpass for each station, and the scale in Jy. */
#include "core/kit/units.h"
#include "tests/elements/elements.h"
#include <glib/gstdio.h>

#include <math.h>

#define CORRELATE                                                                                  \
  "astrochannelizer channels=16 ! %s astrocorrelator integration=1000 name=correlator "
#define IMAGE "! astrogridder size=64 cell=%s ! astrofft ! astroimage ! astromeasure sky=%s ! "

/* The messages of a pipeline, and where its first source was found. */
typedef struct {
  char *error, *warnings, *unit;
  double flux;
} Told;

static void clear_told(Told *told)
{
  g_free(told->error);
  g_free(told->warnings);
  g_free(told->unit);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Told, clear_told)

static void read_sources(Told *told, const GstStructure *s)
{
  const GValue *sources = gst_structure_get_value(s, "sources");
  const GstStructure *first = gst_value_get_structure(gst_value_array_get_value(sources, 0));
  g_free(told->unit);
  told->unit = g_strdup(gst_structure_get_string(s, "unit"));
  gst_structure_get_double(first, "flux", &told->flux);
}

static gboolean read_message(Told *told, GstMessage *message)
{
  g_autoptr(GError) error = NULL;
  switch (GST_MESSAGE_TYPE(message)) {
  case GST_MESSAGE_ERROR:
    gst_message_parse_error(message, &error, NULL);
    told->error = g_strdup_printf("%s: %s", GST_MESSAGE_SRC_NAME(message), error->message);
    return FALSE;
  case GST_MESSAGE_WARNING: {
    gst_message_parse_warning(message, &error, NULL);
    char *all = g_strconcat(told->warnings ? told->warnings : "", error->message, "\n", NULL);
    g_free(told->warnings);
    told->warnings = all;
    return TRUE;
  }
  case GST_MESSAGE_ELEMENT:
    if (gst_message_has_name(message, "astro-sources"))
      read_sources(told, gst_message_get_structure(message));
    return TRUE;
  default:
    return GST_MESSAGE_TYPE(message) != GST_MESSAGE_EOS;
  }
}

static Told play(const char *line)
{
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  GstBus *bus = gst_element_get_bus(pipeline);
  Told told = { 0 };
  gboolean goes_on = TRUE;
  g_test_message("%s", line);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (goes_on) {
    GstMessage *message = gst_bus_timed_pop(bus, TEST_PATIENCE);
    g_assert_nonnull(message);
    goes_on = read_message(&told, message);
    gst_message_unref(message);
  }
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(bus);
  gst_object_unref(pipeline);
  return told;
}

/* ---- delays ---- */

#define SKY "0.004,0.003,2"
#define SOURCE                                                                                     \
  "astroskysrc stations=%u array=%s sky=" SKY " noise=0 duration=0.2 frequency=150e6 "             \
  "bandwidth=1e6 phase-centre=%s ! application/x-astro-voltages,format=CF32LE ! "

static Told correlate(guint stations, const char *array, const char *centre, const char *delay,
                      const char *to)
{
  g_autofree char *line =
      g_strdup_printf(SOURCE "%s " CORRELATE " %s", stations, array, centre, delay, "", to);
  return play(line);
}

#define TO_IMAGE "! astrogridder name=gridder size=64 cell=120 ! fakesink"

/* Without delays taken out no source would be found: that is refused, or gives one warning if it is
 * nearly right; no warning if it is fine. */
static void test_undelayed(void)
{
  static const struct {
    guint stations;
    const char *array, *centre, *delay, *error, *warning;
  } cases[] = {
    { 8, "disc", "zenith", "", NULL, "which is tolerable only at the array's zenith" },
    { 8, "lofar-like", "zenith", "", "expected astrodelay", NULL },
    { 8, "disc", "200,-30", "", "expected astrodelay", NULL },
    { 8, "disc", "200,-30", "astrodelay ! ", NULL, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Told) told = correlate(cases[i].stations, cases[i].array,
                                  strcmp(cases[i].centre, "zenith") ? cases[i].centre : "\"\"",
                                  cases[i].delay, TO_IMAGE);
    if (cases[i].error) {
      test_says(told.error, "gridder: ");
      test_says(told.error, cases[i].error);
    } else {
      g_assert_cmpstr(told.error, ==, NULL);
    }
    if (cases[i].warning)
      test_says(told.warnings, cases[i].warning);
    else
      g_assert_cmpstr(told.warnings, ==, NULL);
  }
}

/* Raw correlations may be written, and are read back as raw; delays do not matter for one
 * station. */
static void test_undelayed_file(void)
{
  g_autofree char *folder = g_dir_make_tmp("history-XXXXXX", NULL),
                  *path = g_build_filename(folder, "v.uvfits", NULL),
                  *to = g_strdup_printf("! astrofitssink location=%s", path);
  g_auto(Told) raw = correlate(4, "disc", "200,-30", "", to);
  g_assert_cmpstr(raw.error, ==, NULL);
  test_says(raw.warnings, "the delays of the phase centre have not been taken out");
  g_autofree char *read = g_strdup_printf("astrofitssrc location=%s " TO_IMAGE, path);
  g_auto(Told) again = play(read);
  test_says(again.error, "expected astrodelay");
  g_auto(Told) alone = correlate(1, "disc", "200,-30", "", to);
  g_assert_cmpstr(alone.warnings, ==, NULL);
  g_auto(Told) phased = correlate(4, "disc", "200,-30", "astrodelay ! ", to);
  g_assert_cmpstr(phased.warnings, ==, NULL);
  g_unlink(path);
  g_rmdir(folder);
}

/* ---- Jy ---- */

#define VOLTAGES                                                                                   \
  "astroskysrc name=source stations=16 sky=" SKY " noise=1 scale=13 seed=3 duration=0.3 "          \
  "frequency=150e6 bandwidth=1e6 phase-centre=200,30 ! application/x-astro-voltages,format=CI8,"   \
  "layout=time:station:pol "
#define RECORDED                                                                                   \
  "filesrc location=%s ! application/x-astro-voltages,format=CI8,layout=time:station:pol,"         \
  "stations=16,pols=2,rate=1000000/1,frequency=150e6,bandwidth=1e6 ! astroobserve array=disc "     \
  "phase-centre=200,30 start-time=2026-11-20T12:00:00 %s "
#define BANK "astrochannelizer channels=16"
#define TO_FLUX                                                                                    \
  "! astrodelay ! %s ! astrocorrelator integration=2000 ! tee "                                    \
  "name=t t. ! queue ! astrogridder size=64 cell=120 ! astrofft ! astroimage ! astromeasure "      \
  "sky=" SKY                                                                                       \
  " ! astrofitssink location=%s async=false t. ! queue ! astrofitssink location=%s async=false"

typedef struct {
  char *folder, *voltages, *image, *visibilities;
} Files;

static char *unit_of(const char *path)
{
  g_autofree char *text = NULL;
  gsize length;
  g_assert_true(g_file_get_contents(path, &text, &length, NULL));
  for (gsize at = 0; at + 80 <= length; at += 80)
    if (memcmp(text + at, "BUNIT   = '", 11) == 0)
      return g_strndup(text + at + 11, strcspn(text + at + 11, "' "));
  return NULL;
}

static void check_flux(const Files *files, const char *from, const char *bank, const char *unit,
                       double flux, const char *of_image, const char *of_visibilities)
{
  g_autofree char *rest = g_strdup_printf(TO_FLUX, bank, files->image, files->visibilities);
  g_autofree char *line = g_strconcat(from, rest, NULL), *read = NULL;
  g_auto(Told) told = play(line);
  g_assert_cmpstr(told.error, ==, NULL);
  g_assert_cmpstr(told.unit, ==, unit);
  g_assert_cmpfloat_with_epsilon(told.flux, flux, 0.1 * flux);
  g_autofree char *image = unit_of(files->image), *visibilities = unit_of(files->visibilities);
  g_assert_cmpstr(image, ==, of_image);
  g_assert_cmpstr(visibilities, ==, of_visibilities);
  /* The file gives the same history when it is read. */
  read = g_strdup_printf("astrofitssrc location=%s ! astrogridder size=64 cell=120 ! astrofft ! "
                         "astroimage ! astromeasure sky=" SKY " ! fakesink",
                         files->visibilities);
  g_auto(Told) again = play(read);
  g_assert_cmpstr(again.unit, ==, unit);
  g_assert_cmpfloat_with_epsilon(again.flux, told.flux, 1e-3 * told.flux);
}

/* Steps of 8 bits come out in the Jy that were put in. Recorded without their scale they come out
 * as steps, which are not called Jy, and as Jy if astroobserve gives the scale. */
static void test_jansky(void)
{
  const double raw = 2 * 13 * 13;
  Files files = { g_dir_make_tmp("history-XXXXXX", NULL), NULL, NULL, NULL };
  files.voltages = g_build_filename(files.folder, "v.ci8", NULL);
  files.image = g_build_filename(files.folder, "i.fits", NULL);
  files.visibilities = g_build_filename(files.folder, "v.uvfits", NULL);

  check_flux(&files, VOLTAGES, BANK, "Jy/beam", 2, "JY/BEAM", "JY");
  check_flux(&files, VOLTAGES, "application/x-astro-voltages,format=CF32LE ! astrofft length=16",
             "Jy/beam", 2, "JY/BEAM", "JY");
  check_flux(&files, VOLTAGES,
             "astrochannelizer channels=16 gain=3 ! astroconvert scale=0.5 ! "
             "application/x-astro-spectra,format=CF32LE",
             "Jy/beam", 2, "JY/BEAM", "JY");
  check_flux(&files, VOLTAGES,
             BANK " ! astroconvert scale=auto ! application/x-astro-spectra,format=CI8", "Jy/beam",
             2, "JY/BEAM", "JY");

  g_autofree char *record = g_strdup_printf(VOLTAGES "! filesink location=%s", files.voltages);
  g_auto(Told) recorded = play(record);
  g_assert_cmpstr(recorded.error, ==, NULL);
  g_autofree char *silent = g_strdup_printf(RECORDED, files.voltages, "");
  check_flux(&files, silent, BANK, "arb./beam", raw, "UNCALIB", "UNCALIB");
  g_autofree char *said = g_strdup_printf(RECORDED, files.voltages, "scale=13");
  check_flux(&files, said, BANK, "Jy/beam", 2, "JY/BEAM", "JY");

  g_unlink(files.voltages);
  g_unlink(files.image);
  g_unlink(files.visibilities);
  g_rmdir(files.folder);
  g_free(files.voltages);
  g_free(files.image);
  g_free(files.visibilities);
  g_free(files.folder);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_init_gstreamer(&argc, &argv);
  g_test_add_func("/history/undelayed", test_undelayed);
  g_test_add_func("/history/undelayed-file", test_undelayed_file);
  g_test_add_func("/history/jansky", test_jansky);
  int result = g_test_run();
  gst_deinit();
  return result;
}
