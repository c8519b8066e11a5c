/* Grids to images through CUDA stages: images and beams equal the CPU's, and only planes and
 * pictures cross the bus. Without a GPU on the fake device. */
#include <math.h>

#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "core/stream/grid.h"
#include "tests/core/fake-device.h"
#include "tests/distance.h"
#include "tests/elements/running.h"

#define SIZE 320
#define IMAGE 200
#define PRODUCTS 3
#define PLANES 5
#define GRID(layout)                                                                               \
  "application/x-astro-uvgrid,format=CF32LE,layout=" layout                                        \
  ",pols=3,width=320,height=320,cell=25.0,image-size=200,products=(string)XX:YY:PSF,"              \
  "spread=semicircle,support=6,beta=13.8,frequency=1.4e9"

/* A plane of random cells; those of the point-spread function fall off from the middle, like a
 * beam. */
static GstBuffer *make_plane(guint number)
{
  const gsize cells = PRODUCTS * SIZE * SIZE;
  float *grid = g_new(float, 2 * cells);
  g_autofree gint16 *random = g_new(gint16, 2 * cells);
  test_fill(random, 4 * cells, number);
  for (gsize i = 0; i < cells; i++) {
    double u = (double)(i % SIZE) - SIZE / 2, v = (double)(i / SIZE % SIZE) - SIZE / 2;
    gboolean psf = i / SIZE / SIZE == PRODUCTS - 1;
    double size = psf ? exp(-(u * u + 2 * v * v) / 800) : 1;
    grid[2 * i] = (float)(size * (psf ? 1 : random[2 * i] / 32768.0));
    grid[2 * i + 1] = psf ? 0 : (float)(random[2 * i + 1] / 32768.0);
  }
  GstBuffer *buffer = gst_buffer_new_wrapped(grid, 2 * cells * sizeof *grid);
  AstroGridMeta *meta = astro_buffer_add_grid(buffer, PRODUCTS);
  meta->w = number % PLANES * 3.5;
  meta->w_step = 3.5;
  meta->plane = number % PLANES;
  meta->planes = PLANES;
  for (guint i = 0; i < PRODUCTS; i++)
    meta->weights[i] = 100 + i;
  return buffer;
}

typedef struct {
  float *pixels; /* of all images */
  gsize n;
  AstroImageMeta *beams[2];
  GstBuffer *images[2];
} Result;

