/**
 * SECTION:element-astroconvert
 *
 * Converts samples to another format of the same kind, complex or real: the one that the caps
 * downstream ask for. Where these leave a choice, samples keep their format, or become CF32LE (real
 * ones F32LE). Values are multiplied by scale, rounded to the nearest (halves to even) and
 * saturated. Saturated components are counted: the property clipped gives their number, and an
 * element message astro-clipped (clipped, total) is posted.
 *
 * Visibilities in CI32LE are sums, and those in floats are means: from one to the other they are
 * divided or multiplied by their validity counts, where they have any.
 *
 * |[
 * gst-launch-1.0 filesrc location=v.cf32 blocksize=8388608 ! \
 *   application/x-astro-voltages,format=CF32LE,layout=time:station:pol,stations=64,pols=2 ! \
 *   astroconvert scale=auto ! application/x-astro-voltages,format=CI8 ! filesink location=v.ci8
 * ]|
 */
#include "config.h"
#include "elements/astroconvert.h"

#include <math.h>
#include "core/convert/convert.h"
#include "elements/base/astrofields.h"

struct _AstroConvert {
  AstroStage parent;
  /* properties, under the object's lock: they may be set at any time */
  gboolean auto_scale;
  double scale;
  char *bad_scale; /* a text that was set and is not a scale */

  gboolean picks_scale;      /* scale=auto, and no block so far had anything to pick it from */
  AstroConvertConfig picked; /* the formats for which it was picked */
  double active_scale;
  guint64 clipped, total;
  guint64 reported; /* total when the last message was posted */
  gboolean warned;  /* that many samples are clipped */
};

G_DEFINE_TYPE(AstroConvert, astro_convert, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astroconvert, "astroconvert", GST_RANK_NONE, ASTRO_TYPE_CONVERT)

static gboolean reachable(const GValue *value, AstroFormat to)
{
  for (AstroFormat from = ASTRO_FORMAT_UNKNOWN + 1; from < ASTRO_N_FORMATS; from++)
    if (astro_format_is_named(value, from) && astro_convert_possible(from, to))
      return TRUE;
  return FALSE;
}

/* First the formats that the caps name, then all that these can be converted to or from. */
static void widen_format(GstStructure *s)
{
  const GValue *value = gst_structure_get_value(s, "format");
  GValue list = G_VALUE_INIT;

  if (!value)
    return;
  g_value_init(&list, GST_TYPE_LIST);
  for (AstroFormat f = ASTRO_FORMAT_UNKNOWN + 1; f < ASTRO_N_FORMATS; f++)
    if (astro_format_is_named(value, f))
      astro_format_append(&list, f);
  for (AstroFormat f = ASTRO_FORMAT_UNKNOWN + 1; f < ASTRO_N_FORMATS; f++)
    if (!astro_format_is_named(value, f) && reachable(value, f))
      astro_format_append(&list, f);
  if (gst_value_list_get_size(&list) > 0)
    gst_structure_take_value(s, "format", &list);
  else
    g_value_unset(&list); /* an unknown name: caps_event reports it */
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  GstCaps *result = gst_caps_copy(caps);

  for (guint i = 0; i < gst_caps_get_size(result); i++)
    widen_format(gst_caps_get_structure(result, i));
  return astro_stage_filter_caps(result, filter);
}

static gboolean names_format(GstCapsFeatures *features, GstStructure *s, gpointer data)
{
  return gst_structure_has_field(s, "format");
}

/* Stages also accept formats that they do not name in caps, so that they can refuse them with a
 * reason. The formats that they do name are better, if there are any. */
static GstCaps *keep_named(GstBaseTransform *trans, GstCaps *othercaps)
{
  GstCaps *named =
      gst_caps_make_writable(gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(trans), NULL));
  gst_caps_filter_and_map_in_place(named, names_format, NULL);
  GstCaps *kept = gst_caps_intersect_full(othercaps, named, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(named);
  if (!gst_caps_is_empty(kept)) {
    gst_caps_unref(othercaps);
    return kept;
  }
  gst_caps_unref(kept);
  return othercaps;
}

/* Keeps the format where downstream accepts it. Otherwise it does not simply take the first one
 * that downstream names: that may be integers, which could round all of a signal away. */
static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  if (direction == GST_PAD_SINK)
    othercaps = keep_named(trans, othercaps);
  return gst_caps_can_intersect(caps, othercaps)
             ? astro_stage_fixate_same(trans, direction, caps, othercaps)
             : astro_stage_fixate_exact(trans, direction, caps, othercaps);
}

static gboolean configure(AstroStage *stage, gpointer config, gboolean *pass_through,
                          GError **error)
{
  AstroConvert *self = ASTRO_CONVERT(stage);
  AstroConvertConfig *convert = config;

  convert->from = astro_stage_in(stage)->format;
  convert->to = astro_stage_out(stage)->format;
  GST_OBJECT_LOCK(self);
  /* A picked scale stays while the formats do, whatever else changes in the stream. */
  self->picks_scale =
      self->auto_scale && (self->picked.from != convert->from || self->picked.to != convert->to);
  if (!self->auto_scale || self->picks_scale)
    self->active_scale = self->scale;
  GST_OBJECT_UNLOCK(self);
  *pass_through = convert->from == convert->to && !self->auto_scale && self->active_scale == 1;
  return TRUE;
}

