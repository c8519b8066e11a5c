/* A file whose (u,v,w) are not those of its stations is refused, or imaged with those that the user
 * chooses. */
#include "core/fits/file.h"
#include "tests/elements/astrofits.h"
#include "tests/elements/catalogues.h"

#define SIZE 128
#define IMAGE "astrogridder algorithm=%s size=128 field-of-view=1 ! astrofft ! astroimage"

static void write_simulated(const TestFile *place)
{
  test_check_launch(NULL, NULL,
                    "astrovissrc sky=0.004,0.002,2 array=vla-like stations=9 channels=2 "
                    "num-buffers=5 ! astrofitssink location=%s",
                    place->path);
}

/* Changes the sign of u in every group of one of our files, where u is the first parameter. */
static void mirror_u(const TestFile *place)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *bytes = NULL;
  gsize length;
  AstroFitsFile *file = astro_fits_file_open(place->path, &error);
  g_assert_no_error(error);
  const AstroFitsHeader header = *astro_fits_file_primary(file);
  astro_fits_file_close(file);
  g_assert_true(g_file_get_contents(place->path, &bytes, &length, NULL));
  for (guint64 i = 0; i < header.n_groups; i++)
    bytes[header.data + i * (header.bytes / header.n_groups)] ^= (char)0x80;
  g_assert_true(g_file_set_contents(place->path, bytes, (gssize)length, NULL));
}

/* Where the brightest pixel of the image is: east of the middle, and north. */
static void find_peak(const char *line, gint at[2])
{
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpuint(samples->len, ==, 1);
  gsize bytes, best = 0;
  g_autofree float *image = test_sample_data(samples, 0, &bytes);
  g_assert_cmpuint(bytes, ==, SIZE * SIZE * sizeof *image);
  for (gsize i = 0; i < SIZE * SIZE; i++)
    best = image[i] > image[best] ? i : best;
  at[0] = SIZE / 2 - (gint)(best % SIZE);
  at[1] = (gint)(best / SIZE) - SIZE / 2;
}

static void find_in_file(const TestFile *place, const char *settings, const char *algorithm,
                         gint at[2])
{
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s %s ! " IMAGE " ! appsink name=out", place->path,
                      settings, algorithm);
  find_peak(line, at);
}

static void mirrored(TestFile *place, gconstpointer data)
{
  static const char *const algorithms[] = { "direct", "wprojection", "wstacking" };
  write_simulated(place);
  for (guint i = 0; i < G_N_ELEMENTS(algorithms); i++) {
    gint right[2], agreed[2], table[2], file[2], again[2];
    g_autofree char *simulated =
        g_strdup_printf("astrovissrc sky=0.004,0.002,2 array=vla-like stations=9 channels=2 "
                        "num-buffers=5 ! " IMAGE " ! appsink name=out",
                        algorithms[i]);
    find_peak(simulated, right);
    g_assert_cmpint(right[0], >, 5);
    g_assert_cmpint(right[1], >, 5);
    find_in_file(place, "", algorithms[i], agreed);
    find_in_file(place, "uvw=file", algorithms[i], again);
    g_assert_true(memcmp(agreed, right, sizeof right) == 0);
    g_assert_true(memcmp(again, right, sizeof right) == 0);

    mirror_u(place);
    test_check_launch("u has the opposite sign", place->path, "astrofitssrc location=%s ! fakesink",
                      place->path);
    find_in_file(place, "uvw=table", algorithms[i], table);
    find_in_file(place, "uvw=file", algorithms[i], file);
    g_assert_true(memcmp(table, right, sizeof right) == 0);
    g_assert_cmpint(ABS(file[0] + right[0]), <=, 1);
    g_assert_cmpint(file[1], ==, right[1]);
    mirror_u(place);
  }
}

/* Through a queue, a change of format, and a file again. */
static void carried(TestFile *place, gconstpointer data)
{
  gint straight[2], on_the_way[2], copied[2];
  g_autofree char *copy = g_strconcat(place->path, ".copy", NULL);
  write_simulated(place);
  mirror_u(place);
  find_in_file(place, "uvw=file", "wstacking", straight);
  find_in_file(place,
               "uvw=file ! queue ! astroconvert ! application/x-astro-visibilities,format=CF64LE",
               "wstacking", on_the_way);
  g_assert_true(memcmp(straight, on_the_way, sizeof straight) == 0);
  test_check_launch(NULL, NULL, "astrofitssrc location=%s uvw=file ! astrofitssink location=%s",
                    place->path, copy);
  g_assert_cmpint(g_rename(copy, place->path), ==, 0);
  test_check_launch("u has the opposite sign", place->path, "astrofitssrc location=%s ! fakesink",
                    place->path);
  find_in_file(place, "uvw=file", "wstacking", copied);
  g_assert_true(memcmp(straight, copied, sizeof straight) == 0);
}

static GstPadProbeReturn drop_meta(GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  GstBuffer *buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  GstMeta *meta = gst_buffer_get_meta(buffer, g_type_from_name("AstroUvwMetaAPI"));
  g_assert_nonnull(meta);
  gst_buffer_remove_meta(buffer, meta);
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  return GST_PAD_PROBE_OK;
}

/* If an element drops them, the element that needs them says so. */
static void lost(TestFile *place, gconstpointer data)
{
  g_autofree char *sink = g_strdup_printf("astrofitssink name=file location=%s.copy", place->path);
  const char *const ends[] = { "astrogridder name=file size=64 field-of-view=1 ! fakesink", sink };
  write_simulated(place);
  for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
    g_autoptr(GError) error = NULL;
    g_autofree char *line =
        g_strdup_printf("astrofitssrc name=src uvw=file location=%s ! %s", place->path, ends[i]);
    GstElement *pipeline = gst_parse_launch(line, &error);
    g_assert_no_error(error);
    g_autoptr(GstElement) source = gst_bin_get_by_name(GST_BIN(pipeline), "src");
    g_autoptr(GstPad) pad = gst_element_get_static_pad(source, "src");
    g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, drop_meta, NULL, NULL);
    gst_element_set_state(pipeline, GST_STATE_PLAYING);
    g_autoptr(GstMessage) message =
        gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
    g_assert_cmpint(GST_MESSAGE_TYPE(message), ==, GST_MESSAGE_ERROR);
    gst_message_parse_error(message, &error, NULL);
    g_assert_cmpstr(GST_MESSAGE_SRC_NAME(message), ==, "file");
    g_test_message("%s", error->message);
    test_says(error->message, "an element on the way dropped them");
    gst_element_set_state(pipeline, GST_STATE_NULL);
    gst_object_unref(pipeline);
  }
}

/* Only (u,v,w) of stations can be changed to another phase centre. */
static void not_shifted(TestFile *place, gconstpointer data)
{
  write_simulated(place);
  test_check_launch("bring (u,v,w) of their own", NULL,
                    "astrofitssrc uvw=file location=%s ! astrophaseshift centre=10,20 ! fakesink",
                    place->path);
}

int main(int argc, char **argv)
{
  static const TestFileCase cases[] = {
    { "uvw-mirrored", mirrored },
    { "uvw-carried", carried },
    { "uvw-lost", lost },
    { "uvw-not-shifted", not_shifted },
  };
  return test_files(argc, argv, cases, G_N_ELEMENTS(cases));
}
