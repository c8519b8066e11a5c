/* Images through astrofitssink and back through astrofitssrc: caps, pixels, beams, times, places.
 */
#include "core/fits/fits.h"
#include "core/stream/grid.h"
#include "tests/core/fits/uvfits.h"
#include "tests/elements/elements.h"

#include <gst/base/gstbasesrc.h>
#include <math.h>
#include <unistd.h>

#define SIZE 12
#define PRODUCTS 4
#define BYTES (SIZE * SIZE * PRODUCTS * sizeof(float))
#define CAPS                                                                                       \
  "application/x-astro-image,format=F32LE,layout=pol:y:x,width=12,height=12,pols=4,"               \
  "frequency=(double)1.5e8,bandwidth=(double)1e6,pixel=(double)0.0009765625,"                      \
  "centre-l=(double)0.001953125,centre-m=(double)0,products=I:I-MODEL:I-RESIDUAL:PSF,"             \
  "psf=(boolean)true"

static GstBuffer *new_image(guint i)
{
  float *pixels = g_malloc(BYTES);
  for (guint p = 0; p < BYTES / sizeof *pixels; p++)
    pixels[p] = (float)(1000 * i + p);
  GstBuffer *buffer = gst_buffer_new_wrapped(pixels, BYTES);
  AstroImageMeta *image = astro_buffer_add_image(buffer, 1);
  image->has_beam = TRUE;
  image->major = 0.003 + i * 1e-3;
  image->minor = 0.002;
  image->angle = 0.5;
  image->border = i;
  GST_BUFFER_PTS(buffer) = i * 5 * GST_SECOND;
  GST_BUFFER_DURATION(buffer) = (i + 5) * GST_SECOND;
  return buffer;
}

static void write_images(TestPlace *place, guint n)
{
  g_autofree char *line = g_strdup_printf("astrofitssink location=%s", place->path);
  GstHarness *h = gst_harness_new_parse(line);
  g_autoptr(AstroObservation) o = test_observation(3);
  gst_harness_set_src_caps_str(h, CAPS);
  gst_harness_push_event(h, astro_observation_to_event(o));
  for (guint i = 0; i < n; i++)
    g_assert_cmpint(gst_harness_push(h, new_image(i)), ==, GST_FLOW_OK);
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  gst_harness_teardown(h);
}

static void expect_image(GstBuffer *buffer, guint i)
{
  g_autoptr(GstBuffer) expected = new_image(i);
  const AstroImageMeta *found = astro_buffer_get_image(buffer),
                       *wanted = astro_buffer_get_image(expected);
  GstMapInfo a, b;
  g_assert_true(gst_buffer_map(buffer, &a, GST_MAP_READ) &&
                gst_buffer_map(expected, &b, GST_MAP_READ));
  g_assert_cmpmem(a.data, a.size, b.data, b.size);
  gst_buffer_unmap(buffer, &a);
  gst_buffer_unmap(expected, &b);
  g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, GST_BUFFER_PTS(expected));
  g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, GST_BUFFER_DURATION(expected));
  g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i);
  g_assert_nonnull(found);
  g_assert_true(found->has_beam);
  g_assert_cmpfloat_with_epsilon(found->major, wanted->major, 1e-15);
  g_assert_cmpfloat_with_epsilon(found->minor, wanted->minor, 1e-15);
  g_assert_cmpfloat_with_epsilon(found->angle, wanted->angle, 1e-15);
  g_assert_cmpuint(found->border, ==, wanted->border);
}

/* Doubles in caps go through degrees: the last bit may differ. */
static void expect_caps(const GstCaps *found, const GstCaps *wanted)
{
  const GstStructure *a = gst_caps_get_structure(found, 0), *b = gst_caps_get_structure(wanted, 0);
  g_assert_cmpint(gst_structure_n_fields(a), ==, gst_structure_n_fields(b));
  for (gint i = 0; i < gst_structure_n_fields(b); i++) {
    const char *field = gst_structure_nth_field_name(b, (guint)i);
    const GValue *x = gst_structure_get_value(a, field), *y = gst_structure_get_value(b, field);
    g_test_message("%s", field);
    g_assert_nonnull(x);
    if (G_VALUE_HOLDS_DOUBLE(y))
      g_assert_true(fabs(g_value_get_double(x) - g_value_get_double(y)) <=
                    4e-16 * fabs(g_value_get_double(y)));
    else
      g_assert_cmpint(gst_value_compare(x, y), ==, GST_VALUE_EQUAL);
  }
}

