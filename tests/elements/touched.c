/* Maps of touched tiles, and rows without transformed columns, from the gridder to the image: they
 * are there if all readers take them, and then nothing but what they promise is read. */
#include <math.h>

#include "core/backend/module.h"
#include "core/stream/grid.h"
#include "tests/distance.h"
#include "tests/elements/running.h"

#define SOURCE                                                                                     \
  "astrovissrc stations=9 array=disc channels=3 duration=60 integration=10 "                       \
  "phase-centre=291.5,52.9 start-time=2026-11-20T12:00:00 sky=0.01,0.004,3;-0.02,0.01,1 ! "
#define GRIDDER "astrogridder name=g cell=30 "

/* ---- lines ---- */

static gboolean has_flag(const GstCaps *caps, const char *field)
{
  gboolean value = FALSE;
  gst_structure_get_boolean(gst_caps_get_structure(caps, 0), field, &value);
  return value;
}

typedef struct {
  gboolean touched; /* the gridder's planes have maps */
  gboolean rows;    /* and what the transform makes */
  guint64 poisoned; /* cells */
} Agreed;

static GstCaps *caps_of(GstElement *pipeline, const char *name)
{
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = element ? gst_element_get_static_pad(element, "src") : NULL;
  return pad ? gst_pad_get_current_caps(pad) : NULL;
}

static void find_agreed(GstElement *pipeline, Agreed *agreed)
{
  g_autoptr(GstCaps) grid = caps_of(pipeline, "g"), image = caps_of(pipeline, "f");
  g_assert_nonnull(grid);
  g_assert_false(has_flag(grid, "touched-only")); /* maps go with the buffers */
  agreed->rows =
      image &&
      g_str_has_suffix(gst_structure_get_string(gst_caps_get_structure(image, 0), "layout"), "v:x");
  if (agreed->rows)
    g_assert_true(has_flag(image, "touched-only"));
}

/* Writes NaN where a plane promises nothing: in tiles that are not touched and, for rows, in those
 * without any. */
static GstPadProbeReturn poison(GstPad *pad, GstPadProbeInfo *info, gpointer count)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  const AstroGridMeta *meta = astro_buffer_get_grid(buffer);
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(pad);
  const gboolean rows =
      g_str_has_suffix(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), "v:x");
  AstroStream stream;
  GstMapInfo cells, map;

  const gboolean planes =
      g_str_has_suffix(gst_structure_get_string(gst_caps_get_structure(caps, 0), "layout"), "v:u");
  if (rows ? !has_flag(caps, "touched-only") : !planes || !meta->touched)
    return GST_PAD_PROBE_OK;
  g_assert_nonnull(meta->touched);
  g_assert_true(astro_stream_from_caps(&stream, caps, NULL));
  g_assert_true(gst_buffer_map(buffer, &cells, GST_MAP_READWRITE));
  g_assert_true(gst_buffer_map(meta->touched, &map, GST_MAP_READ));
  const gsize cell = astro_stream_sample_bytes(&stream);
  const gsize n = stream.layout.extents[stream.layout.n_axes - 1], tiles = astro_grid_tiles(n);
  const gsize share = astro_stream_extent(&stream, ASTRO_AXIS_POL);
  g_assert_cmpuint(cells.size / cell / n / n / share * tiles * tiles, ==, map.size);
  for (gsize line = 0; line < cells.size / cell / n; line++) {
    const guint8 *touched =
        map.data + (line / n / share * tiles + line % n / ASTRO_GRID_TILE) * tiles;
    const gboolean any = memchr(touched, 1, tiles) != NULL;
    for (gsize i = 0; i < n; i++)
      if (rows ? !any : !touched[i / ASTRO_GRID_TILE]) {
        memset(cells.data + (line * n + i) * cell, 0xff, cell);
        ++*(guint64 *)count;
      }
  }
  gst_buffer_unmap(meta->touched, &map);
  gst_buffer_unmap(buffer, &cells);
  return GST_PAD_PROBE_OK;
}

static void poison_after(GstElement *pipeline, const char *name, Agreed *agreed)
{
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = element ? gst_element_get_static_pad(element, "src") : NULL;
  if (pad)
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, poison, &agreed->poisoned, NULL);
}

