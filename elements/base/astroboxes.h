/* For elements that only copy samples: they do so on the device where a block lies, rather than
 * have it taken to the host and back. */
#pragma once

#include "core/memory/box.h"
#include "elements/base/astromerge.h"
#include "elements/base/astrostage.h"

ASTRO_BEGIN_DECLS

/* Whether only a device has the bytes of a block, so that a box of it is copied there: if
 * backend=auto. */
gboolean astro_stage_finds_boxes(AstroStage *stage, GstBuffer *in);
/* Copies a box there to a new block of that many bytes, and sends it downstream as
 * astro_stage_emit() does. */
gboolean astro_stage_emit_box(AstroStage *stage, GstBuffer *in, const AstroBox *box, gsize bytes,
                              guint64 first, guint64 steps, GError **error);
/* Answers an ALLOCATION query of upstream: blocks may stay where they lie. Without copies, as parts
 * of them go on, that is so if downstream reads them there. */
void astro_stage_propose_boxes(AstroStage *stage, gboolean copies, GstQuery *query);

/* Whether the pieces of a block are put together on the device that reads it, or, if the host does,
 * on the one where all are: if none is lost, and backend=auto. */
gboolean astro_merge_finds_boxes(AstroMerge *merge, const AstroMergeBlock *block);
/* As astro_merge_submit(), there, with a box for each piece. */
gboolean astro_merge_copy_boxes(AstroMerge *merge, const AstroMergeBlock *block,
                                const AstroBox *boxes, GstBuffer *out, GError **error);
/* Answers an ALLOCATION query of upstream: blocks may stay where they lie. */
void astro_merge_propose_boxes(AstroMerge *merge, GstQuery *query);

ASTRO_END_DECLS
