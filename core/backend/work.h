/* How much work a stage does, for plans: what it computes, by the formula that its reference
 * follows, and not what a kernel of it happens to do. */
#pragma once

#include <glib.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* The kinds of number that machines compute with at different speeds. */
typedef enum {
  ASTRO_ARITHMETIC_INT8,
  ASTRO_ARITHMETIC_INT16,
  ASTRO_ARITHMETIC_HALF,
  ASTRO_ARITHMETIC_FLOAT,
  ASTRO_ARITHMETIC_DOUBLE,
  ASTRO_N_ARITHMETICS
} AstroArithmetic;

typedef struct {
  /* Additions and multiplications of real numbers, each of which is one. A transform of n complex
   * numbers is 5 n log2(n), of n real ones half of that. Phases and weights that change slowly are
   * not included. */
  double operations[ASTRO_N_ARITHMETICS];
  double kept; /* bytes that an instance holds from one block to the next */
} AstroWork;

/* Sets *work to that of a configuration for so many steps of input and the steps of output that
 * they make, all samples being good. FALSE: it depends on more than these. */
typedef gboolean (*AstroTellWork)(gconstpointer config, double steps_in, double steps_out,
                                  AstroWork *work);

ASTRO_END_DECLS
