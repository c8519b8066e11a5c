/* astrogridder on several devices: the grids that they make together are those of one. */
#include "tests/elements/astrogridder.h"
#include "tests/elements/fake-devices.h"

#include <math.h>

typedef struct {
  GPtrArray *grids; /* GstBuffer */
  GstStructure *told;
} Made;

static void made_clear(Made *made)
{
  g_ptr_array_unref(made->grids);
  g_clear_pointer(&made->told, gst_structure_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Made, made_clear)

/* Some are not finite. */
static complex float *predict(void)
{
  complex float *all = test_predict(0.02, 0.01);
  for (guint i = 11; i < TEST_DUMPS * TEST_VALUES; i += 97)
    all[i] = NAN;
  return all;
}

static GstStructure *take_message(GstBus *bus, const char *name)
{
  GstStructure *found = NULL;
  GstMessage *message;
  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT))) {
    if (gst_structure_has_name(gst_message_get_structure(message), name)) {
      g_clear_pointer(&found, gst_structure_free);
      found = gst_structure_copy(gst_message_get_structure(message));
    }
    gst_message_unref(message);
  }
  return found;
}

/* One dump is lost. */
static GstFlowReturn push_all(TestRig *rig, const complex float *all, gboolean cut)
{
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint d = 0; d < TEST_DUMPS && flow == GST_FLOW_OK; d += cut ? 1 : 2) {
    GstBuffer *dumps = test_dumps(all, d, cut ? 1 : 2);
    if (cut && d == 3)
      GST_BUFFER_FLAG_SET(dumps, GST_BUFFER_FLAG_GAP);
    flow = gst_harness_push(rig->h, dumps);
  }
  return flow;
}

static Made make(const char *settings, const char *devices, gboolean cut)
{
  g_autofree char *with = g_strdup_printf("%s devices=%s", settings, devices);
  g_autofree complex float *all = predict();
  Made made = { g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref), NULL };
  GstBuffer *grid;
  TestRig rig;
  test_rig_open(&rig, with, NULL);
  test_rig_start(&rig, TRUE);
  g_assert_cmpint(push_all(&rig, all, cut), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
  while ((grid = gst_harness_try_pull(rig.h)))
    g_ptr_array_add(made.grids, grid);
  made.told = take_message(rig.bus, "astro-gridder");
  test_rig_close(&rig);
  return made;
}

static void assert_same_meta(const AstroGridMeta *a, const AstroGridMeta *b)
{
  g_assert_cmpuint(a->plane, ==, b->plane);
  g_assert_cmpuint(a->planes, ==, b->planes);
  g_assert_cmpfloat(a->w, ==, b->w);
  g_assert_cmpfloat(a->w_step, ==, b->w_step);
  g_assert_cmpuint(a->used, ==, b->used);
  g_assert_cmpuint(a->outside, ==, b->outside);
  g_assert_cmpuint(a->flagged, ==, b->flagged);
  g_assert_cmpuint(a->not_finite, ==, b->not_finite);
  g_assert_cmpuint(a->n_weights, ==, b->n_weights);
  for (guint i = 0; i < a->n_weights; i++)
    g_assert_cmpfloat(fabs(a->weights[i] - b->weights[i]), <=, 1e-12 * fabs(a->weights[i]));
}

static void assert_same_cells(GstBuffer *a, GstBuffer *b, gboolean exact)
{
  GstMapInfo x, y;
  g_assert_true(gst_buffer_map(a, &x, GST_MAP_READ));
  g_assert_true(gst_buffer_map(b, &y, GST_MAP_READ));
  g_assert_cmpuint(x.size, ==, y.size);
  if (exact) {
    g_assert_cmpmem(x.data, x.size, y.data, y.size);
  } else {
    const float *from = (const float *)x.data, *to = (const float *)y.data;
    float peak = 0, difference = 0;
    for (gsize i = 0; i < x.size / sizeof(float); i++) {
      peak = MAX(peak, fabsf(from[i]));
      difference = MAX(difference, fabsf(from[i] - to[i]));
    }
    g_test_message("%.1e of the peak", difference / peak);
    g_assert_cmpfloat(peak, >, 0);
    g_assert_cmpfloat(difference, <=, 1e-6f * peak);
  }
  gst_buffer_unmap(a, &x);
  gst_buffer_unmap(b, &y);
}

