/* The element: metadata of the samples that are kept (caps, observation, counts, metas), what is
 * not copied, and what is refused. */
#include "core/stream/grid.h"
#include "core/stream/uvw-meta.h"
#include "core/stream/validity.h"
#include "tests/elements/elements.h"
#include "tests/observe.h"

#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CI8,layout=channel:station:pol,channels=16,stations=4,"      \
  "pols=2,rate=1000/1,frequency=150e6,bandwidth=16e6"
#define STEP 256

static GstHarness *harness(const char *settings, const char *caps, AstroObservation *observation)
{
  g_autofree char *line = g_strconcat("astroselect backend=cpu ", settings, NULL);
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_set_src_caps_str(h, caps);
  if (observation)
    gst_harness_push_event(h, astro_observation_to_event(observation));
  return h;
}

static AstroStream out_stream(GstHarness *h)
{
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  AstroStream stream;
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  return stream;
}

static AstroObservation *out_observation(GstHarness *h)
{
  g_autoptr(GstEvent) event =
      gst_pad_get_sticky_event(h->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  g_assert_nonnull(event);
  AstroObservation *observation = astro_observation_from_event(event, NULL);
  g_assert_nonnull(observation);
  return observation;
}

/* A range of channels is a part of the block that came, not a copy, with its counts and band. */
static void test_band(void)
{
  const AstroLayout shape = { 2, { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION }, { 16, 4 } };
  GstHarness *h = harness("channels=4-7", SPECTRA, NULL);
  GstBuffer *in = test_buffer(STEP, 1);
  GstMapInfo from, to;
  AstroValidityMeta *meta = astro_buffer_add_validity(in, &shape, 100);
  for (guint i = 0; i < 64; i++)
    meta->counts[i] = i;
  g_assert_true(gst_buffer_map(in, &from, GST_MAP_READ));
  const guint8 *bytes = from.data;
  gst_buffer_unmap(in, &from);
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, in);
  g_assert_true(gst_buffer_map(out, &to, GST_MAP_READ));
  g_assert_cmpuint(to.size, ==, 64);
  g_assert_true(to.data == bytes + 64);
  gst_buffer_unmap(out, &to);
  const AstroValidityMeta *kept = astro_buffer_get_validity(out);
  g_assert_cmpuint(astro_validity_n_counts(kept), ==, 16);
  for (guint i = 0; i < 16; i++)
    g_assert_cmpuint(kept->counts[i], ==, 16 + i);
  const AstroStream stream = out_stream(h);
  g_assert_cmpuint(astro_stream_extent(&stream, ASTRO_AXIS_CHANNEL), ==, 4);
  g_assert_cmpfloat(stream.bandwidth, ==, 4e6);
  g_assert_cmpfloat(stream.frequency, ==, 148e6);
  gst_harness_teardown(h);
}

/* Stations can be chosen by name, whether caps or observation come first. */
static void test_stations(void)
{
  static const char *const lists[] = { "3,1", "A004,A002", "3,A002" };
  for (guint i = 0; i < 2 * G_N_ELEMENTS(lists); i++) {
    g_autoptr(AstroObservation) o = test_observe("disc", 4);
    g_autofree char *settings = g_strconcat("stations=", lists[i / 2], NULL);
    GstHarness *h = harness(settings, SPECTRA, i % 2 ? NULL : o);
    if (i % 2) {
      g_autoptr(AstroObservation) other = test_observe("disc", 7);
      gst_harness_push_event(h, astro_observation_to_event(other));
      gst_harness_push_event(h, astro_observation_to_event(o));
    }
    guint8 sent[2 * STEP], got[2 * STEP];
    test_fill(sent, sizeof sent, i);
    g_autoptr(GstBuffer) out =
        gst_harness_push_and_pull(h, gst_buffer_new_memdup(sent, sizeof sent));
    g_assert_cmpuint(gst_buffer_extract(out, 0, got, sizeof got), ==, STEP);
    for (guint k = 0; k < 32; k++) {
      g_assert_cmpmem(got + 8 * k, 4, sent + 16 * k + 12, 4);
      g_assert_cmpmem(got + 8 * k + 4, 4, sent + 16 * k + 4, 4);
    }
    g_autoptr(AstroObservation) kept = out_observation(h);
    g_assert_cmpuint(kept->n_stations, ==, 2);
    g_assert_cmpstr(kept->names[0], ==, "A004");
    g_assert_cmpstr(kept->names[1], ==, "A002");
    g_assert_cmpmem(kept->positions, 24, o->positions + 9, 24);
    g_assert_cmpmem(kept->positions + 3, 24, o->positions + 3, 24);
    g_assert_cmpuint(GST_BUFFER_OFFSET_END(out), ==, 2);
    gst_harness_teardown(h);
  }
}

