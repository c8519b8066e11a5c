#include "config.h"
#include "elements/astrostage-parts.h"

#include <string.h>
#include "elements/astroincoming.h"
#include "elements/astroreader.h"

GST_DEBUG_CATEGORY(astro_stage_debug);

G_DEFINE_ABSTRACT_TYPE_WITH_CODE(AstroStage, astro_stage, GST_TYPE_BASE_TRANSFORM,
                                 G_ADD_PRIVATE(AstroStage);
                                 GST_DEBUG_CATEGORY_INIT(astro_stage_debug, "astrostage", 0,
                                                         "Base of gst-astro's stages"))

#define PRIV(stage) astro_stage_parts(stage)

AstroStagePrivate *astro_stage_parts(AstroStage *stage)
{
  return astro_stage_get_instance_private(stage);
}

gint64 astro_stage_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * G_GINT64_CONSTANT(1000000000) + t.tv_nsec;
}

const AstroStream *astro_stage_in(AstroStage *stage)
{
  return &PRIV(stage)->in;
}

const AstroStream *astro_stage_out(AstroStage *stage)
{
  return &PRIV(stage)->out;
}

const AstroObservation *astro_stage_observation(AstroStage *stage)
{
  return PRIV(stage)->observation;
}

gpointer astro_stage_instance(AstroStage *stage)
{
  return PRIV(stage)->instance;
}

GstClockTimeDiff astro_stage_epoch(AstroStage *stage)
{
  return PRIV(stage)->epoch;
}

gboolean astro_stage_prefers_device(AstroStage *stage)
{
  return astro_backend_prefers_device(ASTRO_STAGE_GET_CLASS(stage)->stage, PRIV(stage)->kind,
                                      PRIV(stage)->device_index);
}

void astro_stage_post_error(AstroStage *stage, GError *error)
{
  GST_ELEMENT_ERROR(stage, STREAM, FAILED, ("%s", error ? error->message : "failed"), (NULL));
}

static void reset(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);

  g_queue_clear_full(&priv->ready, (GDestroyNotify)gst_buffer_unref);
  priv->started = priv->retime = FALSE;
  priv->next_step = 0;
  priv->epoch = 0;
  priv->discont = FALSE;
  if (ASTRO_STAGE_GET_CLASS(stage)->reset)
    ASTRO_STAGE_GET_CLASS(stage)->reset(stage);
}

/* What queries are answered from then on: the pipeline asked before there were caps, and sinks that
 * do not know of a change find all blocks late. */
static void tell_latency(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  GstClockTime own = astro_stage_held_back(priv) * priv->block_duration;

  if (klass->latency_steps && priv->in.rate_n > 0)
    own += astro_stage_step_time(&priv->in, klass->latency_steps(stage));
  GST_OBJECT_LOCK(stage);
  const gboolean is_new = own != priv->latency;
  priv->latency = own;
  GST_OBJECT_UNLOCK(stage);
  if (is_new)
    gst_element_post_message(GST_ELEMENT(stage), gst_message_new_latency(GST_OBJECT(stage)));
}

/* ---- input ---- */

/* Never called, since generate_output is ours; but without it the base class takes us for an
 * element that works in place and asks downstream for no allocation. */
static GstFlowReturn transform(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  return GST_FLOW_NOT_SUPPORTED;
}

static GstFlowReturn generate_output(GstBaseTransform *trans, GstBuffer **out)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);

  if (gst_base_transform_is_passthrough(trans)) {
    GstFlowReturn flow =
        GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)->generate_output(trans, out);
    if (*out) {
      priv->buffers_out++;
      priv->bytes_out += gst_buffer_get_size(*out);
    }
    return flow;
  }
  *out = NULL;
  if (trans->queued_buf) {
    priv->input = g_steal_pointer(&trans->queued_buf);
    GstFlowReturn flow = astro_stage_feed(stage, priv->input);
    gst_clear_buffer(&priv->input);
    tell_latency(stage);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  if (priv->ready.length > astro_stage_held_back(priv))
    *out = astro_stage_pop_ready(priv);
  return GST_FLOW_OK;
}

