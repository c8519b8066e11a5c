/* The last seconds of a stream, and those parts of it that triggers ask for.
 *
 * The ring holds pieces of a stream (buffers, gaps) in the order in which they came, until newer
 * ones are more than its length ahead of them. A trigger names a moment; the pieces from `before`
 * it to `after` it are wanted, also those that have yet to come. Wanted pieces wait to be taken,
 * oldest first, and each is wanted once: where windows of triggers overlap, they are one.
 *
 * Wanted pieces that have left the ring before they were taken are kept up to a bound in bytes;
 * beyond it the oldest of them are lost, and counted. So are those that a trigger comes too late
 * for. The caller locks, and says what a piece is. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct _AstroRing AstroRingStore;

/* A moment: UTC in ns since 1970 without leap seconds, or ns since time 0 of the stream. */
typedef struct {
  gboolean is_utc;
  gint64 ns;
} AstroRingTime;

/* "2026-11-20T12:00:00.25" is UTC, "12.5" are seconds since time 0 of the stream. */
gboolean astro_ring_time_parse(AstroRingTime *time, const char *text, GError **error);
/* The same for a list, joined by commas or spaces. An array of AstroRingTime. */
GArray *astro_ring_times_parse(const char *text, GError **error);

#define ASTRO_RING_UNDATED G_MININT64

typedef struct {
  gpointer data;
  gsize bytes;
  gint64 begin, end; /* ns since time 0 of the stream */
  gint64 utc;        /* when time 0 was, in ns since 1970; ASTRO_RING_UNDATED: unknown */
} AstroRingPiece;

typedef struct {
  gint64 length, before, after; /* ns */
  guint64 most_late;            /* bytes of wanted pieces that may wait outside the ring */
  GDestroyNotify free_data;
} AstroRingSettings;

/* The answer to a trigger. */
typedef struct {
  guint wanted;   /* pieces that it added to those that wait */
  gint64 gone;    /* ns at the start of its window that the ring no longer had */
  gint64 behind;  /* ns that could not be sent, because later pieces had been asked for before */
  gboolean waits; /* for pieces that have yet to come */
} AstroRingAnswer;

/* The next thing to send. */
typedef enum {
  ASTRO_RING_NOTHING, /* nothing is waiting */
  ASTRO_RING_PIECE,   /* the caller owns its data now */
  ASTRO_RING_END,     /* the pieces before it were a whole dump */
} AstroRingKind;

typedef struct {
  AstroRingKind kind;
  AstroRingPiece piece;
  gboolean begins; /* it does not follow the piece taken before */
  guint64 lost;    /* bytes, and ns, of wanted pieces that were lost just before it */
  gint64 lost_ns;
} AstroRingNext;

AstroRingStore *astro_ring_new(const AstroRingSettings *settings);
void astro_ring_free(AstroRingStore *ring);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRingStore, astro_ring_free)

/* The stream became another, with a bound of its own. */
void astro_ring_set_most_late(AstroRingStore *ring, guint64 bytes);

/* Takes ownership of the piece's data. Undated pieces end windows given in UTC, which can never
 * match them: the answer is how many. */
guint astro_ring_add(AstroRingStore *ring, const AstroRingPiece *piece);
/* time: NULL is the end of the newest piece. */
void astro_ring_trigger(AstroRingStore *ring, const AstroRingTime *time, AstroRingAnswer *answer);
/* No more pieces come: ends the windows that wait for some. */
void astro_ring_close(AstroRingStore *ring);
void astro_ring_take(AstroRingStore *ring, AstroRingNext *next);

gboolean astro_ring_has_waiting(const AstroRingStore *ring);
guint64 astro_ring_bytes(const AstroRingStore *ring); /* of all that is held */

G_END_DECLS
