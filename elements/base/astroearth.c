#include "config.h"
#include "elements/base/astroearth.h"

#include "core/lib/sky/earth-error.h"
#include "core/lib/sky/earth-file.h"
#include "elements/base/astrofields.h"

gboolean astro_earth_use(AstroEarthUse *use, char *const *file, AstroObservation *observation,
                         GError **error)
{
  g_autofree char *name = astro_fields_copy_text(file);
  return astro_earth_settle(observation, name, &use->is_assumed, error);
}

void astro_earth_use_tell(AstroEarthUse *use, GstElement *element,
                          const AstroObservation *observation, const AstroStream *stream,
                          double error, const char *where)
{
  const double highest = stream->frequency + stream->bandwidth / 2;
  double beam;
  if (!use->is_assumed || use->is_told ||
      !astro_earth_error_is_seen(observation, highest, error, &beam))
    return;
  use->is_told = TRUE;
  GST_ELEMENT_WARNING(element, STREAM, FAILED,
                      ("UT1 is taken for UTC, which may put sources%s up to %.3g arcsec from their "
                       "places; the beam "
                       "is about %.3g arcsec wide. With earth-orientation, a file finals2000A.all "
                       "of the IERS, here "
                       "or in what comes before, they are in their places",
                       where, error, beam),
                      (NULL));
}

void astro_earth_install_property(GObjectClass *klass, guint id)
{
  g_object_class_install_property(
      klass, id,
      g_param_spec_string("earth-orientation", "Earth orientation",
                          ASTRO_EARTH_HELP " (unset: the stream's own, else UT1 = UTC, with no "
                                           "polar motion)",
                          NULL,
                          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY));
}
