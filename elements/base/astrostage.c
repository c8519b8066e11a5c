/* AstroStage: the base of elements with one input and one output. */
#include "config.h"
#include "elements/base/astromemory.h"
#include "elements/base/astrostage-parts.h"

#include "elements/base/astroincoming.h"
#include "elements/base/astroonce.h"
#include "elements/base/astroplan.h"
#include "elements/base/astroreader.h"
#include "core/backend/module.h"

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(AstroStage, astro_stage, GST_TYPE_BASE_TRANSFORM)

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

AstroResult *astro_stage_result(AstroStage *stage)
{
  return &PRIV(stage)->result;
}

GstClockTimeDiff astro_stage_epoch(AstroStage *stage)
{
  return PRIV(stage)->steps.epoch;
}

gboolean astro_stage_prefers_device(AstroStage *stage)
{
  const AstroWorkChoice choice = astro_stage_choice(stage);
  return astro_backend_prefers_device(ASTRO_STAGE_GET_CLASS(stage)->stage, choice.kind,
                                      choice.device);
}

void astro_stage_post_error(AstroStage *stage, GError *error)
{
  if (g_error_matches(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP) &&
      astro_deadline_is_stopped(&PRIV(stage)->deadline))
    return;
  GST_ELEMENT_ERROR(stage, STREAM, FAILED, ("%s", error ? error->message : "failed"), (NULL));
}

/* Bytes for the work, and for its output, unless that takes the place of the input. */
static guint64 memory_of(AstroStage *stage)
{
  const AstroStagePrivate *priv = PRIV(stage);
  const AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  const guint64 in = astro_stream_step_bytes(&priv->in), out = astro_stream_step_bytes(&priv->out);
  const gboolean is_in_place = priv->backend && priv->backend->in_place && in == out;
  return (klass->tell_memory ? klass->tell_memory(priv->config, astro_stage_choice(stage).threads)
                             : 0) +
         (is_in_place ? 0 : out);
}

void astro_stage_set_agreed(AstroStage *stage, gboolean agreed)
{
  const guint64 memory = agreed ? memory_of(stage) : 0;
  GST_OBJECT_LOCK(stage);
  PRIV(stage)->agreed = agreed;
  PRIV(stage)->memory = memory;
  GST_OBJECT_UNLOCK(stage);
}

void astro_stage_reset(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);

  g_queue_clear_full(&priv->ready, (GDestroyNotify)gst_buffer_unref);
  astro_steps_reset(&priv->steps);
  priv->discont = priv->counting = FALSE;
  priv->out_origin = 0;
  priv->handed = GST_FLOW_OK;
  priv->has_told = FALSE;
  if (ASTRO_STAGE_GET_CLASS(stage)->reset)
    ASTRO_STAGE_GET_CLASS(stage)->reset(stage);
}

void astro_stage_tell_latency(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  AstroStageClass *klass = ASTRO_STAGE_GET_CLASS(stage);
  GstClockTime own = priv->hands_out ? 0 : astro_stage_held_back(priv) * priv->block_duration;

  if (klass->latency_steps && priv->in.rate_n > 0)
    own += astro_stream_time(&priv->in, klass->latency_steps(stage));
  GST_OBJECT_LOCK(stage);
  const gboolean is_new = own != priv->latency;
  priv->latency = own;
  GST_OBJECT_UNLOCK(stage);
  if (is_new)
    gst_element_post_message(GST_ELEMENT(stage), gst_message_new_latency(GST_OBJECT(stage)));
}

/* ---- input ---- */

/* Never called, since generate_output is ours. Without it GstBaseTransform would treat the element
 * as one that works in place, and would not ask downstream for an allocation. */
static GstFlowReturn transform(GstBaseTransform *trans, GstBuffer *in, GstBuffer *out)
{
  return GST_FLOW_NOT_SUPPORTED;
}

/* Sends the amended observation before the first block after a new one or new caps. */
static gboolean tell_first(AstroStage *stage)
{
  g_autoptr(GError) error = NULL;
  if (PRIV(stage)->told || astro_stage_tell(stage, &error))
    return TRUE;
  astro_stage_post_error(stage, error);
  return FALSE;
}

/* GstBaseTransform marks the next block that goes out after one came in with DISCONT, and that may
 * be one that was held back from before it. It does not see the mark: the stage, or a pass-through,
 * has it on its own blocks. */
