/* The pad `model` of astrocalibrate. */
#include "config.h"
#include "elements/astrocalibrate-input.h"

#include <math.h>
#include <string.h>

#include "elements/base/astroincoming.h"

#define MOST_BLOCKS 4 /* that wait */
#define WAIT_US 20000 /* until a thread that waits looks whether its stream is stopped */
#define PLACE 0.05    /* of an integration: times that are nearer are the same */
#define ANGLE 5e-9    /* radians: a milliarcsecond */

typedef struct {
  GstBuffer *buffer;
  AstroStream stream;
  AstroObservation *observation; /* NULL: none */
  guint64 steps, next;           /* next: steps before it are past */
  gboolean is_checked;           /* that it fits the visibilities */
} Block;

static void free_block(gpointer data)
{
  Block *block = data;
  gst_buffer_unref(block->buffer);
  g_clear_pointer(&block->observation, astro_observation_unref);
  g_free(block);
}

static void forget(AstroCalibrateInput *input)
{
  g_queue_clear_full(&input->blocks, free_block);
  input->is_ended = FALSE;
}

void astro_calibrate_input_init(AstroCalibrateInput *input)
{
  g_mutex_init(&input->lock);
  g_cond_init(&input->changed);
  g_queue_init(&input->blocks);
  input->is_closed = TRUE;
}

void astro_calibrate_input_clear(AstroCalibrateInput *input)
{
  forget(input);
  g_clear_pointer(&input->observation, astro_observation_unref);
  g_mutex_clear(&input->lock);
  g_cond_clear(&input->changed);
}

/* ---- blocks and events ---- */

static AstroCalibrateInput *input_of(GstPad *pad)
{
  return gst_pad_get_element_private(pad);
}

static GstFlowReturn refuse(GstObject *element, const GError *error)
{
  GST_ELEMENT_ERROR(element, STREAM, FORMAT, ("pad model: %s", error->message), (NULL));
  return GST_FLOW_ERROR;
}

static Block *block_of(const AstroCalibrateInput *input, GstBuffer *buffer, GError **error)
{
  guint64 steps;
  if (!astro_stream_steps(&input->stream, gst_buffer_get_size(buffer), &steps, error) ||
      !astro_incoming_check_counts(&input->stream, buffer, steps, error))
    return NULL;
  if (!GST_BUFFER_PTS_IS_VALID(buffer) || !GST_BUFFER_DURATION_IS_VALID(buffer)) {
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "a buffer has no time or no duration, expected both: the model is matched "
                        "with visibilities by their times");
    return NULL;
  }
  if (!astro_check_times(GST_BUFFER_PTS(buffer), GST_BUFFER_DURATION(buffer), error))
    return NULL;
  Block *block = g_new0(Block, 1);
  *block = (Block){ .buffer = gst_buffer_ref(buffer), .stream = input->stream, .steps = steps };
  block->observation = input->observation ? astro_observation_ref(input->observation) : NULL;
  return block;
}

static GstFlowReturn chain(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  AstroCalibrateInput *input = input_of(pad);
  g_autoptr(GstBuffer) owned = buffer;
  g_autoptr(GError) error = NULL;
  if (!astro_has_caps(pad))
    return GST_FLOW_NOT_NEGOTIATED;
  g_mutex_lock(&input->lock);
  Block *block = block_of(input, owned, &error);
  while (block && !input->is_closed && !input->is_done && input->blocks.length >= MOST_BLOCKS)
    g_cond_wait(&input->changed, &input->lock);
  const gboolean is_closed = input->is_closed;
  if (block && !is_closed && !input->is_done) {
    g_queue_push_tail(&input->blocks, g_steal_pointer(&block));
    g_cond_broadcast(&input->changed);
  }
  g_mutex_unlock(&input->lock);
  g_clear_pointer(&block, free_block);
  if (error)
    return refuse(parent, error);
  return is_closed ? GST_FLOW_FLUSHING : GST_FLOW_OK;
}

static gboolean take_caps(AstroCalibrateInput *input, GstObject *parent, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  AstroStream stream;
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  if (!astro_stream_from_caps(&stream, caps, &error)) {
    refuse(parent, error);
    return FALSE;
  }
  g_mutex_lock(&input->lock);
  input->stream = stream;
  g_mutex_unlock(&input->lock);
  return TRUE;
}

static gboolean take_observation(AstroCalibrateInput *input, GstObject *parent, GstEvent *event)
{
  g_autoptr(GError) error = NULL;
  AstroObservation *observation = astro_observation_from_event(event, &error);
  if (!observation) {
    refuse(parent, error);
    return FALSE;
  }
  g_mutex_lock(&input->lock);
  g_clear_pointer(&input->observation, astro_observation_unref);
  input->observation = observation;
  g_mutex_unlock(&input->lock);
  return TRUE;
}

static void set_closed(AstroCalibrateInput *input, gboolean is_closed)
{
  g_mutex_lock(&input->lock);
  input->is_closed = is_closed;
  forget(input);
  g_cond_broadcast(&input->changed);
  g_mutex_unlock(&input->lock);
}

