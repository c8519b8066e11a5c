/* Findings about requirements. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef enum { ASTRO_QUALIFY_PASS, ASTRO_QUALIFY_SHORT, ASTRO_QUALIFY_NOT_RUN } AstroQualifyState;

typedef struct {
  char *requirement; /* its identifier in doc/requirements.md, "exact" */
  char *subject;     /* for what it was looked at, "correlator cpu/avx512" */
  AstroQualifyState state;
  double value, limit; /* measured, and what is asked for */
  const char *unit;    /* static; "" for a ratio */
  char *remark;        /* why it is short or was not run, or more about it; or NULL */
} AstroQualifyResult;

AstroQualifyResult *astro_qualify_result_new(const char *requirement, const char *subject);
void astro_qualify_result_free(gpointer result);
const char *astro_qualify_state_name(AstroQualifyState state); /* "pass" */

G_END_DECLS
