/**
 * SECTION:element-astroalltoall
 *
 * Deals streams out anew to the ranks of an MPI job: the corner turn of a correlator. Each rank
 * gives its part of the axis from (its stations, say) with the whole of the axis to (all channels),
 * and gets the whole of from with a part of to: neighbours, dealt out in the order of ranks, as
 * evenly as their number allows. The parts of from are put side by side in the order of ranks.
 * With to=none nothing is dealt out: rank root gets everything, and on the other ranks the stream
 * ends here, once root has all of it; sinks behind it write nothing there.
 *
 * Streams are aligned by absolute time, whatever the size of buffers, and counts of good samples
 * come along, as in astrojoin and astroselect, which do the work within. What a rank lacks is
 * accounted as loss. All else has to be the same on all ranks; streams that may not be joined are
 * refused by the number of the rank. If a rank stops before the end of its stream, all others give
 * an error.
 *
 * astrodelay refers delays to the centre of the stations in its stream. With from=station it
 * belongs behind astroalltoall, or where all stations still are in the stream, so that all ranks
 * have the same centre.
 *
 * Ranks wait for each other. With latency, and clocks that are the same on all hosts, a rank that
 * lags by more is left out, and its part is lost, until it catches up: set it only for live
 * sources, and allow for the time between the starts of the ranks.
 *
 * Blocks go through the memory of the host, or from GPU to GPU if all ranks run on one host and
 * blocks lie on GPUs, where they are read behind the element too: with transport=copy the sender's
 * GPU writes into the memory of the receiver's, with transport=nccl NVIDIA's NCCL moves them
 * (libnccl.so.2, which is loaded then), and each rank has to have a GPU of its own. Where that
 * cannot be, all ranks give an error that says which of them cannot, and why. transport=auto takes
 * the first of copy and nccl for which all of that holds, and which has moved a first block between
 * all ranks, and else mpi, as with latency.
 *
 * Elements of one name belong together on all ranks. A process that was not started by mpirun or
 * srun is the only rank, and the stream passes through.
 *
 * |[
 * mpirun -n 2 sh -c 'gst-launch-1.0 astroskysrc stations=8 duration=1 ! \
 *   astroselect stations=$((OMPI_COMM_WORLD_RANK * 4))-$((OMPI_COMM_WORLD_RANK * 4 + 3)) ! \
 *   astrochannelizer channels=64 ! astroalltoall from=station to=channel ! astrotranspose ! \
 *   astrocorrelator integration=1000 ! astroalltoall from=channel to=none ! \
 *   astrofitssink location=all.uvfits'
 * ]|
 */
#include "config.h"
#include "elements/mpi/astroalltoall.h"

#include "core/kit/enum.h"
#include "core/kit/fail.h"
#include "core/kit/share.h"
#include "core/stream/stream.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrostage.h"
#include "elements/mpi/sender.h"

/* Axes in the order of the names of the enums. */
typedef enum { ALONG_STATION, ALONG_CHANNEL, ALONG_POL, ALONG_BEAM, ALONG_NONE } Along;

/* list: the property of astroselect. */
static const struct {
  const char *name, *list;
  AstroAxis axis;
} along[] = {
  [ALONG_STATION] = { "station", "stations", ASTRO_AXIS_STATION },
  [ALONG_CHANNEL] = { "channel", "channels", ASTRO_AXIS_CHANNEL },
  [ALONG_POL] = { "pol", "pols", ASTRO_AXIS_POL },
  [ALONG_BEAM] = { "beam", "beams", ASTRO_AXIS_BEAM },
  [ALONG_NONE] = { "none", NULL, ASTRO_AXIS_NONE },
};

struct _AstroAlltoall {
  MpiExchange parent;
  guint from, to, root; /* properties */
  guint64 latency;      /* property, ns */
  guint transport;      /* property, a Way */

  GPtrArray *senders; /* to each rank; not owned */
  GstElement *tee;    /* in front of them; NULL: to=none */
  guint64 extent;     /* of the axis that is dealt out; 0: no caps have come yet */
};

G_DEFINE_TYPE(AstroAlltoall, astro_alltoall, MPI_TYPE_EXCHANGE)
GST_ELEMENT_REGISTER_DEFINE(astroalltoall, "astroalltoall", GST_RANK_NONE, ASTRO_TYPE_ALLTOALL)

ASTRO_STATIC_ENUM_TYPE(from_get_type, "AstroAlltoallFrom",
                       { ALONG_STATION, "Each rank has some of the stations", "station" },
                       { ALONG_CHANNEL, "Each rank has some of the channels", "channel" },
                       { ALONG_POL, "Each rank has some of the polarisations", "pol" },
                       { ALONG_BEAM, "Each rank has some of the beams", "beam" })

ASTRO_STATIC_ENUM_TYPE(to_get_type, "AstroAlltoallTo",
                       { ALONG_STATION, "Each rank gets some of the stations", "station" },
                       { ALONG_CHANNEL, "Each rank gets some of the channels", "channel" },
                       { ALONG_POL, "Each rank gets some of the polarisations", "pol" },
                       { ALONG_BEAM, "Each rank gets some of the beams", "beam" },
                       { ALONG_NONE, "Rank root gets all, the others nothing", "none" })