static void assert_same(const Made *one, const Made *all, gboolean exact)
{
  g_assert_cmpuint(one->grids->len, >=, 1);
  g_assert_cmpuint(one->grids->len, ==, all->grids->len);
  for (guint i = 0; i < one->grids->len; i++) {
    GstBuffer *a = one->grids->pdata[i], *b = all->grids->pdata[i];
    assert_same_meta(astro_buffer_get_grid(a), astro_buffer_get_grid(b));
    assert_same_cells(a, b, exact);
    g_assert_cmpuint(GST_BUFFER_OFFSET(a), ==, GST_BUFFER_OFFSET(b));
    g_assert_cmpuint(GST_BUFFER_PTS(a), ==, GST_BUFFER_PTS(b));
    g_assert_cmpuint(GST_BUFFER_DURATION(a), ==, GST_BUFFER_DURATION(b));
  }
  g_assert_true(gst_structure_is_equal(one->told, all->told));
}

/* Planes to the last bit, sums within rounding; in one grid, in some and in ones that go on. */
static void test_same(void)
{
  static const struct {
    const char *settings;
    gboolean exact;
  } cases[] = {
    { "algorithm=wstacking", TRUE },
    { "algorithm=wstacking weighting=uniform stokes=IQUV", TRUE },
    { "algorithm=wstacking interval=2", TRUE },
    { "algorithm=wstacking interval=2 cumulative=true weighting=briggs", TRUE },
    { "algorithm=wprojection", FALSE },
    { "algorithm=wprojection stokes=IQUV", FALSE },
    { "algorithm=wprojection weighting=uniform", FALSE },
    { "algorithm=wprojection interval=2", FALSE },
    { "algorithm=wprojection interval=1", FALSE }, /* fewer dumps than devices */
    { "algorithm=direct interval=2 cumulative=true", FALSE },
    { "algorithm=direct interval=4 weighting=briggs", FALSE },
  };
  test_backend = "cuda";
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint cut = 0; cut < 2; cut++) {
      g_test_message("%s", cases[i].settings);
      g_auto(Made) one = make(cases[i].settings, "0", (gboolean)cut);
      g_auto(Made) all = make(cases[i].settings, test_several_devices(), (gboolean)cut);
      assert_same(&one, &all, cases[i].exact);
    }
}

static Made make_image(const char *gridder, const char *devices, const char *image)
{
  g_autofree char *chain = g_strdup_printf(
      "%s devices=%s ! astrofft backend=cuda devices=%s ! astroimage backend=cuda devices=%s",
      gridder, devices, devices, image);
  g_autofree complex float *all = predict();
  Made made = { g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref), NULL };
  GstBuffer *buffer;
  TestRig rig;
  test_rig_open(&rig, chain, NULL);
  test_rig_start(&rig, TRUE);
  g_assert_cmpint(push_all(&rig, all, TRUE), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(rig.h, gst_event_new_eos()));
  while ((buffer = gst_harness_try_pull(rig.h)))
    g_ptr_array_add(made.grids, buffer);
  test_rig_close(&rig);
  return made;
}

static void assert_same_images(const Made *one, const Made *all, guint n, gboolean exact)
{
  g_assert_cmpuint(one->grids->len, ==, n);
  g_assert_cmpuint(all->grids->len, ==, n);
  for (guint k = 0; k < n; k++) {
    const AstroImageMeta *a = astro_buffer_get_image(one->grids->pdata[k]),
                         *b = astro_buffer_get_image(all->grids->pdata[k]);
    assert_same_cells(one->grids->pdata[k], all->grids->pdata[k], exact);
    g_assert_cmpmem(a->weights, a->n_weights * sizeof *a->weights, b->weights,
                    b->n_weights * sizeof *b->weights);
    g_assert_cmpuint(GST_BUFFER_PTS(one->grids->pdata[k]), ==,
                     GST_BUFFER_PTS(all->grids->pdata[k]));
  }
}

/* Planes are transformed where they were made, and come to the image in their order; or each device
 * adds up its own. */
