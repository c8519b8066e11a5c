/* Measures the noise of images; sources stand out from the noise and must not be counted in. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The standard deviation of normal noise, from the median of its absolute values: the median hardly
 * moves if a few of them are something else. Reorders the values. NaN if there are none. */
double astro_noise_of_sizes(double *sizes, gsize n);

G_END_DECLS