/* A file of some stations is the file of all, cut: uvw, weights and values are the same. */
static GByteArray *visibilities(const char *settings)
{
  g_autofree char *line = g_strconcat(
      "astrovissrc stations=6 num-buffers=2 channels=4 noise=1 ! application/x-astro-visibilities,"
      "format=CF32LE ! astroselect name=e ",
      settings, NULL);
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_play(h);
  GByteArray *all = g_byte_array_new();
  for (guint i = 0; i < 2; i++) {
    g_autoptr(GstBuffer) buffer = gst_harness_pull(h);
    GstMapInfo map;
    g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
    g_byte_array_append(all, map.data, (guint)map.size);
    gst_buffer_unmap(buffer, &map);
  }
  gst_harness_teardown(h);
  return all;
}

static void test_backends(void)
{
  static const char *const lists[] = { "stations=5,2,0,4", "stations=1-3 pols=Y channels=1,2",
                                       "pols=Y,X" };
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
    g_autofree char *slow = g_strconcat("backend=reference ", lists[i], NULL);
    g_autofree char *fast = g_strconcat("backend=cpu ", lists[i], NULL);
    g_autoptr(GByteArray) a = visibilities(slow), b = visibilities(fast);
    g_assert_cmpuint(a->len, >, 0);
    g_assert_cmpmem(a->data, a->len, b->data, b->len);
  }
}

/* A selection that keeps everything passes the very same buffer on. */
static void test_all(void)
{
  GstHarness *h = harness("channels=0- stations=0-3", SPECTRA, NULL);
  GstBuffer *in = test_buffer(STEP, 1);
  g_autofree char *backend = NULL;
  gst_buffer_ref(in);
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, in);
  g_assert_true(out == in);
  gst_buffer_unref(in);
  gst_harness_teardown(h);
}

/* Losses stay where they are, and a block that is all gap stays one. */
static void test_gap(void)
{
  static const char *const lists[] = { "channels=1-2", "stations=3,0" };
  for (guint i = 0; i < G_N_ELEMENTS(lists); i++) {
    GstHarness *h = harness(lists[i], SPECTRA, NULL);
    gst_buffer_unref(gst_harness_push_and_pull(h, test_buffer(STEP, 1)));
    GstBuffer *in = test_buffer(STEP, 2);
    GST_BUFFER_FLAG_SET(in, GST_BUFFER_FLAG_GAP);
    GST_BUFFER_OFFSET(in) = 5;
    GST_BUFFER_OFFSET_END(in) = 6;
    g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, in);
    g_assert_true(GST_BUFFER_FLAG_IS_SET(out, GST_BUFFER_FLAG_GAP));
    g_assert_true(GST_BUFFER_IS_DISCONT(out));
    g_assert_cmpuint(GST_BUFFER_OFFSET(out), ==, 5);
    gst_harness_teardown(h);
  }
}

#define GRIDS                                                                                      \
  "application/x-astro-uvgrid,format=CF32LE,layout=channel:pol:v:u,channels=3,pols=3,width=4,"     \
  "height=4,cell=10.0,products=I:V:PSF,psf=true"