static GstPadProbeReturn note(GstPad *pad, GstPadProbeInfo *info, gpointer touched)
{
  *(gboolean *)touched |= astro_buffer_get_grid(GST_PAD_PROBE_INFO_BUFFER(info))->touched != NULL;
  return GST_PAD_PROBE_OK;
}

static void note_maps(GstElement *pipeline, Agreed *agreed)
{
  g_autoptr(GstElement) gridder = gst_bin_get_by_name(GST_BIN(pipeline), "g");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(gridder, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, note, &agreed->touched, NULL);
}

/* Unless the line sets it. */
static void set_backends(GstElement *pipeline, const char *backend)
{
  g_autoptr(GstIterator) elements = gst_bin_iterate_elements(GST_BIN(pipeline));
  GValue value = G_VALUE_INIT;
  for (; gst_iterator_next(elements, &value) == GST_ITERATOR_OK; g_value_reset(&value)) {
    GObject *element = g_value_get_object(&value);
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "backend"))
      gst_util_set_object_arg(element, "backend", backend);
  }
  g_value_unset(&value);
}

/* The bytes that reach the element `sink`. backend: for all elements, or NULL. */
static GByteArray *run(const char *line, const char *backend, Agreed *agreed, gboolean poisons)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *whole = g_strconcat(SOURCE, line, NULL);
  GByteArray *bytes = g_byte_array_new();
  GstElement *pipeline = gst_parse_launch(whole, &error);
  g_assert_no_error(error);
  if (backend)
    set_backends(pipeline, backend);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  g_object_set(sink, "signal-handoffs", TRUE, NULL);
  g_signal_connect(sink, "handoff", G_CALLBACK(test_append), bytes);
  *agreed = (Agreed){ 0 };
  note_maps(pipeline, agreed);
  if (poisons)
    poison_after(pipeline, "g", agreed);
  if (poisons)
    poison_after(pipeline, "f", agreed);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autofree char *failed = test_wait(pipeline);
  g_assert_cmpstr(failed, ==, NULL);
  find_agreed(pipeline, agreed);
  test_stop(pipeline);
  return bytes;
}

/* ---- the same images ---- */

/* Settings of the gridder and the image. */
static const struct {
  const char *gridder, *image;
  gboolean is_double;
} settings[] = {
  { "size=200", "" },
  { "size=160 stokes=IQUV", "psf=true" },
  { "size=160 pols=XX,XY,YX,YY", "stokes=IQ" },
  { "size=190 accuracy=1e-8", "psf=true ! application/x-astro-image,format=F64LE", TRUE },
  { "size=128 per-channel=true stokes=IQUV", "" },
  { "size=128 interval=2", "" },
  { "size=128 interval=2 cumulative=true per-channel=true", "" },
  { "size=150 padding=1.3 centre=0.01,-0.02", "" },
};

/* A device adds in any order. */
static void test_images(gconstpointer backend)
{
  const double most = g_str_equal(backend, "cpu") ? 3e-6 : 2e-5;
  for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
    const typeof(settings[0]) *s = &settings[i];
    g_autofree char *whole = g_strdup_printf(
        GRIDDER "%s ! application/x-astro-uvgrid,touched-only=false ! astrofft name=f ! "
                "astroimage %s ! fakesink name=sink",
        s->gridder, s->image);
    g_autofree char *part = g_strdup_printf(
        GRIDDER "%s ! astrofft name=f ! astroimage %s ! fakesink name=sink", s->gridder, s->image);
    Agreed of_whole, of_part;
    g_autoptr(GByteArray) expected = run(whole, backend, &of_whole, TRUE);
    g_autoptr(GByteArray) found = run(part, backend, &of_part, TRUE);
    g_assert_false(of_whole.touched || of_whole.rows || of_whole.poisoned);
    g_assert_true(of_part.touched && of_part.rows);
    g_assert_cmpuint(of_part.poisoned, >, 0);
    g_assert_cmpfloat(test_bytes_distance(found, expected, s->is_double), <=,
                      s->is_double ? 1e-12 : most);
  }
}

/* ---- who agrees ---- */

#define IMAGE " ! astroimage ! fakesink name=sink"
#define ASIDE " t. ! queue ! fakesink async=false"