/* A block that is all zero or lost says nothing about the signal; the scale is then picked from a
 * later one. */
static gboolean pick_scale(AstroConvert *self, GstBuffer *in, guint64 steps, GError **error)
{
  const AstroStream *from = astro_stage_in(ASTRO_STAGE(self)),
                    *to = astro_stage_out(ASTRO_STAGE(self));
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  AstroLayout shape;
  GstMapInfo map;

  if (!self->picks_scale)
    return TRUE;
  if (!gst_buffer_map(in, &map, GST_MAP_READ))
    return astro_backend_no_memory(error, "the first block cannot be mapped");
  astro_stream_shape(from, steps, &shape);
  const double scale =
      meta ? astro_convert_auto_scale_of_good(from->format, to->format, map.data, meta, &shape,
                                              astro_convert_is_counted(from, to))
           : astro_convert_auto_scale(from->format, to->format, map.data,
                                      astro_layout_samples(&shape));
  gst_buffer_unmap(in, &map);
  self->picks_scale = scale == 0;
  self->active_scale = scale == 0 ? 1 : scale;
  if (scale == 0)
    return TRUE;
  self->picked = (AstroConvertConfig){ from->format, to->format };
  /* Blocks of zeros went out with another scale before: then the observation's scale stays unknown.
   */
  return self->total > 0 || astro_stage_tell(ASTRO_STAGE(self), error);
}

/* Uses the validity counts, always on the host: these are few values and come rarely. */
static gboolean convert_counted(AstroConvert *self, GstBuffer *in, GstBuffer *out, guint64 steps,
                                const AstroValidityMeta *meta, GError **error)
{
  const AstroStream *from = astro_stage_in(ASTRO_STAGE(self)),
                    *to = astro_stage_out(ASTRO_STAGE(self));
  const AstroConvertConfig config = { from->format, to->format };
  AstroLayout shape;
  GstMapInfo read, write;

  astro_stream_shape(from, steps, &shape);
  if (!gst_buffer_map(in, &read, GST_MAP_READ))
    return astro_backend_no_memory(error, "a block of visibilities cannot be mapped");
  if (!gst_buffer_map(out, &write, GST_MAP_WRITE)) {
    gst_buffer_unmap(in, &read);
    return astro_backend_no_memory(error, "a block of visibilities cannot be mapped");
  }
  astro_stage_result(ASTRO_STAGE(self))->clipped +=
      astro_convert_counted(&config, write.data, read.data, self->active_scale, meta, &shape);
  gst_buffer_unmap(out, &write);
  gst_buffer_unmap(in, &read);
  return TRUE;
}

static gboolean convert(AstroConvert *self, GstBuffer *in, GstBuffer *out, guint64 steps,
                        AstroConvertArguments *arguments, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);

  if (meta && astro_convert_is_counted(astro_stage_in(stage), astro_stage_out(stage)))
    return convert_counted(self, in, out, steps, meta, error);
  return astro_stage_submit(stage, in, out, arguments, error);
}

/* One peak in a hundred may clip; more than that means that the scale is wrong. */
#define MANY_CLIPPED 0.01

static void warn_of_clipping(AstroConvert *self)
{
  const double part = (double)self->clipped / (double)self->total;
  if (self->warned || part < MANY_CLIPPED)
    return;
  self->warned = TRUE;
  GST_ELEMENT_WARNING(
      self, STREAM, FORMAT,
      ("%.3g %% of the components are beyond the range of %s with scale %.6g and were clipped, "
       "which falsifies all results. Use scale=auto, which fits the samples to the format, or a "
       "smaller scale",
       100 * part, astro_format_name(astro_stage_out(ASTRO_STAGE(self))->format),
       self->active_scale),
      (NULL));
}

static void report(AstroConvert *self)
{
  if (self->total == self->reported)
    return;
  self->reported = self->total;
  GST_OBJECT_LOCK(self);
  GstStructure *counts = gst_structure_new("astro-clipped", "clipped", G_TYPE_UINT64, self->clipped,
                                           "total", G_TYPE_UINT64, self->total, NULL);
  GST_OBJECT_UNLOCK(self);
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), counts));
}

static gboolean work(AstroStage *stage, GstBuffer *in, GstBuffer *out, guint64 steps,
                     GError **error)
{
  AstroConvert *self = ASTRO_CONVERT(stage);
  const AstroFormatInfo *from = astro_format_info(astro_stage_in(stage)->format);
  guint64 samples = gst_buffer_get_size(in) / from->bytes;

  if (!pick_scale(self, in, steps, error))
    return FALSE;
  AstroConvertArguments arguments = { .scale = self->active_scale, .samples = samples };
  if (!convert(self, in, out, steps, &arguments, error))
    return FALSE;
  const guint64 clipped = astro_stage_result(stage)->clipped;
  gboolean first = self->clipped == 0 && clipped > 0;
  GST_OBJECT_LOCK(self);
  self->clipped = clipped;
  self->total += samples * (from->is_complex ? 2 : 1);
  GST_OBJECT_UNLOCK(self);
  if (first)
    report(self);
  return TRUE;
}

