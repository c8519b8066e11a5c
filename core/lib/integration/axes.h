/* The axes of what stages integrate: time, channel, station (or beam) and pol, in any order. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* The axis of stations, or of beams in their place; -1: there is neither. */
static inline gint astro_axes_find_stations(const AstroLayout *layout)
{
  const gint at = astro_layout_find(layout, ASTRO_AXIS_STATION);
  return at >= 0 ? at : astro_layout_find(layout, ASTRO_AXIS_BEAM);
}

/* Refuses a layout, whose time has extent 0, that does not have these extents, each once; axes of
 * length 1 may be missing. what: "spectra", for the error; why: more for it, or "". */
gboolean astro_axes_check(const AstroLayout *layout, guint64 channels, guint64 stations,
                          guint64 pols, const char *what, const char *why, GError **error);

G_END_DECLS
