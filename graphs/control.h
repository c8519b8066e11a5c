/* The control of a run over HTTP: metrics, state, and requests that start, stop, trigger and set.
 *
 *   GET  /                           a page that shows the graph with its rates
 *   GET  /metrics                    all counts, as Prometheus reads them
 *   GET  /state                      the same and more, as JSON
 *   GET  /pictures/NAME/PAD          a picture (PNG) of a buffer that has just passed there
 *   GET  /elements/NAME              an element's properties
 *   PUT  /elements/NAME/PROPERTY     sets one; the body is its value, as in a graph
 *   POST /start, /stop, /trigger     trigger: the body is a time, as of astroring; none is now
 *
 * The server runs in the main loop, as all else that gst-astro does beside the streams. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum {
  ASTRO_RUN_PLAYS,
  ASTRO_RUN_STOPS, /* the stream is ending */
  ASTRO_RUN_RESTS, /* it has ended and may be started again */
} AstroRunState;

typedef struct {
  AstroRunState state;
  double seconds; /* since the last start */
  guint64 starts, warnings;
} AstroRunTold;

/* The run that is controlled. All functions are called in the main loop. */
typedef struct {
  GstElement *pipeline;
  const char *graph; /* its name */
  gpointer data;     /* for: */
  AstroRunTold (*tell)(gpointer data);
  void (*start)(gpointer data); /* only while it rests */
  void (*stop)(gpointer data);  /* ends the stream; while it stops: stops at once */
} AstroControlled;

/* Says what is wrong with "ADDRESS:PORT"; NULL: nothing. */
char *astro_control_check(const char *where);

typedef struct _AstroControl AstroControl;

/* token_file: NULL: requests need no token, which is for loopback addresses only. */
AstroControl *astro_control_new(const char *where, const char *token_file,
                                const AstroControlled *controlled, GError **error);
const char *astro_control_page(const AstroControl *control); /* the address to open */
void astro_control_free(AstroControl *control);

G_END_DECLS