static void there_and_back(TestPlace *place, gconstpointer data)
{
  enum { N = 3 };
  write_images(place, N);
  g_autofree char *line = g_strdup_printf("astrofitssrc location=%s", place->path);
  GstHarness *h = gst_harness_new_parse(line);
  g_autoptr(GstCaps) wanted = gst_caps_from_string(CAPS);
  g_autoptr(AstroObservation) o = test_observation(3);
  gst_harness_play(h);
  for (guint i = 0; i < N; i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    expect_image(buffer, i);
    gst_buffer_unref(buffer);
  }
  g_autoptr(GstCaps) caps = gst_pad_get_current_caps(h->sinkpad);
  expect_caps(caps, wanted);
  g_autoptr(GstEvent) event = NULL;
  while ((event = gst_harness_pull_event(h)) && !astro_event_is_observation(event))
    gst_clear_event(&event);
  g_autoptr(AstroObservation) found = astro_observation_from_event(event, NULL);
  g_assert_nonnull(found);
  g_assert_cmpfloat_with_epsilon(found->phase_ra, o->phase_ra, 1e-15);
  g_assert_cmpfloat_with_epsilon(found->phase_dec, o->phase_dec, 1e-15);
  g_assert_cmpint(found->start_mjd, ==, o->start_mjd);
  g_assert_cmpuint(found->start_ns, ==, o->start_ns);
  gst_harness_teardown(h);
}

static void told(TestPlace *place, gconstpointer data)
{
  g_autofree char *line = g_strdup_printf("astrofitssink location=%s", place->path);
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = gst_harness_new_parse(line);
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, CAPS);
  gst_harness_push(h, new_image(0));
  gst_harness_push(h, new_image(1));
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ELEMENT);
  g_autoptr(GstStructure) wanted = gst_structure_new(
      "astro-file", "location", G_TYPE_STRING, place->path, "format", G_TYPE_STRING, "FITS image",
      "images", G_TYPE_UINT64, (guint64)2, "width", G_TYPE_INT, SIZE, "height", G_TYPE_INT, SIZE,
      "channels", G_TYPE_INT, 1, "products", G_TYPE_STRING, "I:I-MODEL:I-RESIDUAL:PSF", NULL);
  g_assert_true(gst_structure_is_equal(gst_message_get_structure(message), wanted));
  gst_harness_teardown(h);
  gst_bus_set_flushing(bus, TRUE);
}

static void bad_products(TestPlace *place, gconstpointer data)
{
  g_autofree char *line = g_strdup_printf("astrofitssink location=%s", place->path);
  g_autoptr(GstBus) bus = gst_bus_new();
  GstHarness *h = gst_harness_new_parse(line);
  gst_element_set_bus(h->element, bus);
  gst_harness_set_src_caps_str(h, "application/x-astro-image,format=F32LE,layout=pol:y:x,width=12,"
                                  "height=12,pols=4,products=A:B:C:D");
  g_assert_cmpint(gst_harness_push(h, new_image(0)), ==, GST_FLOW_ERROR);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  gst_message_parse_error(message, &error, NULL);
  g_assert_nonnull(strstr(error->message, "products has A"));
  g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
  gst_harness_teardown(h);
  gst_bus_set_flushing(bus, TRUE);
}

