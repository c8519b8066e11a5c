/* Numbers of PSRFITS as floats. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint bits; /* 1, 2, 4: packed, the first in the highest bits; 8; 16: big-endian and signed; 32:
                 big-endian floats */
  gboolean is_signed; /* of 1 to 8 bits: two's complement */
  float shift;        /* is added to the numbers */
} AstroPsrfitsPacking;

/* n numbers, from number `first` on. */
void astro_psrfits_unpack(const AstroPsrfitsPacking *packing, const guint8 *bytes, guint64 first,
                          guint64 n, float *out);
/* numbers * scales + offsets; is_turned: the numbers are in reverse order, the rest is not. */
void astro_psrfits_scale(const float *numbers, const float *scales, const float *offsets, guint n,
                         gboolean is_turned, float *out);

G_END_DECLS
