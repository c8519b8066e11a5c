/* A pad of AstroMerge: what came there and waits for the other pads. */
#pragma once

#include <gst/base/gstaggregator.h>
#include "core/stream/observation.h"
#include "elements/base/astrosteps.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_MERGE_PAD astro_merge_pad_get_type()
G_DECLARE_FINAL_TYPE(AstroMergePad, astro_merge_pad, ASTRO, MERGE_PAD, GstAggregatorPad)

/* What buffers are of. It is replaced, never changed, where caps or observation are others. */
typedef struct {
  gint ref_count;
  AstroStream stream;
  GstCaps *caps;
  AstroObservation *observation; /* NULL: none came */
} AstroMergeStream;

AstroMergeStream *astro_merge_stream_ref(AstroMergeStream *stream);
void astro_merge_stream_unref(AstroMergeStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroMergeStream, astro_merge_stream_unref)

/* Some steps of a stream. */
typedef struct {
  AstroMergeStream *of;
  GstBuffer *buffer;      /* NULL: a gap */
  GstEvent *told;         /* of what pairs it has; NULL: nobody said */
  guint64 steps;          /* of the buffer */
  guint64 skip;           /* how many of them are over */
  guint64 first;          /* the pad's number of the first */
  GstClockTimeDiff epoch; /* the time of the pad's step 0 */
  GstClockTime running;   /* running time of the first; NONE: not known */
  gboolean is_placed;
  gint64 place; /* of the first that is not over, on the time axis that all pads share */
} AstroMergeEntry;

void astro_merge_entry_free(AstroMergeEntry *entry);

/* All under the element's lock, but for the queue of GstAggregatorPad. */
struct _AstroMergePad {
  GstAggregatorPad parent;
  AstroSteps steps;
  GstSegment segment;
  char *stream_id;
  AstroMergeStream *latest; /* of what comes next; NULL: no caps came */
  AstroMergeStream *agreed; /* what the output was made for */
  AstroObservation *observation;
  GstEvent *told;       /* of the histogram that comes next */
  GQueue entries;       /* oldest first */
  GstClockTime gap_end; /* of a gap that was said, by the pad's own time; NONE: there is none */
  guint64 n;            /* buffers that came */
  gboolean is_lagging;  /* it gave way, and is not waited for */
  gboolean is_wanted;   /* the next block waits for more of it */
  gboolean is_flushed;  /* since the last block */
};

/* What an event says of what comes after it. FALSE and the error where that cannot be. */
gboolean astro_merge_pad_take_event(AstroMergePad *pad, GstEvent *event, GError **error);

typedef struct {
  gsize bytes;
  guint64 again; /* steps of it that came before, and are left out */
} AstroMergeTaken;

/* The next buffer of the pad's queue, or what it says of a gap, goes to the entries. FALSE without
 * an error: the queue is empty. */
gboolean astro_merge_pad_take_buffer(AstroMergePad *pad, AstroMergeTaken *taken, GError **error);
/* At a flush, and a stop. */
void astro_merge_pad_flush(AstroMergePad *pad);
void astro_merge_pad_reset(AstroMergePad *pad);

G_END_DECLS
