/* The level at which CLEAN ends, as users write it: a flux, or so many times the noise. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* "0.01", "0.01Jy", "10mJy" and "10000uJy" are one flux, Jy/beam, and leave times as it was; the
 * flux 0 stands for none, as an empty text does. "3sigma" is 3 times the noise, and sets the flux
 * to 0. An error for anything else. */
gboolean astro_clean_threshold_parse(const char *text, double *flux, double *times, GError **error);

G_END_DECLS