static void test_image(void)
{
  static const char *const gridders[] = { "algorithm=wstacking",
                                          "algorithm=wstacking interval=2 stokes=IQUV" };
  test_backend = "cuda";
  for (guint i = 0; i < G_N_ELEMENTS(gridders); i++) {
    g_auto(Made) one = make_image(gridders[i], "0", "0");
    g_auto(Made) all = make_image(gridders[i], test_several_devices(), "0");
    g_auto(Made) shared = make_image(gridders[i], test_several_devices(), test_several_devices());
    assert_same_images(&one, &all, i == 0 ? 1 : 3, TRUE);
    assert_same_images(&one, &shared, i == 0 ? 1 : 3, FALSE);
  }
}

/* Blocks of the host go to the devices in turn; the spectra are in order. */
static void test_spectra(void)
{
  const char *const devices[] = { "0", test_several_devices() };
  GByteArray *made[2] = { g_byte_array_new(), g_byte_array_new() };
  for (guint i = 0; i < 2; i++) {
    g_autofree char *line =
        g_strdup_printf("astrofft backend=cuda length=12 devices=%s", devices[i]);
    GstHarness *h = gst_harness_new_parse(line);
    GstBuffer *spectra;
    gst_harness_set_src_caps_str(h,
                                 "application/x-astro-voltages,format=CF32LE,layout=time:station,"
                                 "stations=3,rate=1000/1,frequency=5000.0,bandwidth=1000.0");
    for (guint b = 0; b < 9; b++) {
      GstBuffer *buffer = gst_buffer_new_allocate(NULL, 20 * 3 * 8, NULL);
      GstMapInfo map;
      g_assert_true(gst_buffer_map(buffer, &map, GST_MAP_WRITE));
      for (guint k = 0; k < 20 * 3 * 2; k++)
        ((float *)map.data)[k] = (float)((k * 7 + b * 5) % 23);
      gst_buffer_unmap(buffer, &map);
      GST_BUFFER_OFFSET(buffer) = b * 20;
      GST_BUFFER_OFFSET_END(buffer) = (b + 1) * 20;
      g_assert_cmpint(gst_harness_push(h, buffer), ==, GST_FLOW_OK);
    }
    g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
    while ((spectra = gst_harness_try_pull(h))) {
      GstMapInfo map;
      g_assert_true(gst_buffer_map(spectra, &map, GST_MAP_READ));
      g_byte_array_append(made[i], map.data, (guint)map.size);
      gst_buffer_unmap(spectra, &map);
      gst_buffer_unref(spectra);
    }
    gst_harness_teardown(h);
  }
  g_assert_cmpuint(made[0]->len, ==, 180 / 12 * 12 * 3 * 8);
  g_assert_cmpmem(made[0]->data, made[0]->len, made[1]->data, made[1]->len);
  g_byte_array_unref(made[0]);
  g_byte_array_unref(made[1]);
}

static char *error_on(GstBus *bus)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  g_assert_nonnull(message);
  gst_message_parse_error(message, &error, NULL);
  g_test_message("%s", error->message);
  return g_strdup(error->message);
}

/* The grids of all dumps, in grids of three; on which backend they were made, or an error. */
static Made make_with_free(guint64 bytes, const char *backend, const char *settings, char **active,
                           char **error)
{
  g_autofree complex float *all = predict();
  g_autofree char *with = g_strconcat("interval=3 weighting=uniform ", settings, NULL);
  Made made = { g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref), NULL };
  GstBuffer *grid;
  TestRig rig;
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  ((FakeDevice *)device)->free = bytes;
  test_backend = backend;
  test_rig_open(&rig, with, NULL);
  test_rig_start(&rig, TRUE);
  const gboolean is_made = push_all(&rig, all, TRUE) == GST_FLOW_OK;
  gst_harness_push_event(rig.h, gst_event_new_eos());
  while ((grid = gst_harness_try_pull(rig.h)))
    g_ptr_array_add(made.grids, grid);
  g_autoptr(GstElement) gridder = gst_harness_find_element(rig.h, "astrogridder");
  g_object_get(gridder, "active-backend", active, NULL);
  *error = NULL;
  if (is_made)
    made.told = take_message(rig.bus, "astro-gridder");
  else
    *error = error_on(rig.bus);
  test_rig_close(&rig);
  ((FakeDevice *)device)->free = 0;
  return made;
}