static const struct {
  const char *line;
  gboolean touched, rows;
} lines[] = {
  { GRIDDER "size=96 ! queue ! astrofft name=f ! queue" IMAGE, TRUE, TRUE },
  { GRIDDER "size=96 ! identity ! queue ! astrofft name=f centred=true ! identity" IMAGE, TRUE,
    TRUE },
  { GRIDDER "size=96 ! application/x-astro-uvgrid ! astrofft name=f ! "
            "application/x-astro-uvgrid" IMAGE,
    TRUE, TRUE },
  { GRIDDER "size=96 ! tee name=t ! queue ! astrofft name=f" IMAGE, TRUE, TRUE },
  /* The capsfilter asks for something else. */
  { GRIDDER "size=96 ! astrofft name=f ! application/x-astro-uvgrid,layout=plane:pol:y:x" IMAGE,
    TRUE, FALSE },
  /* Somebody else reads it too. */
  { GRIDDER "size=96 ! tee name=t ! queue ! astrofft name=f" IMAGE ASIDE, FALSE, TRUE },
  { GRIDDER "size=96 ! astrofft name=f ! tee name=t ! queue" IMAGE ASIDE, TRUE, FALSE },
  /* All who read it take maps: both of them, and through an element that passes grids as they are.
   */
  { GRIDDER "size=96 ! tee name=t ! queue ! astrofft name=f" IMAGE
            " t. ! queue ! astrofft ! astroimage ! fakesink async=false",
    TRUE, TRUE },
  { GRIDDER "size=96 ! astroconvert ! astrofft name=f" IMAGE, TRUE, TRUE },
  { GRIDDER "size=96 ! astrotranspose ! astrofft name=f ! astrotranspose" IMAGE, TRUE, FALSE },
  /* Nobody says who reads. */
  { GRIDDER "size=96 ! identity drop-allocation=true ! astrofft name=f" IMAGE, FALSE, TRUE },
  /* Transforms of another kind. */
  { GRIDDER "size=96 ! astrofft name=f axes=u,v" IMAGE, FALSE, FALSE },
  { GRIDDER "size=96 ! astrofft axes=u ! astrofft name=f axes=v" IMAGE, FALSE, FALSE },
};

static void test_lines(void)
{
  Agreed agreed;
  g_autoptr(GByteArray) expected =
      run(GRIDDER "size=96 ! application/x-astro-uvgrid,touched-only=false ! astrofft name=f" IMAGE,
          "cpu", &agreed, FALSE);
  for (guint i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_autoptr(GByteArray) found = run(lines[i].line, "cpu", &agreed, FALSE);
    g_test_message("%s", lines[i].line);
    g_assert_cmpint(agreed.touched, ==, lines[i].touched);
    g_assert_cmpint(agreed.rows, ==, lines[i].rows);
    g_assert_cmpfloat(test_bytes_distance(found, expected, FALSE), <=, 3e-6);
  }
}

/* Other readers get whole grids and whole transforms. */
static void test_others(void)
{
  static const char *const others[] = {
    GRIDDER "size=96 ! fakesink name=sink",
    GRIDDER "size=96 ! astrofft name=f ! fakesink name=sink",
    GRIDDER "size=96 ! astrofft name=f centred=false ! fakesink name=sink",
    GRIDDER "size=96 algorithm=wprojection w-planes=4 ! astrofft name=f ! fakesink name=sink",
    GRIDDER "size=24 algorithm=direct ! astrofft name=f" IMAGE,
  };
  static const gboolean touched[] = { FALSE, TRUE, FALSE, FALSE, FALSE };
  for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
    g_autofree char *filtered = test_replace(
        others[i], " ! astrofft", " ! application/x-astro-uvgrid,touched-only=false ! astrofft");
    Agreed agreed;
    g_autoptr(GByteArray) found = run(others[i], "cpu", &agreed, FALSE);
    g_assert_cmpint(agreed.touched, ==, touched[i]);
    g_assert_false(agreed.rows);
    g_autoptr(GByteArray) expected = run(filtered, "cpu", &agreed, FALSE);
    g_assert_false(agreed.touched);
    g_assert_cmpfloat(test_bytes_distance(found, expected, FALSE), <=, 3e-6);
  }
}

