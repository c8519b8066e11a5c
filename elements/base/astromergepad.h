/* A pad of AstroMerge: its stream, and the buffers that wait for the other pads. */
#pragma once

#include <gst/base/gstaggregator.h>
#include "core/stream/observation.h"
#include "elements/base/astrosteps.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_MERGE_PAD astro_merge_pad_get_type()
G_DECLARE_FINAL_TYPE(AstroMergePad, astro_merge_pad, ASTRO, MERGE_PAD, GstAggregatorPad)

/* Caps and observation of buffers. When they change it is replaced, never modified, since buffers
 * that wait refer to it. */
typedef struct {
  gint ref_count;
  AstroStream stream;
  GstCaps *caps;
  AstroObservation *observation; /* NULL: none came */
} AstroMergeStream;

AstroMergeStream *astro_merge_stream_ref(AstroMergeStream *stream);
void astro_merge_stream_unref(AstroMergeStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroMergeStream, astro_merge_stream_unref)

/* Some steps of a stream that wait. */
typedef struct {
  AstroMergeStream *of;
  GstBuffer *buffer;      /* NULL: a gap */
  GstEvent *told;         /* what was paired in a histogram; NULL: nobody said */
  guint64 steps;          /* in the buffer */
  guint64 skip;           /* how many of them went out already */
  guint64 first;          /* the pad's own index of the first */
  GstClockTimeDiff epoch; /* the time of the pad's step 0 */
  GstClockTime running;   /* running time of the first; NONE: not known */
  gboolean is_placed;
  gint64 place; /* of the first step that did not go out, on the axis that all pads share */
} AstroMergeEntry;

void astro_merge_entry_free(AstroMergeEntry *entry);

/* All under the element's lock, except for the queue of GstAggregatorPad. */
struct _AstroMergePad {
  GstAggregatorPad parent;
  AstroSteps steps;
  GstSegment segment;
  char *stream_id;
  AstroMergeStream *latest; /* for the next buffer; NULL: no caps came */
  AstroMergeStream *agreed; /* the stream that the output was negotiated for */
  AstroObservation *observation;
  GstEvent *told;       /* about the next histogram */
  GQueue entries;       /* oldest first */
  GstClockTime gap_end; /* where a GAP event ends, in the pad's own time; NONE: there was none */
  guint64 n;            /* buffers that came so far */
  gboolean is_lagging;  /* it came too late, and is not waited for */
  gboolean is_wanted;   /* the next block waits for more of it */
  gboolean is_flushed;  /* it was flushed since the last block */
  gboolean is_planned;  /* the end of a plan has come */
};

/* Notes what an event says about the buffers after it. FALSE and an error if it cannot be right. */
gboolean astro_merge_pad_take_event(AstroMergePad *pad, GstEvent *event, GError **error);

typedef struct {
  gsize bytes;
  guint64 again; /* steps that came before, and are left out */
} AstroMergeTaken;

/* Moves the next buffer or gap of the pad's queue to the entries. FALSE without an error: the queue
 * is empty. */
gboolean astro_merge_pad_take_buffer(AstroMergePad *pad, AstroMergeTaken *taken, GError **error);
/* For a flush, and for a stop. */
void astro_merge_pad_flush(AstroMergePad *pad);
void astro_merge_pad_reset(AstroMergePad *pad);

G_END_DECLS
