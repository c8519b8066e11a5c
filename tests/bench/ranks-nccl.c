/* The corner turn of astroalltoall between the GPUs of two ranks of this machine, by copies, by
 * NCCL and by MPI, beside NCCL's own all-to-all, each started by mpirun in turn. Blocks are made on
 * the GPUs beforehand, and are cut and joined there.
 *
 * mpirun -n 2 .../ranks-nccl alone|copy|nccl|mpi BYTES measures one of these. */
#include <gmodule.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/backend/module.h"
#include "core/memory/memory.h"
#include "tests/bench/bench.h"
#include "tests/bench/ranks.h"

#define STATIONS 8 /* of each rank */
#define CHANNELS 4096

/* As astrochannelizer makes them. */
#define SPECTRA                                                                                    \
  "application/x-astro-spectra,format=CI8,layout=station:pol:time:channel,stations=%d,pols=1,"     \
  "channels=%d,rate=(fraction)1000000/1,frequency=1e8,bandwidth=1e6"

/* Enough to measure, and not for long: the end of a stream takes up to a millisecond. */
static guint blocks_of(gsize bytes)
{
  return (guint)CLAMP(((gsize)8 << 30) / bytes, 100, 4000);
}

static AstroDevice *open_device(int rank)
{
  g_autoptr(GError) error = NULL;
  AstroDevice *device = astro_device_open(rank, &error);
  if (!device)
    g_error("%s", error->message);
  return device;
}

/* ---- NCCL alone ---- */

typedef struct {
  char bytes[128];
} Id;

static struct {
  int (*get_id)(Id *id);
  int (*init)(gpointer *comm, int n, Id id, int rank);
  int (*group_start)(void);
  int (*group_end)(void);
  int (*send)(gconstpointer data, gsize n, int type, int peer, gpointer comm, AstroQueue *queue);
  int (*receive)(gpointer data, gsize n, int type, int peer, gpointer comm, AstroQueue *queue);
} nccl;

static const struct {
  const char *name;
  gpointer place;
} functions[] = {
  { "ncclGetUniqueId", &nccl.get_id },
  { "ncclCommInitRank", &nccl.init },
  { "ncclGroupStart", &nccl.group_start },
  { "ncclGroupEnd", &nccl.group_end },
  { "ncclSend", &nccl.send },
  { "ncclRecv", &nccl.receive },
};

static void must(int status, const char *what)
{
  if (status)
    g_error("%s: error %d of NCCL", what, status);
}

static gpointer connect_ranks(int rank)
{
  GModule *library = g_module_open("libnccl.so.2", G_MODULE_BIND_LOCAL);
  Id id;
  gpointer comm = NULL;
  if (!library)
    g_error("%s", g_module_error());
  for (guint i = 0; i < G_N_ELEMENTS(functions); i++)
    if (!g_module_symbol(library, functions[i].name, functions[i].place))
      g_error("%s", g_module_error());
  if (rank == 0)
    must(nccl.get_id(&id), "ncclGetUniqueId");
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  must(nccl.init(&comm, RANKS, id, rank), "ncclCommInitRank");
  return comm;
}

static void exchange_once(gpointer comm, guint8 *out, guint8 *in, gsize bytes, AstroQueue *queue)
{
  must(nccl.group_start(), "ncclGroupStart");
  for (int other = 0; other < RANKS; other++) {
    must(nccl.send(out + (gsize)other * bytes, bytes, 0, other, comm, queue), "ncclSend");
    must(nccl.receive(in + (gsize)other * bytes, bytes, 0, other, comm, queue), "ncclRecv");
  }
  must(nccl.group_end(), "ncclGroupEnd");
}

static void wait_for(AstroDevice *device, AstroQueue *queue)
{
  AstroEvent *event = device->funcs->event_record(device, queue, NULL);
  if (!event || !device->funcs->event_wait(device, event, NULL))
    g_error("the device has failed");
  device->funcs->event_free(device, event);
}

static void exchange_alone(gsize bytes, int rank)
{
  AstroDevice *device = open_device(rank);
  gpointer out = NULL, in = NULL;
  double begun = 0;
  MPI_Init(NULL, NULL);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  gpointer comm = connect_ranks(rank);
  if (!device->funcs->alloc(device, RANKS * bytes, &out, NULL) ||
      !device->funcs->alloc(device, RANKS * bytes, &in, NULL))
    g_error("no memory");
  for (guint i = 0; i <= blocks_of(bytes); i++) {
    if (i == 1) {
      wait_for(device, queue);
      MPI_Barrier(MPI_COMM_WORLD);
      begun = MPI_Wtime();
    }
    exchange_once(comm, out, in, bytes, queue);
  }
  wait_for(device, queue);
  ranks_tell(rank, (double)blocks_of(bytes) * (double)bytes * (RANKS - 1), MPI_Wtime() - begun);
  MPI_Finalize();
}

/* ---- the element ---- */

typedef struct {
  GstBuffer *block; /* that comes in again and again */
  GstBuffer *last_one;
  guint n, before; /* that came; while NCCL connects */
  gint64 first;
  gsize bytes;
} Passed;

/* A block whose bytes only the device has. */
static GstBuffer *make_block(AstroDevice *device, gsize bytes)
{
  GstBuffer *block = astro_buffer_new(bytes, device);
  AstroQueue *queue = device->funcs->queue_new(device, NULL);
  gpointer face;
  if (!block || !astro_buffer_acquire(&block, device, queue, GST_MAP_WRITE, &face, NULL) ||
      !astro_buffer_release(block, queue, GST_MAP_WRITE, FALSE, NULL))
    g_error("no block of %" G_GSIZE_FORMAT " bytes", bytes);
  device->funcs->queue_free(device, queue);
  return block;
}