static void test_grid(void)
{
  GstHarness *h = harness("pols=PSF,I channels=2,0", GRIDS, NULL);
  GstBuffer *in = test_buffer(9 * 16 * 8, 3);
  AstroGridMeta *meta = astro_buffer_add_grid(in, 9);
  for (guint i = 0; i < 9; i++)
    meta->weights[i] = i;
  meta->planes = 7;
  meta->plane = 2;
  const guint8 touched[] = { 1, 2, 3 };
  meta->touched = gst_buffer_new_memdup(touched, sizeof touched);
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, in);
  const AstroGridMeta *kept = astro_buffer_get_grid(out);
  guint8 tiles[2];
  g_assert_cmpuint(kept->n_weights, ==, 4);
  g_assert_cmpfloat(kept->weights[0], ==, 8);
  g_assert_cmpfloat(kept->weights[1], ==, 6);
  g_assert_cmpfloat(kept->weights[2], ==, 2);
  g_assert_cmpfloat(kept->weights[3], ==, 0);
  g_assert_cmpuint(kept->plane, ==, 2);
  g_assert_cmpuint(kept->planes, ==, 7);
  g_assert_cmpuint(gst_buffer_extract(kept->touched, 0, tiles, 9), ==, 2);
  g_assert_cmpuint(tiles[0], ==, 3);
  g_assert_cmpuint(tiles[1], ==, 1);
  gpointer state = NULL;
  guint metas = 0;
  while (gst_buffer_iterate_meta_filtered(out, &state, ASTRO_GRID_META_API))
    metas++;
  g_assert_cmpuint(metas, ==, 1);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  g_assert_cmpstr(gst_structure_get_string(s, "products"), ==, "PSF:I");
  g_assert_true(astro_field_is_true(s, "psf"));
  gst_harness_teardown(h);
}

/* Products of power have the names of its caps, and may go in any order without a warning. */
static void test_power(void)
{
  GstHarness *h = harness("pols=U,I",
                          "application/x-astro-power,format=F32LE,layout=time:pol:channel,"
                          "pols=3,channels=4,rate=1/1,products=I:Q:U",
                          NULL);
  g_autoptr(GstBus) bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  g_autoptr(GstBuffer) in = test_buffer(96, 3);
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
  guint8 from[96], to[64];
  g_assert_cmpuint(gst_buffer_extract(in, 0, from, sizeof from), ==, sizeof from);
  g_assert_cmpuint(gst_buffer_extract(out, 0, to, sizeof from), ==, sizeof to);
  for (guint step = 0; step < 2; step++) {
    g_assert_cmpmem(to + 32 * step, 16, from + 48 * step + 32, 16);
    g_assert_cmpmem(to + 32 * step + 16, 16, from + 48 * step, 16);
  }
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  g_assert_cmpstr(gst_structure_get_string(gst_caps_get_structure(caps, 0), "products"), ==, "U:I");
  g_autoptr(GstMessage) warning = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
  g_assert_null(warning);
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
}

/* A file's own (u,v,w) go with the baselines, and change sign where those are reversed. */
static void test_uvw(void)
{
  GstHarness *h = harness("stations=2,0",
                          "application/x-astro-visibilities,format=CF32LE,"
                          "layout=channel:baseline:pol:pol,channels=1,baselines=6,pols=1",
                          NULL);
  GstBuffer *in = test_buffer(6 * 8, 4);
  AstroUvwMeta *meta = astro_buffer_add_uvw(in, 1, 6);
  for (guint i = 0; i < 18; i++)
    meta->uvw[i] = i;
  g_autoptr(GstBuffer) out = gst_harness_push_and_pull(h, in);
  const AstroUvwMeta *kept = (const AstroUvwMeta *)gst_buffer_get_meta(out, ASTRO_UVW_META_API);
  g_assert_cmpuint(kept->baselines, ==, 3);
  for (guint k = 0; k < 3; k++) {
    g_assert_cmpfloat(kept->uvw[k], ==, 15 + k);      /* 2 and 2 */
    g_assert_cmpfloat(kept->uvw[3 + k], ==, -9. - k); /* 0 and 2 of 2 and 0 */
    g_assert_cmpfloat(kept->uvw[6 + k], ==, k);       /* 0 and 0 */
  }
  gst_harness_teardown(h);
}

