/* The element joins what astroselect took apart, to the last bit and with all metadata. Streams
 * that do not belong together are refused by the pad's name. */
#include "core/stream/grid.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"

/* ---- apart and together ---- */

static void append(GByteArray *all, gconstpointer data, gsize bytes)
{
  g_byte_array_append(all, data, (guint)bytes);
}

/* Appends the metas of grids and images, without pointers. */
static void append_metas(GByteArray *all, GstBuffer *buffer)
{
  const AstroGridMeta *grid = astro_buffer_get_grid(buffer);
  const AstroImageMeta *image = astro_buffer_get_image(buffer);
  if (grid) {
    const double planes[] = { grid->w, grid->w_step, grid->plane, grid->planes };
    const guint64 counts[] = { grid->n_weights, grid->outside, grid->flagged, grid->not_finite };
    g_assert_null(grid->touched);
    append(all, planes, sizeof planes);
    append(all, counts, sizeof counts);
    append(all, grid->weights, grid->n_weights * sizeof *grid->weights);
  }
  if (image) {
    const double numbers[] = { image->has_beam, image->major,  image->minor,   image->angle,
                               image->sidelobe, image->border, image->cleaned, image->n_weights };
    append(all, numbers, sizeof numbers);
    append(all, image->weights, image->n_weights * sizeof *image->weights);
    append(all, image->levels, image->n_weights * sizeof *image->levels);
  }
}

/* The output of a pipeline: samples, steps, counts, metas, caps, and the observation, also as text.
 */