/* Around the base class's chain function: what is not work here is waiting for others. */
static GstFlowReturn timed_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(parent));
  gint64 entered = astro_stage_now(), busy = priv->busy_ns;

  if (priv->chain_left)
    priv->input_wait_ns += entered - priv->chain_left;
  priv->buffers_in++;
  priv->bytes_in += gst_buffer_get_size(buffer);
  GstFlowReturn flow = priv->chain(pad, parent, buffer);
  priv->chain_left = astro_stage_now();
  priv->output_wait_ns += priv->chain_left - entered - (priv->busy_ns - busy);
  return flow;
}

/* ---- caps and events ---- */

static gboolean read_caps(AstroStage *stage, AstroStream *stream, GstCaps *caps)
{
  g_autoptr(GError) error = NULL;
  if (astro_stream_from_caps(stream, caps, &error))
    return TRUE;
  GST_ELEMENT_ERROR(stage, STREAM, WRONG_TYPE, ("%s", error->message),
                    ("caps: %" GST_PTR_FORMAT, caps));
  return FALSE;
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;
  const AstroStream before = priv->in;
  gboolean pass_through = astro_stage_is_unlinked(trans, out);

  if (!astro_stage_drain(stage))
    return FALSE;
  astro_stage_close_backend(stage);
  astro_stage_drop_pools(priv);
  priv->agreed = FALSE;
  if (!read_caps(stage, &priv->in, in) || !read_caps(stage, &priv->out, out))
    return FALSE;
  astro_stage_follow_rate(priv, &before);
  memset(priv->config, 0, sizeof priv->config);
  if (!pass_through && !klass->configure(stage, priv->config, &pass_through, &error)) {
    astro_stage_post_error(stage, error);
    return FALSE;
  }
  gst_base_transform_set_passthrough(trans, pass_through);
  if (!pass_through && !astro_stage_open_backend(stage, &error)) {
    astro_stage_post_error(stage, error);
    astro_stage_close_backend(stage);
    return FALSE;
  }
  priv->agreed = TRUE;
  tell_latency(stage);
  /* A source may have asked for its allocation before there were caps: it has to ask again. */
  if (priv->device && priv->answered_host)
    gst_base_transform_reconfigure_sink(trans);
  GST_INFO_OBJECT(stage, "%s", pass_through ? "pass-through" : priv->variant);
  return TRUE;
}

/* GStreamer itself says only "not negotiated": this says between what. */
static gboolean caps_event(AstroStage *stage, GstEvent *event)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM(stage);
  AstroStream stream;
  GstCaps *caps;

  gst_event_parse_caps(event, &caps);
  if (!read_caps(stage, &stream, caps)) {
    gst_event_unref(event);
    return FALSE;
  }
  g_autoptr(GstCaps) in = gst_caps_ref(caps);
  if (GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)->sink_event(trans, event))
    return TRUE;
  if (GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SRC_PAD(trans)))
    return FALSE;
  g_autoptr(GstCaps) accepted = gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(trans), NULL);
  GST_ELEMENT_ERROR(
      stage, CORE, NEGOTIATION, ("input cannot be turned into what downstream accepts"),
      ("found %" GST_PTR_FORMAT ", downstream accepts %" GST_PTR_FORMAT, in, accepted));
  return FALSE;
}

/* GStreamer's structures do not compare segments. */
static gboolean is_known_segment(AstroStage *stage, const GstSegment *segment)
{
  g_autoptr(GstEvent) known =
      gst_pad_get_sticky_event(GST_BASE_TRANSFORM_SINK_PAD(stage), GST_EVENT_SEGMENT, 0);
  const GstSegment *before;

  if (known)
    gst_event_parse_segment(known, &before);
  return known && gst_segment_is_equal(before, segment);
}

