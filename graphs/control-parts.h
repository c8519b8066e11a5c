/* The parts of the control: control.c is the server, control-answers.c says what is answered,
 * control-state.c and control-metrics.c describe the run, control-set.c sets properties. Only
 * control.c knows the library for HTTP. */
#pragma once

#include "graphs/control.h"
#include "graphs/counts.h"
#include "graphs/glimpse.h"
#include "graphs/usage.h"

G_BEGIN_DECLS

/* Bodies are values of properties and times. */
#define ASTRO_CONTROL_MOST_BODY 65536

typedef struct {
  const AstroControlled *controlled;
  AstroCounts *counts;
  AstroUsage *usage;
  AstroGlimpse *glimpse;
} AstroControlState;

typedef struct {
  const char *method, *path; /* decoded, without a query */
  const char *body;
  gsize bytes;
  gboolean has_token; /* a token is required, and it came */
} AstroAsked;

typedef struct {
  guint status;
  const char *type, *allow; /* allow: methods, where another one was used */
  GString *text;
} AstroAnswer;

/* The address in "ADDRESS:PORT"; NULL: it is none. To be freed. */
char *astro_control_address(const char *where, guint16 *port);

AstroAnswer astro_control_answer(const AstroControlState *state, const AstroAsked *asked);

/* The body as a text without a line end at its end; NULL: it is no UTF-8 text. To be freed. */
char *astro_asked_text(const AstroAsked *asked);

/* The answer with a JSON object of one text, "error". */
G_GNUC_PRINTF(3, 4)
void astro_answer_refuse(AstroAnswer *answer, guint status, const char *format, ...);

/* ---- what is told ---- */

void astro_control_tell_state(const AstroControlState *state, GString *out);
void astro_control_tell_metrics(const AstroControlState *state, GString *out);
/* Seconds that live data take through the pipeline; negative: it is not live. */
double astro_control_latency(GstElement *pipeline);

/* ---- properties ---- */

void astro_control_tell_element(GstElement *element, GString *out);
void astro_control_set(const AstroControlState *state, const AstroAsked *asked, GstElement *element,
                       const char *property, AstroAnswer *answer);

G_END_DECLS