/* The number behind a word of an error. */
static guint64 bytes_behind(const char *error, const char *word)
{
  const char *at = error ? strstr(error, word) : NULL;
  g_assert_nonnull(at);
  return g_ascii_strtoull(at + strlen(word), NULL, 10);
}

static guint64 bytes_refused(guint64 had, const char *settings, const char *word)
{
  g_autofree char *active = NULL, *error = NULL;
  g_auto(Made) made = make_with_free(had, "cuda", settings, &active, &error);
  g_assert_cmpuint(made.grids->len, ==, 0);
  return bytes_behind(error, word);
}

/* A device without room for the visibilities beside the grid is not begun with: auto takes the CPU,
 * which makes the same grids, and cuda is refused with the bytes needed, which are enough. */
static void test_little_free(void)
{
  static const char *const cases[] = { "algorithm=wstacking", "algorithm=wprojection" };
  if (!test_devices_are_fake()) {
    g_test_skip("only a fake device has as much free memory as it is told to");
    return;
  }
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    const guint64 grid = bytes_refused(1000, cases[i], "channels needs ");
    const guint64 all = bytes_refused(grid + 1, cases[i], "3 dumps of visibilities, need ");
    g_autofree char *on_cpu = NULL, *on_device = NULL, *error = NULL, *other = NULL;
    g_assert_cmpuint(all, >=, grid + 3 * TEST_BASELINES * TEST_CHANNELS * 8);
    g_auto(Made) little = make_with_free(grid + 1, "auto", cases[i], &on_cpu, &error);
    g_assert_cmpstr(error, ==, NULL);
    g_assert_true(g_str_has_prefix(on_cpu, "cpu/"));
    g_auto(Made) some = make_with_free(all + 1, "auto", cases[i], &on_device, &other);
    g_assert_cmpstr(other, ==, NULL);
    g_assert_true(g_str_has_prefix(on_device, "cuda/"));
    assert_same(&some, &little, TRUE);
  }
}

/* Where a GPU does the work, the host keeps to max-memory with what lies there. */
static void test_host_memory(void)
{
  if (!test_devices_are_fake()) {
    g_test_skip("the bytes are those of fake devices");
    return;
  }
  g_autofree char *active = NULL, *error = NULL;
  const guint64 bytes = bytes_refused(0, "max-memory=2000", "what is made of it, need ");
  g_autofree char *enough = g_strdup_printf("max-memory=%" G_GUINT64_FORMAT, bytes);
  g_auto(Made) made = make_with_free(0, "cuda", enough, &active, &error);
  g_assert_cmpstr(error, ==, NULL);
  g_assert_cmpuint(made.grids->len, >, 0);
}

/* A device that fails ends the stream with an error that names it. */
static void test_failure(void)
{
  if (!test_devices_are_fake()) {
    g_test_skip("only a fake device fails when it is told to");
    return;
  }
  g_autoptr(AstroDevice) device = astro_device_open(1, NULL);
  g_autofree complex float *all = predict();
  TestRig rig;
  test_backend = "cuda";
  test_rig_open(&rig, "devices=all algorithm=wprojection", NULL);
  test_rig_start(&rig, TRUE);
  g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, 0, 1)), ==, GST_FLOW_OK);
  ((FakeDevice *)device)->lost = TRUE;
  g_assert_cmpint(gst_harness_push(rig.h, test_dumps(all, 1, 1)), ==, GST_FLOW_ERROR);
  g_autofree char *error = error_on(rig.bus);
  g_assert_nonnull(strstr(error, "fake 1"));
  test_rig_close(&rig);
}

static void add_tests(void)
{
  if (!test_has_devices())
    return;
  g_test_add_func("/astrogridder-devices/same", test_same);
  g_test_add_func("/astrogridder-devices/image", test_image);
  g_test_add_func("/astrogridder-devices/spectra", test_spectra);
  g_test_add_func("/astrogridder-devices/little-free", test_little_free);
  g_test_add_func("/astrogridder-devices/host-memory", test_host_memory);
  g_test_add_func("/astrogridder-devices/failure", test_failure); /* the last: it stays broken */
}

/* Without a GPU three fake devices take its place; a single GPU is shared by three. */
int main(int argc, char **argv)
{
  test_fake_devices("3");
  return test_run(argc, argv, add_tests);
}