/* Offsets of a segment in bytes count no steps; what leaves here is timed by steps. */
static gboolean segment_event(AstroStage *stage, GstEvent *event)
{
  AstroStagePrivate *priv = PRIV(stage);
  const GstSegment *segment;

  gst_event_parse_segment(event, &segment);
  if (!is_known_segment(stage, segment))
    astro_stage_drain(stage);
  priv->time_segment = segment->format == GST_FORMAT_TIME;
  priv->retime = TRUE;
  if (!priv->time_segment && !gst_base_transform_is_passthrough(GST_BASE_TRANSFORM(stage))) {
    GstSegment time;
    gst_segment_init(&time, GST_FORMAT_TIME);
    GstEvent *replaced = gst_event_new_segment(&time);
    gst_event_set_seqnum(replaced, gst_event_get_seqnum(event));
    gst_event_unref(event);
    event = replaced;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
      ->sink_event(GST_BASE_TRANSFORM(stage), event);
}

/* What is held belongs to the observation before. */
static gboolean observation_event(AstroStage *stage, GstEvent *event)
{
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  g_autoptr(GError) error = NULL;
  AstroObservation *observation;

  if (priv->observation && astro_event_is_known(GST_BASE_TRANSFORM_SINK_PAD(stage), event))
    return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
        ->sink_event(GST_BASE_TRANSFORM(stage), event);
  if (priv->observation && !astro_stage_drain(stage)) {
    gst_event_unref(event);
    return FALSE;
  }
  observation = astro_observation_from_event(event, &error);
  if (observation) {
    g_clear_pointer(&priv->observation, astro_observation_unref);
    priv->observation = observation;
    if (!klass->observed || klass->observed(stage, &error))
      return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
          ->sink_event(GST_BASE_TRANSFORM(stage), event);
  }
  astro_stage_post_error(stage, error);
  gst_event_unref(event);
  return FALSE;
}

/* What is half made waits for what follows, whose time shows what is missing; the block that it
 * becomes may begin before the gap, so that the event would overtake it. Before the first block
 * there is nothing to overtake, and a sink may wait for it. */
static gboolean gap_event(AstroStage *stage, GstEvent *event)
{
  AstroStagePrivate *priv = PRIV(stage);
  gboolean ok = astro_stage_complete(stage);

  priv->retime = TRUE;
  if (!priv->started || !ASTRO_STAGE_GET_CLASS(stage)->finish)
    return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
        ->sink_event(GST_BASE_TRANSFORM(stage), event);
  gst_event_unref(event);
  return ok;
}

/* Upstream is through, and does not hear what downstream says to what is sent now; without a sink
 * the pipeline would wait for ever. */
static void end(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  priv->pushed = GST_FLOW_OK;
  astro_stage_drain(stage);
  if (astro_flow_is_lost(priv->pushed))
    GST_ELEMENT_FLOW_ERROR(stage, priv->pushed);
}

static gboolean post_stats(AstroStage *stage);

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroStage *stage = ASTRO_STAGE(trans);

  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_CAPS:
    return caps_event(stage, event);
  case GST_EVENT_STREAM_START: /* where what is held was of another */
    if (!astro_event_is_known(GST_BASE_TRANSFORM_SINK_PAD(stage), event))
      astro_stage_drain(stage);
    break;
  case GST_EVENT_SEGMENT:
    return segment_event(stage, event);
  case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
    if (astro_event_is_observation(event))
      return observation_event(stage, event);
    break;
  case GST_EVENT_EOS:
    end(stage);
    post_stats(stage);
    break;
  case GST_EVENT_SEGMENT_DONE: /* what ends a segment that was sought, in place of EOS */
    end(stage);
    break;
  case GST_EVENT_GAP:
    return gap_event(stage, event);
  case GST_EVENT_FLUSH_STOP:
    reset(stage);
    break;
  default:
    break;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)->sink_event(trans, event);
}

/* ---- allocation ---- */

static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(trans));

  if (!decide) /* pass-through: downstream answers */
    return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
        ->propose_allocation(trans, decide, query);
  astro_reader_add(query, priv->device);
  return TRUE;
}

static gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(trans));

  /* Blocks come from our own pool: only we know their size. */
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  g_clear_pointer(&priv->reader, astro_device_unref);
  priv->reader = astro_reader_find(query);
  astro_stage_drop_pools(priv);
  return TRUE;
}

/* ---- queries ---- */

