/**
 * SECTION:element-astromeasure
 *
 * Measures the point sources in images, which pass through unchanged, by fitting each peak to a
 * fraction of a pixel. With a sky (in the same form as for astroskysrc and astrovissrc) it looks
 * for those sources, and reports what it finds beside the true values. Without one it reports the
 * brightest peaks above threshold times the noise. In an image that astroclean cleaned inside a
 * border, noise and peaks are those inside it. The noise is the one that astroclean measured before
 * it had subtracted any of it, else that of the image. Where the point-spread function is known
 * (downstream of astroclean, or of astroimage psf=true), a peak counts only if it is higher than
 * the sidelobes of brighter ones could add up to: of all brighter peaks in a dirty image, of what
 * astroclean left in a cleaned one. In a cleaned image of intensity, a peak counts only if it is
 * higher than the image is deep, because negative values there are errors that CLEAN cannot remove.
 *
 * For each image (for each channel, and of several products the first) it posts an element message
 * "astro-sources": product, channel, rms (of the noise), pixel (radians), unit (Jy/beam if known),
 * size (pixels), border, cleaned (by astroclean), dirty (the point-spread function is known, and
 * nothing was cleaned), beam-major, beam-minor and beam-angle (degrees, if there is a beam), and
 * without a sky also limit (what peaks had to exceed) and limited-by (noise, sidelobes or depth).
 * Its field sources is an array of structures "source" with l and m (direction cosines), ra and dec
 * (degrees) and flux. With a sky they also have true-l, true-m, true-flux (Jy) and offset (pixels
 * from the true place). A source that was not found has only the true values, and outside=true if
 * it lies outside the image. gst-astro prints these messages. The same structure goes downstream as
 * an event before the image, so that astrorender can mark the sources.
 *
 * |[
 * gst-launch-1.0 -m astrofitssrc location=a.fits ! astromeasure ! fakesink
 * ]|
 */
#include "config.h"
#include "elements/astromeasure.h"

#include <math.h>

#include "core/lib/wcs/wcs.h"
#include "core/measure/measure.h"
#include "core/memory/memory.h"
#include "core/lib/sky/sky.h"
#include "core/stream/observation.h"
#include "core/stream/uvw.h"
#include "core/kit/units.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astroonce.h"
#include "elements/base/astrostage.h"

/* Errors that reach this far below zero reach as far above it, or a little farther. */
#define MARGIN 1.2

#define REACH 3 /* pixels around a source that are fitted, where the beam is not known */

typedef struct {
  char *text;
  double threshold;
  guint max;
} Settings;

struct _AstroMeasure {
  GstBaseTransform parent;
  Settings settings;
  Settings now; /* copies from when caps or the observation came */

  AstroStream stream;
  AstroGrid grid;
  AstroObservation *observation;
  AstroSky *sky; /* resolved; NULL: none is set, or no observation has come yet */
};