/* An image with that many rows, with holes for pixels. */
static void make_hollow(const char *path, guint width, guint rows)
{
  g_autoptr(GString) header = g_string_new(NULL);
  const struct {
    const char *name;
    guint value;
  } cards[] = { { "NAXIS", 2 }, { "NAXIS1", width }, { "NAXIS2", rows } };
  g_string_append_printf(header, "%-8s= %20s%50s", "SIMPLE", "T", "");
  g_string_append_printf(header, "%-8s= %20d%50s", "BITPIX", -32, "");
  for (guint i = 0; i < G_N_ELEMENTS(cards); i++)
    g_string_append_printf(header, "%-8s= %20u%50s", cards[i].name, cards[i].value, "");
  g_string_append_printf(header, "%-80s", "END");
  g_string_append_printf(header, "%*s", (gint)(2880 - header->len), "");
  g_assert_true(g_file_set_contents(path, header->str, (gssize)header->len, NULL));
  const guint64 bytes = (guint64)width * rows * sizeof(float);
  g_assert_cmpint(truncate(path, (off_t)(2880 + (bytes + 2879) / 2880 * 2880)), ==, 0);
}

/* A source that has opened its file, but whose caps nobody takes. */
static GstElement *open_file(const char *path)
{
  g_autofree char *line = g_strdup_printf(
      "astrofitssrc name=source location=%s ! application/x-astro-image,width=1 ! fakesink", path);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PAUSED);
  g_autoptr(GstMessage) message =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR | GST_MESSAGE_ASYNC_DONE);
  g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_ERROR);
  return pipeline;
}

/* Blocks too large for the sizes of GStreamer's pools come from no pool, whoever offers one: a pool
 * of the largest size would hold several such blocks for nothing. */
static void large(TestPlace *place, gconstpointer data)
{
  static const guint rows[] = { 32760, 32776 };
  for (guint i = 0; i < 2 * G_N_ELEMENTS(rows); i++) {
    const gboolean is_large = rows[i / 2] > 32768;
    g_autoptr(GstCaps) caps = gst_caps_from_string(CAPS);
    GstQuery *query = gst_query_new_allocation(caps, TRUE);
    g_autoptr(GstBufferPool) offered = gst_buffer_pool_new();
    make_hollow(place->path, 32768, rows[i / 2]);
    if (i % 2)
      gst_query_add_allocation_pool(query, offered, 0, 2, 0);
    GstElement *pipeline = open_file(place->path);
    g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
    g_assert_true(GST_BASE_SRC_GET_CLASS(source)->decide_allocation(GST_BASE_SRC(source), query));
    g_assert_cmpuint(gst_query_get_n_allocation_pools(query), ==, is_large ? 0 : 1);
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_query_unref(query);
    gst_object_unref(pipeline);
  }
}

/* An image that is complete at the stream's end, beside the visibilities it is made of: neither
 * file waits for the first buffer of the other. */
static void two_files(TestPlace *place, gconstpointer data)
{
  g_autofree char *line =
      g_strdup_printf("astrovissrc stations=4 duration=20 integration=1 ! tee name=t "
                      "t. ! queue ! astrogridder size=32 field-of-view=1 ! astrofft ! astroimage ! "
                      "astrofitssink location=%s t. ! queue ! astrofitssink location=%s.uvfits",
                      place->path, place->path);
  g_autofree char *message = test_launch(line);
  g_autofree char *visibilities = g_strconcat(place->path, ".uvfits", NULL);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_true(g_file_test(place->path, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_unlink(visibilities), ==, 0);
}

int main(int argc, char **argv)
{
  test_init_gstreamer(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add("/astrofitsimages/there-and-back", TestPlace, NULL, test_place_set_up, there_and_back,
             test_place_tear_down);
  g_test_add("/astrofitsimages/told", TestPlace, NULL, test_place_set_up, told,
             test_place_tear_down);
  g_test_add("/astrofitsimages/bad-products", TestPlace, NULL, test_place_set_up, bad_products,
             test_place_tear_down);
  g_test_add("/astrofitsimages/two-files", TestPlace, NULL, test_place_set_up, two_files,
             test_place_tear_down);
  g_test_add("/astrofitsimages/large", TestPlace, NULL, test_place_set_up, large,
             test_place_tear_down);
  int result = g_test_run();
  gst_deinit();
  return result;
}