static GstPadProbeReturn give_block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
  info->data = gst_buffer_copy(((Passed *)data)->block);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn take_block(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Passed *passed = data;
  if (++passed->n == passed->before)
    passed->first = g_get_monotonic_time();
  else if (passed->n > passed->before)
    passed->bytes += gst_buffer_get_size(GST_PAD_PROBE_INFO_BUFFER(info));
  gst_buffer_replace(&passed->last_one, GST_PAD_PROBE_INFO_BUFFER(info));
  return GST_PAD_PROBE_DROP;
}

static void probe(GstElement *pipeline, const char *name, GstPadProbeCallback call, gpointer data)
{
  g_autoptr(GstElement) element = gst_bin_get_by_name(GST_BIN(pipeline), name);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(element, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, call, data, NULL);
}

static void wait_for_end(GstElement *pipeline)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autoptr(GstMessage) end =
      gst_bus_timed_pop_filtered(bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;
  if (GST_MESSAGE_TYPE(end) == GST_MESSAGE_ERROR)
    gst_message_parse_error(end, &error, NULL);
  if (error)
    g_error("%s", error->message);
}

static void exchange_streams(gsize bytes, const char *way, int rank)
{
  AstroDevice *device = open_device(rank);
  const guint blocks =
      g_str_equal(way, "mpi") ? MAX(blocks_of(bytes) / 16, 5) : blocks_of(bytes); /* far slower */
  Passed passed = { .block = make_block(device, RANKS * bytes), .before = blocks / 5 };
  g_autoptr(GError) error = NULL;
  g_autofree char *line = g_strdup_printf(
      "fakesrc name=from sizetype=empty num-buffers=%u ! " SPECTRA
      " ! astroalltoall name=turn transport=%s ! astroconvert backend=cuda device=%d ! "
      "application/x-astro-spectra,format=CI16LE ! fakesink sync=false",
      blocks, STATIONS, CHANNELS, way, rank);
  g_autoptr(GstElement) pipeline = gst_parse_launch(line, &error);
  if (!pipeline)
    g_error("%s", error->message);
  probe(pipeline, "from", give_block, &passed);
  probe(pipeline, "turn", take_block, &passed);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  wait_for_end(pipeline);
  if (!passed.last_one || !astro_memory_settle(gst_buffer_peek_memory(passed.last_one, 0), NULL))
    g_error("nothing came, or the device has failed");
  const double seconds = (double)(g_get_monotonic_time() - passed.first) / 1e6;
  ranks_tell(rank, (double)passed.bytes * (1 - 1.0 / RANKS), seconds);
  gst_clear_buffer(&passed.last_one);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_clear_buffer(&passed.block);
}

/* ---- all of them ---- */

/* Where the time of blocks went, as the elements log it at the end of their streams. */
static void print_times(const char *said)
{
  g_auto(GStrv) lines = g_strsplit(said, "\n", -1);
  for (guint i = 0; lines[i]; i++)
    if (strstr(lines[i], " blocks, each ") && strchr(lines[i], '>'))
      printf("%12s %s\n", "", strchr(lines[i], '>') + 2);
}

int main(int argc, char **argv)
{
  static const gsize sizes[] = { 1 << 20, 16 << 20, 64 << 20 };
  const char *rank = g_getenv("OMPI_COMM_WORLD_RANK");
  gst_init(&argc, &argv);
  if (rank && argc == 3) {
    const gsize bytes = g_ascii_strtoull(argv[2], NULL, 10);
    if (g_str_equal(argv[1], "alone"))
      exchange_alone(bytes, atoi(rank));
    else
      exchange_streams(bytes, argv[1], atoi(rank));
    return EXIT_SUCCESS;
  }
  if (astro_device_count(ASTRO_BACKEND_CUDA, NULL) < RANKS) {
    printf("corner turn by NCCL: there are no %d GPUs\n", RANKS);
    return EXIT_SUCCESS;
  }
  test_allow_ranks();
  g_setenv("GST_DEBUG", "astroalltoall:4", TRUE);
  g_setenv("GST_DEBUG_NO_COLOR", "1", TRUE);
  printf("corner turn between the GPUs of %d ranks: GB/s that a rank sends to the other\n", RANKS);
  printf("%12s %14s %14s %6s %14s %6s %14s\n", "message", "NCCL alone", "by copies", "part",
         "by NCCL", "part", "by MPI");
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autofree char *of_copies = NULL, *of_nccl = NULL;
    const double alone = ranks_measure(argv[0], "alone", sizes[i], NULL),
                 copies = ranks_measure(argv[0], "copy", sizes[i], &of_copies),
                 by_nccl = ranks_measure(argv[0], "nccl", sizes[i], &of_nccl),
                 by_mpi = ranks_measure(argv[0], "mpi", sizes[i], NULL);
    printf("%8" G_GSIZE_FORMAT " KiB %14.3f %14.3f %6.2f %14.3f %6.2f %14.3f\n", sizes[i] >> 10,
           alone, copies, copies / alone, by_nccl, by_nccl / alone, by_mpi);
    print_times(of_copies);
    print_times(of_nccl);
    fflush(stdout);
  }
  return EXIT_SUCCESS;
}