G_DEFINE_TYPE(AstroMeasure, astro_measure, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(astromeasure, "astromeasure", GST_RANK_NONE, ASTRO_TYPE_MEASURE)

static const AstroField fields[] = {
  ASTRO_TEXT(
      Settings, text, "sky", "Sky",
      "Sources to look for: l,m,flux;l,m,flux (direction cosines, Jy), or a file of lines ra "
      "dec flux (degrees, Jy); unset: the brightest peaks",
      NULL),
  ASTRO_DOUBLE(Settings, threshold, "threshold", "Threshold",
               "Without a sky: reports peaks above this many times the noise", 0, G_MAXDOUBLE, 8),
  ASTRO_UINT(Settings, max, "max-sources", "Most sources",
             "Without a sky: reports at most this many of the brightest", 1, G_MAXUINT, 20),
  { 0 },
};

static void take_settings(AstroMeasure *self)
{
  astro_fields_clear(fields, &self->now);
  astro_fields_copy(fields, self, &self->now, &self->settings, sizeof self->now);
}

static gboolean has_place(const AstroMeasure *self)
{
  return self->observation && self->observation->has_phase_centre;
}

static gboolean stop(GstBaseTransform *trans)
{
  AstroMeasure *self = ASTRO_MEASURE(trans);
  g_clear_pointer(&self->sky, astro_sky_free);
  g_clear_pointer(&self->observation, astro_observation_unref);
  astro_grid_clear(&self->grid);
  return TRUE;
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroMeasure *self = ASTRO_MEASURE(trans);
  g_autoptr(GError) error = NULL;

  astro_log_caps(self, in, out);
  take_settings(self);
  astro_grid_clear(&self->grid);
  if (astro_stream_from_caps(&self->stream, in, &error) &&
      astro_image_check_layout(&self->stream, &error) &&
      astro_grid_from_caps(&self->grid, in, &error) && self->stream.format != ASTRO_FORMAT_F32LE &&
      self->stream.format != ASTRO_FORMAT_F64LE)
    astro_stream_refuse(&error, ASTRO_STREAM_ERROR_CAPS, "format is %s, expected F32LE or F64LE",
                        astro_format_info(self->stream.format)->name);
  if (!error)
    return TRUE;
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

static gboolean observe(AstroMeasure *self, GstEvent *event, GError **error)
{
  AstroObservation *observation = astro_observation_from_event(event, error);
  if (!observation)
    return FALSE;
  g_clear_pointer(&self->observation, astro_observation_unref);
  self->observation = observation;
  g_clear_pointer(&self->sky, astro_sky_free);
  take_settings(self);
  if (!astro_field_given(self->now.text) || !has_place(self))
    return TRUE;
  self->sky = astro_sky_new(self->now.text, error);
  if (self->sky && astro_sky_resolve(self->sky, observation, error))
    return TRUE;
  g_clear_pointer(&self->observation, astro_observation_unref); /* no image is measured with it */
  return FALSE;
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroMeasure *self = ASTRO_MEASURE(trans);
  g_autoptr(GError) error = NULL;
  if (astro_event_is_observation(event) && !observe(self, event, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    gst_event_unref(event);
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_measure_parent_class)->sink_event(trans, event);
}

/* ---- sources ---- */

static GstStructure *describe(AstroMeasure *self, const AstroPeak *peak)
{
  double l = astro_image_l(&self->grid, peak->x), m = astro_image_m(&self->grid, peak->y);
  double rest = 1 - l * l - m * m;
  GstStructure *source = gst_structure_new("source", "l", G_TYPE_DOUBLE, l, "m", G_TYPE_DOUBLE, m,
                                           "flux", G_TYPE_DOUBLE, peak->value, NULL);
  if (has_place(self) && rest >= 0) {
    double lmn[3] = { l, m, sqrt(rest) }, ra, dec;
    astro_direction_from_lmn(self->observation, lmn, &ra, &dec);
    gst_structure_set(source, "ra", G_TYPE_DOUBLE, ra * ASTRO_DEGREES, "dec", G_TYPE_DOUBLE,
                      dec * ASTRO_DEGREES, NULL);
  }
  return source;
}

static void append(GValue *array, GstStructure *source)
{
  GValue value = G_VALUE_INIT;
  g_value_init(&value, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&value, source);
  gst_value_array_append_and_take_value(array, &value);
}

/* Pixels extend half a pixel beyond their centres. */
static gboolean is_in_image(const AstroMeasure *self, double x, double y)
{
  return MIN(x, y) >= -0.5 && MAX(x, y) <= self->grid.size - 0.5;
}

static void look_for_sky(AstroMeasure *self, const AstroPlane *plane, double reach, GValue *found)
{
  for (guint i = 0; i < self->sky->n; i++) {
    const AstroSource *source = &self->sky->sources[i];
    double x = self->grid.size / 2 - (source->lmn[0] - self->grid.centre_l) / self->grid.pixel;
    double y = self->grid.size / 2 + (source->lmn[1] - self->grid.centre_m) / self->grid.pixel;
    AstroPeak peak;
    gboolean is_there = is_in_image(self, x, y) && astro_peak_near(plane, x, y, reach, &peak);
    GstStructure *told = is_there ? describe(self, &peak) : gst_structure_new_empty("source");
    gst_structure_set(told, "true-l", G_TYPE_DOUBLE, source->lmn[0], "true-m", G_TYPE_DOUBLE,
                      source->lmn[1], "true-flux", G_TYPE_DOUBLE, source->flux, NULL);
    if (!is_in_image(self, x, y))
      gst_structure_set(told, "outside", G_TYPE_BOOLEAN, TRUE, NULL);
    if (is_there)
      gst_structure_set(told, "offset", G_TYPE_DOUBLE, hypot(peak.x - x, peak.y - y), NULL);
    append(found, told);
  }
}

/* Whether a product can be negative only through errors. */
static gboolean is_intensity(const char *product)
{
  static const char *const names[] = { "I", "XX", "YY", "RR", "LL", NULL };
  return g_strv_contains(names, product);
}

static void look_for_any(AstroMeasure *self, const AstroPlane *plane, double reach, double rms,
                         const AstroSidelobes *sidelobes, GstStructure *told, GValue *found)
{
  const gboolean is_cleaned = sidelobes->left < HUGE_VAL;
  const double noise = self->now.threshold * rms;
  const double depth =
      is_cleaned && is_intensity(self->grid.products[0]) ? MARGIN * astro_plane_depth(plane) : 0;
  g_autoptr(GArray) peaks = astro_peaks_find(plane, MAX(noise, depth), reach, self->now.max);
  const double trusted = astro_peaks_trust(peaks, sidelobes);
  gst_structure_set(told, "limit", G_TYPE_DOUBLE, MAX(MAX(noise, depth), trusted), "limited-by",
                    G_TYPE_STRING,
                    trusted > MAX(noise, depth) ? "sidelobes"
                    : depth > noise             ? "depth"
                                                : "noise",
                    NULL);
  for (guint i = 0; i < peaks->len; i++)
    append(found, describe(self, &g_array_index(peaks, AstroPeak, i)));
}

static double reach_of(AstroMeasure *self, const AstroImageMeta *meta)
{
  return meta && meta->has_beam ? MAX(meta->major / self->grid.pixel / 2, REACH) : REACH;
}

/* Noise and peak that CLEAN left for a channel's first product; NULL if it did not clean it. */
static const AstroImageLevels *levels_of(const AstroMeasure *self, const AstroImageMeta *meta,
                                         guint channel)
{
  const gsize pols = astro_stream_extent(&self->stream, ASTRO_AXIS_POL);
  const gsize channels = astro_stream_extent(&self->stream, ASTRO_AXIS_CHANNEL);
  return meta && meta->cleaned && meta->n_weights == pols * channels ? &meta->levels[channel * pols]
                                                                     : NULL;
}

static void tell_beam(const AstroImageMeta *meta, GstStructure *told)
{
  if (meta && meta->has_beam)
    gst_structure_set(told, "beam-major", G_TYPE_DOUBLE, meta->major * ASTRO_DEGREES, "beam-minor",
                      G_TYPE_DOUBLE, meta->minor * ASTRO_DEGREES, "beam-angle", G_TYPE_DOUBLE,
                      meta->angle * ASTRO_DEGREES, NULL);
}

/* Whether the image has the sidelobes of all its sources, at a known level. For an image from a
 * file the level is not known. */
static gboolean is_dirty(const AstroImageMeta *meta)
{
  return meta && !meta->cleaned && meta->sidelobe > 0;
}

static void measure(AstroMeasure *self, GstBuffer *buffer, gconstpointer block, guint channel)
{
  GValue found = G_VALUE_INIT;
  AstroPlane plane;
  g_value_init(&found, GST_TYPE_ARRAY);
  astro_plane_init(&plane, &self->stream, block, channel, 0);
  const AstroImageMeta *meta = astro_buffer_get_image(buffer);
  const AstroImageLevels *levels = levels_of(self, meta, channel);
  const AstroSidelobes sidelobes = { meta ? meta->sidelobe : 0, levels ? levels->left : HUGE_VAL };
  plane.border = meta ? meta->border : 0;
  const double reach = reach_of(self, meta);
  const double rms = levels && levels->noise > 0 ? levels->noise : astro_plane_rms(&plane);
  GstStructure *told = gst_structure_new(
      "astro-sources", "product", G_TYPE_STRING, self->grid.products[0], "channel", G_TYPE_UINT,
      channel, "rms", G_TYPE_DOUBLE, rms, "pixel", G_TYPE_DOUBLE, self->grid.pixel, "unit",
      G_TYPE_STRING,
      astro_history_image_unit(self->observation ? &self->observation->done : NULL,
                               g_str_has_suffix(self->grid.products[0], "-MODEL")),
      "size", G_TYPE_UINT, self->grid.size, "border", G_TYPE_UINT, plane.border, "cleaned",
      G_TYPE_BOOLEAN, levels != NULL, "dirty", G_TYPE_BOOLEAN, is_dirty(meta), NULL);
  tell_beam(meta, told);
  if (self->sky)
    look_for_sky(self, &plane, reach, &found);
  else
    look_for_any(self, &plane, reach, rms, &sidelobes, told, &found);
  astro_plane_clear(&plane);
  gst_structure_take_value(told, "sources", &found);
  /* The event lets astrorender mark the sources in the image that follows. */
  gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(self),
                     gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_copy(told)));
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), told));
}