static gboolean add_latency(AstroStage *stage, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(stage);
  GstClockTime min, max;
  gboolean live;

  gst_query_parse_latency(query, &live, &min, &max);
  GST_OBJECT_LOCK(stage);
  const GstClockTime own = priv->latency;
  GST_OBJECT_UNLOCK(stage);
  gst_query_set_latency(query, live, min + own, GST_CLOCK_TIME_IS_VALID(max) ? max + own : max);
  return TRUE;
}

static gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  /* Noted here, since before there are caps the base class answers by itself. */
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION)
    PRIV(ASTRO_STAGE(trans))->answered_host = !PRIV(ASTRO_STAGE(trans))->device;
  gboolean answered = astro_transform_query(trans, direction, query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
    return add_latency(ASTRO_STAGE(trans), query);
  return answered;
}

/* ---- states ---- */

static gboolean start(GstBaseTransform *trans)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);

  priv->buffers_in = priv->buffers_out = priv->bytes_in = priv->bytes_out = priv->host_copies = 0;
  priv->busy_ns = priv->input_wait_ns = priv->output_wait_ns = priv->chain_left = 0;
  priv->time_segment = TRUE;
  priv->block_duration = 0;
  GST_OBJECT_LOCK(stage);
  priv->latency = 0;
  GST_OBJECT_UNLOCK(stage);
  if (priv->kind == ASTRO_BACKEND_CUDA) {
    /* Asked for by name: said at once where there is none, not at the first buffer. */
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroDevice) device = astro_device_open(priv->device_index, &error);
    if (!device) {
      GST_ELEMENT_ERROR(stage, RESOURCE, NOT_FOUND, ("backend=cuda: %s", error->message), (NULL));
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);

  reset(stage);
  astro_stage_close_backend(stage);
  astro_stage_drop_pools(priv);
  priv->agreed = FALSE;
  g_clear_pointer(&priv->reader, astro_device_unref);
  g_clear_pointer(&priv->observation, astro_observation_unref);
  return TRUE;
}

/* ---- properties ---- */

static char *active_backend(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  char *text = NULL;

  GST_OBJECT_LOCK(stage);
  if (priv->backend)
    text = g_strdup_printf("%s/%s", astro_backend_kind_name(priv->backend->kind),
                           priv->variant ? priv->variant : "");
  GST_OBJECT_UNLOCK(stage);
  return text ? text : g_strdup(priv->agreed ? "pass-through" : "none");
}

static GstStructure *stats(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  g_autofree char *backend = active_backend(stage);

  return gst_structure_new(
      "astro-stats", "buffers-in", G_TYPE_UINT64, priv->buffers_in, "buffers-out", G_TYPE_UINT64,
      priv->buffers_out, "bytes-in", G_TYPE_UINT64, priv->bytes_in, "bytes-out", G_TYPE_UINT64,
      priv->bytes_out, "busy-ns", G_TYPE_UINT64, (guint64)priv->busy_ns, "input-wait-ns",
      G_TYPE_UINT64, (guint64)priv->input_wait_ns, "output-wait-ns", G_TYPE_UINT64,
      (guint64)priv->output_wait_ns, "host-copies", G_TYPE_UINT64, priv->host_copies, "backend",
      G_TYPE_STRING, backend, NULL);
}