static Result run(const char *backend)
{
  g_autofree char *line = g_strdup_printf(
      "astrofft backend=%s ! astroimage backend=%s stokes=IQ ! identity", backend, backend);
  GstHarness *h = gst_harness_new_parse(line);
  Result result = { 0 };

  gst_harness_set_src_caps_str(h, GRID("plane:pol:v:u") ",planes=1");
  for (guint i = 0; i < 2 * PLANES; i++)
    g_assert_cmpint(gst_harness_push(h, make_plane(i)), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  result.n = PRODUCTS * IMAGE * IMAGE;
  result.pixels = g_new(float, 2 * result.n);
  for (guint i = 0; i < 2; i++) {
    result.images[i] = gst_harness_try_pull(h);
    g_assert_nonnull(result.images[i]);
    result.beams[i] = astro_buffer_get_image(result.images[i]);
    g_assert_cmpuint(gst_buffer_extract(result.images[i], 0, result.pixels + i * result.n,
                                        result.n * sizeof(float)),
                     ==, result.n * sizeof(float));
  }
  gst_harness_teardown(h);
  return result;
}

static void clear(Result *result)
{
  g_free(result->pixels);
  for (guint i = 0; i < 2; i++)
    gst_buffer_unref(result->images[i]);
}

static void test_images(void)
{
  AstroMemoryCounters before, after;
  Result cpu = run("cpu");
  astro_memory_counters(&before);
  Result cuda = run("cuda");
  astro_memory_counters(&after);

  g_assert_cmpuint(after.copies_up - before.copies_up, ==, 2 * PLANES);
  g_assert_cmpuint(after.copies_down - before.copies_down, ==, 2);
  g_assert_cmpfloat(test_distance(cuda.pixels, cpu.pixels, 2 * cpu.n * sizeof *cpu.pixels, FALSE),
                    <, 1e-6);
  for (guint i = 0; i < 2; i++) {
    g_assert_true(cpu.beams[i]->has_beam && cuda.beams[i]->has_beam);
    g_assert_cmpfloat_with_epsilon(cuda.beams[i]->major / cpu.beams[i]->major, 1, 1e-4);
    g_assert_cmpfloat_with_epsilon(cuda.beams[i]->minor / cpu.beams[i]->minor, 1, 1e-4);
    g_assert_cmpfloat_with_epsilon(cuda.beams[i]->angle, cpu.beams[i]->angle, 1e-3);
  }
  clear(&cpu);
  clear(&cuda);
}

static GstHarness *new_images(void)
{
  GstHarness *h = gst_harness_new_parse("astrofft backend=cuda ! astroimage backend=cuda");
  gst_harness_set_src_caps_str(h, GRID("plane:pol:v:u") ",planes=1");
  return h;
}

static GstHarness *push_image(guint number)
{
  GstHarness *h = new_images();
  for (guint i = 0; i < PLANES; i++)
    g_assert_cmpint(gst_harness_push(h, make_plane(number * PLANES + i)), ==, GST_FLOW_OK);
  return h;
}

/* An image leaves when it is done, though no other one follows. */
static void test_handed_out(void)
{
  GstHarness *h = push_image(0);
  for (guint i = 1; i < 3; i++) {
    g_autoptr(GstBuffer) image = gst_harness_pull(h); /* which gives up after a minute */
    g_assert_nonnull(image);
    g_assert_cmpuint(GST_BUFFER_OFFSET(image), ==, i - 1);
    for (guint k = 0; k < PLANES; k++)
      g_assert_cmpint(gst_harness_push(h, make_plane(i * PLANES + k)), ==, GST_FLOW_OK);
  }
  gst_harness_teardown(h);
}

/* A stream that stops, is flushed or ends may have an image on its way out. */
static void test_handed_out_late(void)
{
  for (guint i = 0; i < 12; i++) {
    GstHarness *h = push_image(i);
    if (i % 3 == 1) {
      gst_harness_push_event(h, gst_event_new_flush_start());
      gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
    }
    if (i % 3 == 2) {
      gst_harness_push_event(h, gst_event_new_eos());
      g_assert_cmpuint(gst_harness_buffers_received(h), ==, 1);
    }
    gst_harness_teardown(h);
  }
}

/* Upstream hears with its next planes how an image was received. */
static void test_answered(void)
{
  GstHarness *h = push_image(0);
  gst_buffer_unref(gst_harness_pull(h));
  gst_pad_set_active(h->sinkpad, FALSE);
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = PLANES; i < 100 * PLANES && flow == GST_FLOW_OK; i++) {
    flow = gst_harness_push(h, make_plane(i));
    g_usleep(1000);
  }
  g_assert_cmpint(flow, ==, GST_FLOW_FLUSHING);
  gst_harness_teardown(h);
}

static gint refused;

static GstFlowReturn refuse(GstPad *pad, GstObject *parent, GstBuffer *image)
{
  gst_buffer_unref(image);
  g_atomic_int_inc(&refused);
  return GST_FLOW_NOT_LINKED;
}

/* Nothing follows an image that nobody takes: an error says so, unless upstream has heard of it. */
static void test_not_taken(gconstpointer follows)
{
  GstHarness *h = new_images();
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  gst_pad_set_chain_function(h->sinkpad, refuse);
  g_atomic_int_set(&refused, 0);
  for (guint i = 0; i < PLANES; i++)
    g_assert_cmpint(gst_harness_push(h, make_plane(i)), ==, GST_FLOW_OK);
  for (guint i = 0; i < 10000 && !g_atomic_int_get(&refused); i++)
    g_usleep(10000);
  g_assert_cmpint(g_atomic_int_get(&refused), ==, 1);
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint i = PLANES; follows && i < 100 * PLANES && flow == GST_FLOW_OK; i++)
    flow = gst_harness_push(h, make_plane(i));
  g_assert_cmpint(flow, ==, follows ? GST_FLOW_NOT_LINKED : GST_FLOW_OK);
  gst_harness_push_event(h, gst_event_new_eos());
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_assert_true((message != NULL) == !follows);
  gst_element_set_bus(h->element, NULL);
  gst_object_unref(bus);
  gst_harness_teardown(h);
}