static void drained(AstroStage *stage)
{
  AstroConvert *self = ASTRO_CONVERT(stage);
  GST_OBJECT_LOCK(self);
  self->clipped = astro_stage_result(stage)->clipped;
  GST_OBJECT_UNLOCK(self);
  report(self);
  if (self->total > 0)
    warn_of_clipping(self);
}

/* Samples are amplitudes, while visibilities and what follows from them are powers. An automatic
 * scale is known only once a block was scaled by it, and the observation is amended again then. */
static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  const AstroConvert *self = ASTRO_CONVERT(stage);
  const AstroQuantity quantity = astro_stage_in(stage)->quantity;
  const double scale = self->picks_scale ? 0 : self->active_scale;
  if (quantity == ASTRO_QUANTITY_VOLTAGES || quantity == ASTRO_QUANTITY_SPECTRA)
    observation->done.scale *= fabs(scale);
  else
    observation->done.scale *= scale > 0 ? sqrt(scale) : 0;
  return TRUE;
}

static gboolean start(AstroStage *stage)
{
  AstroConvert *self = ASTRO_CONVERT(stage);
  GST_OBJECT_LOCK(self);
  self->clipped = self->total = self->reported = 0;
  self->warned = FALSE;
  self->picked = (AstroConvertConfig){ 0 };
  GST_OBJECT_UNLOCK(self);
  return ASTRO_STAGE_CLASS(astro_convert_parent_class)->start(stage);
}

/* Accepts "auto" or a finite number. */
static gboolean read_scale(AstroConvert *self, const char *text)
{
  char *end;
  double scale;

  self->auto_scale = g_strcmp0(text, "auto") == 0;
  if (self->auto_scale)
    return TRUE;
  scale = g_ascii_strtod(text ? text : "", &end);
  if (!text || end == text || *end || !isfinite(scale))
    return FALSE;
  self->scale = scale;
  return TRUE;
}

static void set_scale(GObject *object, const GValue *value)
{
  AstroConvert *self = ASTRO_CONVERT(object);
  GST_OBJECT_LOCK(self);
  g_clear_pointer(&self->bad_scale, g_free);
  if (!read_scale(self, g_value_get_string(value)))
    self->bad_scale = g_value_dup_string(value);
  GST_OBJECT_UNLOCK(self);
}

static void get_scale(GObject *object, GValue *value)
{
  AstroConvert *self = ASTRO_CONVERT(object);
  char number[G_ASCII_DTOSTR_BUF_SIZE];
  GST_OBJECT_LOCK(self);
  g_value_set_string(value, self->auto_scale ? "auto"
                                             : g_ascii_dtostr(number, sizeof number, self->scale));
  GST_OBJECT_UNLOCK(self);
}

static const AstroField fields[] = {
  { ASTRO_FIELD_SAYS(TEXT, "scale", "Scale",
                     "Factor on every value: a number, or auto, which picks it from the rms of the "
                     "good samples of the first block that is not all zero"),
    .text = "1", .get = get_scale, .set = set_scale },
  ASTRO_UINT64(AstroConvert, clipped, "clipped", "Clipped",
               "Components (two a complex sample) that have saturated since the start", 0,
               G_MAXUINT64, 0, .when = ASTRO_WHEN_NEVER),
  { 0 },
};

/* A property's setter cannot fail, so the start of the stream reports a bad value. */
static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  AstroConvert *self = ASTRO_CONVERT(element);

  GST_OBJECT_LOCK(self);
  g_autofree char *bad_scale = g_strdup(self->bad_scale);
  GST_OBJECT_UNLOCK(self);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && bad_scale) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("scale=%s: expected a number or auto", bad_scale),
                      (NULL));
    return GST_STATE_CHANGE_FAILURE;
  }
  return GST_ELEMENT_CLASS(astro_convert_parent_class)->change_state(element, transition);
}

static void finalize(GObject *object)
{
  g_free(ASTRO_CONVERT(object)->bad_scale);
  G_OBJECT_CLASS(astro_convert_parent_class)->finalize(object);
}

static void astro_convert_class_init(AstroConvertClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  stage->start = start;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = fixate_caps;
  stage->stage = "convert";
  stage->backends = astro_convert_backends;
  stage->tell_work = astro_convert_work;
  stage->configure = configure;
  stage->work = work;
  stage->amend = amend;
  stage->drained = drained;
  astro_stage_class_add_pads(stage, astro_stage_any, astro_stage_any);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Convert", "Filter/Converter",
                                        "Converts samples to the format that downstream wants",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "any stream in any format");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "the same in another format");
}

static void astro_convert_init(AstroConvert *self)
{
  astro_fields_set_defaults(self);
  self->scale = 1;
}