static void set_ended(AstroCalibrateInput *input)
{
  g_mutex_lock(&input->lock);
  input->is_ended = TRUE;
  g_cond_broadcast(&input->changed);
  g_mutex_unlock(&input->lock);
}

/* Nothing of the model goes on downstream. */
static gboolean take_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  AstroCalibrateInput *input = input_of(pad);
  gboolean ok = TRUE;
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_CAPS:
    ok = take_caps(input, parent, event);
    break;
  case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
    if (astro_event_is_observation(event))
      ok = take_observation(input, parent, event);
    break;
  case GST_EVENT_FLUSH_START:
    set_closed(input, TRUE);
    break;
  case GST_EVENT_FLUSH_STOP:
    set_closed(input, FALSE);
    break;
  case GST_EVENT_EOS:
    set_ended(input);
    break;
  default:
    break;
  }
  gst_event_unref(event);
  return ok;
}

static gboolean activate(GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  (void)parent;
  if (mode != GST_PAD_MODE_PUSH)
    return FALSE;
  set_closed(input_of(pad), !active);
  return TRUE;
}

/* ---- the pad ---- */

#define TEMPLATE "model"

void astro_calibrate_input_class_init(GstElementClass *klass)
{
  g_autoptr(GstCaps) caps =
      gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_VISIBILITIES));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new(TEMPLATE, GST_PAD_SINK, GST_PAD_REQUEST, caps));
}

GstPad *astro_calibrate_input_open(AstroCalibrateInput *input, GstElement *element,
                                   GstPadTemplate *templ)
{
  if (input->pad || GST_STATE(element) > GST_STATE_READY)
    return NULL;
  input->pad = gst_pad_new_from_template(templ, TEMPLATE);
  gst_pad_set_element_private(input->pad, input);
  gst_pad_set_chain_function(input->pad, chain);
  gst_pad_set_event_function(input->pad, take_event);
  gst_pad_set_activatemode_function(input->pad, activate);
  gst_element_add_pad(element, input->pad);
  return input->pad;
}

void astro_calibrate_input_close(AstroCalibrateInput *input, GstElement *element)
{
  GstPad *pad = g_steal_pointer(&input->pad);
  gst_pad_set_active(pad, FALSE);
  gst_element_remove_pad(element, pad);
  set_ended(input); /* visibilities that still come have no model */
}

void astro_calibrate_input_begin(AstroCalibrateInput *input)
{
  g_mutex_lock(&input->lock);
  input->is_done = FALSE;
  g_mutex_unlock(&input->lock);
}

void astro_calibrate_input_end(AstroCalibrateInput *input)
{
  g_mutex_lock(&input->lock);
  input->is_done = TRUE;
  g_cond_broadcast(&input->changed);
  g_mutex_unlock(&input->lock);
}

/* ---- whether it fits ---- */

static gboolean check_stream(const AstroStream *model, const AstroStream *data, GError **error)
{
  static const AstroAxis axes[] = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_BASELINE, ASTRO_AXIS_POL };
  const double width = data->bandwidth / (double)astro_stream_extent(data, ASTRO_AXIS_CHANNEL);
  g_autofree char *layout = astro_layout_to_string(&model->layout),
                  *expected = astro_layout_to_string(&data->layout);
  if (strcmp(layout, expected) != 0 || model->is_full_triangle ||
      (model->format != ASTRO_FORMAT_CF32LE && model->format != ASTRO_FORMAT_CF64LE &&
       model->format != ASTRO_FORMAT_CI32LE))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad model: visibilities of format=%s and layout=%s, expected "
                               "CF32LE, CF64LE or CI32LE and %s",
                               astro_format_name(model->format), layout, expected);
  if (!astro_stream_check_sums(model, error)) {
    g_prefix_error(error, "pad model: ");
    return FALSE;
  }
  for (guint i = 0; i < G_N_ELEMENTS(axes); i++)
    if (astro_stream_extent(model, axes[i]) != astro_stream_extent(data, axes[i]))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "pad model: %s=%" G_GUINT64_FORMAT
                                 ", and the visibilities have %" G_GUINT64_FORMAT
                                 ": expected a model of the same layout",
                                 astro_axis_field(axes[i]), astro_stream_extent(model, axes[i]),
                                 astro_stream_extent(data, axes[i]));
  if (fabs(model->frequency - data->frequency) > 1e-3 * width ||
      fabs(model->bandwidth - data->bandwidth) > 1e-3 * width)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad model: frequency=%.9g and bandwidth=%.9g Hz, and the "
                               "visibilities have %.9g and %.9g Hz: expected a model of their band",
                               model->frequency, model->bandwidth, data->frequency,
                               data->bandwidth);
  return TRUE;
}

