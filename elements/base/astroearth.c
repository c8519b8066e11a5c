/* The Earth's orientation: the stream's own, that of a file, or none with a warning. */
#include "config.h"
#include "elements/base/astroearth.h"

#include "core/lib/sky/earth-error.h"
#include "elements/base/astrofields.h"

gboolean astro_earth_use(AstroEarthUse *use, gconstpointer element, char *const *file,
                         AstroObservation *observation, GError **error)
{
  g_autofree char *name = astro_fields_copy_text(element, file);
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
  GST_ELEMENT_WARNING(
      element, STREAM, FAILED,
      ("UT1 = UTC is assumed, which may misplace sources%s by up to %.3g arcsec; the beam is about "
       "%.3g arcsec wide. To place them right, set earth-orientation, here or in an element "
       "before, to a file finals2000A.all of the IERS",
       where, error, beam),
      (NULL));
}