ASTRO_STATIC_ENUM_TYPE(transport_get_type, "AstroAlltoallTransport",
                       { WAY_AUTO, "The best one that can be used", "auto" },
                       { WAY_MPI, "Through the memory of hosts, by MPI", "mpi" },
                       { WAY_COPY, "From GPU to GPU of one host, by copies", "copy" },
                       { WAY_NCCL, "From GPU to GPU of one host, by NCCL", "nccl" })

/* ---- what is dealt out ---- */

/* The branch that sends a share to one rank. */
static gboolean add_branch(AstroAlltoall *self, guint rank, GError **error)
{
  const guint ranks = mpi_exchange_world(MPI_EXCHANGE(self))->ranks;
  const AstroShare share = astro_share_of(self->extent, rank, ranks);
  g_autofree char *range = g_strdup_printf("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, share.first,
                                           share.first + share.n - 1);
  GstElement *select = mpi_exchange_add(MPI_EXCHANGE(self), "astroselect", error);
  if (!select)
    return FALSE;
  g_object_set(select, along[self->to].list, range, NULL);
  gst_element_link(select, self->senders->pdata[rank]);
  gst_element_sync_state_with_parent(select);
  return gst_element_link(self->tee, select) ||
         astro_fail(error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION,
                    "the stream for rank %u was refused", rank);
}

static gboolean deal_out(AstroAlltoall *self, const GstCaps *caps, GError **error)
{
  const guint ranks = mpi_exchange_world(MPI_EXCHANGE(self))->ranks;
  const char *axis = along[self->to].name;
  AstroStream stream;
  if (!astro_stream_from_caps(&stream, caps, error))
    return FALSE;
  const guint64 extent = astro_layout_find(&stream.layout, along[self->to].axis) < 0
                             ? 0
                             : astro_stream_extent(&stream, along[self->to].axis);
  if (extent < ranks)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "to=%s: the stream has an axis %s of %" G_GUINT64_FORMAT
                               ", expected at least %u, one for each rank",
                               axis, axis, extent, ranks);
  if (self->extent && self->extent != extent)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "to=%s: the axis %s is %" G_GUINT64_FORMAT
                               " long now, expected %" G_GUINT64_FORMAT " to the end of the stream",
                               axis, axis, extent, self->extent);
  if (self->extent)
    return TRUE;
  self->extent = extent;
  for (guint rank = 0; rank < ranks; rank++)
    if (!add_branch(self, rank, error))
      return FALSE;
  return TRUE;
}

/* A stream that ended before its caps ends so for the other ranks too. */
static void end_senders(AstroAlltoall *self)
{
  for (guint rank = 0; rank < self->senders->len; rank++) {
    g_autoptr(GstPad) pad = gst_element_get_static_pad(self->senders->pdata[rank], "sink");
    gst_pad_send_event(pad, gst_event_new_eos());
  }
}

static GstPadProbeReturn on_event(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  AstroAlltoall *self = data;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
  g_autoptr(GError) error = NULL;
  GstCaps *caps;
  if (!self->tee)
    return GST_PAD_PROBE_OK;
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS && !self->extent)
    end_senders(self);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps(event, &caps);
  if (deal_out(self, caps, &error))
    return GST_PAD_PROBE_OK;
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), ("caps: %" GST_PTR_FORMAT, caps));
  return GST_PAD_PROBE_DROP;
}

/* ---- the bin ---- */

static char *tell_settings(MpiExchange *exchange)
{
  const AstroAlltoall *self = ASTRO_ALLTOALL(exchange);
  static const char *const ways[] = { [WAY_AUTO] = "",
                                      [WAY_MPI] = " transport=mpi",
                                      [WAY_NCCL] = " transport=nccl",
                                      [WAY_COPY] = " transport=copy" };
  return self->to == ALONG_NONE
             ? g_strdup_printf("astroalltoall from=%s to=none root=%u%s", along[self->from].name,
                               self->root, ways[self->transport])
             : g_strdup_printf("astroalltoall from=%s to=%s%s", along[self->from].name,
                               along[self->to].name, ways[self->transport]);
}

static gboolean check(const AstroAlltoall *self, const AstroWorld *world, GError **error)
{
  if (self->to == self->from)
    return astro_fail(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                      "from and to are both %s, expected two axes", along[self->to].name);
  return self->to != ALONG_NONE || self->root < world->ranks ||
         astro_fail(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                    "root=%u, expected a rank of this job of %u: 0 to %u", self->root, world->ranks,
                    world->ranks - 1);
}