/* Beside an astroimage, which looks at the middle alone. */
static void test_aside(void)
{
  Agreed agreed;
  g_autoptr(GByteArray) expected =
      run(GRIDDER "size=96 ! astrofft name=f ! fakesink name=sink", "cpu", &agreed, FALSE);
  g_autoptr(GByteArray) found =
      run(GRIDDER "size=96 ! astrofft name=f ! tee name=t ! queue ! astroimage ! "
                  "fakesink async=false t. ! queue ! fakesink name=sink",
          "cpu", &agreed, FALSE);
  g_assert_false(agreed.rows);
  g_assert_cmpfloat(test_bytes_distance(found, expected, FALSE), <=, 3e-6);
}

/* A reader other than astrofft, which may take maps or not. */
static void test_other_reader(void)
{
  for (guint takes = 0; takes < 2; takes++) {
    GstHarness *h = gst_harness_new_parse(SOURCE GRIDDER "size=96 backend=cpu");
    if (takes)
      gst_harness_add_propose_allocation_meta(h, ASTRO_GRID_META_API, NULL);
    gst_harness_play(h);
    GstBuffer *plane = gst_harness_pull(h);
    g_assert_nonnull(plane);
    g_assert_cmpint(astro_buffer_get_grid(plane)->touched != NULL, ==, takes);
    gst_buffer_unref(plane);
    gst_harness_teardown(h);
  }
}

/* ---- readers that come late ---- */

typedef struct {
  GstElement *pipeline;
  guint left; /* dumps until somebody else is linked */
  GByteArray *read;
} Late;

static GstPadProbeReturn link_late(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Late *late = data;
  if (late->left-- > 1)
    return GST_PAD_PROBE_OK;
  g_autoptr(GstElement) tee = gst_bin_get_by_name(GST_BIN(late->pipeline), "t");
  GstElement *sink = gst_element_factory_make("fakesink", NULL);
  g_object_set(sink, "async", FALSE, "signal-handoffs", TRUE, NULL);
  g_signal_connect(sink, "handoff", G_CALLBACK(test_append), late->read);
  gst_bin_add(GST_BIN(late->pipeline), sink);
  g_assert_true(gst_element_sync_state_with_parent(sink));
  g_assert_true(gst_element_link(tee, sink));
  return GST_PAD_PROBE_REMOVE;
}

/* An element that is linked while a grid is half made gets all of it. The grid does not end there,
 * and cumulative grids do not begin anew. */
static void test_late(gconstpointer given)
{
  g_autofree char *line = g_strdup_printf(
      SOURCE GRIDDER "%s ! tee name=t ! queue ! astrofft name=f" IMAGE, (const char *)given);
  g_autofree char *plain =
      g_strdup_printf(GRIDDER "%s ! astrofft name=f" IMAGE, (const char *)given);
  g_autofree char *whole = g_strdup_printf(GRIDDER "%s ! fakesink name=sink", (const char *)given);
  Agreed agreed;
  g_autoptr(GByteArray) image = run(plain, "cpu", &agreed, FALSE);
  g_autoptr(GByteArray) grid = run(whole, "cpu", &agreed, FALSE);
  g_autoptr(GByteArray) read = g_byte_array_new(), made = g_byte_array_new();
  Late late = { gst_parse_launch(line, NULL), 5, read };
  set_backends(late.pipeline, "cpu");
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(late.pipeline), "sink");
  g_autoptr(GstElement) gridder = gst_bin_get_by_name(GST_BIN(late.pipeline), "g");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(gridder, "sink");
  g_object_set(sink, "signal-handoffs", TRUE, NULL);
  g_signal_connect(sink, "handoff", G_CALLBACK(test_append), made);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, link_late, &late, NULL);
  gst_element_set_state(late.pipeline, GST_STATE_PLAYING);
  g_autofree char *failed = test_wait(late.pipeline);
  g_assert_cmpstr(failed, ==, NULL);
  test_stop(late.pipeline);
  g_assert_cmpfloat(test_bytes_distance(made, image, FALSE), <=, 3e-6);
  g_assert_cmpuint(read->len, >, 0);
  g_assert_cmpmem(read->data, read->len, grid->data + grid->len - read->len, read->len);
}