static GstFlowReturn transform_ip(GstBaseTransform *trans, GstBuffer *buffer)
{
  AstroMeasure *self = ASTRO_MEASURE(trans);
  g_autoptr(GError) error = NULL;
  guint64 images;
  GstMapInfo map;

  if (astro_field_given(self->now.text) && !has_place(self)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT,
                      ("property sky is set, but the stream has no observation with a phase centre "
                       "to place it by"),
                      (NULL));
    return GST_FLOW_ERROR;
  }
  if (!astro_stream_steps(&self->stream, gst_buffer_get_size(buffer), &images, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
    return GST_FLOW_ERROR;
  }
  /* Only a copy is aligned; the buffer itself goes on unchanged. */
  g_autoptr(GstBuffer) aligned = gst_buffer_ref(buffer);
  if (!astro_buffer_align(&aligned, NULL, ASTRO_SAMPLES_ALIGN, &error) ||
      !gst_buffer_map(aligned, &map, GST_MAP_READ)) {
    GST_ELEMENT_ERROR(self, RESOURCE, READ,
                      ("%s", error ? error->message : "a buffer cannot be read"), (NULL));
    return GST_FLOW_ERROR;
  }
  gsize bytes = astro_stream_step_bytes(&self->stream);
  for (guint64 i = 0; i < images; i++)
    for (guint c = 0; c < astro_stream_extent(&self->stream, ASTRO_AXIS_CHANNEL); c++)
      measure(self, buffer, map.data + i * bytes, c);
  gst_buffer_unmap(aligned, &map);
  return GST_FLOW_OK;
}

