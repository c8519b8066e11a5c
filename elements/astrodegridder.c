/**
 * SECTION:element-astrodegridder
 *
 * Predicts visibilities from a model of the sky, the FITS image `model` in Jy/pixel: each value
 * becomes what the model's pixels would give at its (u,v,w). With subtract=true it becomes what is
 * left of it without the model, the residual. Counts of good samples stay as they are.
 *
 * It is the adjoint of astrogridder algorithm=wstacking, with the same kernels, to `accuracy`. The
 * model is what astroclean output=model (or output=all) makes and astrofitssink writes, or an image
 * in Jy/pixel of another program. It must have the phase centre of the visibilities and pixels
 * small enough for their longest baseline. One channel stands for all (a flat spectrum), if its
 * band overlaps that of the visibilities; a cube must have their channels. Product I alone gives
 * unpolarised visibilities; I with others of Q, U and V, or both parallel correlations, give what
 * follows from them. What is not of the model's sky, the noise of autocorrelations among it, is not
 * predicted: they get the model's total.
 *
 * Planes in w are made of the model for many integrations together, as many as max-memory has room
 * for, which are held back until then: a live stream wants an `interval`, the most that are held.
 * The message of the level INFO at the start says how many those are, and the memory that is
 * planned with; so does stats (planned-bytes, held-steps). On a GPU as many of them are predicted
 * at once as 70% of its free memory, and no more bytes than max-memory, have room for.
 *
 * The observation says which models were subtracted: the same one again is refused.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrodegridder model=clean.fits subtract=true ! \
 *   astrofitssink location=residual.uvfits
 * ]|
 */
#include "config.h"
#include "elements/astrodegridder.h"

#include <string.h>

#include "core/backend/budget.h"
#include "core/gridder/degrid/degridder.h"
#include "core/gridder/work.h"
#include "core/lib/sky/earth-error.h"
#include "core/stream/uvw-meta.h"
#include "core/stream/uvw.h"
#include "elements/astrodegridder-model.h"
#include "elements/base/astroearth.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"
#include "elements/base/astromemory.h"
#include "elements/base/astrosteptimes.h"

#define INPUT_LAYOUT "channel:baseline:pol:pol"
#define SINGLE_REACHES 1e-5 /* accuracy in single precision */

/* A buffer that waits to be predicted. */
typedef struct {
  GstBuffer *buffer;
  guint64 first, steps;
} Held;

struct _AstroDegridder {
  AstroStage parent;
  /* properties */
  char *model, *max_memory, *earth_orientation;
  gboolean subtract;
  double accuracy;
  guint interval;

  AstroModelFile file; /* from start to stop */
  gpointer images;     /* of the model, in the precision of the work */
  char *checksum;
  AstroGrid grid; /* with the products that the configuration points to */
  AstroDegridderConfig config;
  AstroEarthUse earth;
  guint64 budget;        /* bytes, found at the start */
  guint64 room;          /* those that stages downstream leave of it */
  guint64 most;          /* steps that are predicted together */
  guint64 planned_bytes; /* for them; under the object's lock, as most */
  gboolean observed;     /* the backend knows the observation */
  gboolean stale;        /* it still has dumps that were given up */
  GQueue held;           /* Held *, oldest first */
  guint64 added, taken;  /* steps that the backend has, and those of them that went out */
  guint64 first;         /* step of the block in work */
  gboolean is_direct;    /* it is too long to be held, and is predicted piece by piece */
  gboolean warned_of_unit;
};

G_DEFINE_TYPE(AstroDegridder, astro_degridder, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrodegridder, "astrodegridder", GST_RANK_NONE, ASTRO_TYPE_DEGRIDDER)

/* ---- what is held ---- */

static void free_held(gpointer data)
{
  Held *held = data;
  gst_buffer_unref(held->buffer);
  g_free(held);
}

static void forget(AstroDegridder *self)
{
  g_queue_clear_full(&self->held, free_held);
  self->stale |= self->added > 0;
  self->added = self->taken = 0;
}

static void forget_model(AstroDegridder *self)
{
  free(self->images);
  self->images = NULL;
  g_clear_pointer(&self->checksum, g_free);
  astro_grid_clear(&self->grid);
}

/* ---- negotiation ---- */