/* ---- backends ---- */

/* Each stage may be one of another plugin. */
static void test_backends(void)
{
  static const char *const names[] = { "reference", "cpu", "cuda" };
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  const guint n = device ? 3 : 2;
  g_autoptr(GByteArray) expected = NULL;
  for (guint i = 0; i < n * n * n; i++) {
    g_autofree char *line = g_strdup_printf(
        GRIDDER "backend=%s size=24 stokes=IQUV ! astrofft name=f backend=%s ! astroimage "
                "backend=%s ! fakesink name=sink",
        names[i % n], names[i / n % n], names[i / n / n]);
    Agreed agreed;
    GByteArray *found = run(line, NULL, &agreed, i > 0);
    g_test_message("%s", line);
    g_assert_true(agreed.touched && agreed.rows);
    if (expected)
      g_assert_cmpfloat(test_bytes_distance(found, expected, FALSE), <=, 3e-5);
    if (expected)
      g_byte_array_unref(found);
    else
      expected = found;
  }
}

/* ---- by hand ---- */

enum { SIZE = 40, TILES = 3 };

#define GRID                                                                                       \
  "application/x-astro-uvgrid,format=CF32LE,layout=%s,pols=2,planes=2,channels=1,width=40,"        \
  "height=40,cell=12.5,image-size=32,products=(string)XX:YY,touched-only=%s%s"

static GstBuffer *by_hand(gboolean with_map, gboolean poisoned)
{
  const gsize n = 2 * 2 * SIZE * SIZE;
  float *cells = g_new0(float, 2 * n);
  GstBuffer *map = gst_buffer_new_allocate(NULL, 2 * TILES * TILES, NULL);
  gst_buffer_memset(map, 0, 0, 2 * TILES * TILES);
  gst_buffer_memset(map, 4, 1, 1);     /* the middle of plane 0 */
  gst_buffer_memset(map, 9 + 2, 1, 1); /* a corner of plane 1 */
  for (gsize i = 0; i < n; i++) {
    const gsize u = i % SIZE / ASTRO_GRID_TILE, v = i / SIZE % SIZE / ASTRO_GRID_TILE;
    const gboolean is_first = i < n / 2, touched = is_first ? u == 1 && v == 1 : u == 2 && v == 0;
    cells[2 * i] = touched ? (float)(i % 7) : poisoned ? NAN : 0;
    cells[2 * i + 1] = touched ? (float)(i % 5) : 0;
  }
  GstBuffer *buffer = gst_buffer_new_wrapped(cells, 2 * n * sizeof *cells);
  AstroGridMeta *meta = astro_buffer_add_grid(buffer, 2);
  meta->weights[0] = meta->weights[1] = 3;
  meta->w_step = 0.5;
  meta->planes = 2;
  if (with_map)
    meta->touched = map;
  else
    gst_buffer_unref(map);
  return buffer;
}