static void finalize(GObject *object)
{
  astro_fields_clear(fields, &ASTRO_MEASURE(object)->now);
  G_OBJECT_CLASS(astro_measure_parent_class)->finalize(object);
}

static void astro_measure_class_init(AstroMeasureClass *klass)
{
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass *transform = GST_BASE_TRANSFORM_CLASS(klass);
  g_autoptr(GstCaps) caps = gst_caps_from_string("application/x-astro-image");

  astro_fields_install(object, fields, G_STRUCT_OFFSET(AstroMeasure, settings));
  object->finalize = finalize;
  transform->passthrough_on_same_caps = TRUE;
  transform->set_caps = set_caps;
  transform->sink_event = sink_event;
  transform->submit_input_buffer = astro_transform_submit;
  transform->transform_ip = transform_ip;
  transform->stop = stop;
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, caps));
  gst_element_class_add_pad_template(
      element, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, caps));
  astro_element_class_say_once(element);
  gst_element_class_set_static_metadata(element, "Source finder", "Filter/Analyzer",
                                        "Measures positions and fluxes of point sources in images",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(element, "takes",
                                        "images F32LE F64LE: pol:y:x or channel:pol:y:x");
  gst_element_class_add_static_metadata(element, "gives", "the same, unchanged");
}

static void astro_measure_init(AstroMeasure *self)
{
  astro_fields_set_defaults(self);
}
