/* The size of the image and of its pixels, which follow from the data unless the user sets them. */
#include "elements/astrogridder-auto.h"

#include "core/gridder/extent.h"

void astro_gridder_auto_init(AstroGridderAuto *self)
{
  *self = (AstroGridderAuto){ .held = G_QUEUE_INIT };
  g_mutex_init(&self->lock);
}

static void drop_held(AstroGridderAuto *self)
{
  g_queue_clear_full(&self->held, (GDestroyNotify)gst_event_unref);
}

/* Takes ownership of the observation. */
static void set_observation(AstroGridderAuto *self, AstroObservation *observation)
{
  g_mutex_lock(&self->lock);
  g_clear_pointer(&self->observation, astro_observation_unref);
  self->observation = observation;
  g_mutex_unlock(&self->lock);
}

static AstroObservation *get_observation(AstroGridderAuto *self)
{
  g_mutex_lock(&self->lock);
  AstroObservation *observation =
      self->observation ? astro_observation_ref(self->observation) : NULL;
  g_mutex_unlock(&self->lock);
  return observation;
}

void astro_gridder_auto_forget(AstroGridderAuto *self)
{
  set_observation(self, NULL);
  drop_held(self);
}

void astro_gridder_auto_clear(AstroGridderAuto *self)
{
  astro_gridder_auto_forget(self);
  g_mutex_clear(&self->lock);
}

static gboolean has_pixels(const AstroGridderSettings *settings)
{
  return settings->cell > 0 || (settings->field > 0 && settings->size > 0);
}

gboolean astro_gridder_auto_is_asked(const AstroGridderSettings *settings)
{
  return settings->size == 0 || !has_pixels(settings);
}

gboolean astro_gridder_auto_fill(AstroGridderAuto *self, AstroGridderSettings *settings,
                                 double frequency, double bandwidth, GError **error)
{
  g_autoptr(AstroObservation) observation = get_observation(self);
  const char *lacking = has_pixels(settings) ? "size" : "cell";
  const char *cure = has_pixels(settings) ? "a size in pixels" : "a cell in arcsec";
  AstroBaselines baselines;

  if (!astro_gridder_auto_is_asked(settings))
    return TRUE;
  if (!observation)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property %s is 0 (from the stations), and the stream has no "
                               "observation that has them: expected %s, or astroobserve before "
                               "this",
                               lacking, cure);
  if (!(frequency > 0))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property %s is 0 (from the stations), and the caps have no "
                               "frequency: expected %s, or a frequency in the caps",
                               lacking, cure);
  if (!astro_baselines_find(observation, &baselines))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property %s is 0 (from the stations), and no two of the %u "
                               "stations are apart: expected %s",
                               lacking, observation->n_stations, cure);
  const double cell = settings->cell > 0
                          ? settings->cell
                          : astro_extent_cell(&baselines, frequency + bandwidth / 2,
                                              settings->weighting == ASTRO_WEIGHTING_NATURAL);
  if (settings->size == 0)
    settings->size = astro_extent_size(baselines.shortest, frequency, cell, settings->field);
  if (!(settings->field > 0))
    settings->cell = cell;
  return TRUE;
}

gboolean astro_gridder_auto_is_waiting(const AstroGridderAuto *self)
{
  return self->held.length > 0;
}

gboolean astro_gridder_auto_holds(AstroGridderAuto *self, gboolean is_asked, GstEvent *event)
{
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_CAPS && is_asked && !self->observation) {
    drop_held(self);
    g_queue_push_tail(&self->held, event);
    return TRUE;
  }
  if (!astro_gridder_auto_is_waiting(self))
    return FALSE;
  if (type == GST_EVENT_STREAM_START)
    drop_held(self); /* new caps will follow */
  /* A flush drops the events that were kept, but not the caps. */
  while (type == GST_EVENT_FLUSH_STOP && self->held.length > 1)
    gst_event_unref(g_queue_pop_tail(&self->held));
  if (!GST_EVENT_IS_SERIALIZED(event) || type == GST_EVENT_FLUSH_STOP || type == GST_EVENT_EOS ||
      type == GST_EVENT_STREAM_START)
    return FALSE;
  g_queue_push_tail(&self->held, event);
  return TRUE;
}

void astro_gridder_auto_observe(AstroGridderAuto *self, GstEvent *event)
{
  AstroObservation *observation = astro_observation_from_event(event, NULL);
  if (observation)
    set_observation(self, observation);
}
