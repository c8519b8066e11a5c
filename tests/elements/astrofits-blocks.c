/* Grids, histograms, spectra, power and voltages through a file: the next run gets what this one
 * wrote, bit for bit, with all its metadata. Damaged files are refused. */
#include "core/stream/grid.h"
#include "core/stream/histogram-summary.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"
#include "tests/elements/astrofits.h"

#include <math.h>
#include <string.h>

/* ---- all that a line gives ---- */

typedef struct {
  GString *told;     /* caps, observation, and everything about each buffer except its samples */
  GByteArray *bytes; /* the samples of all buffers */
  guint buffers;
} Got;

static void got_clear(Got *got)
{
  g_string_free(got->told, TRUE);
  g_byte_array_unref(got->bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Got, got_clear)

static void tell_doubles(GString *told, const char *what, const double *values, gsize n)
{
  g_string_append_printf(told, "%s", what);
  for (gsize i = 0; i < n; i++)
    g_string_append_printf(told, " %a", values[i]);
}

static void tell_summary(GString *told, GstEvent *event)
{
  AstroSummary s;
  gsize bytes = 0;
  g_assert_true(astro_summary_from_event(&s, event, NULL));
  g_string_append_printf(told, " %u kinds %u regions %lu", s.n_kinds, s.n_regions,
                         (gulong)s.catalogues);
  tell_doubles(told, " edges", s.edges, s.n_edges);
  tell_doubles(told, " pairs", s.pairs, (gsize)s.n_kinds * s.n_regions * s.n_regions);
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++)
    g_string_append_printf(told, " %lu", (gulong)s.points[side]);
  const guint64 *counts = s.counts ? g_bytes_get_data(s.counts, &bytes) : NULL;
  for (gsize i = 0; i < bytes / sizeof *counts; i++)
    g_string_append_printf(told, " %lu", (gulong)counts[i]);
  astro_summary_clear(&s);
}

static void tell_metas(GString *told, GstBuffer *buffer)
{
  const AstroValidityMeta *validity = astro_buffer_get_validity(buffer);
  const AstroGridMeta *grid = astro_buffer_get_grid(buffer);
  if (validity && validity->counts) {
    g_autofree char *axes = astro_layout_to_string(&validity->shape);
    g_string_append_printf(told, " counts %s of %u:", axes, validity->full);
    for (guint i = 0; i < validity->shape.n_axes; i++)
      g_string_append_printf(told, " [%lu]", (gulong)validity->shape.extents[i]);
    for (guint64 i = 0; i < astro_validity_n_counts(validity); i++)
      g_string_append_printf(told, " %u", validity->counts[i]);
  }
  if (!grid)
    return;
  g_string_append_printf(told, " plane %u of %u at %a %a: %lu %lu %lu %lu", grid->plane,
                         grid->planes, grid->w, grid->w_step, (gulong)grid->used,
                         (gulong)grid->outside, (gulong)grid->flagged, (gulong)grid->not_finite);
  tell_doubles(told, " weights", grid->weights, grid->n_weights);
}

static GstPadProbeReturn take(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Got *got = data;
  if (info->type & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
    GstCaps *caps;
    if (astro_event_is_summary(event)) {
      tell_summary(got->told, event);
    } else if (astro_event_is_observation(event)) {
      g_autofree char *text = gst_structure_to_string(gst_event_get_structure(event));
      g_string_append_printf(got->told, "%s\n", text);
    } else if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
      gst_event_parse_caps(event, &caps);
      g_autofree char *text = gst_caps_to_string(caps);
      g_string_append_printf(got->told, "%s\n", text);
    }
    return GST_PAD_PROBE_OK;
  }
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  GstMapInfo map;
  g_string_append_printf(got->told, "\n%lu..%lu %lu+%lu discont %d gap %d bytes %lu:",
                         (gulong)GST_BUFFER_OFFSET(buffer), (gulong)GST_BUFFER_OFFSET_END(buffer),
                         (gulong)GST_BUFFER_PTS(buffer), (gulong)GST_BUFFER_DURATION(buffer),
                         /* GstBaseSrc sets the first one's */
                         !got->buffers || GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DISCONT),
                         !!GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP),
                         (gulong)gst_buffer_get_size(buffer));
  tell_metas(got->told, buffer);
  g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_READ));
  g_byte_array_append(got->bytes, map.data, (guint)map.size);
  gst_buffer_unmap(buffer, &map);
  got->buffers++;
  return GST_PAD_PROBE_OK;
}