static gboolean add_join(AstroAlltoall *self, GError **error)
{
  const gboolean is_live = self->latency != GST_CLOCK_TIME_NONE;
  GstElement *join = mpi_exchange_add_merge(MPI_EXCHANGE(self), "astrojoin", is_live, error);
  if (!join)
    return FALSE;
  gst_util_set_object_arg(G_OBJECT(join), "axis", along[self->from].name);
  if (is_live)
    g_object_set(join, "latency", self->latency, NULL);
  return TRUE;
}

/* The first block waits for all ranks before it can go from device to device: unless it must,
 * streams with a latency do not. */
static void try_devices(AstroAlltoall *self, gboolean receives)
{
  const Way wanted = (Way)self->transport;
  if (wanted >= WAY_FIRST_OF_DEVICES ||
      (wanted == WAY_AUTO && self->latency == GST_CLOCK_TIME_NONE))
    mpi_exchange_try_devices(MPI_EXCHANGE(self), wanted, receives);
}

/* All to one. */
static gboolean build_gather(AstroAlltoall *self, const AstroWorld *world, GError **error)
{
  const gboolean is_root = world->rank == self->root;
  GstElement *sender = mpi_exchange_add_sender(MPI_EXCHANGE(self), self->root, !is_root);
  mpi_exchange_set_sink(MPI_EXCHANGE(self), sender, "sink");
  try_devices(self, is_root);
  if (is_root)
    return add_join(self, error);
  mpi_exchange_set_src(MPI_EXCHANGE(self), sender, "src");
  return TRUE;
}

static gboolean build(MpiExchange *exchange, GError **error)
{
  AstroAlltoall *self = ASTRO_ALLTOALL(exchange);
  const AstroWorld *world = mpi_exchange_world(exchange);
  self->extent = 0;
  self->tee = NULL;
  g_ptr_array_set_size(self->senders, 0);
  if (!check(self, world, error))
    return FALSE;
  if (self->to == ALONG_NONE)
    return build_gather(self, world, error);
  self->tee = mpi_exchange_add(exchange, "tee", error);
  if (!self->tee)
    return FALSE;
  for (guint rank = 0; rank < world->ranks; rank++)
    g_ptr_array_add(self->senders, mpi_exchange_add_sender(exchange, rank, FALSE));
  mpi_sender_take_any(self->senders->pdata[world->rank]);
  try_devices(self, TRUE);
  mpi_exchange_set_sink(exchange, self->tee, "sink");
  return add_join(self, error);
}

static const AstroField fields[] = {
  ASTRO_ENUM(AstroAlltoall, from, "from", "From", "The axis that each rank has a part of",
             from_get_type, ALONG_STATION),
  ASTRO_ENUM(AstroAlltoall, to, "to", "To", "The axis that each rank gets a part of", to_get_type,
             ALONG_CHANNEL),
  ASTRO_UINT(AstroAlltoall, root, "root", "Root",
             "With to=none, the rank that gets all; less than the number of ranks", 0, 1048575, 0),
  ASTRO_UINT64(AstroAlltoall, latency, "latency", "Latency",
               "Nanoseconds by which a rank may lag before its part is lost (the greatest value: "
               "all wait for it)",
               0, G_MAXUINT64, G_MAXUINT64),
  ASTRO_ENUM(
      AstroAlltoall, transport, "transport", "Transport",
      "How blocks go to other ranks: by MPI, or, on one host, where they come on GPUs and are "
      "read there, by copies or by NCCL (a GPU for each rank); auto: the first of copy, nccl and "
      "mpi that works, with latency mpi",
      transport_get_type, WAY_AUTO),
  { 0 },
};

static void constructed(GObject *object)
{
  G_OBJECT_CLASS(astro_alltoall_parent_class)->constructed(object);
  gst_pad_add_probe(mpi_exchange_sink(MPI_EXCHANGE(object)), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    on_event, object, NULL);
}

static void finalize(GObject *object)
{
  g_ptr_array_unref(ASTRO_ALLTOALL(object)->senders);
  G_OBJECT_CLASS(astro_alltoall_parent_class)->finalize(object);
}

#define CAPS                                                                                       \
  "application/x-astro-voltages; application/x-astro-spectra; "                                    \
  "application/x-astro-visibilities; application/x-astro-power"

static void astro_alltoall_class_init(AstroAlltoallClass *klass)
{
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(CAPS));
  static GstStaticPadTemplate src =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(CAPS));
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  G_OBJECT_CLASS(klass)->constructed = constructed;
  G_OBJECT_CLASS(klass)->finalize = finalize;
  MPI_EXCHANGE_CLASS(klass)->tell_settings = tell_settings;
  MPI_EXCHANGE_CLASS(klass)->build = build;
  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &src);
  gst_element_class_set_static_metadata(
      element, "Corner turn over MPI ranks", "Filter/Network",
      "Deals streams out anew to all ranks of an MPI job: stations for channels", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      element, "takes", "voltages, spectra, visibilities and power, in all formats");
  gst_element_class_add_static_metadata(element, "gives", "the same");
}

static void astro_alltoall_init(AstroAlltoall *self)
{
  astro_fields_set_defaults(self);
  self->senders = g_ptr_array_new();
}
