/* Whole numbers as people write large ones: 1e6, 1.5e6. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* The digits of a number with an exponent, a fraction or both that is whole, which GStreamer takes
 * where it wants an integer; NULL: the text is none of those, or has its digits already. */
char *astro_whole_digits(const char *text);

/* The same of a fraction as caps have it, whose upper number is one: 1.5e6/1. */
char *astro_whole_fraction(const char *text);

G_END_DECLS
