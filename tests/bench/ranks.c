/* The corner turn of astroalltoall on two ranks of this machine, beside MPI_Alltoall alone with
 * messages of the same size, each started by mpirun in turn.
 *
 * mpirun -n N .../ranks alone|streams|sums BYTES measures one of these, or astroreduce with streams
 * of so many bytes, on N ranks wherever they are (doc/scale.md). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/bench/bench.h"
#include "tests/bench/ranks.h"

#define BLOCKS 40

/* Spectra of 8 stations in CI8 on each rank, with a channel for each of them. They have no
 * observation, so that stations have no names that would have to differ. */
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CI8,layout=time:channel:station:pol,stations=8,pols=1,"      \
  "channels=%u,rate=(fraction)1000000/1,frequency=1e8,bandwidth=1e6"
#define POWER                                                                                      \
  "application/x-astro-power,format=F32LE,layout=time:channel:pol,channels=1024,pols=1,"           \
  "products=I,rate=(fraction)1000/1,frequency=1e8,bandwidth=1e6"

/* ---- MPI alone ---- */

static void exchange_alone(gsize bytes)
{
  int rank, ranks;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  g_autofree char *out = g_malloc0((gsize)ranks * bytes), *in = g_malloc0((gsize)ranks * bytes);
  double begun = 0;
  for (guint i = 0; i <= BLOCKS; i++) {
    if (i == 1)
      begun = MPI_Wtime();
    MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, MPI_COMM_WORLD);
  }
  ranks_tell(rank, (double)BLOCKS * (double)bytes * (ranks - 1), MPI_Wtime() - begun);
  MPI_Finalize();
}

/* ---- the element ---- */

typedef struct {
  gint64 first, last;
  gsize bytes;
} Passed;

static GstPadProbeReturn on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Passed *passed = data;
  passed->last = g_get_monotonic_time();
  if (!passed->first)
    passed->first = passed->last;
  else
    passed->bytes += gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_OK;
}

/* bytes: of a buffer that comes in; share: the part of what comes out that others sent. */
static void play(gsize bytes, const char *middle, int rank, double share)
{
  Passed passed = { 0 };
  g_autofree char *line = g_strdup_printf("fakesrc sizetype=fixed sizemax=%" G_GSIZE_FORMAT
                                          " filltype=zero num-buffers=%u ! %s ! fakesink name=s "
                                          "sync=false",
                                          bytes, BLOCKS, middle);
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, NULL);
  g_autoptr(GstElement) sink = gst_bin_get_by_name(GST_BIN(pipeline), "s");
  g_autoptr(GstPad) pad = gst_element_get_static_pad(sink, "sink");
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &passed, NULL);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  gst_message_unref(
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_element_set_state(pipeline, GST_STATE_NULL);
  ranks_tell(rank, (double)passed.bytes * share, (double)(passed.last - passed.first) / 1e6);
}

static void exchange_streams(gsize bytes, int rank, guint ranks)
{
  g_autofree char *middle =
      g_strdup_printf(SPECTRA " ! astroalltoall from=station to=channel", ranks);
  play(ranks * bytes, middle, rank, 1 - 1.0 / ranks);
}

/* Root gets so many bytes for each that goes on. */
static void add_streams(gsize bytes, int rank, guint ranks)
{
  play(bytes, POWER " ! astroreduce", rank, ranks - 1.0);
}

/* ---- both ---- */

int main(int argc, char **argv)
{
  static const gsize sizes[] = { 4 << 10, 64 << 10, 1 << 20, 16 << 20 };
  const char *rank = g_getenv("OMPI_COMM_WORLD_RANK");
  gst_init(&argc, &argv);
  if (rank && argc == 3 && g_str_equal(argv[1], "alone")) {
    exchange_alone(g_ascii_strtoull(argv[2], NULL, 10));
    return EXIT_SUCCESS;
  }
  if (rank && argc == 3) {
    const guint ranks = (guint)atoi(g_getenv("OMPI_COMM_WORLD_SIZE"));
    (g_str_equal(argv[1], "sums") ? add_streams : exchange_streams)(
        g_ascii_strtoull(argv[2], NULL, 10), atoi(rank), ranks);
    return EXIT_SUCCESS;
  }
  test_allow_ranks();
  printf("corner turn, %d ranks: GB/s that a rank sends to the other\n", RANKS);
  printf("%12s %14s %14s %6s\n", "message", "MPI_Alltoall", "astroalltoall", "part");
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    const double alone = ranks_measure(argv[0], "alone", sizes[i], NULL),
                 streams = ranks_measure(argv[0], "streams", sizes[i], NULL);
    printf("%8" G_GSIZE_FORMAT " KiB %14.3f %14.3f %6.2f\n", sizes[i] >> 10, alone, streams,
           streams / alone);
  }
  return EXIT_SUCCESS;
}