static GByteArray *play(const char *line, char **said)
{
  g_autofree char *whole = g_strconcat(line, " ! appsink name=sink sync=false", NULL);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  GByteArray *all = g_byte_array_new();
  GstSample *sample;
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  while (g_signal_emit_by_name(sink, "try-pull-sample", TEST_PATIENCE, &sample), sample) {
    GstBuffer *buffer = gst_sample_get_buffer(sample);
    const AstroValidityMeta *meta = astro_buffer_get_validity(buffer);
    const guint64 place[] = { GST_BUFFER_OFFSET(buffer), GST_BUFFER_OFFSET_END(buffer),
                              GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer),
                              GST_BUFFER_IS_DISCONT(buffer) };
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_byte_array_append(all, (const guint8 *)place, sizeof place);
    g_byte_array_append(all, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
    if (meta) {
      g_byte_array_append(all, (const guint8 *)&meta->full, sizeof meta->full);
      g_byte_array_append(all, (const guint8 *)meta->shape.extents,
                          meta->shape.n_axes * (guint)sizeof *meta->shape.extents);
      g_byte_array_append(all, (const guint8 *)meta->counts,
                          (guint)(astro_validity_n_counts(meta) * sizeof *meta->counts));
    }
    append_metas(all, buffer);
    gst_sample_unref(sample);
  }
  g_assert_cmpuint(all->len, >, 0);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  g_autofree char *text = gst_caps_to_string(caps);
  g_byte_array_append(all, (const guint8 *)text, (guint)strlen(text));
  g_autoptr(GstEvent) event = gst_pad_get_sticky_event(pad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_autofree char *observation =
      event ? gst_structure_to_string(gst_event_get_structure(event)) : g_strdup("none");
  g_byte_array_append(all, (const guint8 *)observation, (guint)strlen(observation));
  if (said)
    *said = g_steal_pointer(&observation);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  return all;
}

#define VOLTAGES "astroskysrc stations=5 num-buffers=7 block-steps=1000 frequency=150e6 "
#define SPECTRA VOLTAGES "! astrochannelizer channels=16 "
#define VISIBILITIES                                                                               \
  "astrovissrc stations=5 num-buffers=4 channels=8 noise=1 loss=0.3 frequency=150e6 "              \
  "bandwidth=8e6 "

#define DETECTED                                                                                   \
  "fakesrc num-buffers=5 sizetype=fixed sizemax=4800 filltype=pattern-span ! "                     \
  "application/x-astro-power,format=F32LE,layout=time:channel:pol,pols=3,channels=4,rate=10/1,"    \
  "frequency=1e8,bandwidth=4e6,products=I:Q:U ! astrotranspose layout=time:pol:channel "
#define BEAMS                                                                                      \
  "astroskysrc stations=5 num-buffers=7 block-steps=1000 frequency=150e6 phase-centre=zenith "     \
  "! astrodelay ! astrochannelizer channels=16 ! astrobeamform beams=0,0;0.001,0;0,0.002 "
#define GRIDS                                                                                      \
  VISIBILITIES "! astrogridder size=16 cell=100 algorithm=wprojection per-channel=true pols=I,Q "  \
               "interval=2 "
#define IMAGES GRIDS "! application/x-astro-uvgrid,psf=true ! astrofft ! astroimage "

static void test_together(void)
{
  static const struct {
    const char *source, *axis, *parts[3];
  } cases[] = {
    { VOLTAGES, "station", { "stations=0-1", "stations=2", "stations=3-" } },
    { VOLTAGES, "pol", { "pols=0", "pols=1" } },
    { SPECTRA, "station", { "stations=0", "stations=1-3", "stations=A005" } },
    { SPECTRA, "channel", { "channels=0-3", "channels=4-14", "channels=15" } },
    { SPECTRA "! astrotranspose layout=channel:time:station:pol",
      "channel",
      { "channels=0-7", "channels=8-15" } },
    { SPECTRA "! astrotranspose layout=channel:time:station:pol", "pol", { "pols=X", "pols=Y" } },
    { VISIBILITIES, "channel", { "channels=0-1", "channels=2-5", "channels=6-" } },
    { SPECTRA "! astrotranspose ! astrocorrelator integration=20",
      "channel",
      { "channels=0", "channels=1-15" } },
    { DETECTED, "pol", { "pols=I", "pols=Q,U" } },
    { DETECTED, "channel", { "channels=0", "channels=1-3" } },
    { BEAMS, "beam", { "beams=0", "beams=B1,2" } },
    { BEAMS, "channel", { "channels=0-6", "channels=7-" } },
    { BEAMS "! astropower integration=20 products=XX:YY ", "beam", { "beams=0-1", "beams=B2" } },
    { SPECTRA "! astropower integration=20 products=I:Q:U:V ",
      "pol",
      { "pols=I,Q", "pols=U", "pols=V" } },
    { SPECTRA "! astropower integration=20 products=I ",
      "station",
      { "stations=0-3", "stations=A005" } },
    { GRIDS, "channel", { "channels=0-2", "channels=3", "channels=4-" } },
    { GRIDS, "pol", { "pols=I", "pols=Q" } },
    { GRIDS "! application/x-astro-uvgrid,psf=true ", "pol", { "pols=I", "pols=Q,PSF" } },
    { IMAGES, "channel", { "channels=0-2", "channels=3", "channels=4-" } },
    { IMAGES, "pol", { "pols=I", "pols=Q", "pols=PSF" } },
    { IMAGES "! astroclean iterations=20 ", "pol", { "pols=0", "pols=1-" } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    static const char *const backends[] = { "cpu", "reference" };
    g_autoptr(GByteArray) expected = play(cases[i].source, NULL);
    for (guint backend = 0; backend < (i % 3 ? 1 : 2); backend++) {
      g_autoptr(GString) line = g_string_new(cases[i].source);
      g_string_append(line, " ! tee name=t ");
      for (guint k = 0; k < G_N_ELEMENTS(cases[i].parts) && cases[i].parts[k]; k++)
        g_string_append_printf(line, "t. ! queue ! astroselect %s ! j.sink_%u ", cases[i].parts[k],
                               k);
      g_string_append_printf(line, "astrojoin name=j axis=%s backend=%s", cases[i].axis,
                             backends[backend]);
      g_test_message("%s", line->str);
      g_autoptr(GByteArray) got = play(line->str, NULL);
      g_assert_cmpmem(got->data, got->len, expected->data, expected->len);
    }
  }
}

/* ---- what does not belong together ---- */

#define FAKE(caps) "fakesrc num-buffers=2 sizetype=fixed sizemax=96 ! " caps " ! j. "
#define CI8 "application/x-astro-voltages,format=CI8,layout=time:station,stations=2,rate=1000/1"
#define BAND                                                                                       \
  "application/x-astro-spectra,format=CI8,layout=time:station:channel,stations=2,channels=4,"

#define IMAGE                                                                                      \
  "application/x-astro-image,format=F32LE,layout=pol:y:x,pols=1,height=4,width=6,pixel=1e-3,"
#define POWER "application/x-astro-power,format=F32LE,layout=time:pol:channel,pols=2,channels=3,"
#define GRID "application/x-astro-uvgrid,format=F32LE,layout=pol:v:u,pols=1,height=4,width=6,"

static void test_refused_lines(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { "astrojoin name=j ! fakesink " FAKE(CI8)
          FAKE("application/x-astro-voltages,format=CI8,layout=time:station,stations=2,rate=500/1"),
      "pad sink_1: caps field \"rate\" is 500/1, expected 1000/1, as on pad sink_0" },
    { "astrojoin name=j ! fakesink " FAKE(CI8)
          FAKE("application/x-astro-voltages,format=CI4,layout=time:station,stations=2,"
               "rate=1000/1"),
      "pad sink_1: caps field \"format\" is CI4, expected CI8, as on pad sink_0" },
    { "astrojoin name=j ! fakesink " FAKE(CI8)
          FAKE("application/x-astro-voltages,format=CI8,layout=station:time,stations=2,"
               "rate=1000/1"),
      "pad sink_1: caps field \"layout\"" },
    { "astrojoin name=j ! fakesink " FAKE(CI8)
          FAKE("application/x-astro-voltages,format=CI8,layout=time:station,stations=2,"
               "rate=1000/1,frequency=1e6"),
      "pad sink_1: caps field \"frequency\" is 1000000, expected missing" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(CI8) FAKE(CI8),
      "pad sink_0: voltages in layout time:station have no axis \"pol\"" },
    { "astrojoin name=j axis=channel ! fakesink " FAKE(BAND "frequency=2e6,bandwidth=4e6")
          FAKE(BAND "frequency=7e6,bandwidth=4e6"),
      "pad sink_1: the band begins at 5 MHz, but that of sink_0 ends at 4 MHz" },
    { "astrojoin name=j axis=channel ! fakesink " FAKE(BAND "frequency=2e6,bandwidth=4e6")
          FAKE(BAND "frequency=5e6,bandwidth=2e6"),
      "pad sink_1: channels are 0.5 MHz wide" },
    { "astrojoin name=j axis=channel ! fakesink " FAKE(BAND "frequency=2e6,bandwidth=4e6")
          FAKE(BAND "frequency=5e6"),
      "pad sink_1: caps field \"bandwidth\" is missing" },
    { "astrojoin name=j ! fakesink " FAKE(CI8) "astroskysrc stations=1 num-buffers=1 ! j. ",
      "pad sink_0: the observation has no start, and that of pad sink_1 has one" },
    { "astrojoin name=j ! fakesink astroskysrc stations=2 num-buffers=1 phase-centre=200,-80 ! j. "
      "astroskysrc stations=3 num-buffers=1 phase-centre=200,-80 ! j. ",
      "pad sink_1: station A001 is also on pad sink_0" },
    { "astrojoin name=j ! fakesink astrovissrc stations=2 num-buffers=1 ! tee name=t ! queue ! j. "
      "t. ! queue ! j. ",
      "visibilities are joined along channels only" },
    { "astrojoin name=j axis=pol ! fakesink astroskysrc stations=2 num-buffers=1 ! tee name=t ! "
      "queue ! j. t. ! queue ! astrodelay ! j. ",
      "pad sink_1: what was done to the stream is not what was done on pad sink_0 (the "
      "observation's field \"delays\")" },
    { "astrojoin name=j ! fakesink astroskysrc stations=4 num-buffers=1 ! tee name=t ! queue ! "
      "astroselect stations=0-1 ! astrodelay ! j. t. ! queue ! astroselect stations=2-3 ! "
      "astrodelay ! j. ",
      "pad sink_1: delays were removed for a centre at " },
    { "astrojoin name=j axis=pol ! fakesink astroskysrc stations=2 num-buffers=1 ! j. astroskysrc "
      "stations=2 num-buffers=1 phase-centre=200,-80 ! j. ",
      "pad sink_1: the observation's phase centre" },
    { "astrojoin name=j axis=pol ! fakesink astroskysrc stations=2 num-buffers=1 "
      "phase-centre=200,-80 ! j. "
      "astroskysrc stations=3 num-buffers=1 phase-centre=200,-80 ! j. ",
      "pad sink_1: caps field \"stations\" is 3, expected 2" },
    { "astrojoin name=j ! fakesink " FAKE(CI8) "fakesrc num-buffers=0 ! " CI8 " ! j. ",
      "pad sink_1: the stream ended before its caps came" },
    { "astrojoin name=j ! fakesink " FAKE("identity") FAKE(CI8),
      "pad sink_0: a buffer came without caps" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(POWER "products=I:Q") FAKE(POWER "products=U:Q"),
      "pad sink_1: product Q is also on pad sink_0" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(POWER "products=I:Q") FAKE(POWER "products=U"),
      "pad sink_1: caps field \"products\" is U, expected 2 names" },
    { "astrojoin name=j axis=channel ! fakesink " FAKE(POWER "products=I:Q")
          FAKE(POWER "products=I:V"),
      "pad sink_1: caps field \"products\" is I:V" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(IMAGE "products=I") FAKE(IMAGE "products=I"),
      "pad sink_1: product I is also on pad sink_0" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(IMAGE "products=PSF") FAKE(IMAGE "products=I"),
      "pad sink_0: product PSF would stand before those of the next pads" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(IMAGE "products=I:Q") FAKE(IMAGE "products=Q"),
      "pad sink_0: products is I:Q, expected 1 names" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(IMAGE "products=I")
          FAKE(IMAGE "products=Q,centre-l=0.1"),
      "pad sink_1: caps field \"centre-l\" is 0.1" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(GRID "cell=10.0,products=I")
          FAKE(GRID "cell=11.0,products=Q"),
      "pad sink_1: caps field \"cell\" is 11" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(GRID "cell=10.0,touched-only=true,products=I")
          FAKE(GRID "cell=10.0,touched-only=true,products=Q"),
      "pad sink_0: caps field \"touched-only\" is true" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(GRID "cell=10.0,products=I")
          FAKE(GRID "cell=10.0,products=Q"),
      "pad sink_0: a grid arrived without its sums of weights" },
    { "astrojoin name=j axis=channel ! fakesink " FAKE(IMAGE "products=I") FAKE(IMAGE "products=I"),
      "pad sink_0: image in layout pol:y:x have no axis \"channel\"" },
    { "astrojoin name=j axis=pol ! fakesink " FAKE(
          IMAGE "products=I") "fakesrc num-buffers=2 sizetype=fixed sizemax=192 ! " IMAGE
                              "products=Q ! j. ",
      "pad sink_1: a buffer of 192 bytes, expected 96" },
    { "astrojoin name=j backend=cuda ! fakesink " FAKE(CI8), "backend=cuda: " },
    { "astrojoin name=j ! fakesink fakesrc num-buffers=1 sizetype=fixed sizemax=7 ! " CI8 " ! j. ",
      "pad sink_0: " },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "j:", cases[i].says);
}

/* Starts on different days line up; starts that are parts of a step apart do not. */
static void test_starts(void)
{
#define RECEIVER(station, start)                                                                   \
  "astroskysrc stations=3 num-buffers=3 block-steps=100 bandwidth=1000 frequency=1e6 "             \
  "phase-centre=200,-85 start-time=" start " ! astroselect stations=" station " ! j. "
  test_refused_by("astrojoin name=j ! fakesink " RECEIVER("0", "2026-11-20T12:00:00")
                      RECEIVER("1", "2026-11-20T12:00:00.0105"),
                  "j:",
                  "pad sink_1: samples are taken 0.000500000 s (0.5 of a step) before those of pad "
                  "sink_0");
  g_autofree char *observation = NULL;
  g_autoptr(GByteArray) all = play(RECEIVER("0", "2026-11-20T23:59:59.9")
                                       RECEIVER("2", "2026-11-21T00:00:00.1") "astrojoin name=j",
                                   &observation);
  /* 200 steps of one, 100 of both, 200 of the other, in blocks of 100. */
  const guint64 *place = (const guint64 *)(gconstpointer)all->data;
  g_assert_cmpuint(place[0], ==, 0);
  g_assert_cmpuint(place[1], ==, 100);
  test_says(observation, "start-mjd=(int)61364");
  test_says(observation, "start-ns=(guint64)86399900000000");
  test_says(observation, "A001");
  test_says(observation, "A003");
}

static void add_tests(void)
{
  g_test_add_func("/astrojoin/together", test_together);
  g_test_add_func("/astrojoin/refused", test_refused_lines);
  g_test_add_func("/astrojoin/starts", test_starts);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