static Got play(const char *format, ...) G_GNUC_PRINTF(1, 2);
static Got play(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *line = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_autofree char *whole = g_strconcat(line, " ! fakesink name=sink", NULL);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  Got got = { g_string_new(NULL), g_byte_array_new(), 0 };
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_BUFFER, take,
                    &got, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  GstMessage *end =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_true(end && GST_MESSAGE_TYPE(end) == GST_MESSAGE_EOS);
  gst_message_unref(end);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
  g_assert_cmpuint(got.buffers, >, 0);
  return got;
}

static void check_same(const Got *found, const Got *expected)
{
  g_assert_cmpstr(found->told->str, ==, expected->told->str);
  g_assert_cmpmem(found->bytes->data, found->bytes->len, expected->bytes->data,
                  expected->bytes->len);
}

static void check_file(TestFile *place, const char *line)
{
  g_auto(Got) expected = play("%s", line);
  test_check_launch(NULL, NULL, "%s ! astrofitssink location=%s", line, place->path);
  g_auto(Got) found = play("astrofitssrc location=%s", place->path);
  check_same(&found, &expected);
  g_unlink(place->path);
}

/* ---- grids and histograms ---- */

#define VISIBILITIES(seed) "astrovissrc stations=5 num-buffers=3 channels=2 noise=1 seed=" seed
#define GRIDDER " ! astrogridder size=32 cell=100 algorithm=wprojection "

static void grids(TestFile *place, gconstpointer data)
{
  check_file(place, VISIBILITIES("1") GRIDDER);
  check_file(place, VISIBILITIES("1") " loss=0.4 ! astrogridder size=32 cell=100 interval=2 "
                                      "algorithm=wstacking");
}

#define CATALOGUES(name, data, more)                                                               \
  "astrocatsrc points=200 regions=3 seed=" data " ! " name ".data astrocatsrc points=150 "         \
  "catalogues=3 regions=3 seed=9" data " ! " name ".random "
#define COUNTER(name) "astrohistogram linear-bins=8 max-angle=600 min-angle=1 name=" name " "

static void histograms(TestFile *place, gconstpointer data)
{
  check_file(place, CATALOGUES("a", "1", "") COUNTER("a") "interval=1");
  check_file(place, CATALOGUES("a", "1", "") COUNTER("a") "regions=4");
}

/* Two runs, and a third that adds their files, give the same as one run that adds the streams. */
static void added(TestFile *place, const char *one, const char *two)
{
  g_autofree char *other = g_strconcat(place->path, ".2", NULL);
  g_auto(Got) expected = play("%s ! s. %s ! s. astroadd name=s", one, two);
  test_check_launch(NULL, NULL, "%s ! astrofitssink location=%s", one, place->path);
  test_check_launch(NULL, NULL, "%s ! astrofitssink location=%s", two, other);
  g_auto(Got) found = play("astrofitssrc location=%s ! s. astrofitssrc location=%s ! s. "
                           "astroadd name=s",
                           place->path, other);
  check_same(&found, &expected);
  g_unlink(other);
}

static void added_grids(TestFile *place, gconstpointer data)
{
  added(place, VISIBILITIES("1") GRIDDER, VISIBILITIES("2") GRIDDER);
}

static void added_histograms(TestFile *place, gconstpointer data)
{
  added(place, CATALOGUES("a", "1", "") COUNTER("a"), CATALOGUES("b", "2", "") COUNTER("b"));
}

/* An observation gridded at once equals its halves gridded apart, kept in files and added, up to
 * rounding. */
#define NIGHT(start, buffers)                                                                      \
  "astrovissrc stations=5 num-buffers=" buffers " integration=10 sky=0.001,0.002,1 "               \
  "phase-centre=40,50 latitude=52 longitude=6 start-time=2026-11-20T12:00:" start GRIDDER
static void halves(TestFile *place, gconstpointer data)
{
  g_autofree char *other = g_strconcat(place->path, ".2", NULL);
  g_auto(Got) whole = play(NIGHT("00", "4"));
  test_check_launch(NULL, NULL, NIGHT("00", "2") "! astrofitssink location=%s", place->path);
  test_check_launch(NULL, NULL, NIGHT("20", "2") "! astrofitssink location=%s", other);
  g_auto(Got) sum = play("astrofitssrc location=%s ! s. astrofitssrc location=%s ! s. "
                         "astroadd name=s",
                         place->path, other);
  const float *found = (const float *)(gconstpointer)sum.bytes->data,
              *expected = (const float *)(gconstpointer)whole.bytes->data;
  float most = 0;
  g_assert_cmpuint(sum.bytes->len, ==, whole.bytes->len);
  for (guint i = 0; i < whole.bytes->len / sizeof *expected; i++)
    most = MAX(most, fabsf(expected[i]));
  g_assert_cmpfloat(most, >, 0);
  for (guint i = 0; i < whole.bytes->len / sizeof *expected; i++)
    g_assert_cmpfloat(fabsf(found[i] - expected[i]), <=, 1e-5f * most);
  g_unlink(other);
}