static GstBuffer *hide_mark(AstroStage *stage, GstBuffer *in)
{
  PRIV(stage)->is_marked = GST_BUFFER_IS_DISCONT(in);
  if (!PRIV(stage)->is_marked)
    return in;
  in = gst_buffer_make_writable(in);
  GST_BUFFER_FLAG_UNSET(in, GST_BUFFER_FLAG_DISCONT);
  return in;
}

static void show_mark(AstroStage *stage, GstBuffer **in)
{
  if (!*in || !PRIV(stage)->is_marked)
    return;
  *in = gst_buffer_make_writable(*in);
  GST_BUFFER_FLAG_SET(*in, GST_BUFFER_FLAG_DISCONT);
  PRIV(stage)->is_marked = FALSE;
}

static GstFlowReturn generate_output(GstBaseTransform *trans, GstBuffer **out)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);

  if (priv->handed != GST_FLOW_OK) {
    gst_clear_buffer(&trans->queued_buf);
    priv->has_told = TRUE;
    return priv->handed;
  }
  show_mark(stage, &trans->queued_buf);
  if (trans->queued_buf && !(astro_stage_take_settings(stage) && tell_first(stage))) {
    gst_clear_buffer(&trans->queued_buf);
    return GST_FLOW_ERROR;
  }
  /* Caps were refused when a new observation came, and an error has said so. */
  if (!priv->agreed) {
    gst_clear_buffer(&trans->queued_buf);
    return GST_FLOW_NOT_NEGOTIATED;
  }
  if (gst_base_transform_is_passthrough(trans)) {
    GstFlowReturn flow =
        GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)->generate_output(trans, out);
    if (*out && flow == GST_FLOW_OK)
      flow = astro_stage_pass(stage, out);
    if (*out) {
      priv->passed.buffers_out++;
      priv->passed.bytes_out += gst_buffer_get_size(*out);
    }
    return flow;
  }
  *out = NULL;
  if (trans->queued_buf) {
    priv->input = g_steal_pointer(&trans->queued_buf);
    GstFlowReturn flow = astro_stage_feed(stage);
    astro_stage_tell_latency(stage);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  if (priv->ready.length <= astro_stage_held_back(priv))
    return GST_FLOW_OK;
  if (!astro_stage_check_next(stage))
    return GST_FLOW_ERROR;
  *out = astro_stage_pop_ready(stage);
  return GST_FLOW_OK;
}

/* Wraps the chain function of the base class: time in it that is not work is waiting for
 * downstream. */
static GstFlowReturn timed_chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  AstroStage *stage = ASTRO_STAGE(parent);
  AstroStagePrivate *priv = PRIV(stage);
  const gint64 entered = astro_stage_now();
  const guint64 busy = priv->stats.busy_ns;
  const guint64 idle = priv->chain_left ? (guint64)(entered - priv->chain_left) : 0;

  astro_log_wait(stage, "for input", idle);
  astro_stage_count(stage, &(AstroWorkStats){ .buffers_in = 1,
                                              .bytes_in = gst_buffer_get_size(buffer),
                                              .input_wait_ns = idle });
  GstFlowReturn flow = priv->chain(pad, parent, hide_mark(stage, buffer));
  priv->chain_left = astro_stage_now();
  priv->passed.output_wait_ns =
      (guint64)(priv->chain_left - entered) - (priv->stats.busy_ns - busy);
  astro_stage_count(stage, &priv->passed);
  astro_log_wait(stage, "for downstream", priv->passed.output_wait_ns);
  priv->passed = (AstroWorkStats){ 0 };
  return flow;
}

/* ---- allocation ---- */

static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(trans));

  if (!decide) /* pass-through: downstream answers */
    return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)
        ->propose_allocation(trans, decide, query);
  astro_reader_add(query, astro_stage_device(priv));
  if (ASTRO_STAGE_GET_CLASS(trans)->feed == astro_stage_default_feed)
    astro_stage_add_block_length(ASTRO_STAGE(trans), query, 1, 0);
  return TRUE;
}

static gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(trans));

  /* Blocks come from our own pool, since only we know their size. */
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  g_clear_pointer(&priv->reader, astro_device_unref);
  astro_stage_take_block_length(ASTRO_STAGE(trans), query);
  priv->reader = astro_reader_find(query);
  priv->reads_any = !priv->reader && astro_reader_takes_any(query);
  if (priv->reads_any && astro_stage_device(priv))
    priv->reader = astro_device_ref(astro_stage_device(priv));
  ASTRO_DEBUG(trans, "blocks are read %s%s", priv->reads_any ? "where they lie" : "by ",
              priv->reads_any ? ""
              : priv->reader  ? priv->reader->name
                              : "the host");
  astro_stage_drop_pools(priv);
  return TRUE;
}

