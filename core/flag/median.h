/* The median of floats without NaN, exactly: of an even number the upper one of the two. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Overwrites the values. 0 if there are none. */
float astro_flag_median(float *values, gsize n);

G_END_DECLS