/* ---- samples ---- */

static void voltages(TestFile *place, gconstpointer data)
{
  static const char *const formats[] = { "CI4", "CI8", "CI16LE", "CF32LE", "I8", "I16LE", "F32LE" };
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++) {
    g_autofree char *line =
        g_strdup_printf("astroskysrc stations=3 block-steps=257 num-buffers=3 noise=1 ! "
                        "application/x-astro-voltages,format=%s",
                        formats[i]);
    check_file(place, line);
  }
  check_file(place, "astroskysrc stations=2 block-steps=100 num-buffers=2 noise=1 ! astroconvert ! "
                    "application/x-astro-voltages,format=CF16LE");
}

static void spectra(TestFile *place, gconstpointer data)
{
  check_file(place, "astroskysrc stations=3 block-steps=1000 num-buffers=3 noise=1 ! "
                    "astrochannelizer channels=8");
}

/* Counts of an integration that is cut off differ from those of the others. */
static void power(TestFile *place, gconstpointer data)
{
  check_file(place, "astroskysrc stations=3 block-steps=1000 num-buffers=3 noise=1 ! "
                    "astrochannelizer channels=8 ! "
                    "astropower products=XX:YY integration=64 square=true");
}

#define SAMPLES                                                                                    \
  "application/x-astro-voltages,format=(string)CI8,layout=(string)time:station:pol,"               \
  "stations=(int)2,pols=(int)2,rate=(fraction)1000/1,counts=(boolean)true"

/* Counts over some axes or none, and a gap; the steps show what is lost between them. */
static void validity(TestFile *place, gconstpointer data)
{
  const AstroLayout shapes[] = {
    { 2, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION }, { 4, 2 } },
    { 0, { 0 }, { 0 } },
    { 3, { ASTRO_AXIS_TIME, ASTRO_AXIS_STATION, ASTRO_AXIS_POL }, { 8, 2, 2 } },
  };
  GstHarness *h = test_new_sink(place);
  GString *expected = g_string_new(NULL);
  gst_harness_set_src_caps_str(h, SAMPLES);
  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
    GstBuffer *buffer = test_buffer(8 * 2 * 2 * 2, i);
    GST_BUFFER_OFFSET(buffer) = 16 * i;
    GST_BUFFER_OFFSET_END(buffer) = 16 * i + 8;
    GST_BUFFER_PTS(buffer) = 16 * i * GST_MSECOND;
    GST_BUFFER_DURATION(buffer) = 8 * GST_MSECOND;
    GST_BUFFER_FLAG_SET(buffer, i ? GST_BUFFER_FLAG_DISCONT : 0);
    GST_BUFFER_FLAG_SET(buffer, i == 1 ? GST_BUFFER_FLAG_GAP : 0);
    AstroValidityMeta *meta = astro_buffer_add_validity(buffer, &shapes[i], 7);
    for (guint64 k = 0; k < astro_validity_n_counts(meta); k++)
      meta->counts[k] = i == 1 ? 0 : k % 2 ? G_MAXUINT32 - (guint32)k : (guint32)k;
    tell_metas(expected, buffer);
    g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
  }
  gst_harness_push_event(h, gst_event_new_eos());
  gst_harness_teardown(h);

  g_auto(Got) got = play("astrofitssrc location=%s", place->path);
  g_assert_nonnull(strstr(got.told->str, "counts=(boolean)true"));
  g_assert_cmpuint(got.buffers, ==, 3);
  const char *at = expected->str;
  for (guint i = 0; i < 3; i++) {
    g_autofree guint8 *samples = g_malloc(64);
    test_fill(samples, 64, i);
    g_assert_cmpmem(got.bytes->data + 64 * i, 64, samples, 64);
    g_autofree char *place_of =
        g_strdup_printf("\n%u..%u %lu+8000000 discont 1 gap %d bytes 64:", 16 * i, 16 * i + 8,
                        (gulong)(16 * i * GST_MSECOND), i == 1);
    const char *rest = strstr(got.told->str, i ? place_of : "\n0..8 0+8000000 ");
    g_assert_nonnull(rest);
    rest = strchr(rest, ':') + 1;
    const char *next = strstr(at + 1, " counts");
    const gsize length = next ? (gsize)(next - at) : strlen(at);
    g_assert_cmpint(strncmp(rest, at, length), ==, 0);
    at += length;
  }
  g_string_free(expected, TRUE);
}