static gboolean check_input(const AstroStream *in, GError **error)
{
  g_autofree char *layout = astro_layout_to_string(&in->layout);
  if (in->quantity != ASTRO_QUANTITY_VISIBILITIES || strcmp(layout, INPUT_LAYOUT) ||
      (in->format != ASTRO_FORMAT_CF32LE && in->format != ASTRO_FORMAT_CF64LE))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "input is %s of layout %s in %s, expected visibilities of layout " INPUT_LAYOUT
        " in CF32LE or CF64LE",
        astro_quantity_name(in->quantity), layout, astro_format_info(in->format)->name);
  return astro_stream_check_lower(in, error);
}

/* Bytes for so many steps that are predicted together: with their buffers, the one that is made of
 * each, and the model as the file has it and as the work takes it. */
static guint64 bytes_for(const AstroDegridder *self, guint64 steps)
{
  const AstroDegridderConfig *config = &self->config;
  const AstroStream *in = astro_stage_in(ASTRO_STAGE((gpointer)self));
  const guint64 pixels =
      (guint64)config->grid.image_size * config->grid.image_size * config->gridder.channels;
  return astro_degridder_bytes(config, steps) + (steps + 1) * astro_stream_step_bytes(in) +
         pixels * self->file.n_in_file * astro_format_info(self->file.stream.format)->bytes +
         pixels * self->file.n_products * (config->gridder.is_double ? 8 : 4);
}

/* The most steps for which the budget has room. */
static guint64 most_steps(const AstroDegridder *self)
{
  guint64 least = 0, above = astro_degridder_most_dumps(&self->config) + 1;
  while (above - least > 1) {
    const guint64 middle = least + (above - least) / 2;
    if (bytes_for(self, middle) <= self->room)
      least = middle;
    else
      above = middle;
  }
  return least;
}

/* others: bytes that stages downstream need. */
static gboolean plan_memory(AstroDegridder *self, guint64 others, GError **error)
{
  self->room = self->budget - MIN(others, self->budget);
  const guint64 most = most_steps(self);
  if (most == 0)
    return astro_backend_no_memory(
        error,
        "a model of %u x %u pixels and one integration need %" G_GUINT64_FORMAT
        " bytes, and max-memory allows %" G_GUINT64_FORMAT
        ": expected more memory, or a smaller model",
        self->grid.image_size, self->grid.image_size, bytes_for(self, 1), self->room);
  GST_OBJECT_LOCK(self);
  self->most = self->interval > 0 ? MIN(most, self->interval) : most;
  self->planned_bytes = bytes_for(self, self->most);
  GST_OBJECT_UNLOCK(self);
  ASTRO_INFO(self,
             "planes of %u x %u cells; %" G_GUINT64_FORMAT
             " integrations at most are predicted together, in %" G_GUINT64_FORMAT " bytes",
             self->grid.size, self->grid.size, self->most, self->planned_bytes);
  return TRUE;
}

static gboolean choose(AstroDegridder *self, GError **error)
{
  AstroDegridderConfig *config = &self->config;
  const AstroStream *in = astro_stage_in(ASTRO_STAGE(self));
  const gboolean is_double = in->format == ASTRO_FORMAT_CF64LE || self->accuracy < SINGLE_REACHES;
  forget_model(self);
  self->images = astro_model_file_pick(&self->file, is_double, &self->checksum, error);
  if (!self->images)
    return FALSE;
  self->grid = self->file.grid;
  self->grid.products = g_strdupv(self->file.grid.products);
  *config = (AstroDegridderConfig){
    .gridder = { .is_double = is_double,
                 .channels = astro_model_file_channels(&self->file),
                 .accuracy = self->accuracy },
    .model = self->images,
    .scale = 1,
    .subtract = self->subtract,
    .budget = self->budget,
    .visibilities = { .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
                      .baselines = (guint)astro_stream_extent(in, ASTRO_AXIS_BASELINE),
                      .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
                      .format = in->format,
                      .frequency = in->frequency,
                      .bandwidth = in->bandwidth,
                      .is_double = is_double },
  };
  if (!astro_wstacking.choose(&config->gridder, &self->grid, error))
    return FALSE;
  config->grid = self->grid;
  return TRUE;
}

/* The unit of the values is known only with the observation, which comes later or changes: the
 * configuration is then made again. */