/* An image that is lost with its device does not leave. */
static void test_lost(void)
{
  g_autoptr(AstroDevice) device = astro_device_open(0, NULL);
  fake_hold(device->down, TRUE);
  GstHarness *h = push_image(0);
  GstBus *bus = gst_bus_new();
  gst_element_set_bus(h->element, bus);
  fake_lose(device, TRUE);
  fake_hold(device->down, FALSE);
  g_usleep(100000); /* for a thread that would send it all the same */
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 0);
  gst_harness_push_event(h, gst_event_new_eos());
  g_assert_cmpuint(gst_harness_buffers_received(h), ==, 0);
  gst_element_set_bus(h->element, NULL);
  gst_object_unref(bus);
  gst_harness_teardown(h);
  astro_memory_reap();
  fake_lose(device, FALSE);
}

/* Voltages that come in whole transforms stay on the device too. */
static void test_spectra(void)
{
  AstroMemoryCounters before, after;
  GstHarness *h = gst_harness_new_parse(
      "astrotranspose backend=cuda ! "
      "application/x-astro-voltages,format=CF32LE,layout=station:time,stations=3,rate=1000/1 ! "
      "astrofft backend=cuda length=64 ! identity");
  gst_harness_set_src_caps_str(
      h, "application/x-astro-voltages,format=CF32LE,layout=time:station,stations=3,rate=1000/1");
  astro_memory_counters(&before);
  for (guint i = 0; i < 8; i++) {
    GstBuffer *block = gst_buffer_new_allocate(NULL, 3 * 640 * 8, NULL);
    gst_buffer_memset(block, 0, 0x3f, 3 * 640 * 8);
    g_assert_cmpint(gst_harness_push(h, block), ==, GST_FLOW_OK);
  }
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_autoptr(GByteArray) got = test_pull_all(h);
  astro_memory_counters(&after);
  const float *bins = (const float *)got->data;
  g_assert_cmpuint(got->len, ==, 8 * 3 * 640 * 8);
  for (guint i = 0; i < got->len / 4; i++) {
    guint32 bits = 0x3f3f3f3f;
    float value, expected;
    memcpy(&value, &bits, sizeof value);
    expected = i / 2 % 64 == 32 ? 64 * value : 0;
    g_assert_cmpfloat_with_epsilon(bins[i], expected, 1e-4);
  }
  g_assert_cmpuint(after.copies_up - before.copies_up, ==, 8);
  g_assert_cmpuint(after.copies_down - before.copies_down, ==, 8);
  gst_harness_teardown(h);
}

static void add_tests(void)
{
  if (!test_has_device("/imaging-device/any"))
    return;
  g_test_add_func("/imaging-device/images", test_images);
  g_test_add_func("/imaging-device/handed-out", test_handed_out);
  g_test_add_func("/imaging-device/handed-out-late", test_handed_out_late);
  g_test_add_func("/imaging-device/answered", test_answered);
  g_test_add_data_func("/imaging-device/last-not-taken", NULL, test_not_taken);
  g_test_add_data_func("/imaging-device/not-taken", "more", test_not_taken);
  g_test_add_func("/imaging-device/spectra", test_spectra);
  if (g_getenv("ASTRO_CUDA_MODULE"))
    g_test_add_func("/imaging-device/lost", test_lost);
}

int main(int argc, char **argv)
{
  test_use_fake_device();
  return test_run(argc, argv, add_tests);
}
