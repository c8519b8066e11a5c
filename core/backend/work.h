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
  double kept;  /* bytes that an instance holds from one block to the next */
  double moved; /* bytes that it reads and writes besides the blocks */
  /* In words, all else that it computes, which depends on the data; NULL: nothing. */
  const char *besides;
} AstroWork;

/* An element that gets a context of this type agrees on caps, and then posts an element message of
 * that name, with what its work is. It is only planned, and makes no backend, unless the context
 * has a field run that is TRUE. Fields of the message: stage,
 * backend (both as text), pass-through and told (booleans), and as doubles rate-in and rate-out
 * (steps a second; 0: streams without a rate), bytes-in and bytes-out (of a step), kept, and moved
 * and the operations by the name of the arithmetic: of a second, or of a step where there is no
 * rate. besides is a text, where there is one. */
#define ASTRO_PLAN_CONTEXT "astro-plan"
#define ASTRO_PLAN_MESSAGE "astro-work"
/* A serialized event that comes in a plan behind all that a stream says before its first block. An
 * element with several inputs tells its work and hands the event on once all inputs have had it. */
#define ASTRO_PLAN_END "astro-plan-end"

const char *astro_arithmetic_name(AstroArithmetic arithmetic); /* "int8" */

/* Time steps, in all or in a second: those of the input, and those of the output that they make.
 * Streams without a time axis have frames in their place. */
typedef struct {
  double in, out;
  double samples_in; /* of one step of the input */
} AstroWorkSteps;

/* Sets *work, which is all zero, to that of a configuration for so many steps, all samples being
 * good. FALSE: no part of it is known before there are data; besides may still say what it is. */
typedef gboolean (*AstroTellWork)(gconstpointer config, const AstroWorkSteps *steps,
                                  AstroWork *work);

/* The AstroTellWork of stages that only move samples. */
gboolean astro_work_none(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

ASTRO_END_DECLS
