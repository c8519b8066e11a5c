/* Fills and empties the bin, and tells what is wrong on other ranks. */
#include "config.h"
#include "elements/mpi/exchange.h"

#include "core/kit/fail.h"
#include "elements/base/astrobranches.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroincoming.h"
#include "elements/mpi/reader.h"
#include "elements/mpi/receiver.h"
#include "elements/mpi/sender.h"
#include "elements/mpi/sums.h"

typedef struct {
  AstroWorld world;
  GstPad *sink, *src;
  GMutex lock;
  AstroLink *link; /* NULL: stopped; another thread than the one that changes it has the lock */
  Way way;         /* of the link that was closed last */
  GPtrArray *children;
  GstBus *bus; /* of the pipeline; NULL: none */
  gulong watch;
} MpiExchangePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(MpiExchange, mpi_exchange, GST_TYPE_BIN)
#define PRIV(self) ((MpiExchangePrivate *)mpi_exchange_get_instance_private(self))

/* A field of the details of an error message: another rank tells what is wrong. */
#define TOLD_ELSEWHERE "astro-elsewhere"

const AstroWorld *mpi_exchange_world(MpiExchange *self)
{
  return &PRIV(self)->world;
}

GstPad *mpi_exchange_sink(MpiExchange *self)
{
  return PRIV(self)->sink;
}

/* ---- children ---- */

static GstElement *keep(MpiExchange *self, GstElement *child)
{
  gst_bin_add(GST_BIN(self), child);
  g_ptr_array_add(PRIV(self)->children, child);
  return child;
}

GstElement *mpi_exchange_add(MpiExchange *self, const char *factory, GError **error)
{
  GstElement *child = gst_element_factory_make(factory, NULL);
  if (child)
    return keep(self, child);
  astro_fail(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
             "the element %s is missing: install the plugin that has it", factory);
  return NULL;
}

GstElement *mpi_exchange_add_sender(MpiExchange *self, guint to, gboolean has_end)
{
  g_autoptr(GstCaps) caps = gst_pad_get_pad_template_caps(PRIV(self)->sink);
  return keep(self, mpi_sender_new(PRIV(self)->link, to, caps, has_end));
}

GstElement *mpi_exchange_add_receiver(MpiExchange *self, guint from, gboolean is_live)
{
  return keep(self, mpi_receiver_new(PRIV(self)->link, from, is_live));
}

GstElement *mpi_exchange_add_merge(MpiExchange *self, const char *factory, gboolean is_live,
                                   GError **error)
{
  GstElement *merge = mpi_exchange_add(self, factory, error);
  for (guint rank = 0; merge && rank < PRIV(self)->world.ranks; rank++) {
    g_autofree char *pad = g_strdup_printf("sink_%u", rank);
    GstElement *receiver = mpi_exchange_add_receiver(self, rank, is_live);
    gst_object_unref(gst_element_request_pad_simple(merge, pad));
    gst_element_link_pads(receiver, "src", merge, pad);
  }
  if (merge)
    mpi_exchange_set_src(self, merge, "src");
  return merge;
}

static void set_target(GstPad *ghost, GstElement *child, const char *name)
{
  g_autoptr(GstPad) pad = gst_element_get_static_pad(child, name);
  gst_ghost_pad_set_target(GST_GHOST_PAD(ghost), pad);
}

void mpi_exchange_set_sink(MpiExchange *self, GstElement *child, const char *pad)
{
  set_target(PRIV(self)->sink, child, pad);
}

void mpi_exchange_set_src(MpiExchange *self, GstElement *child, const char *pad)
{
  set_target(PRIV(self)->src, child, pad);
}

static gboolean reads_on_host(GObject *self)
{
  return !mpi_is_read_on_device(PRIV(MPI_EXCHANGE(self))->src);
}

void mpi_exchange_try_devices(MpiExchange *self, Way wanted, gboolean receives)
{
  if (PRIV(self)->world.ranks > 1)
    link_try_devices(PRIV(self)->link, wanted, receives ? reads_on_host : NULL);
}

void mpi_exchange_add_sums(MpiExchange *self, guint root)
{
  g_autoptr(GstCaps) caps = gst_pad_get_pad_template_caps(PRIV(self)->sink);
  GstElement *sums = keep(self, mpi_sums_new(PRIV(self)->link, &PRIV(self)->world, root, caps));
  mpi_exchange_set_sink(self, sums, "sink");
  mpi_exchange_set_src(self, sums, "src");
}

/* ---- beginning and end ---- */

static void on_lost(guint rank, const char *why, gboolean is_told, GObject *self)
{
  GST_ELEMENT_ERROR_WITH_DETAILS(self, RESOURCE, FAILED, ("rank %u %s", rank, why), (NULL),
                                 (TOLD_ELSEWHERE, G_TYPE_BOOLEAN, is_told, NULL));
}

