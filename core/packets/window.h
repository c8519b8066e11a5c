/* Into place: blocks of so many packets of each of several streams, which stay open until a packet
 * comes that is a window ahead of them. What comes after that is late, what comes again is a copy,
 * and what never comes is lost; each is counted by stream.
 *
 * A packet far from all that is open, behind or ahead, is put aside: a header may be broken. A run
 * of them that lie together moves the window. Ahead that is a gap, in which all is lost; behind the
 * senders have begun anew. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* As many far packets in a row, without a near one among them, move the window. */
#define ASTRO_WINDOW_RUN 4

typedef struct {
  guint n_streams;
  guint block;  /* packets of a stream in a block, at least 1 */
  guint window; /* packets that one may come behind another */
} AstroWindowConfig;

typedef struct {
  guint64 first;           /* number of its first packet; a multiple of block */
  const guint8 *came;      /* stream after stream, its packets: 0 where one did not come */
  guint64 lost;            /* of those: not before the first nor behind the last that was sent */
  gboolean is_after_gap;   /* blocks before it were never open: nothing came */
  gboolean is_after_start; /* the senders began, or began anew */
  gpointer data;           /* of open */
} AstroWindowBlock;

/* Who has the samples. A block is closed or dropped once; they are closed in order. */
typedef struct {
  gpointer (*open)(gpointer user, guint64 first); /* NULL: there is no memory */
  void (*close)(gpointer user, const AstroWindowBlock *block);
  void (*drop)(gpointer user, gpointer data);
} AstroWindowFunctions;

typedef enum {
  ASTRO_WINDOW_PLACED,
  ASTRO_WINDOW_DUPLICATE,
  ASTRO_WINDOW_LATE,
  ASTRO_WINDOW_FAR,    /* aside: it may be the first of a run */
  ASTRO_WINDOW_FAILED, /* a block could not be opened */
} AstroWindowAnswer;

/* lost: of the blocks that were closed, what is not in its place, be it that it came late. */
typedef struct {
  guint64 packets, lost, late, duplicate, far;
} AstroWindowCounts;

typedef struct _AstroWindow AstroWindow;

AstroWindow *astro_window_new(const AstroWindowConfig *config,
                              const AstroWindowFunctions *functions, gpointer user);
void astro_window_free(AstroWindow *window); /* drops what is open */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroWindow, astro_window_free)

/* Where a packet belongs: in the block of that data, as the packet'th. */
typedef struct {
  gpointer data;
  guint packet;
} AstroWindowPlace;

AstroWindowAnswer astro_window_take(AstroWindow *window, guint stream, guint64 number,
                                    AstroWindowPlace *place);
void astro_window_finish(AstroWindow *window); /* closes what is open: the end */
void astro_window_reset(AstroWindow *window);  /* drops it: a flush */
AstroWindowCounts astro_window_counts(const AstroWindow *window, guint stream);

G_END_DECLS
