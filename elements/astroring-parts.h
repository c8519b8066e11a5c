/* The parts that the two sides of astroring share: the input, which never waits, and the thread
 * that sends dumps. */
#pragma once

#include "core/ring/ring.h"
#include "core/stream/stream.h"
#include "elements/astroring.h"
#include "elements/base/astrolistener.h"
#include "elements/base/astrosteps.h"

G_BEGIN_DECLS

typedef struct {
  double seconds, before, after;
  char *trigger_on, *trigger_at;
} AstroRingChoices;

/* The sticky events that buffers came under, but for segments. Never changed once a piece has it.
 */
typedef GPtrArray AstroRingContext;

typedef struct {
  GstMiniObject *item;       /* a buffer, or a GAP event */
  GPtrArray *before;         /* events that came before it and are no sticky ones; may be NULL */
  AstroRingContext *context; /* shared */
} AstroRingPart;

struct _AstroRing {
  GstElement parent;
  GstPad *sink, *src;
  AstroRingChoices choices, now; /* copies from start to stop */
  AstroListener *listener;

  /* the input's thread */
  AstroStream stream;
  gboolean has_stream; /* the caps were accepted */
  AstroSteps steps;
  guint64 again; /* steps that came again, of which the first were warned of */
  GstSegment segment;
  gint64 utc; /* of the observation: ASTRO_RING_UNDATED if it has no start */
  GPtrArray *events;

  /* under the lock */
  GMutex lock;
  GCond changed;
  AstroRingStore *ring;
  AstroRingContext *context;
  GstFlowReturn flow;   /* what downstream said last */
  gboolean is_active;   /* the pad may have a thread */
  gboolean is_eos;      /* the input ended */
  gboolean is_sending;  /* the output's thread is at work */
  GstClockTime reached; /* running time of the newest piece's end */
  GstClockTime first;   /* time of the first piece, if it came, and what it came under */
  AstroRingContext *first_context;

  /* the output's thread */
  AstroRingContext *sent; /* what was sent last */
  gboolean is_primed;     /* sinks were told that nothing may come for long */
  GstClockTime base;      /* running time at which the last dump ended */
  struct {
    gboolean is_open;
    GstClockTime begin, end;
    guint64 bytes, lost_bytes;
    gint64 lost_ns;
    char *utc;
  } dump;
};

void astro_ring_part_free(gpointer part);

void astro_ring_in_set_functions(GstPad *sink);
/* Forgets the pieces, for a flush; for a stop also what the stream was. */
void astro_ring_in_forget(AstroRing *self, gboolean is_stopped);

void astro_ring_out_set_functions(GstPad *src);
void astro_ring_out_start(AstroRing *self); /* after a flush */
void astro_ring_out_forget(AstroRing *self);

G_END_DECLS
