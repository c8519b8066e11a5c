/* Converts an integration time to a number of spectra. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The nearest integer, for rate_n / rate_d spectra per second. FALSE with error set if there is
 * none. */
gboolean astro_integration_spectra(double seconds, gint rate_n, gint rate_d, guint *spectra,
                                   GError **error);

G_END_DECLS