/* A source that fails ends its stream as if it were complete: the error comes first. */
static void on_error(GstBus *bus, GstMessage *message, gpointer self)
{
  MpiExchangePrivate *priv = PRIV(MPI_EXCHANGE(self));
  g_mutex_lock(&priv->lock);
  if (priv->link)
    link_give_up(priv->link);
  g_mutex_unlock(&priv->lock);
}

static void watch_pipeline(MpiExchange *self)
{
  MpiExchangePrivate *priv = PRIV(self);
  g_autoptr(GstElement) top = astro_branches_top(GST_ELEMENT(self));
  priv->bus = top ? gst_element_get_bus(top) : NULL;
  if (!priv->bus)
    return;
  gst_bus_enable_sync_message_emission(priv->bus);
  priv->watch =
      g_signal_connect_object(priv->bus, "sync-message::error", G_CALLBACK(on_error), self, 0);
}

static void unwatch_pipeline(MpiExchange *self)
{
  MpiExchangePrivate *priv = PRIV(self);
  if (!priv->bus)
    return;
  g_signal_handler_disconnect(priv->bus, priv->watch);
  gst_bus_disable_sync_message_emission(priv->bus);
  gst_clear_object(&priv->bus);
}

/* Empty in a pipeline that was not made by gst-astro. */
static char *find_job(MpiExchange *self)
{
  g_autoptr(GstContext) context = gst_element_get_context(GST_ELEMENT(self), ASTRO_JOB_CONTEXT);
  const char *text =
      context ? gst_structure_get_string(gst_context_get_structure(context), "text") : NULL;
  return g_strdup(text ? text : "");
}

static gboolean begin(MpiExchange *self)
{
  MpiExchangePrivate *priv = PRIV(self);
  g_autofree char *settings = MPI_EXCHANGE_GET_CLASS(self)->tell_settings(self);
  g_autofree char *name = gst_object_get_name(GST_OBJECT(self));
  g_autoptr(GError) error = NULL;
  g_autofree char *job = find_job(self);
  AstroLink *link = link_open(&priv->world, job, name, settings, on_lost, G_OBJECT(self), &error);
  g_mutex_lock(&priv->lock);
  priv->link = link;
  g_mutex_unlock(&priv->lock);
  if (priv->link)
    watch_pipeline(self);
  if (priv->link && MPI_EXCHANGE_GET_CLASS(self)->build(self, &error))
    return TRUE;
  GST_ELEMENT_ERROR(self, RESOURCE, FAILED, ("%s", error->message), (NULL));
  return FALSE;
}

static void end(MpiExchange *self)
{
  MpiExchangePrivate *priv = PRIV(self);
  unwatch_pipeline(self);
  gst_ghost_pad_set_target(GST_GHOST_PAD(priv->sink), NULL);
  gst_ghost_pad_set_target(GST_GHOST_PAD(priv->src), NULL);
  for (guint i = priv->children->len; i-- > 0;) {
    gst_element_set_state(priv->children->pdata[i], GST_STATE_NULL);
    gst_bin_remove(GST_BIN(self), priv->children->pdata[i]);
  }
  g_ptr_array_set_size(priv->children, 0);
  g_mutex_lock(&priv->lock);
  AstroLink *link = g_steal_pointer(&priv->link);
  g_mutex_unlock(&priv->lock);
  if (link) {
    priv->way = link_way(link);
    link_close(link);
  }
}

/* A stream begins and ends at READY. */
static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  MpiExchange *self = MPI_EXCHANGE(element);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !begin(self)) {
    end(self);
    return GST_STATE_CHANGE_FAILURE;
  }
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    link_interrupt(PRIV(self)->link);
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(mpi_exchange_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE)
    link_interrupt(PRIV(self)->link);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && changed == GST_STATE_CHANGE_FAILURE))
    end(self);
  return changed;
}

/* ---- messages ---- */

/* The inputs of a child are numbered as the ranks, and a user knows only those. */
static char *name_rank(const char *text)
{
  g_autoptr(GRegex) pad = g_regex_new("\\bpad sink_(\\d+)\\b", 0, 0, NULL);
  return g_regex_replace(pad, text, -1, 0, "rank \\1", 0, NULL);
}

static GstMessage *retell(MpiExchange *self, GstMessage *message)
{
  const gboolean is_error = GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR;
  g_autoptr(GError) error = NULL;
  g_autofree char *debug = NULL;
  if (is_error)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  g_autofree char *text = name_rank(error->message);
  g_autoptr(GError) named = g_error_new_literal(error->domain, error->code, text);
  gst_message_unref(message);
  return is_error ? gst_message_new_error(GST_OBJECT(self), named, debug)
                  : gst_message_new_warning(GST_OBJECT(self), named, debug);
}

