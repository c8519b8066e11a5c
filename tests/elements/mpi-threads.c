/* Streams between ranks in a program that ThreadSanitizer can judge, because it overrides what
 * orders threads (tests/tsan-glib.h): a corner turn, and a sum; turns between fake devices by NCCL
 * and by copies; integrations that are to change on a rank. With an argument it is a rank; without,
 * it starts two. */
#include "tests/elements/changed.h"
#include "tests/elements/fake-nccl.h"
#include "tests/elements/ranks.h"
#include "tests/tsan-glib.h"

#define BUFFERS "20"
/* Each rank has half of the stations, then half of the channels; rank 0 gets all of them. */
#define TURN                                                                                       \
  "astroskysrc stations=4 noise=1 num-buffers=" BUFFERS " block-steps=500 seed=3 ! "               \
  "astroselect stations=%u/%u ! astrochannelizer channels=8 ! astroalltoall ! astrotranspose ! "   \
  "astrocorrelator integration=16 ! astroalltoall from=channel to=none ! "                         \
  "fakesink name=turned sync=false "
#define SUM                                                                                        \
  "astrovissrc stations=5 channels=3 num-buffers=" BUFFERS " noise=1 seed=1%u ! "                  \
  "astroreduce ! fakesink name=summed sync=false "
#define GRIDS                                                                                      \
  "astrovissrc stations=5 channels=3 num-buffers=" BUFFERS " noise=1 ! "                           \
  "astrogridder size=64 cell=20 share=%u/%u ! astrofft ! astroimage ! astroreduce ! "              \
  "fakesink name=imaged sync=false"
/* Each rank gets something, and nobody all of it. */
#define BETWEEN_DEVICES                                                                            \
  "astroskysrc stations=4 noise=1 num-buffers=" BUFFERS " block-steps=500 seed=3 ! "               \
  "astroselect stations=%u/%u ! astrochannelizer backend=cpu channels=8 ! "                        \
  "application/x-astro-spectra,format=CI8 ! astroconvert backend=cuda device=%u ! "                \
  "application/x-astro-spectra,format=CI16LE ! astroalltoall transport=%s ! "                      \
  "astrotranspose backend=cuda device=%u layout=channel:time:station:pol ! "                       \
  "fakesink name=turned sync=false"

static GstPadProbeReturn count(GstPad *pad, GstPadProbeInfo *info, gpointer buffers)
{
  g_atomic_int_inc((gint *)buffers);
  return GST_PAD_PROBE_OK;
}

static void count_at(GstElement *pipeline, const char *name, gint *buffers)
{
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count, buffers, NULL);
}

/* Runs to the end. */
static void play_line(GstElement *pipeline)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  g_autoptr(GstMessage) last =
      gst_bus_timed_pop_filtered(bus, TEST_PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_assert_nonnull(last);
  if (GST_MESSAGE_TYPE(last) == GST_MESSAGE_ERROR)
    gst_message_parse_error(last, &error, NULL);
  g_assert_no_error(error);
  gst_element_set_state(pipeline, GST_STATE_NULL);
}

/* All streams come to rank 0, and end on both. */
static int play(guint rank, guint ranks)
{
  static const char *const names[] = { "turned", "summed", "imaged" };
  gint buffers[G_N_ELEMENTS(names)] = { 0 };
  g_autofree char *line = g_strdup_printf(TURN SUM GRIDS, rank, ranks, rank, rank, ranks);
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    count_at(pipeline, names[i], &buffers[i]);
  play_line(pipeline);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    g_assert_cmpint(g_atomic_int_get(&buffers[i]) > 0, ==, rank == 0);
  return EXIT_SUCCESS;
}

static int play_between(guint rank, guint ranks, const char *way)
{
  gint buffers = 0;
  g_autofree char *line = g_strdup_printf(BETWEEN_DEVICES, rank, ranks, rank, way, rank);
  g_autoptr(GError) error = NULL;
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, &error);
  g_assert_no_error(error);
  count_at(pipeline, "turned", &buffers);
  play_line(pipeline);
  g_assert_cmpint(g_atomic_int_get(&buffers), >, 0);
  return EXIT_SUCCESS;
}

static int play_by_nccl(guint rank, guint ranks)
{
  return play_between(rank, ranks, "nccl");
}

