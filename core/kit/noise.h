/* The noise of images: sources stand out of it, and must not count for it. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The standard deviation of normal noise whose sizes (absolute values) these are, by their median:
 * few of them may be of anything else, and it hardly moves. Puts them into another order. NAN of
 * none. */
double astro_noise_of_sizes(double *sizes, gsize n);

G_END_DECLS