static GByteArray *image_by_hand(const char *touched_only, gboolean with_map, gboolean poisoned)
{
  GstHarness *h = gst_harness_new_parse("astrofft ! astroimage");
  g_autofree char *caps = g_strdup_printf(GRID, "plane:pol:v:u", touched_only, "");
  gst_harness_set_src_caps_str(h, caps);
  g_assert_cmpint(gst_harness_push(h, by_hand(with_map, poisoned)), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  GByteArray *all = test_pull_all(h);
  gst_harness_teardown(h);
  return all;
}

/* Two planes in a buffer, each with its map; and grids of other elements, which have none. */
static void test_by_hand(void)
{
  g_autoptr(GByteArray) whole = image_by_hand("false", FALSE, FALSE);
  g_autoptr(GByteArray) part = image_by_hand("true", TRUE, TRUE);
  g_autoptr(GByteArray) without = image_by_hand("true", FALSE, FALSE);
  g_autoptr(GByteArray) ignored = image_by_hand("false", TRUE, FALSE);
  g_assert_cmpfloat(test_bytes_distance(part, whole, FALSE), <=, 3e-6);
  g_assert_cmpfloat(test_bytes_distance(without, whole, FALSE), <=, 3e-6);
  g_assert_cmpmem(ignored->data, ignored->len, whole->data, whole->len);
}

/* An element that is linked between the planes of an image does not end it: astroimage has made a
 * part of it. */
static void test_between_planes(void)
{
  g_autoptr(GByteArray) expected = image_by_hand("true", FALSE, FALSE);
  GstHarness *h = gst_harness_new_parse("astrofft ! tee name=t ! astroimage");
  g_autoptr(GstElement) tee = gst_harness_find_element(h, "tee");
  g_autofree char *caps = g_strdup_printf(GRID, "plane:pol:v:u", "true", "");
  g_autofree char *one = test_replace(caps, "planes=2", "planes=1");
  gst_harness_set_src_caps_str(h, one);
  for (guint plane = 0; plane < 2; plane++) {
    GstBuffer *both = by_hand(FALSE, FALSE);
    const gsize half = gst_buffer_get_size(both) / 2;
    const AstroGridMeta *meta = astro_buffer_get_grid(both);
    GstBuffer *in = gst_buffer_copy_region(both, GST_BUFFER_COPY_MEMORY, plane * half, half);
    AstroGridMeta *own = astro_buffer_add_grid(in, meta->n_weights);
    memcpy(own->weights, meta->weights, meta->n_weights * sizeof *own->weights);
    own->w = meta->w + plane * meta->w_step;
    own->w_step = meta->w_step;
    own->plane = plane;
    own->planes = 2;
    gst_buffer_unref(both);
    g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_OK);
    if (plane == 0) {
      GstElement *other = gst_element_factory_make("fakesink", NULL);
      g_object_set(other, "async", FALSE, NULL);
      gst_bin_add(GST_BIN(h->element), other);
      g_assert_true(gst_element_sync_state_with_parent(other));
      g_assert_true(gst_element_link(tee, other));
    }
  }
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_autoptr(GByteArray) all = test_pull_all(h);
  g_assert_cmpmem(all->data, all->len, expected->data, expected->len);
  gst_harness_teardown(h);
}

/* ---- what is refused ---- */

static void test_errors(void)
{
  static const struct {
    const char *element, *layout, *touched_only, *more, *says;
    gboolean pushes;
  } cases[] = {
    { "astroimage", "plane:pol:v:x", "false", "", "touched-only=true", FALSE },
    { "astrofft axes=u", "plane:pol:v:u", "true", "", "touched-only=true", FALSE },
    { "astrofft", "pol:plane:v:u", "true", "", "touched-only=true", FALSE },
    { "astrofft", "plane:channel:pol:v:u", "true", "", "expected 18", TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    GstHarness *h = gst_harness_new_parse(cases[i].element);
    GstBus *bus = gst_bus_new();
    g_autofree char *caps =
        g_strdup_printf(GRID, cases[i].layout, cases[i].touched_only, cases[i].more);
    gst_element_set_bus(h->element, bus);
    gst_harness_set_src_caps_str(h, caps);
    if (cases[i].pushes) {
      GstBuffer *in = by_hand(TRUE, TRUE);
      gst_buffer_set_size(astro_buffer_get_grid(in)->touched, 17);
      g_assert_cmpint(gst_harness_push(h, in), ==, GST_FLOW_ERROR);
    }
    g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(message);
    gst_message_parse_error(message, &error, NULL);
    test_says(error->message, cases[i].says);
    gst_element_set_bus(h->element, NULL);
    gst_object_unref(bus);
    gst_harness_teardown(h);
  }
}

static void add_tests(void)
{
  g_test_add_data_func("/touched/images", "cpu", test_images);
  if (test_has_device("/touched/images/cuda"))
    g_test_add_data_func("/touched/images/cuda", "cuda", test_images);
  g_test_add_func("/touched/lines", test_lines);
  g_test_add_func("/touched/others", test_others);
  g_test_add_func("/touched/aside", test_aside);
  g_test_add_func("/touched/other-reader", test_other_reader);
  g_test_add_data_func("/touched/late", "size=96", test_late);
  g_test_add_data_func("/touched/late/cumulative", "size=96 interval=4 cumulative=true", test_late);
  g_test_add_func("/touched/backends", test_backends);
  g_test_add_func("/touched/by-hand", test_by_hand);
  g_test_add_func("/touched/between-planes", test_between_planes);
  g_test_add_func("/touched/refused", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
