/* How many spectra an integration of so many seconds has. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The whole number that is nearest, of spectra that come at rate_n / rate_d a second. FALSE: error
 * says why there is none. */
gboolean astro_integration_spectra(double seconds, gint rate_n, gint rate_d, guint *spectra,
                                   GError **error);

G_END_DECLS
