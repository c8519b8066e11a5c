/* A pipeline of a graph while it is played, for the files of run.h. */
#pragma once

#include "graphs/control.h"
#include "graphs/progress.h"
#include "graphs/run.h"
#include "graphs/service.h"
#include "graphs/stats.h"
#include "graphs/watchdog.h"

G_BEGIN_DECLS

/* Lines that are kept of files and of warnings: a run of months may write a file every minute. */
#define ASTRO_RUN_MOST_LINES 1000

typedef struct {
  const AstroArguments *arguments;
  const AstroPass *pass;
  const char *passing; /* folder of files that are removed at the end, which are not told; NULL */
  GstElement *pipeline;
  GMainLoop *loop;
  AstroProgress *progress;
  AstroStats *stats;
  AstroWatchdog *watchdog; /* NULL: none was asked for */
  AstroControl *control;   /* NULL: none was asked for */
  AstroRunState state;     /* other than ASTRO_RUN_PLAYS only by the control */
  gint64 started;          /* us: when it was started last */
  guint64 starts, warnings;
  GHashTable *warned;      /* warnings printed so far */
  GHashTable *told_at_end; /* name of the element and message -> fields, printed at the end */
  GHashTable *sources;     /* element and channel -> lines on the sources in its last image */
  GHashTable *beams;       /* element -> a line on the beam of its last image */
  GPtrArray *files;        /* a line for each file that was written */
  GPtrArray *inputs;       /* lines about what was opened */
  GPtrArray *pictures;     /* names of pictures; NULL: the stream did not end */
  gboolean ended;          /* at EOS, with complete results */
  int status;
} AstroRun;

void astro_run_say(AstroRun *run, AstroLine kind, const char *format, ...) G_GNUC_PRINTF(3, 4);
#define astro_run_tell(run, ...) astro_run_say(run, ASTRO_LINE_NOTE, __VA_ARGS__)

/* The pipeline of a pass; NULL: trouble says why there is none. */
GstElement *astro_pass_pipeline(const AstroPass *pass, char **trouble);

/* ---- what elements say ---- */

void astro_run_hear_element(AstroRun *run, GstMessage *message);
void astro_run_hear_progress(AstroRun *run, GstMessage *message);
/* After the end: what was kept until then, and results. */
void astro_run_tell_results(AstroRun *run);

/* ---- its end ---- */

void astro_run_end_stream(AstroRun *run);
/* Sinks go to state NULL and stay there until they are unlocked. */
void astro_run_stop_sinks(AstroRun *run);
void astro_run_unlock_sinks(AstroRun *run);
/* They go to READY, before the pipeline does. */
void astro_run_leave_sinks(AstroRun *run);

G_END_DECLS
