/* Numbers and messages as people read them; new strings. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

char *astro_format_bytes(double bytes);                /* 1.23 GB */
char *astro_format_rate(double bytes, double seconds); /* 1.23 GB/s, or - with nothing to divide */
char *astro_format_seconds(double seconds);            /* 1.23 s */
char *astro_format_clock(double seconds);              /* 1:02:03 */

/* "clipped 3, total 100": a structure's fields. */
char *astro_format_fields(const GstStructure *structure);

/* All of it on one line, spaces squeezed. */
char *astro_format_line(const char *text);

/* As one word of a shell's line. */
char *astro_format_word(const char *value);

/* Tells the user on one line why there is nothing; the status to exit with. */
int astro_refuse(const char *message);

G_END_DECLS