static double scale_of(const AstroDegridder *self)
{
  const AstroObservation *o = astro_stage_observation(ASTRO_STAGE((gpointer)self));
  const double scale = o ? o->done.scale : 0;
  return self->subtract && scale > 0 && astro_model_file_is_jansky(&self->file) ? scale * scale : 1;
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(stage);
  const AstroStream *in = astro_stage_in(stage);
  if (!check_input(in, error) || !astro_model_file_check_band(&self->file, in, error) ||
      !choose(self, error) || !plan_memory(self, 0, error))
    return FALSE;
  self->config.scale = scale_of(self);
  *(AstroDegridderConfig *)configuration = self->config;
  self->observed = FALSE;
  forget(self);
  self->stale = FALSE;
  return TRUE;
}

/* ---- the observation ---- */

static gboolean orient(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(stage);
  return astro_earth_use(&self->earth, self, &self->earth_orientation, observation, error);
}

static gboolean observed(AstroStage *stage, GError **error)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(stage);
  self->observed = FALSE;
  return self->config.scale == scale_of(self) || !self->images ||
         astro_stage_configure_again(stage);
}

/* A model in Jy beside values of an unknown unit, or the other way round. */
static void warn_of_unit(AstroDegridder *self, const AstroObservation *came)
{
  const gboolean is_jansky = astro_model_file_is_jansky(&self->file);
  if (self->warned_of_unit || !self->subtract || is_jansky == (came->done.scale > 0))
    return;
  self->warned_of_unit = TRUE;
  GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                      ("%s is %s and the visibilities are %s: they are taken to have one unit",
                       self->file.path, is_jansky ? "in Jy" : "not in Jy",
                       is_jansky ? "of an unknown unit" : "of a known one"),
                      (NULL));
}

static gboolean check_observation(AstroDegridder *self, const AstroObservation *came,
                                  GError **error)
{
  if (!came)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the stream has no observation (stations, phase centre, start) to "
                               "compute (u,v,w) from: expected astroobserve with array, "
                               "phase-centre and start-time before this");
  if (astro_history_delays(&came->done, ASTRO_QUANTITY_VISIBILITIES) != ASTRO_DELAYS_OUT)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "the delays of the phase centre have not been taken out of these visibilities, whose "
        "phases then are not those of their (u,v,w): expected astrodelay before or after the "
        "channelizer");
  return astro_degridder_check_products(self->grid.products, came->basis,
                                        self->config.visibilities.pols, error) &&
         astro_model_file_check_centre(&self->file, came, error);
}

static gboolean is_subtracted(const AstroHistory *done, const char *checksum)
{
  g_auto(GStrv) sums = g_strsplit(done->subtracted ? done->subtracted : "", ",", -1);
  return g_strv_contains((const char *const *)sums, checksum);
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(stage);
  AstroHistory *done = &observation->done;
  if (!self->images)
    return TRUE;
  if (!self->subtract) {
    astro_history_set_text(&done->predicted, self->checksum);
    astro_history_set_text(&done->subtracted, NULL);
    done->scale = astro_model_file_is_jansky(&self->file) ? 1 : 0;
    return TRUE;
  }
  if (is_subtracted(done, self->checksum))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s was subtracted from these visibilities before: expected those "
                               "that still have it, or another model",
                               self->file.path);
  g_autofree char *all =
      done->subtracted ? g_strconcat(done->subtracted, ",", self->checksum, NULL) : NULL;
  astro_history_set_text(&done->subtracted, all ? all : self->checksum);
  return TRUE;
}

static gboolean observe(AstroDegridder *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  AstroObservation *came = (AstroObservation *)astro_stage_observation(stage);
  const AstroDegridArguments arguments = { .call = ASTRO_DEGRID_OBSERVE, .observation = came };
  if (self->observed)
    return TRUE;
  /* Caps have gone downstream by now, so that the stages there know what they need. */
  if (!check_observation(self, came, error) ||
      !plan_memory(self, astro_memory_downstream(GST_BASE_TRANSFORM_SRC_PAD(self)), error))
    return FALSE;
  warn_of_unit(self, came);
  self->observed = astro_stage_submit(stage, NULL, NULL, &arguments, error);
  self->stale = FALSE;
  if (self->observed)
    astro_earth_use_tell(&self->earth, GST_ELEMENT(self), came, astro_stage_in(stage),
                         astro_earth_error_of_uvw(astro_grid_farthest(&self->grid)),
                         " in the model's corners");
  return self->observed;
}

/* ---- blocks ---- */