/* Nothing in a stream says that its first polarisation is the second. */
static void test_warning(void)
{
  static const struct {
    const char *pols;
    gboolean warns;
  } cases[] = {
    { "pols=0", FALSE }, { "pols=1", TRUE }, { "pols=Y,X", TRUE }, { "pols=X", FALSE }
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) o = test_observe("disc", 4);
    g_autoptr(GstBus) bus = gst_bus_new();
    g_autofree char *line = g_strconcat("astroselect ", cases[i].pols, NULL);
    GstHarness *h = gst_harness_new_parse(line);
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, SPECTRA);
    gst_harness_push_event(h, astro_observation_to_event(o));
    gst_buffer_unref(gst_harness_push_and_pull(h, test_buffer(STEP, 1)));
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
    g_assert_true((message != NULL) == cases[i].warns);
    gst_element_set_bus(h->element, NULL);
    gst_harness_teardown(h);
  }
}

#define FAKE "fakesrc num-buffers=1 sizetype=fixed sizemax=%d ! "
#define SOURCE "astroskysrc stations=4 num-buffers=1 ! "

static void test_refused_lines(void)
{
  static const struct {
    const char *line, *says;
  } cases[] = {
    { SOURCE "astroselect stations=4 ! fakesink",
      "stations: \"4\" is beyond the 4 that there are" },
    { SOURCE "astroselect stations=B7 ! fakesink", "stations: there is no \"B7\"" },
    { SOURCE "astroselect stations=1,A002 ! fakesink", "stations: number 1 is listed twice" },
    { SOURCE "astroselect channels=1 ! fakesink", "have no axis \"channel\"" },
    { SOURCE "astroselect beams=0 ! fakesink", "have no axis \"beam\"" },
    { SOURCE "astroselect pols=R ! fakesink", "pols: there is no \"R\", expected X, Y" },
    { SOURCE "astrochannelizer channels=8 ! astroselect channels=0-6:2 ! fakesink",
      "channels: 2 follows 0" },
    { SOURCE "astrochannelizer channels=8 ! astroselect channels=7-9 ! fakesink", "is beyond" },
    { SOURCE "astrochannelizer channels=8 ! astroselect channels=low ! fakesink",
      "channels have no names" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=8 ! application/x-astro-voltages,format=CI8,"
      "layout=time:station,stations=4 ! astroselect stations=A001 ! fakesink",
      "no observation to look up names in" },
    { "fakesrc num-buffers=1 sizetype=fixed sizemax=40 ! application/x-astro-visibilities,"
      "format=CF32LE,layout=channel:baseline:pol:pol,baselines=5,channels=1,pols=1 ! "
      "astroselect stations=0 ! fakesink",
      "5 baselines are not those of a whole array" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    test_refused_by(cases[i].line, "astroselect", cases[i].says);
}

static void add_tests(void)
{
  g_test_add_func("/astroselect/band", test_band);
  g_test_add_func("/astroselect/stations", test_stations);
  g_test_add_func("/astroselect/backends", test_backends);
  g_test_add_func("/astroselect/all", test_all);
  g_test_add_func("/astroselect/gap", test_gap);
  g_test_add_func("/astroselect/grid", test_grid);
  g_test_add_func("/astroselect/power", test_power);
  g_test_add_func("/astroselect/uvw", test_uvw);
  g_test_add_func("/astroselect/warning", test_warning);
  g_test_add_func("/astroselect/refused", test_refused_lines);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