static gboolean check_observation(const AstroObservation *model, const AstroObservation *data,
                                  GError **error)
{
  if (!model || !model->has_start)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad model: %s, expected one with a start, by which times are "
                               "matched",
                               model ? "the observation has no start" : "there is no observation");
  if (!g_strv_equal((const char *const *)model->names, (const char *const *)data->names))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad model: stations %s to %s, and the visibilities have %s to %s: "
                               "expected the same stations in the same order",
                               model->names[0], model->names[model->n_stations - 1], data->names[0],
                               data->names[data->n_stations - 1]);
  if (model->has_phase_centre && data->has_phase_centre &&
      (fabs(model->phase_dec - data->phase_dec) > ANGLE ||
       fabs(remainder(model->phase_ra - data->phase_ra, 2 * G_PI)) * cos(data->phase_dec) > ANGLE))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad model: its phase centre is not that of the visibilities: "
                               "expected a model that was phased to the same direction");
  return g_strcmp0(model->basis, data->basis) == 0 ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad model: the %s basis, and the visibilities have the %s basis",
                             model->basis, data->basis);
}

static gboolean check_block(Block *block, AstroStage *stage, GError **error)
{
  block->is_checked =
      block->is_checked ||
      (check_stream(&block->stream, astro_stage_in(stage), error) &&
       check_observation(block->observation, astro_stage_observation(stage), error));
  return block->is_checked;
}

/* ---- matching ---- */

/* The middle of a step of the model, in s since the start of another observation. */
static double middle_of(const Block *block, const AstroObservation *other)
{
  const double length = (double)GST_BUFFER_DURATION(block->buffer) / (double)block->steps,
               begin = (double)GST_BUFFER_PTS(block->buffer) + (double)block->next * length;
  return (begin + length / 2) / GST_SECOND +
         86400. * (block->observation->start_mjd - other->start_mjd) +
         ((double)block->observation->start_ns - (double)other->start_ns) / GST_SECOND;
}

/* The block whose next step is that of the time or later; NULL: none will come. Steps before are
 * past, and left out. Called with the lock. */
static Block *find_block(AstroCalibrateInput *input, AstroStage *stage, double middle, double near,
                         GError **error)
{
  const AstroObservation *observation = astro_stage_observation(stage);
  while (!astro_stage_is_stopped(stage)) {
    Block *block = g_queue_peek_head(&input->blocks);
    if (!block && input->is_ended)
      return NULL;
    if (!block) {
      g_cond_wait_until(&input->changed, &input->lock, g_get_monotonic_time() + WAIT_US);
      continue;
    }
    if (!check_block(block, stage, error))
      return NULL;
    while (block->next < block->steps && middle_of(block, observation) < middle - near)
      block->next++;
    if (block->next < block->steps)
      return block;
    free_block(g_queue_pop_head(&input->blocks));
    g_cond_broadcast(&input->changed);
  }
  astro_fail(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP, "stopped");
  return NULL;
}

/* Without a known scale, visibilities are in Jy, or gains hold what they are in. */
static double factor_of(const AstroObservation *model, const AstroObservation *data)
{
  const double from = model->done.scale > 0 ? model->done.scale : 1,
               to = data->done.scale > 0 ? data->done.scale : 1;
  return to * to / (from * from);
}

static gboolean give(const Block *block, const AstroObservation *observation,
                     AstroCalibrateModel *model, GError **error)
{
  GstMapInfo map;
  if (GST_BUFFER_FLAG_IS_SET(block->buffer, GST_BUFFER_FLAG_GAP))
    return astro_calibrate_model_give(model, NULL, 0, error);
  if (!gst_buffer_map(block->buffer, &map, GST_MAP_READ))
    return astro_backend_no_memory(error, "pad model: a block cannot be mapped");
  const AstroCalibrateGiven given = { .stream = &block->stream,
                                      .block = { map.data, map.size },
                                      .steps = block->steps,
                                      .validity = astro_buffer_get_validity(block->buffer),
                                      .factor = factor_of(block->observation, observation) };
  const gboolean ok = astro_calibrate_model_give(model, &given, block->next, error);
  gst_buffer_unmap(block->buffer, &map);
  return ok;
}

gboolean astro_calibrate_input_take(AstroCalibrateInput *input, AstroStage *stage,
                                    const GstClockTime times[2], AstroCalibrateModel *model,
                                    gboolean *found, GError **error)
{
  const AstroObservation *observation = astro_stage_observation(stage);
  const double length = (double)(times[1] - times[0]) / GST_SECOND,
               middle = (double)times[0] / GST_SECOND + length / 2;
  GError *wrong = NULL;
  g_mutex_lock(&input->lock);
  const Block *block = find_block(input, stage, middle, PLACE * length, &wrong);
  *found = block && middle_of(block, observation) <= middle + PLACE * length;
  const gboolean ok = !wrong && (*found ? give(block, observation, model, &wrong)
                                        : astro_calibrate_model_give(model, NULL, 0, &wrong));
  g_mutex_unlock(&input->lock);
  if (wrong)
    g_propagate_error(error, wrong);
  return ok;
}
