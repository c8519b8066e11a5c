/* Numbers and messages as people read them. All functions return new strings. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

char *astro_format_bytes(double bytes);                /* 1.23 GB */
char *astro_format_rate(double bytes, double seconds); /* 1.23 GB/s, or - with nothing to divide */
char *astro_format_seconds(double seconds);            /* 1.23 s */
char *astro_format_clock(double seconds);              /* 1:02:03 */

/* The fields of a structure: "clipped 3, total 100". */
char *astro_format_fields(const GstStructure *structure);

/* The text on one line, with white space squeezed. */
char *astro_format_line(const char *text);

/* The value as one word of a shell command, quoted if necessary. */
char *astro_format_word(const char *value);

/* Prints on one line why nothing was done; returns the exit status. */
int astro_refuse(const char *message);

G_END_DECLS
