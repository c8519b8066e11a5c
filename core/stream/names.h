/* Rows of the tables of names, for stream.c. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_MEDIA_PREFIX "application/x-astro-"

/* How caps give an axis's length. */
typedef enum {
  ASTRO_LENGTH_FREE,
  ASTRO_LENGTH_INT,
  ASTRO_LENGTH_NAMES,
} AstroAxisLength;

AstroAxisLength astro_axis_length(AstroAxis axis);

/* As astro_format_info, and no bytes of a format that is not known yet. */
const AstroFormatInfo *astro_format_row(AstroFormat format);

G_END_DECLS
