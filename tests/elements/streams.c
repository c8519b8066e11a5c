/* The rows Takes and Gives that gst-inspect-1.0 shows for an element are true: each format that
 * they name goes through, and each other one is refused. */
#include "core/stream/stream.h"
#include "tests/elements/elements.h"

#include <string.h>

#define VOLTAGES "layout=time:station:pol,stations=2,pols=2,rate=1000/1,frequency=(double)1e8"
#define SPECTRA                                                                                    \
  "layout=channel:time:station:pol,channels=4,stations=2,pols=2,rate=1000/1,"                      \
  "frequency=(double)1e8,bandwidth=(double)1000"
#define POWER                                                                                      \
  "layout=time:channel:pol,channels=4,pols=1,products=I,rate=1000/1,"                              \
  "frequency=(double)1e8,bandwidth=(double)1000"
#define VISIBILITIES                                                                               \
  "layout=channel:baseline:pol:pol,channels=4,baselines=3,pols=2,rate=1000/1,"                     \
  "frequency=(double)1e8,bandwidth=(double)1000"
#define IMAGE                                                                                      \
  "layout=pol:y:x,pols=1,height=16,width=16,cell=(double)1000,pixel=(double)1e-3,"                 \
  "centre-l=(double)0,centre-m=(double)0,image-size=16,products=(string)I"
#define OBSERVED "astroobserve array=disc start-time=2026-11-20T12:00:00 phase-centre=zenith ! "

/* media: the type of the stream that comes in or, if `goes` is TRUE, of the one that goes out;
 * fields: of the one that comes in, whose format is then fixed. */
typedef struct {
  const char *element, *quantity, *media, *fields, *before, *settings;
  const char *out;  /* media type to ask for; NULL: the format is that of the input */
  const char *real; /* fields in the place of fields for real formats; NULL: the same */
} Case;

static const Case cases[] = {
  { "astrobeamform", "spectra", "spectra", SPECTRA, OBSERVED, "beams=0,0", NULL, NULL },
  { "astrobeamform", "spectra", "spectra", "format=CI8," SPECTRA, OBSERVED, "beams=0,0", "spectra",
    NULL },
  { "astrochannelizer", "voltages", "voltages", VOLTAGES ",bandwidth=(double)1000", "",
    "channels=4", NULL, VOLTAGES ",bandwidth=(double)500" },
  { "astrochannelizer", "spectra", "voltages", "format=CF32LE," VOLTAGES ",bandwidth=(double)1000",
    "", "channels=4", "spectra", NULL },
  { "astrocorrelator", "spectra", "spectra", SPECTRA, "", "integration=16", NULL, NULL },
  { "astrocorrelator", "visibilities", "spectra", "format=CI8," SPECTRA, "", "integration=16",
    "visibilities", NULL },
  { "astropower", "spectra", "spectra", SPECTRA, "", "integration=16", NULL, NULL },
  { "astropower", "power", "spectra", "format=CI8," SPECTRA, "", "integration=16", "power", NULL },
  { "astrofold", "power", "power", POWER, "", "period=1", NULL, NULL },
  { "astrofold", "profile", "power", "format=F32LE," POWER, "", "period=1", "profile", NULL },
  { "astrodelay", "voltages", "voltages", VOLTAGES ",bandwidth=(double)1000", OBSERVED, "", NULL,
    VOLTAGES ",bandwidth=(double)500" },
  { "astrodelay", "spectra", "spectra", SPECTRA, OBSERVED, "", NULL, NULL },
  { "astrofft", "stream", "voltages", VOLTAGES ",bandwidth=(double)500", "", "length=4", NULL,
    NULL },
  { "astrogridder", "visibilities", "visibilities", VISIBILITIES, OBSERVED, "size=16 cell=100",
    NULL, NULL },
  { "astrogridder", "uvgrids", "visibilities", "format=CF32LE," VISIBILITIES, OBSERVED,
    "size=16 cell=100", "uvgrid", NULL },
  { "astromeasure", "images", "image", IMAGE, "", "", NULL, NULL },
};

/* The formats that follow the quantity in a row, up to the colon. */
static gboolean is_named(const char *row, const char *quantity, AstroFormat format)
{
  const char *from = strstr(row, quantity);
  g_assert_nonnull(from);
  g_autofree char *clause = g_strndup(from, strcspn(from, ":"));
  char *next = strstr(clause, " or "); /* another quantity */
  if (next)
    *next = 0;
  g_auto(GStrv) words = g_strsplit_set(clause, " ,", -1);
  return g_strv_contains((const char *const *)words, astro_format_name(format));
}

static char *run_case(const Case *c, AstroFormat format)
{
  const gboolean is_real = !astro_format_info(format)->is_complex;
  g_autofree char *in = c->out ? g_strdup(c->fields)
                               : g_strdup_printf("format=%s,%s", astro_format_name(format),
                                                 is_real && c->real ? c->real : c->fields);
  g_autofree char *out = c->out ? g_strdup_printf("application/x-astro-%s,format=%s ! ", c->out,
                                                  astro_format_name(format))
                                : g_strdup("");
  g_autofree char *line =
      g_strdup_printf("fakesrc num-buffers=1 sizetype=fixed sizemax=98304 filltype=zero ! "
                      "application/x-astro-%s,%s ! %s%s %s ! %sfakesink",
                      c->media, in, c->before, c->element, c->settings, out);
  return test_launch(line);
}

static void test_case(gconstpointer data)
{
  const Case *c = data;
  GstElementFactory *factory = gst_element_factory_find(c->element);
  const char *row = gst_element_factory_get_metadata(factory, c->out ? "gives" : "takes");
  guint n = 0;
  g_assert_nonnull(row);
  for (AstroFormat format = ASTRO_FORMAT_UNKNOWN + 1; format < ASTRO_N_FORMATS; format++) {
    g_autofree char *error = run_case(c, format);
    const gboolean named = is_named(row, c->quantity, format);
    g_test_message("%s %s: %s", c->element, astro_format_name(format), error ? error : "good");
    n += named;
    if (named)
      g_assert_cmpstr(error, ==, NULL);
    else
      g_assert_nonnull(error);
  }
  g_assert_cmpuint(n, >, 0);
  gst_object_unref(factory);
}

/* Every element whose pads take any format of a media type has the rows. */
static void test_all(void)
{
  GList *features = gst_registry_get_feature_list_by_plugin(gst_registry_get(), "astro");
  guint n = 0;
  for (GList *f = features; f; f = f->next) {
    GstElementFactory *factory = GST_ELEMENT_FACTORY(f->data);
    const GList *templates = gst_element_factory_get_static_pad_templates(factory);
    for (const GList *t = templates; t; t = t->next) {
      const char *caps = ((GstStaticPadTemplate *)t->data)->static_caps.string;
      if (!strstr(caps, "application/x-astro-") || strstr(caps, "format"))
        continue;
      g_test_message("%s: %s", GST_OBJECT_NAME(factory), caps);
      const gboolean is_sink = ((GstStaticPadTemplate *)t->data)->direction == GST_PAD_SINK;
      g_assert_nonnull(gst_element_factory_get_metadata(factory, is_sink ? "takes" : "gives"));
      n++;
    }
  }
  gst_plugin_feature_list_free(features);
  g_assert_cmpuint(n, >=, 20);
}

static void add_tests(void)
{
  g_test_add_func("/streams/all", test_all);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *name = g_strdup_printf("/streams/%s/%s%s", cases[i].element, cases[i].quantity,
                                            cases[i].out ? "-out" : "");
    g_test_add_data_func(name, &cases[i], test_case);
  }
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
