/* Puts packets in position. A block has room for a number of packets of each of several streams,
 * and stays open until a packet arrives that is a window ahead of it. Packets that come after that
 * are late, those that come again are duplicates, and those that never come are lost; each kind is
 * counted per stream.
 *
 * A packet far behind or ahead of all open blocks is set aside, since its header may be broken. A
 * run of far packets close together moves the window. A move ahead means a gap, in which everything
 * is lost; a move back means that the senders have restarted. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* This many consecutive far packets, without a near one among them, move the window. */
#define ASTRO_WINDOW_RUN 4

typedef struct {
  guint n_streams;
  guint block;  /* packets of a stream in a block, at least 1 */
  guint window; /* how many packets one may come behind another */
} AstroWindowConfig;

typedef struct {
  guint64 first;           /* number of its first packet, a multiple of block */
  const guint8 *came;      /* stream by stream, its packets; 0: missing */
  guint64 lost;            /* how many are missing between the first and the last packet received */
  gboolean is_after_gap;   /* blocks before it were never opened: nothing came */
  gboolean is_after_start; /* the senders started or restarted */
  gpointer data;           /* from open */
} AstroWindowBlock;

/* Provided by the owner of the samples. Each block is closed or dropped once; blocks are closed in
 * order. */
typedef struct {
  gpointer (*open)(gpointer user, guint64 first); /* NULL: out of memory */
  void (*close)(gpointer user, const AstroWindowBlock *block);
  void (*drop)(gpointer user, gpointer data);
} AstroWindowFunctions;

typedef enum {
  ASTRO_WINDOW_PLACED,
  ASTRO_WINDOW_DUPLICATE,
  ASTRO_WINDOW_LATE,
  ASTRO_WINDOW_FAR,    /* set aside: it may be the first of a run */
  ASTRO_WINDOW_FAILED, /* a block could not be opened */
} AstroWindowAnswer;

/* lost: packets missing from closed blocks, including those that came late. */
typedef struct {
  guint64 packets, lost, late, duplicate, far;
} AstroWindowCounts;

typedef struct _AstroWindow AstroWindow;

AstroWindow *astro_window_new(const AstroWindowConfig *config,
                              const AstroWindowFunctions *functions, gpointer user);
void astro_window_free(AstroWindow *window); /* drops the open blocks */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroWindow, astro_window_free)

/* Where a packet belongs: data is that of its block, packet its index within the block. */
typedef struct {
  gpointer data;
  guint packet;
} AstroWindowPlace;

AstroWindowAnswer astro_window_take(AstroWindow *window, guint stream, guint64 number,
                                    AstroWindowPlace *place);
void astro_window_finish(AstroWindow *window); /* closes the open blocks, at the end */
void astro_window_reset(AstroWindow *window);  /* drops them, for a flush */
AstroWindowCounts astro_window_counts(const AstroWindow *window, guint stream);

G_END_DECLS
