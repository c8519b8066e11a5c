/* Inside AstroMerge: astromergepad.c holds what came on a pad, astromerge-axis.c puts it on one
 * time axis, astromerge-align.c cuts it to blocks, astromerge-agree.c checks that the streams
 * belong together, astromerge-output.c runs the backend and sends blocks on, and astromerge.c is
 * the element around them. */
#pragma once

#include "core/memory/box.h"
#include "elements/base/astromerge.h"
#include "elements/base/astromergepad.h"
#include "elements/base/astrolog.h"
#include "elements/base/astrowork.h"

G_BEGIN_DECLS

/* The time axis that all pads share: its step 0 is where the earliest observation begins. It holds
 * for streams of one rate. */
typedef struct {
  gboolean is_there;
  char *pad; /* the pad that errors name beside the one that does not fit */
  gint rate_n, rate_d;
  gboolean has_start;
  char *start_pad;  /* the pad whose start it is */
  gint32 start_mjd; /* when step 0 begins */
  guint64 start_ns;
  GstClockTimeDiff epoch; /* time from the start to step 0: part of a step */
} AstroMergeAxis;

typedef struct {
  GMutex work; /* held while a block is made; taken before lock */
  gboolean is_stopped;
  GMutex lock; /* for the pads' parts and the axis: a pad may be flushed at any time */
  AstroMergeAxis axis;
  gint64 next;         /* the step that follows the last block */
  gboolean is_started; /* a block went out */
  guint64 misaligned;  /* steps that a block waits for if inputs are cut at different steps */

  /* what was agreed on */
  GPtrArray *pads; /* AstroMergePad, in the order of the inputs; NULL: nothing yet */
  AstroStream out;
  AstroObservation *observation;
  guint64 config[ASTRO_MERGE_CONFIG_BYTES / sizeof(guint64)];
  const AstroBackend *backend; /* set under the object's lock, as variant: any thread asks */
  const char *variant;
  gboolean tells_work; /* when caps are agreed on */
  gpointer instance;
  GstBufferPool *pool;
  gsize pool_bytes;
  AstroDevice *reader; /* where downstream reads; NULL: on the host */
  gboolean reads_any;  /* or where blocks lie */
  AstroBoxPlace boxes; /* where pieces were put together on a device (astroboxes.h) */

  /* only used by the thread that aggregates */
  gboolean is_hurried; /* the call is not due to a timeout */
  gboolean discont;
  gint64 left; /* when the last block was done; 0: there was none */

  /* under the object's lock */
  AstroWorkChoice choice;
  AstroWorkStats stats;
  gboolean has_warned; /* about steps that came again or late */
} AstroMergePrivate;

AstroMergePrivate *astro_merge_parts(AstroMerge *merge);
void astro_merge_lock(AstroMerge *merge);
void astro_merge_unlock(AstroMerge *merge);

/* A new array of references to the pads, in the order of their numbers. */
GPtrArray *astro_merge_list_pads(AstroMerge *merge);

/* ---- the axis; all under the lock ---- */

/* A new axis, on which no entry has a place yet. The first pad that holds anything decides where
 * its steps begin. */
gboolean astro_merge_axis_make(AstroMergePrivate *priv, const GPtrArray *pads, GError **error);
/* Gives an entry its place. An entry of another rate has none on this axis, and gets none. */
gboolean astro_merge_axis_place(const AstroMergeAxis *axis, const AstroMergePad *pad,
                                AstroMergeEntry *entry, GError **error);
/* The step at which a pad's GAP event ends; G_MININT64: there was none. */
gint64 astro_merge_axis_gap_end(const AstroMergeAxis *axis, const AstroMergePad *pad);
/* When a step of the axis begins, since the start of the observation that goes out. */
GstClockTime astro_merge_time(const AstroMergePrivate *priv, guint64 step);
void astro_merge_axis_clear(AstroMergeAxis *axis);

static inline AstroMergePad *astro_merge_pad_at(const GPtrArray *pads, guint i)
{
  return (AstroMergePad *)g_ptr_array_index(pads, i);
}

/* The oldest entry of a pad; NULL: it holds nothing. */
static inline AstroMergeEntry *astro_merge_pad_head(const AstroMergePad *pad)
{
  return (AstroMergeEntry *)(pad->entries.head ? pad->entries.head->data : NULL);
}

/* ---- alignment; all under the lock ---- */

typedef enum {
  ASTRO_MERGE_NEEDS_MORE,
  ASTRO_MERGE_HAS_BLOCK,
  ASTRO_MERGE_IS_OVER,
  ASTRO_MERGE_FAILED,
} AstroMergeState;

/* The next block. Its pieces hold references of their own. */
typedef struct {
  gint64 first;
  guint64 steps;
  GArray *pieces;      /* AstroMergePiece */
  gboolean is_lost;    /* no input has anything for it */
  gboolean is_other;   /* the streams are not those that were agreed on */
  gboolean is_discont; /* a buffer in it says that something is missing before it */
  GstBuffer *like;     /* gives the times for streams without steps; may be NULL */
  guint64 frames;      /* of `like`: so many has the block */
  /* The length of a block of one step, if all inputs say that the step is shorter than the rate
   * says; 0: it is not. */
  GstClockTime length;
} AstroMergeNext;

void astro_merge_next_clear(AstroMergeNext *next);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AstroMergeNext, astro_merge_next_clear)

/* is_due: the time is over, so pads that have nothing yet are not waited for. */
AstroMergeState astro_merge_find_block(AstroMerge *merge, GPtrArray *pads, gboolean is_due,
                                       AstroMergeNext *next, GError **error);
/* Forgets the time axis: the streams that come next need not follow on from those before. */
void astro_merge_begin_anew(AstroMerge *merge);

/* ---- agreement ---- */

/* The pads' streams have changed: negotiates caps, observation and backend again. */
gboolean astro_merge_agree(AstroMerge *merge, GPtrArray *pads, GError **error);

/* ---- plans (core/backend/work.h) ---- */

/* Posts the work of the streams that were agreed on. */
void astro_merge_tell_work(AstroMerge *merge, const AstroMergeInput *inputs, guint n);
/* A pad has come to the end of a plan, with that event: once all have, agrees on caps and hands the
 * event on. */
gboolean astro_merge_plan(AstroMerge *merge, AstroMergePad *pad, GstEvent *event, GError **error);

/* ---- output ---- */

void astro_merge_close(AstroMerge *merge);
gboolean astro_merge_open(AstroMerge *merge, GError **error);
void astro_merge_ask_reader(AstroMerge *merge);
GstFlowReturn astro_merge_push(AstroMerge *merge, const AstroMergeNext *next, GError **error);

G_END_DECLS
