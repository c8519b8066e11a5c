/* Elements whose work takes more than a block: each is compared with its reference in a pipeline,
 * as a user would have it. */
#pragma once

#include "core/machine/machine.h"
#include "graphs/qualify-cases.h"
#include "graphs/qualify-result.h"

G_BEGIN_DECLS

/* In lines, {a-b} stands for a number from a to b, {a|b|c} for one of these, and STAGE for the
 * element, which is named it, with its backend. */
typedef struct {
  const char *element; /* "astrodelay" */
  const char *line;
  const char *timed;   /* a line with work that is large enough to be timed */
  double limit;        /* largest error, as a part of the largest value; 0: equal to the last bit */
  double device_limit; /* the same on a GPU, which adds in another order */
  /* A part of accuracy= in the line, by which values may be wrong where that is more: kernels may
   * take it for themselves, as polynomials in place of functions do. */
  double of_accuracy;
  const char *model; /* a line that makes $MODEL, a file that the others read; NULL: none */
} AstroQualifyElement;

extern const AstroQualifyElement astro_qualify_elements[]; /* ends with one without a name */

/* "delay" of "astrodelay", as backends are called. */
const char *astro_qualify_element_stage(const AstroQualifyElement *row);

/* The element at each level of the cpu backend and on a GPU if there is one. cases: how many of
 * each kind of shape. folder: for files. */
void astro_qualify_element_exact(const AstroQualifyElement *row, guint cases, guint32 seed,
                                 const char *folder, GPtrArray *results);

/* The rate of the element beside what the machine allows, as --stats has it, with its spread. */
void astro_qualify_element_rate(const AstroQualifyElement *row, const AstroMachine *machine,
                                gboolean is_quick, const char *folder, GPtrArray *results);

/* The line of a case, but for the backend, to be freed. */
char *astro_qualify_element_expand(const AstroQualifyElement *row, AstroCaseKind kind, GRand *rand);
/* With the element in it, and a sink named end behind it. */
char *astro_qualify_element_line(const AstroQualifyElement *row, const char *expanded,
                                 const char *backend, const char *folder);
/* Makes the model if the row has one. NULL, or what went wrong. */
char *astro_qualify_element_model(const AstroQualifyElement *row, const char *folder);

G_END_DECLS