/* ---- queries ----
 *
 * They come from any thread, also while this stage stops: one upstream may ask in the middle of a
 * block, and stops later. So they read only what lies under the object's lock. */

static gboolean add_latency(AstroStage *stage, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(stage);

  GST_OBJECT_LOCK(stage);
  const GstClockTime own = priv->latency;
  GST_OBJECT_UNLOCK(stage);
  astro_query_add_latency(query, own);
  return TRUE;
}

static guint64 memory(AstroStage *stage)
{
  GST_OBJECT_LOCK(stage);
  const guint64 bytes = PRIV(stage)->memory;
  GST_OBJECT_UNLOCK(stage);
  return bytes;
}

static gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  AstroStagePrivate *priv = PRIV(ASTRO_STAGE(trans));

  /* Noted here, because before there are caps the base class answers by itself. */
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION) {
    GST_OBJECT_LOCK(trans);
    priv->answered_host = !astro_stage_device(priv);
    GST_OBJECT_UNLOCK(trans);
  }
  if (direction == GST_PAD_SINK && astro_memory_is_asked(query))
    astro_memory_add(query, memory(ASTRO_STAGE(trans)));
  gboolean answered = astro_transform_query(trans, direction, query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
    return add_latency(ASTRO_STAGE(trans), query);
  if (answered && direction == GST_PAD_SINK && GST_QUERY_TYPE(query) == GST_QUERY_CAPS)
    astro_stage_ask_no_counts(ASTRO_STAGE(trans), query);
  return answered;
}

/* ---- states ---- */

static gboolean start(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);

  g_atomic_int_set(&priv->has_settings, FALSE); /* those set before are read at the start */
  g_atomic_int_set(&priv->agrees_anew, FALSE);
  priv->chain_left = 0;
  astro_steps_begin(&priv->steps);
  priv->sends_time = TRUE;
  priv->block_duration = 0;
  priv->result = (AstroResult){ 0 };
  GST_OBJECT_LOCK(stage);
  priv->latency = 0;
  priv->stats = (AstroWorkStats){ 0 };
  GST_OBJECT_UNLOCK(stage);
  /* A backend that is not there is refused at once, not at the first buffer. */
  g_autoptr(GError) error = NULL;
  if (priv->is_planned || astro_stage_check_devices(stage, &error))
    return TRUE;
  GST_ELEMENT_ERROR(stage, RESOURCE, NOT_FOUND, ("%s", error->message), (NULL));
  return FALSE;
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroStage *stage = ASTRO_STAGE(trans);
  AstroStagePrivate *priv = PRIV(stage);

  astro_stage_stop_handing_out(stage);
  astro_stage_reset(stage);
  astro_stage_close_backend(stage);
  astro_stage_drop_pools(priv);
  priv->told = FALSE;
  const gboolean was_agreed = priv->agreed;
  astro_stage_set_agreed(stage, FALSE);
  g_clear_pointer(&priv->reader, astro_device_unref);
  g_clear_pointer(&priv->observation, astro_observation_unref);
  if (was_agreed)
    g_object_notify(G_OBJECT(stage), "active-backend");
  return TRUE;
}

static gboolean start_any(GstBaseTransform *trans)
{
  return ASTRO_STAGE_GET_CLASS(trans)->start(ASTRO_STAGE(trans));
}

static void set_context(GstElement *element, GstContext *context)
{
  if (gst_context_has_context_type(context, ASTRO_PLAN_CONTEXT)) {
    PRIV(ASTRO_STAGE(element))->tells_work = TRUE;
    PRIV(ASTRO_STAGE(element))->is_planned =
        !astro_field_is_true(gst_context_get_structure(context), "run");
  }
  GST_ELEMENT_CLASS(astro_stage_parent_class)->set_context(element, context);
}

/* The deadline comes first, since stopping the pads waits for the work in hand. */
gboolean astro_stage_is_stopped(AstroStage *stage)
{
  return astro_deadline_is_stopped(&PRIV(stage)->deadline);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange change)
{
  AstroDeadline *deadline = &PRIV(ASTRO_STAGE(element))->deadline;

  if (change == GST_STATE_CHANGE_READY_TO_PAUSED)
    astro_deadline_clear(deadline);
  else if (change == GST_STATE_CHANGE_PAUSED_TO_READY)
    astro_deadline_set_stopped(deadline, TRUE);
  return astro_transform_change_state(element, change, astro_stage_parent_class, start_any);
}

