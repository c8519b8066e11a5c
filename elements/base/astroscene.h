/* The properties of a scene, for sources of simulated streams. */
#pragma once

#include <gst/gst.h>
#include "core/lib/sky/scene.h"

G_BEGIN_DECLS

/* Set or not set: that is told by the setter's having been called. */
#define ASTRO_SCENE_FLAGS_MAYBE                                                                    \
  (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define ASTRO_SCENE_FLAGS (ASTRO_SCENE_FLAGS_MAYBE | G_PARAM_CONSTRUCT)

/* Ids of the shared ones; an element's own follow. */
enum {
  ASTRO_SCENE_PROP_STATIONS = 1,
  ASTRO_SCENE_PROP_ARRAY,
  ASTRO_SCENE_PROP_LATITUDE,
  ASTRO_SCENE_PROP_LONGITUDE,
  ASTRO_SCENE_PROP_SKY,
  ASTRO_SCENE_PROP_PHASE_CENTRE,
  ASTRO_SCENE_PROP_START_TIME,
  ASTRO_SCENE_PROP_EARTH_ORIENTATION,
  ASTRO_SCENE_PROP_FREQUENCY,
  ASTRO_SCENE_PROP_BANDWIDTH,
  ASTRO_SCENE_PROP_POLS,
  ASTRO_SCENE_PROP_NOISE,
  ASTRO_SCENE_PROP_SEED,
  ASTRO_SCENE_PROP_DURATION,
  ASTRO_SCENE_N_PROPERTIES
};

void astro_install_double(GObjectClass *klass, guint id, const char *name, const char *nick,
                          const char *help, double min, double max, double value,
                          GParamFlags flags);
void astro_install_uint(GObjectClass *klass, guint id, const char *name, const char *nick,
                        const char *help, guint min, guint max, guint value);

/* What differs between sources: the noise's default, and what the bandwidth means. */
void astro_scene_install_properties(GObjectClass *klass, double noise, const char *bandwidth);

/* As it is now: properties may be set at any time. The copy is to be cleared. */
void astro_scene_copy(AstroScene *to, const AstroScene *from);

/* FALSE: the property is none of the scene's. */
gboolean astro_scene_set_property(AstroScene *scene, guint id, const GValue *value);
gboolean astro_scene_get_property(const AstroScene *scene, guint id, GValue *value);

G_END_DECLS