/* A call without blocks. */
static gboolean ask(AstroDegridder *self, AstroDegridCall call, GError **error)
{
  const AstroDegridArguments arguments = { .call = call };
  return astro_stage_submit(ASTRO_STAGE(self), NULL, NULL, &arguments, error);
}

static gboolean start_again(AstroDegridder *self, GError **error)
{
  self->added = self->taken = 0;
  self->stale = FALSE;
  return ask(self, ASTRO_DEGRID_FORGET, error);
}

/* Adds steps from to to of a block of `steps` that begins at step `first`. */
static gboolean add_steps(AstroDegridder *self, GstBuffer *in, guint64 first, guint64 steps,
                          guint64 from, guint64 to, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroObservation *observation = astro_stage_observation(stage);
  const guint baselines = self->config.visibilities.baselines;
  const double *uvw = NULL;
  if (!astro_buffer_find_uvw(in, observation, steps, baselines, &uvw, error) ||
      (self->stale && !start_again(self, error)))
    return FALSE;
  for (guint64 i = from; i < to; i++) {
    AstroDegridArguments arguments = { .call = ASTRO_DEGRID_ADD,
                                       .uvw = uvw ? uvw + 3 * i * baselines : NULL };
    GstClockTime times[2];
    if (!astro_stage_step_times(stage, in, first, i, steps, times, error))
      return FALSE;
    arguments.middle_ns = (gint64)(times[0] + (times[1] - times[0]) / 2);
    if (!astro_uvw_check_time(observation, arguments.middle_ns, error) ||
        !astro_stage_submit(stage, NULL, NULL, &arguments, error))
      return FALSE;
    self->added++;
  }
  return TRUE;
}

static gboolean take(AstroDegridder *self, GstBuffer *in, GstBuffer *out, guint64 at, guint64 steps,
                     GError **error)
{
  const AstroDegridArguments arguments = {
    .call = ASTRO_DEGRID_TAKE, .first = self->taken, .at = at, .dumps = steps
  };
  self->taken += steps;
  return astro_stage_submit_part(ASTRO_STAGE(self), in, out, &arguments, at == 0, TRUE, error);
}

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(stage);
  if (!self->is_direct)
    return take(self, in, out, 0, steps, error);
  for (guint64 from = 0, to; from < steps; from = to) {
    to = MIN(steps, from + self->most);
    if (!start_again(self, error) || !add_steps(self, in, self->first, steps, from, to, error) ||
        !ask(self, ASTRO_DEGRID_PREDICT, error) || !take(self, in, out, from, to - from, error))
      return FALSE;
  }
  return start_again(self, error);
}

static gboolean make(AstroDegridder *self, GstBuffer *in, guint64 first, guint64 steps,
                     GError **error)
{
  return ASTRO_STAGE_CLASS(astro_degridder_parent_class)
      ->feed(ASTRO_STAGE(self), in, first, steps, error);
}

/* Predicts all that is held, and sends it on. */
static gboolean send_held(AstroDegridder *self, GError **error)
{
  Held *held;
  if (self->added > 0 && !ask(self, ASTRO_DEGRID_PREDICT, error))
    return FALSE;
  while ((held = g_queue_pop_head(&self->held))) {
    const gboolean made = make(self, held->buffer, held->first, held->steps, error);
    free_held(held);
    if (!made)
      return FALSE;
    if (astro_stage_push(ASTRO_STAGE(self)) != GST_FLOW_OK)
      break;
  }
  forget(self);
  return !self->stale || start_again(self, error);
}

static gboolean is_gap(GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(stage);
  self->first = first;
  if (!observe(self, error))
    return FALSE;
  if (self->added + steps > self->most && !send_held(self, error))
    return FALSE;
  if (steps > self->most || (is_gap(in) && g_queue_is_empty(&self->held))) {
    self->is_direct = TRUE;
    const gboolean made = make(self, in, first, steps, error);
    self->is_direct = FALSE;
    return made;
  }
  if (!is_gap(in) && !add_steps(self, in, first, steps, 0, steps, error))
    return FALSE;
  Held *held = g_new(Held, 1);
  *held = (Held){ gst_buffer_ref(in), first, steps };
  g_queue_push_tail(&self->held, held);
  return self->added < self->most || send_held(self, error);
}

static gboolean finish(AstroStage *stage, GError **error)
{
  return send_held(ASTRO_DEGRIDDER(stage), error);
}