static gboolean post_stats(AstroStage *stage)
{
  return gst_element_post_message(GST_ELEMENT(stage),
                                  gst_message_new_element(GST_OBJECT(stage), stats(stage)));
}

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(object));

  switch (id) {
  case ASTRO_STAGE_PROP_BACKEND:
    priv->kind = g_value_get_enum(value);
    break;
  case ASTRO_STAGE_PROP_DEVICE:
    priv->device_index = g_value_get_int(value);
    break;
  case ASTRO_STAGE_PROP_THREADS:
    priv->threads = g_value_get_uint(value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  AstroStage *stage = ASTRO_STAGE(object);
  AstroStagePrivate *priv = PRIV(stage);

  switch (id) {
  case ASTRO_STAGE_PROP_BACKEND:
    g_value_set_enum(value, priv->kind);
    break;
  case ASTRO_STAGE_PROP_ACTIVE_BACKEND:
    g_value_take_string(value, active_backend(stage));
    break;
  case ASTRO_STAGE_PROP_DEVICE:
    g_value_set_int(value, priv->device_index);
    break;
  case ASTRO_STAGE_PROP_THREADS:
    g_value_set_uint(value, priv->threads);
    break;
  case ASTRO_STAGE_PROP_STATS:
    g_value_take_boxed(value, stats(stage));
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void astro_stage_class_init(AstroStageClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  const GParamFlags read = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;
  const GParamFlags ready = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  object->set_property = set_property;
  object->get_property = get_property;
  g_object_class_install_property(object, ASTRO_STAGE_PROP_BACKEND,
                                  g_param_spec_enum("backend", "Backend", "Who does the work",
                                                    ASTRO_TYPE_BACKEND_KIND, ASTRO_BACKEND_AUTO,
                                                    ready));
  g_object_class_install_property(
      object, ASTRO_STAGE_PROP_ACTIVE_BACKEND,
      g_param_spec_string("active-backend", "Active backend",
                          "Who does the work now, and with which kernel, for instance cpu/avx512",
                          "none", read));
  g_object_class_install_property(object, ASTRO_STAGE_PROP_DEVICE,
                                  g_param_spec_int("device", "Device",
                                                   "Index of the GPU that backend=cuda uses", 0,
                                                   G_MAXINT, 0, ready));
  g_object_class_install_property(object, ASTRO_STAGE_PROP_THREADS,
                                  g_param_spec_uint("threads", "Threads",
                                                    "CPU threads at most (0: one a core)", 0, 4096,
                                                    0, ready));
  g_object_class_install_property(
      object, ASTRO_STAGE_PROP_STATS,
      g_param_spec_boxed("stats", "Statistics",
                         "Buffers, bytes, and nanoseconds of work and of waiting since the start",
                         GST_TYPE_STRUCTURE, read));

  trans->set_caps = set_caps;
  trans->transform = transform;
  trans->submit_input_buffer = astro_transform_submit;
  trans->generate_output = generate_output;
  trans->sink_event = sink_event;
  trans->query = query;
  trans->propose_allocation = propose_allocation;
  trans->decide_allocation = decide_allocation;
  trans->start = start;
  trans->stop = stop;
  klass->feed = astro_stage_default_feed;
  klass->validity = astro_stage_default_validity;
  gst_type_mark_as_plugin_api(ASTRO_TYPE_BACKEND_KIND, 0);
  gst_type_mark_as_plugin_api(ASTRO_TYPE_STAGE, 0);
}

static void astro_stage_init(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD(stage);

  g_queue_init(&priv->ready);
  g_queue_init(&priv->in_flight);
  priv->time_segment = TRUE;
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(stage), TRUE);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(stage), FALSE);
  priv->chain = GST_PAD_CHAINFUNC(sink);
  gst_pad_set_chain_function(sink, timed_chain);
}

const AstroQuantity astro_stage_any[] = {
  ASTRO_QUANTITY_VOLTAGES,  ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_VISIBILITIES,
  ASTRO_QUANTITY_UVGRID,    ASTRO_QUANTITY_IMAGE,   ASTRO_QUANTITY_CATALOGUE,
  ASTRO_QUANTITY_HISTOGRAM, ASTRO_QUANTITY_UNKNOWN,
};

static GstCaps *media_types(const AstroQuantity *quantities)
{
  GstCaps *caps = gst_caps_new_empty();
  for (; *quantities != ASTRO_QUANTITY_UNKNOWN; quantities++)
    gst_caps_append(caps, gst_caps_new_empty_simple(astro_quantity_media_type(*quantities)));
  return caps;
}

void astro_stage_class_add_pads(AstroStageClass *klass, const AstroQuantity *sink,
                                const AstroQuantity *src)
{
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  g_autoptr(GstCaps) in = media_types(sink), out = media_types(src);

  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, in));
  gst_element_class_add_pad_template(element,
                                     gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, out));
}
