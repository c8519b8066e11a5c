/* Compares what an element does with a misfit with what it does with the good stream. */
#pragma once

#include "tests/elements/misfit-kinds.h"
#include "tests/elements/misfit-running.h"

#include <math.h>

typedef enum { REFUSED, ACCOUNTED, WARNED, PASSED_ON, SAME, SILENT } TestMisfitAnswer;

static const char *const test_misfit_answers[] = { "refused",   "accounted", "warned",
                                                   "passed on", "the same",  "silent" };

/* Sums of floats in another order differ in their last digits. */
static inline gboolean is_close(const TestMisfitResult *a, const TestMisfitResult *b)
{
  const float *x = (const float *)(gconstpointer)a->data->data;
  const float *y = (const float *)(gconstpointer)b->data->data;
  float largest = 0, apart = 0;
  for (gsize i = 0; i < a->data->len / sizeof *x; i++) {
    largest = MAX(largest, fabsf(x[i]));
    apart = MAX(apart, fabsf(x[i] - y[i]));
    if (isnan(x[i]) != isnan(y[i]))
      return FALSE;
  }
  return apart <= 1e-5f * largest;
}

static inline gboolean is_float(const TestMisfitResult *result)
{
  return result->stream.format == ASTRO_FORMAT_F32LE ||
         result->stream.format == ASTRO_FORMAT_CF32LE;
}

static inline gboolean has_same_data(const TestMisfitResult *a, const TestMisfitResult *b)
{
  if (a->data->len != b->data->len)
    return FALSE;
  return memcmp(a->data->data, b->data->data, a->data->len) == 0 ||
         (is_float(a) && is_float(b) && is_close(a, b));
}

static inline gboolean is_same(const TestMisfitResult *a, const TestMisfitResult *b)
{
  return has_same_data(a, b) && g_string_equal(a->output, b->output);
}

/* Whether the output is that of an element that does nothing. */
static inline gboolean is_as_it_came(const TestMisfitResult *result, GPtrArray *items)
{
  g_auto(TestMisfitResult) input;
  test_misfit_result_init(&input);
  for (guint i = 0; i < items->len; i++)
    if (GST_IS_BUFFER(items->pdata[i]))
      test_misfit_add_buffer(&input, items->pdata[i]);
  return is_same(&input, result);
}

static inline gboolean has_buffers_of(const TestMisfitResult *good, const TestMisfitResult *result)
{
  GHashTableIter iter;
  gpointer sum;
  g_hash_table_iter_init(&iter, result->buffers);
  while (g_hash_table_iter_next(&iter, &sum, NULL))
    if (!g_hash_table_contains(good->buffers, sum))
      return FALSE;
  return test_misfit_has_output(result);
}

static inline gboolean is_right(TestMisfitRight right, const TestMisfitResult *good,
                                const TestMisfitResult *result)
{
  return right == HARMLESS    ? has_same_data(good, result)
         : right == NO_OUTPUT ? !test_misfit_has_output(result)
                              : is_same(good, result);
}

static inline TestMisfitAnswer test_misfit_judge(const TestMisfitStage *stage,
                                                 const TestMisfit *misfit,
                                                 const TestMisfitResult *good,
                                                 const TestMisfitResult *result, GPtrArray *changed)
{
  if (result->error)
    return REFUSED;
  if (result->warned && !good->warned)
    return WARNED;
  if (strcmp(good->told, result->told) != 0)
    return ACCOUNTED;
  const gboolean tells = !g_string_equal(good->events, result->events);
  if (is_right(misfit->right, good, result))
    return tells && misfit->right != NO_OUTPUT ? PASSED_ON : SAME;
  if (is_as_it_came(result, changed))
    return PASSED_ON;
  if (result->has_marks)
    return ACCOUNTED;
  if ((stage->each_alone && has_buffers_of(good, result)) ||
      (misfit->right == VISIBLE && test_misfit_has_output(result)) || misfit->right == ANEW)
    return PASSED_ON;
  return SILENT;
}