static guint64 latency_steps(AstroStage *stage)
{
  const guint interval = ASTRO_DEGRIDDER(stage)->interval;
  return interval > 0 ? interval - 1 : 0;
}

static void tell_stats(AstroStage *stage, GstStructure *stats)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(stage);
  GST_OBJECT_LOCK(self);
  gst_structure_set(stats, "held-steps", G_TYPE_UINT64, self->most, "planned-bytes", G_TYPE_UINT64,
                    self->planned_bytes, NULL);
  GST_OBJECT_UNLOCK(self);
}

/* ---- states and properties ---- */

static void reset(AstroStage *stage)
{
  forget(ASTRO_DEGRIDDER(stage));
}

static gboolean start(AstroStage *stage)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(stage);
  g_autofree char *path = astro_fields_copy_text(self, &self->model);
  g_autofree char *memory = astro_fields_copy_text(self, &self->max_memory);
  g_autoptr(GError) error = NULL;
  self->earth = (AstroEarthUse){ 0 };
  self->warned_of_unit = FALSE;
  GST_OBJECT_LOCK(self);
  self->most = self->planned_bytes = 0;
  GST_OBJECT_UNLOCK(self);
  if (!astro_field_given(path)) {
    GST_ELEMENT_ERROR(self, RESOURCE, NOT_FOUND,
                      ("no model is set: expected model=FILE, a FITS image in Jy/pixel"), (NULL));
    return FALSE;
  }
  if (!astro_memory_budget(memory, &self->budget, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  if (astro_model_file_read(&self->file, path, &error))
    return ASTRO_STAGE_CLASS(astro_degridder_parent_class)->start(stage);
  GST_ELEMENT_ERROR(self, RESOURCE, OPEN_READ, ("%s", error->message), (NULL));
  astro_model_file_clear(&self->file);
  return FALSE;
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroDegridder *self = ASTRO_DEGRIDDER(trans);
  const gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_degridder_parent_class)->stop(trans);
  forget_model(self);
  astro_model_file_clear(&self->file);
  self->observed = self->stale = FALSE;
  return ok;
}

static const AstroField fields[] = {
  ASTRO_TEXT(AstroDegridder, model, "model", "Model",
             "A FITS image in Jy/pixel, or a cube: the sky that is predicted", NULL),
  ASTRO_BOOLEAN(AstroDegridder, subtract, "subtract", "Subtract",
                "Subtract what the model predicts from the visibilities, in place of replacing "
                "them",
                FALSE),
  ASTRO_DOUBLE(AstroDegridder, accuracy, "accuracy", "Accuracy",
               "Wanted relative error of what is predicted; below 1e-5 in double precision", 1e-12,
               0.1, 1e-4),
  ASTRO_UINT(AstroDegridder, interval, "interval", "Interval",
             "Time steps that are predicted together at most, and held back until then; 0: as many "
             "as max-memory has room for",
             0, G_MAXUINT, 0),
  ASTRO_TEXT(AstroDegridder, max_memory, "max-memory", "Memory", ASTRO_BUDGET_HELP,
             ASTRO_BUDGET_DEFAULT),
  ASTRO_EARTH_FIELD(AstroDegridder, earth_orientation),
  { 0 },
};

static void astro_degridder_class_init(AstroDegridderClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VISIBILITIES, ASTRO_QUANTITY_UNKNOWN };
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(G_OBJECT_CLASS(klass), fields, 0);
  trans->fixate_caps = astro_stage_fixate_same;
  trans->stop = stop;
  stage->start = start;
  stage->stage = "degridder";
  stage->backends = astro_degridder_backends;
  stage->tell_work = astro_degridder_work;
  stage->configure = configure;
  stage->work = work;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->orient = orient;
  stage->observed = observed;
  stage->amend = amend;
  stage->latency_steps = latency_steps;
  stage->tell_stats = tell_stats;
  astro_stage_class_add_pads(stage, quantities, quantities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Degridder", "Filter/Effect",
      "Predicts visibilities from an image of the sky, or subtracts them", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "visibilities CF32LE CF64LE: channel:baseline:pol:pol");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "visibilities CF32LE CF64LE: channel:baseline:pol:pol");
}

static void astro_degridder_init(AstroDegridder *self)
{
  astro_fields_set_defaults(self);
  g_queue_init(&self->held);
}
