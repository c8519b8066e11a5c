/* Baselines that a file of visibilities has no rows of, apart from those whose values are flagged:
 * both have counts of 0, but a sink need not write the first.
 *
 * It is a hint, and may get lost on the way or be out of date: whoever uses it looks at the counts
 * too. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

typedef struct {
  GstMeta meta;
  guint64 steps, baselines;
  guint8 *is_absent; /* [step][baseline] */
} AstroAbsentMeta;

GType astro_absent_meta_api_get_type(void);
const GstMetaInfo *astro_absent_meta_get_info(void);
#define ASTRO_ABSENT_META_API astro_absent_meta_api_get_type()

/* Adds the meta, in which none is absent; replaces one that the buffer had. */
AstroAbsentMeta *astro_buffer_add_absent(GstBuffer *buffer, guint64 steps, guint64 baselines);

/* NULL if the buffer has none. */
AstroAbsentMeta *astro_buffer_get_absent(GstBuffer *buffer);

/* That of a meta of the shape; NULL: none is known to be absent. */
const guint8 *astro_buffer_find_absent(GstBuffer *buffer, guint64 steps, guint64 baselines);

ASTRO_END_DECLS
