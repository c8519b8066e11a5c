/* Whole numbers as people write large ones: 1e6, 1.5e6. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The digits of a whole number that is written with an exponent or a decimal point; GStreamer
 * accepts only digits for integers. NULL: the text is not such a number, or is already digits. */
char *astro_whole_digits(const char *text);

/* The same for a fraction in caps with such a numerator: 1.5e6/1. */
char *astro_whole_fraction(const char *text);

G_END_DECLS