static void handle_message(GstBin *bin, GstMessage *message)
{
  const GstMessageType type = GST_MESSAGE_TYPE(message);
  if ((type == GST_MESSAGE_ERROR || type == GST_MESSAGE_WARNING) &&
      GST_MESSAGE_SRC(message) != GST_OBJECT(bin))
    message = retell(MPI_EXCHANGE(bin), message);
  GST_BIN_CLASS(mpi_exchange_parent_class)->handle_message(bin, message);
}

/* ---- the class ---- */

/* A child would refuse the buffer too, by a name that the user has not typed. */
static GstPadProbeReturn check_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer self)
{
  if (astro_has_caps(pad))
    return GST_PAD_PROBE_OK;
  gst_clear_buffer((GstBuffer **)&info->data);
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_NOT_NEGOTIATED;
  return GST_PAD_PROBE_HANDLED;
}

static GstPad *add_pad(MpiExchange *self, const char *name)
{
  GstPadTemplate *template = gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), name);
  GstPad *pad = gst_ghost_pad_new_no_target_from_template(name, template);
  gst_element_add_pad(GST_ELEMENT(self), pad);
  return pad;
}

static void constructed(GObject *object)
{
  MpiExchange *self = MPI_EXCHANGE(object);
  G_OBJECT_CLASS(mpi_exchange_parent_class)->constructed(object);
  PRIV(self)->sink = add_pad(self, "sink");
  PRIV(self)->src = add_pad(self, "src");
  gst_pad_add_probe(PRIV(self)->sink, GST_PAD_PROBE_TYPE_BUFFER, check_buffer, self, NULL);
}

static void finalize(GObject *object)
{
  g_ptr_array_unref(PRIV(MPI_EXCHANGE(object))->children);
  g_mutex_clear(&PRIV(MPI_EXCHANGE(object))->lock);
  G_OBJECT_CLASS(mpi_exchange_parent_class)->finalize(object);
}

/* Before anything is sent, and where nothing has to be, there is none. */
static const char *const way_names[] = {
  [WAY_AUTO] = "none", [WAY_MPI] = "mpi", [WAY_NCCL] = "nccl", [WAY_COPY] = "copy"
};

static void get_stats(GObject *object, GValue *value)
{
  MpiExchangePrivate *priv = PRIV(MPI_EXCHANGE(object));
  const AstroWorld *world = &priv->world;
  LinkCounts counts;
  link_count(&counts);
  g_mutex_lock(&priv->lock);
  const Way way = priv->link ? link_way(priv->link) : priv->way;
  g_mutex_unlock(&priv->lock);
  g_value_take_boxed(
      value,
      gst_structure_new("astro-ranks", "rank", G_TYPE_UINT, world->rank, "ranks", G_TYPE_UINT,
                        world->ranks, "bytes-sent", G_TYPE_UINT64, counts.bytes_sent, "bytes-got",
                        G_TYPE_UINT64, counts.bytes_got, "moving-ns", G_TYPE_UINT64,
                        counts.moving_ns, "held-ns", G_TYPE_UINT64, counts.held_ns, "bytes-by-copy",
                        G_TYPE_UINT64, counts.bytes_by_copy, "bytes-by-nccl", G_TYPE_UINT64,
                        counts.bytes_by_nccl, "transport", G_TYPE_STRING, way_names[way], NULL));
}

static const AstroField fields[] = {
  { ASTRO_FIELD_SAYS(STRUCTURE, "stats", "Statistics",
                     "What the elements of this process exchanged with other ranks: rank, ranks, "
                     "bytes-sent, bytes-got, moving-ns (while anything was on its way), held-ns "
                     "(streams waited until ranks took what was sent), bytes-by-copy and "
                     "bytes-by-nccl (of those sent), and the transport that this element uses: "
                     "mpi, copy, nccl or none yet"),
    .get = get_stats },
  { 0 },
};

static void mpi_exchange_class_init(MpiExchangeClass *klass)
{
  G_OBJECT_CLASS(klass)->constructed = constructed;
  G_OBJECT_CLASS(klass)->finalize = finalize;
  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  GST_BIN_CLASS(klass)->handle_message = handle_message;
  gst_type_mark_as_plugin_api(MPI_TYPE_EXCHANGE, 0);
}

static void mpi_exchange_init(MpiExchange *self)
{
  PRIV(self)->world = astro_world_find();
  PRIV(self)->children = g_ptr_array_new();
  g_mutex_init(&PRIV(self)->lock);
}