static gboolean src_event(GstBaseTransform *trans, GstEvent *event)
{
  if (gst_event_has_name(event, ASTRO_INTERRUPT_EVENT))
    astro_deadline_interrupt(&PRIV(ASTRO_STAGE(trans))->deadline);
  return GST_BASE_TRANSFORM_CLASS(astro_stage_parent_class)->src_event(trans, event);
}

/* A device loads whole samples. */
static gsize unit(const AstroStagePrivate *priv)
{
  const gsize bytes = priv->agreed ? astro_stream_sample_bytes(&priv->in) : 1;
  return astro_stage_device(priv) ? bytes : MIN(bytes, ASTRO_SAMPLES_ALIGN);
}

gboolean astro_stage_align(AstroStage *stage, GstBuffer **block, GError **error)
{
  const AstroStagePrivate *priv = PRIV(stage);
  return astro_buffer_align(block, astro_stage_device(priv), unit(priv), error);
}

static GstFlowReturn submit_input(GstBaseTransform *trans, gboolean is_discont, GstBuffer *buffer)
{
  AstroStagePrivate *priv = astro_stage_parts(ASTRO_STAGE(trans));
  return astro_transform_submit_aligned(trans, is_discont, buffer, astro_stage_device(priv),
                                        unit(priv));
}

static void constructed(GObject *object)
{
  astro_stage_wrap_transform_caps(ASTRO_STAGE(object));
  astro_stage_wrap_fixate_caps(ASTRO_STAGE(object));
  G_OBJECT_CLASS(astro_stage_parent_class)->constructed(object);
}

static void finalize(GObject *object)
{
  astro_steps_reset(&PRIV(ASTRO_STAGE(object))->steps);
  G_OBJECT_CLASS(astro_stage_parent_class)->finalize(object);
}

static void astro_stage_class_init(AstroStageClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);

  astro_stage_install_properties(klass);
  object->constructed = constructed;
  object->finalize = finalize;
  astro_element_class_say_once(GST_ELEMENT_CLASS(klass));
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  GST_ELEMENT_CLASS(klass)->set_context = set_context;
  trans->set_caps = astro_stage_set_caps;
  trans->transform = transform;
  trans->submit_input_buffer = submit_input;
  trans->generate_output = generate_output;
  trans->sink_event = astro_stage_sink_event;
  trans->src_event = src_event;
  trans->query = query;
  trans->propose_allocation = propose_allocation;
  trans->decide_allocation = decide_allocation;
  trans->stop = stop;
  klass->start = start;
  klass->feed = astro_stage_default_feed;
  klass->validity = astro_stage_default_validity;
  gst_type_mark_as_plugin_api(ASTRO_TYPE_STAGE, 0);
}

static void astro_stage_init(AstroStage *stage)
{
  AstroStagePrivate *priv = PRIV(stage);
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD(stage);

  astro_fields_set_defaults(stage);
  g_queue_init(&priv->ready);
  for (guint i = 0; i < G_N_ELEMENTS(priv->lanes); i++)
    g_queue_init(&priv->lanes[i].in_flight);
  priv->lane = &priv->lanes[0];
  astro_deadline_init(&priv->deadline);
  priv->steps.counts_time = priv->sends_time = TRUE;
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(stage), TRUE);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(stage), FALSE);
  priv->chain = GST_PAD_CHAINFUNC(sink);
  gst_pad_set_chain_function(sink, timed_chain);
}

const AstroQuantity astro_stage_any[] = {
  ASTRO_QUANTITY_VOLTAGES,     ASTRO_QUANTITY_SPECTRA,
  ASTRO_QUANTITY_VISIBILITIES, ASTRO_QUANTITY_UVGRID,
  ASTRO_QUANTITY_IMAGE,        ASTRO_QUANTITY_CATALOGUE,
  ASTRO_QUANTITY_HISTOGRAM,    ASTRO_QUANTITY_CORRELATION_FUNCTION,
  ASTRO_QUANTITY_POWER,        ASTRO_QUANTITY_PROFILE,
  ASTRO_QUANTITY_UNKNOWN,
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
