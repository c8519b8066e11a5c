/* Boxes of samples: parts of blocks with several axes, copied from one block to another on the
 * device where they lie, so that they need not go to the host. */
#pragma once

#include <gst/gst.h>
#include "core/stream/stream.h"
#include "core/backend/handles.h"

ASTRO_BEGIN_DECLS

/* All steps and places are in bytes. */
typedef struct {
  guint n_axes;
  guint64 n[ASTRO_MAX_AXES], to_step[ASTRO_MAX_AXES], from_step[ASTRO_MAX_AXES];
  gsize to, from; /* where the box begins in both blocks */
  gsize bytes;    /* of a sample */
} AstroBox;

/* Drops axes of one sample and merges those that follow one another in both blocks, so that the
 * fewest and longest rows are left. */
void astro_box_simplify(AstroBox *box);

/* Whether a box is worth copying on a device: not in very many calls. */
gboolean astro_box_is_simple(const AstroBox *box);

/* Where boxes are copied. Zero: nowhere yet. */
typedef struct {
  AstroDevice *device;
  AstroQueue *queue;
} AstroBoxPlace;

/* Chooses the device: the reader (NULL: the host reads) if some of the blocks are on devices alone,
 * or else the one that alone has all of them. FALSE: the host is better. */
gboolean astro_box_place_choose(AstroBoxPlace *place, GstBuffer *const *from, guint n,
                                AstroDevice *reader);

/* Queues the copies of the boxes of n blocks. What is between them in out is undefined. copy_down:
 * the host reads next. */
gboolean astro_box_copy(const AstroBoxPlace *place, GstBuffer *const *from, const AstroBox *boxes,
                        guint n, GstBuffer *out, gboolean copy_down, GError **error);

void astro_box_place_clear(AstroBoxPlace *place);

ASTRO_END_DECLS