static int play_by_copy(guint rank, guint ranks)
{
  return play_between(rank, ranks, "copy");
}

/* A stage before a sum or a turn, asked for another length of integrations while it plays, waits
 * until all that it has sent was taken, by other ranks too, and keeps the length: ranks have to
 * agree on it. */
static void keep_length(guint rank, const char *line, guint blocks)
{
  g_autofree char *mine = g_strdup_printf(line, rank);
  GstElement *pipeline = parse_line(mine);
  g_autoptr(GstElement) stage = gst_bin_get_by_name(GST_BIN(pipeline), "stage");
  Change change = { stage, "integration", "30", 10 + 10 * rank };
  guint integration;
  probe(pipeline, "stage", GST_PAD_PROBE_TYPE_BUFFER, on_input, &change);
  g_autoptr(Record) record = record_pipeline(pipeline);
  g_object_get(stage, "integration", &integration, NULL);
  g_assert_cmpuint(integration, ==, 100);
  g_assert_cmpuint(record->warnings, ==, 1);
  test_says(record->warned, "downstream does not take integrations of another length now");
  guint64 steps = 0;
  for (guint i = 0; i < record->blocks->len; i++)
    steps += block_of(record, i)->end - block_of(record, i)->first;
  g_assert_cmpuint(steps, ==, rank == 0 ? blocks : 0);
  close_pipeline(pipeline);
}

static int play_lengths(guint rank, guint ranks)
{
#define INTEGRATED(source, filter)                                                                 \
  "astroskysrc stations=3 noise=1 num-buffers=40 block-steps=500 " source                          \
  " ! astrochannelizer channels=4 ! application/x-astro-spectra,format=CI8 ! " filter              \
  "astrotranspose ! astrocorrelator name=stage integration=100 ! "
#define SINK " ! fakesink name=sink sync=false"
  keep_length(rank, INTEGRATED("seed=1%u", "") "astroreduce" SINK, 50);
  keep_length(rank,
              INTEGRATED("seed=3",
                         "astroselect channels=%u/2 ! ") "astroalltoall from=channel to=none" SINK,
              50);
  return EXIT_SUCCESS;
}

static void start_ranks(const char *setting, const char *what)
{
  g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
  g_autofree char *quoted = g_shell_quote(program);
  g_autofree char *command = g_strconcat(setting, "exec ", quoted, " ", what, NULL);
  test_ranks(2, command);
}

static void test_ranks_play(void)
{
  if (test_has_ranks())
    start_ranks("", "play");
}

static void test_lengths(void)
{
  if (test_has_ranks())
    start_ranks("", "lengths");
}

static void test_devices(void)
{
  if (!test_has_ranks())
    return;
  test_fake_devices("2");
  if (!test_devices_are_fake()) {
    g_test_skip("there are no fake devices");
    return;
  }
  g_autofree char *folder = g_dir_make_tmp(NULL, NULL), *setting = test_fake_nccl(folder);
  g_autofree char *sharing = g_strconcat("export ASTRO_FAKE_SHARES=yes; ", setting, NULL);
  start_ranks(setting, "nccl");
  start_ranks(sharing, "copy");
  test_forget_fake_nccl(folder);
  g_rmdir(folder);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    int (*play)(guint rank, guint ranks);
  } parts[] = { { "play", play },
                { "nccl", play_by_nccl },
                { "copy", play_by_copy },
                { "lengths", play_lengths } };
  const char *rank = g_getenv("OMPI_COMM_WORLD_RANK"), *ranks = g_getenv("OMPI_COMM_WORLD_SIZE");
  for (guint i = 0; argc == 2 && rank && ranks && i < G_N_ELEMENTS(parts); i++)
    if (g_str_equal(argv[1], parts[i].name)) {
      gst_init(NULL, NULL);
      return parts[i].play((guint)atoi(rank), (guint)atoi(ranks));
    }
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  test_allow_ranks();
  g_test_add_func("/mpi-threads/ranks", test_ranks_play);
  g_test_add_func("/mpi-threads/lengths", test_lengths);
  g_test_add_func("/mpi-threads/devices", test_devices); /* last: devices are fake from there on */
  return g_test_run();
}