/* ---- what is refused ---- */

static char *find(char *bytes, gsize n, const char *text)
{
  const gsize length = strlen(text);
  for (gsize i = 0; i + length <= n; i++)
    if (memcmp(bytes + i, text, length) == 0)
      return bytes + i;
  return NULL;
}

static void write_changed(TestFile *place, const GString *whole, const char *from, const char *to)
{
  g_autofree char *bytes = g_memdup2(whole->str, whole->len);
  char *at = find(bytes, whole->len, from);
  g_assert_nonnull(at);
  memcpy(at, to, strlen(to));
  g_assert_true(g_file_set_contents(place->path, bytes, (gssize)whole->len, NULL));
}

static void damaged(TestFile *place, gconstpointer data)
{
  static const struct {
    const char *from, *to, *says;
  } changes[] = {
    { "NBLOCKS =                    2", "NBLOCKS =                    3",
      "found 2 blocks, expected 3" },
    { "NBLOCKS =", "NBLACKS =", "NBLOCKS is missing" },
    { "EXTVER  =                    2", "EXTVER  =                    3", "block 2 has EXTVER 3" },
    { "'CAPS    '", "'CUPS    '", "the array CAPS" },
    { "application/x-astro-uvgrid", "application/x-astro-images", "CAPS" },
    { "application/x-astro-uvgrid", "application/, , , , , , , ", "expected caps of a stream" },
    { "astro-observation,", "astro-observatory,", "expected astro-observation" },
    { "'OBSERVATION'", "'OBSERVATIAN'", NULL },
    { "BITPIX  =                  -32", "BITPIX  =                   32", "expected -32" },
    { "'WEIGHTS '", "'WAITS   '", "no array WEIGHTS" },
    { "PLANE   =                    0", "PLANE   =                   -1",
      "PLANE is missing or -1" },
    { "USED    = ", "USED    =-", "USED is missing" },
  };
  GString *whole = g_string_new(NULL);
  char *contents;
  gsize bytes;
  test_check_launch(NULL, NULL,
                    VISIBILITIES("1") " ! astrogridder size=32 cell=100 interval=2 "
                                      "algorithm=wprojection ! astrofitssink location=%s",
                    place->path);
  g_assert_true(g_file_get_contents(place->path, &contents, &bytes, NULL));
  g_string_append_len(whole, contents, (gssize)bytes);
  g_free(contents);
  for (guint i = 0; i < G_N_ELEMENTS(changes); i++) {
    write_changed(place, whole, changes[i].from, changes[i].to);
    test_check_launch(changes[i].says, place->path, "astrofitssrc location=%s ! fakesink",
                      place->path);
  }
  /* cut inside a block, and where an array ends */
  const gsize cuts[] = { whole->len / 2, whole->len - 2880, whole->len - 2 * 2880 };
  for (guint i = 0; i < G_N_ELEMENTS(cuts); i++) {
    g_assert_true(g_file_set_contents(place->path, whole->str, (gssize)cuts[i], NULL));
    test_check_launch("", place->path, "astrofitssrc location=%s ! fakesink", place->path);
  }
  g_string_free(whole, TRUE);
}

/* Its arrays are not images for an element that wants some. */
static void no_image(TestFile *place, gconstpointer data)
{
  test_check_launch(NULL, NULL, VISIBILITIES("1") GRIDDER "! astrofitssink location=%s",
                    place->path);
  test_check_launch("found a stream's blocks", place->path,
                    "astrofitssrc location=%s ! application/x-astro-image ! fakesink", place->path);
}

int main(int argc, char **argv)
{
  static const TestFileCase cases[] = {
    { "blocks/grids", grids },
    { "blocks/histograms", histograms },
    { "blocks/added-grids", added_grids },
    { "blocks/added-histograms", added_histograms },
    { "blocks/halves", halves },
    { "blocks/voltages", voltages },
    { "blocks/spectra", spectra },
    { "blocks/power", power },
    { "blocks/validity", validity },
    { "blocks/damaged", damaged },
    { "blocks/no-image", no_image },
  };
  return test_files(argc, argv, cases, G_N_ELEMENTS(cases));
}
