#include <stdlib.h>

#include "core/lib/transpose/plan.h"
#include "core/transpose/transpose.h"
#include "tests/core/on-device.h"

static const char *const variants[] = { "amx", "avx512", "avx2", "c" };
static const guint64 sizes[] = { 1, 2, 3, 5, 7, 16, 17, 33, 64, 100 };

static gsize config_bytes(const AstroTransposeConfig *config)
{
  gsize bytes = config->sample_bytes;
  for (guint i = 0; i < config->n_axes; i++)
    bytes *= config->extents[i];
  return bytes;
}

/* The permutations of n axes, in lexical order; FALSE after the last. */
static gboolean next_order(guint *order, guint n)
{
  guint i = n - 1, j = n - 1;
  while (i > 0 && order[i - 1] > order[i])
    i--;
  if (i == 0)
    return FALSE;
  while (order[j] < order[i - 1])
    j--;
  guint swap = order[i - 1];
  order[i - 1] = order[j];
  order[j] = swap;
  for (j = n - 1; i < j; i++, j--) {
    swap = order[i];
    order[i] = order[j];
    order[j] = swap;
  }
  return TRUE;
}

/* Makes an instance and transposes one block with it. */
static void turn(const AstroBackend *backend, const AstroTransposeConfig *config, guint threads,
                 gconstpointer in, gpointer out)
{
  AstroPlace place = { .threads = threads };
  const char *variant = NULL;
  GError *error = NULL;
  AstroBlock from = { (gpointer)in, config_bytes(config) }, to = { out, config_bytes(config) };
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(instance);
  g_assert_nonnull(variant);
  g_assert_true(backend->submit(instance, &from, 1, &to, 1, NULL, NULL, &error));
  g_assert_no_error(error);
  backend->destroy(instance);
}

/* Every variant compared with the reference, with either side off alignment by a sample or not. */
static void check(const AstroTransposeConfig *config, guint32 seed)
{
  gsize bytes = config_bytes(config), sample = config->sample_bytes;
  guint8 *in = test_alloc(bytes + sample), *expected = test_alloc(bytes);
  test_fill(in, bytes + sample, seed);

  for (guint misaligned = 0; misaligned < 2; misaligned++) {
    gsize off = misaligned * sample;
    turn(&astro_transpose_reference, config, 1, in + off, expected);
    test_check_guard(expected, bytes);
    for (guint v = 0; v < G_N_ELEMENTS(variants); v++) {
      setenv("ASTRO_CPU", variants[v], 1);
      for (guint threads = 1; threads <= 2; threads++) {
        guint8 *out = test_alloc(bytes + off);
        turn(&astro_transpose_cpu, config, threads, in + off, out + off);
        g_assert_cmpmem(out + off, bytes, expected, bytes);
        for (gsize i = 0; i < off; i++)
          g_assert_cmphex(out[i], ==, 0xa5);
        test_check_guard(out, bytes + off);
        test_free(out);
      }
    }
    unsetenv("ASTRO_CPU");
  }
  test_free(expected);
  test_free(in);
}

static void test_by_hand(void)
{
  /* time:channel:pol, 2 x 3 x 2, to pol:channel:time */
  const guint16 in[] = { 0, 1, 10, 11, 20, 21, 100, 101, 110, 111, 120, 121 };
  const guint16 expected[] = { 0, 100, 10, 110, 20, 120, 1, 101, 11, 111, 21, 121 };
  const AstroTransposeConfig config = { 3, { 2, 3, 2 }, { 2, 1, 0 }, sizeof *in };
  guint16 out[G_N_ELEMENTS(in)];
  for (guint i = 0; astro_transpose_backends[i]; i++) {
    memset(out, 0xa5, sizeof out);
    turn(astro_transpose_backends[i], &config, 0, in, out);
    g_assert_cmpmem(out, sizeof out, expected, sizeof expected);
  }
}

/* The reference runs over the output; this runs over the input, in another way. */
static void test_reference(void)
{
  AstroTransposeConfig config = { 5, { 3, 5, 2, 7, 4 }, { 0, 1, 2, 3, 4 }, 4 };
  gsize bytes = config_bytes(&config);
  guint32 *in = test_alloc(bytes);
  for (gsize i = 0; i < bytes / 4; i++)
    in[i] = (guint32)i * 2654435761u;
  do {
    guint32 *out = test_alloc(bytes);
    guint64 stride[5], at[5], n = 0;
    turn(&astro_transpose_reference, &config, 1, in, out);
    for (guint i = 5, step = 1; i-- > 0; step *= config.extents[config.order[i]])
      stride[config.order[i]] = step;
    for (at[0] = 0; at[0] < 3; at[0]++)
      for (at[1] = 0; at[1] < 5; at[1]++)
        for (at[2] = 0; at[2] < 2; at[2]++)
          for (at[3] = 0; at[3] < 7; at[3]++)
            for (at[4] = 0; at[4] < 4; at[4]++) {
              gsize to = 0;
              for (guint i = 0; i < 5; i++)
                to += at[i] * stride[i];
              g_assert_cmphex(out[to], ==, in[n++]);
            }
    test_check_guard(out, bytes);
    test_free(out);
  } while (next_order(config.order, 5));
  test_free(in);
}

/* Every order of that many axes, each with other extents. */
static void test_orders(gconstpointer data)
{
  guint n = GPOINTER_TO_UINT(data) >> 8, sample = GPOINTER_TO_UINT(data) & 255;
  AstroTransposeConfig config = { .n_axes = n, .sample_bytes = sample };
  GRand *rand = g_rand_new_with_seed(n * 100 + sample);
  for (guint i = 0; i < n; i++)
    config.order[i] = i;
  do {
    guint rounds = n < 4 ? 12 : n == 4 ? 4 : 1;
    for (guint round = 0; round < rounds; round++) {
      guint64 samples;
      do {
        samples = 1;
        for (guint i = 0; i < n; i++)
          samples *= config.extents[i] = sizes[g_rand_int_range(rand, 0, G_N_ELEMENTS(sizes))];
      } while (samples > 12000);
      check(&config, g_rand_int(rand));
    }
  } while (next_order(config.order, n));
  g_rand_free(rand);
}

/* Several boxes along every axis, with remainders; above 8 MiB stores bypass the caches. */
static const AstroTransposeConfig large[] = {
  { 2, { 1000, 1100 }, { 1, 0 }, 1 },
  { 2, { 701, 1023 }, { 1, 0 }, 2 },
  { 3, { 33, 7, 1900 }, { 2, 1, 0 }, 2 },
  { 3, { 128, 20, 512 }, { 2, 1, 0 }, 8 },
  { 3, { 64, 33, 515 }, { 2, 0, 1 }, 8 },
  { 4, { 17, 9, 16, 400 }, { 3, 1, 0, 2 }, 16 },
  { 4, { 9, 9, 9, 1000 }, { 3, 2, 1, 0 }, 2 },
  { 4, { 900, 9, 9, 9 }, { 0, 3, 2, 1 }, 2 },
  { 4, { 1200, 11, 9, 5 }, { 0, 2, 1, 3 }, 1 },
  { 3, { 33, 1000, 100 }, { 1, 0, 2 }, 1 },
  { 3, { 12, 7, 13000 }, { 1, 0, 2 }, 8 },
  { 2, { 3, 600000 }, { 0, 1 }, 8 },
  { 2, { 2, 600011 }, { 1, 0 }, 8 },
  { 2, { 600011, 2 }, { 1, 0 }, 8 },
};

static void test_large(gconstpointer data)
{
  check(data, 1);
}

/* Cut as for either kind of machine: a block so large that the boxes differ, and odd ones. */
static const AstroTransposeMemory *const memories[] = { &astro_transpose_near_cache,
                                                        &astro_transpose_far_cache };

static void test_memories(void)
{
  static const AstroTransposeConfig cases[] = {
    { 4, { 64, 2, 80, 1024 }, { 3, 2, 0, 1 }, 2 },
    { 4, { 33, 5, 17, 101 }, { 2, 3, 1, 0 }, 1 },
    { 3, { 700, 3, 900 }, { 2, 1, 0 }, 8 },
  };
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    const gsize bytes = config_bytes(&cases[c]);
    guint8 *in = test_alloc(bytes), *expected = test_alloc(bytes);
    test_fill(in, bytes, c);
    turn(&astro_transpose_reference, &cases[c], 1, in, expected);
    for (guint m = 0; m < G_N_ELEMENTS(memories); m++)
      for (guint v = 0; v < G_N_ELEMENTS(variants); v++) {
        guint8 *out = test_alloc(bytes);
        AstroTransposePlan plan;
        setenv("ASTRO_CPU", variants[v], 1);
        astro_transpose_plan(&plan, memories[m], &cases[c]);
        astro_transpose_run(&plan, astro_transpose_kernels(), 2, out, in);
        g_assert_cmpmem(out, bytes, expected, bytes);
        test_check_guard(out, bytes);
        test_free(out);
      }
    test_free(in);
    test_free(expected);
  }
  unsetenv("ASTRO_CPU");
}

static AstroLayout layout(const char *text, ...)
{
  AstroLayout result;
  GError *error = NULL;
  va_list extents;
  g_assert_true(astro_layout_parse(&result, text, ASTRO_QUANTITY_VISIBILITIES, &error));
  g_assert_no_error(error);
  va_start(extents, text);
  for (guint i = 0; i < result.n_axes; i++)
    result.extents[i] = va_arg(extents, int);
  va_end(extents);
  return result;
}

static void test_config(void)
{
  AstroTransposeConfig config;
  GError *error = NULL;
  AstroLayout from = layout("station:pol:time:channel", 64, 2, 100, 33);
  AstroLayout to = layout("channel:time:station:pol", 33, 0, 64, 2);
  g_assert_true(astro_transpose_config(&config, &from, &to, 2, &error));
  g_assert_no_error(error);
  g_assert_cmpuint(config.n_axes, ==, 4);
  g_assert_cmpuint(config.sample_bytes, ==, 2);
  const guint order[] = { 3, 2, 0, 1 };
  const guint64 extents[] = { 64, 2, 100, 33 };
  g_assert_cmpmem(config.order, sizeof order, order, sizeof order);
  g_assert_cmpmem(config.extents, sizeof extents, extents, sizeof extents);

  /* An axis that occurs twice: the first of one layout is the first of the other. */
  from = layout("channel:baseline:pol:pol", 5, 10, 2, 3);
  to = layout("pol:pol:baseline:channel", 2, 3, 10, 5);
  g_assert_true(astro_transpose_config(&config, &from, &to, 8, &error));
  const guint order2[] = { 2, 3, 1, 0 };
  g_assert_cmpmem(config.order, sizeof order2, order2, sizeof order2);

  const AstroLayout misfits[] = { layout("channel:baseline:pol", 5, 10, 2),
                                  layout("channel:baseline:pol:time", 5, 10, 2, 3),
                                  layout("baseline:channel:pol:pol", 5, 10, 2, 3),
                                  layout("channel:baseline:pol:pol", 5, 10, 3, 2) };
  for (guint i = 0; i < G_N_ELEMENTS(misfits); i++) {
    g_assert_false(astro_transpose_config(&config, &from, &misfits[i], 8, &error));
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
    g_assert_nonnull(strstr(error->message, "channel:baseline:pol:pol"));
    g_clear_error(&error);
  }
  from.extents[0] = 0;
  to.extents[3] = 0;
  g_assert_false(astro_transpose_config(&config, &from, &to, 8, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
  g_clear_error(&error);
}

static void test_simplify(void)
{
  static const struct {
    AstroTransposeConfig config, simple;
  } cases[] = {
    { { 3, { 4, 5, 6 }, { 2, 1, 0 }, 4 }, { 3, { 4, 5, 6 }, { 2, 1, 0 }, 4 } },
    { { 3, { 4, 5, 6 }, { 0, 1, 2 }, 4 }, { 1, { 120 }, { 0 }, 4 } },
    { { 3, { 4, 5, 6 }, { 1, 2, 0 }, 4 }, { 2, { 4, 30 }, { 1, 0 }, 4 } },
    { { 4, { 4, 1, 6, 5 }, { 1, 3, 2, 0 }, 1 }, { 3, { 4, 6, 5 }, { 2, 1, 0 }, 1 } },
    { { 3, { 4, 5, 8 }, { 1, 0, 2 }, 2 }, { 2, { 4, 5 }, { 1, 0 }, 16 } },
    { { 3, { 4, 5, 16 }, { 1, 0, 2 }, 2 }, { 3, { 4, 5, 16 }, { 1, 0, 2 }, 2 } },
    { { 3, { 4, 5, 3 }, { 1, 0, 2 }, 2 }, { 3, { 4, 5, 3 }, { 1, 0, 2 }, 2 } },
    { { 4, { 4, 1, 2, 2 }, { 0, 2, 1, 3 }, 1 }, { 0, { 0 }, { 0 }, 16 } },
    { { 2, { 1, 1 }, { 1, 0 }, 8 }, { 0, { 0 }, { 0 }, 8 } },
    { { 5, { 64, 2, 100, 1, 33 }, { 4, 2, 3, 0, 1 }, 2 }, { 3, { 128, 100, 33 }, { 2, 1, 0 }, 2 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroTransposeConfig config = cases[i].config;
    const AstroTransposeConfig *simple = &cases[i].simple;
    astro_transpose_simplify(&config);
    g_assert_cmpuint(config.n_axes, ==, simple->n_axes);
    g_assert_cmpuint(config.sample_bytes, ==, simple->sample_bytes);
    for (guint axis = 0; axis < simple->n_axes; axis++) {
      g_assert_cmpuint(config.extents[axis], ==, simple->extents[axis]);
      g_assert_cmpuint(config.order[axis], ==, simple->order[axis]);
    }
  }
}

static void test_bad_config(void)
{
  static const struct {
    AstroTransposeConfig config;
    const char *says;
  } cases[] = {
    { { 0, { 0 }, { 0 }, 4 }, "0 axes" },
    { { 9, { 1, 1, 1, 1, 1, 1, 1, 1 }, { 0, 1, 2, 3, 4, 5, 6, 7 }, 4 }, "9 axes" },
    { { 2, { 3, 4 }, { 1, 0 }, 0 }, "samples of 0 bytes" },
    { { 2, { 3, 4 }, { 1, 0 }, 3 }, "samples of 3 bytes" },
    { { 2, { 3, 4 }, { 1, 0 }, 32 }, "samples of 32 bytes" },
    { { 2, { 3, 4 }, { 1, 1 }, 4 }, "axis 1 twice" },
    { { 2, { 3, 4 }, { 1, 2 }, 4 }, "axis 2 of 2" },
    { { 2, { 3, 4 }, { G_MAXUINT, 0 }, 4 }, "names axis" },
    { { 2, { 3, 0 }, { 1, 0 }, 4 }, "axis 1 has no steps" },
    { { 2, { 1ull << 40, 1ull << 40 }, { 1, 0 }, 4 }, "more bytes" },
    { { 2, { 1ull << 32, 1ull << 31 }, { 1, 0 }, 1 }, "more bytes" },
    { { 2, { G_MAXUINT64, 2 }, { 1, 0 }, 1 }, "more bytes" },
  };
  for (guint b = 0; astro_transpose_backends[b]; b++)
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      const AstroBackend *backend = astro_transpose_backends[b];
      AstroPlace place = { 0 };
      const char *variant;
      GError *error = NULL;
      g_assert_false(backend->shape(&cases[i].config, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      test_says(error->message, cases[i].says);
      g_clear_error(&error);
      g_assert_false(backend->shape(&cases[i].config, NULL));
      g_assert_null(backend->create(&cases[i].config, &place, &variant, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      g_clear_error(&error);
    }
}

static void test_bad_blocks(void)
{
  const AstroTransposeConfig config = { 2, { 3, 4 }, { 1, 0 }, 4 };
  const AstroTransposeConfig larger = { 2, { 3, 5 }, { 1, 0 }, 4 };
  const AstroTransposeConfig wrong = { 2, { 3, 4 }, { 1, 1 }, 4 };
  guint8 in[48], out[48], before[48];
  memset(out, 0xa5, sizeof out);
  memset(before, 0xa5, sizeof before);
  memset(in, 1, sizeof in);
  const struct {
    AstroBlock in[1], out[1];
    guint n_in, n_out;
    const AstroTransposeConfig *arguments;
    const char *says;
  } cases[] = {
    { { { in, 47 } }, { { out, 48 } }, 1, 1, NULL, "47 bytes in" },
    { { { in, 48 } }, { { out, 47 } }, 1, 1, NULL, "47 out" },
    { { { in, 48 } }, { { out, 48 } }, 1, 1, &larger, "expected 60" },
    { { { in, 48 } }, { { out, 48 } }, 1, 1, &wrong, "twice" },
    { { { in, 48 } }, { { out, 48 } }, 0, 1, NULL, "0 blocks in" },
    { { { in, 48 } }, { { out, 48 } }, 1, 0, NULL, "0 out" },
    { { { out, 48 } }, { { out, 48 } }, 1, 1, NULL, "overlap" },
  };
  for (guint b = 0; astro_transpose_backends[b]; b++) {
    const AstroBackend *backend = astro_transpose_backends[b];
    AstroPlace place = { 0 };
    const char *variant;
    GError *error = NULL;
    gpointer instance = backend->create(&config, &place, &variant, &error);
    g_assert_no_error(error);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_assert_false(backend->submit(instance, cases[i].in, cases[i].n_in, cases[i].out,
                                     cases[i].n_out, (gpointer)cases[i].arguments, NULL, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      test_says(error->message, cases[i].says);
      g_clear_error(&error);
      g_assert_cmpmem(out, sizeof out, before, sizeof before);
    }
    backend->destroy(instance);
  }
}

/* A block shorter than the instance's, as at the end of a stream. */
static void test_arguments(void)
{
  const AstroTransposeConfig config = { 2, { 3, 4 }, { 1, 0 }, 1 };
  AstroTransposeConfig shorter = { 2, { 3, 2 }, { 1, 0 }, 1 };
  guint8 in[12] = "abcdefghijk", out[12];
  for (guint b = 0; astro_transpose_backends[b]; b++) {
    const AstroBackend *backend = astro_transpose_backends[b];
    AstroPlace place = { 0 };
    AstroBlock from = { in, 12 }, to = { out, 12 };
    const char *variant;
    gpointer instance = backend->create(&config, &place, &variant, NULL);
    memset(out, '-', sizeof out);
    g_assert_true(backend->submit(instance, &from, 1, &to, 1, &shorter, NULL, NULL));
    g_assert_cmpmem(out, 12, "acebdf------", 12);
    g_assert_true(backend->submit(instance, &from, 1, &to, 1, NULL, NULL, NULL));
    g_assert_cmpmem(out, 12, "aeibfjcgkdh", 12);
    backend->destroy(instance);
  }
}

/* Strides of an array's axes in bytes, if it holds that many of each; and the array's bytes. */
static gsize steps_of(gsize *steps, const guint64 *holds, const guint *order, guint n, gsize unit)
{
  gsize bytes = unit;
  for (guint i = n; i-- > 0; bytes *= holds[order[i]])
    steps[order[i]] = bytes;
  return bytes;
}

/* Random parts of larger blocks: axes that are whole on one side, on both or on none. */
static void test_parts(void)
{
  enum { MOST = 4 };
  for (guint k = 0; k < 2000; k++) {
    const guint n = (guint)g_test_rand_int_range(1, MOST + 1);
    const gsize unit = (gsize)g_test_rand_int_range(1, k % 4 ? 17 : 600);
    guint from_order[MOST], to_order[MOST];
    guint64 extents[MOST], in_holds[MOST], out_holds[MOST];
    gsize from[MOST], to[MOST];
    AstroTransposeAxis axes[MOST] = { 0 };
    for (guint i = 0; i < n; i++) {
      guint at = (guint)g_test_rand_int_range(0, (gint)i + 1);
      from_order[i] = from_order[at], from_order[at] = i;
      at = (guint)g_test_rand_int_range(0, (gint)i + 1);
      to_order[i] = to_order[at], to_order[at] = i;
      extents[i] = (guint64)g_test_rand_int_range(1, n < 3 ? 90 : 14);
      in_holds[i] = extents[i] + (g_test_rand_bit() ? 0 : (guint64)g_test_rand_int_range(0, 9));
      out_holds[i] = extents[i] + (g_test_rand_bit() ? 0 : (guint64)g_test_rand_int_range(0, 9));
    }
    const gsize in_bytes = steps_of(from, in_holds, from_order, n, unit);
    const gsize out_bytes = steps_of(to, out_holds, to_order, n, unit);
    guint8 *in = test_alloc(in_bytes), *out = test_alloc(out_bytes),
           *expected = test_alloc(out_bytes);
    gsize units = 1;
    test_fill(in, in_bytes, k);
    for (guint i = 0; i < n; i++) {
      axes[i] = (AstroTransposeAxis){ .extent = extents[i], .from = from[i], .to = to[i] };
      units *= extents[i];
    }
    for (gsize u = 0; u < units; u++) {
      gsize rest = u, at = 0, goes = 0;
      for (guint i = 0; i < n; rest /= extents[i++]) {
        at += rest % extents[i] * from[i];
        goes += rest % extents[i] * to[i];
      }
      memcpy(expected + goes, in + at, unit);
    }
    AstroTransposePlan plan;
    setenv("ASTRO_CPU", variants[k % G_N_ELEMENTS(variants)], 1);
    astro_transpose_plan_part(&plan, memories[k / 2 % 2], unit, axes, n);
    astro_transpose_run(&plan, astro_transpose_kernels(), 1 + k % 2, out, in);
    g_assert_cmpmem(out, out_bytes, expected, out_bytes);
    test_check_guard(out, out_bytes);
    test_free(in);
    test_free(out);
    test_free(expected);
  }
  unsetenv("ASTRO_CPU");
}

static void test_variant_names(void)
{
  const AstroTransposeConfig config = { 2, { 3, 4 }, { 1, 0 }, 1 };
  AstroPlace place = { 0 };
  const char *variant;
  setenv("ASTRO_CPU", "c", 1);
  gpointer instance = astro_transpose_cpu.create(&config, &place, &variant, NULL);
  g_assert_cmpstr(variant, ==, "c");
  astro_transpose_cpu.destroy(instance);
  unsetenv("ASTRO_CPU");
}

static void check_on(const AstroBackend *backend, const AstroTransposeConfig *config, guint32 seed)
{
  const gsize bytes = config_bytes(config);
  guint8 *in = test_alloc(bytes), *expected = test_alloc(bytes), *out = test_alloc(bytes);
  test_fill(in, bytes, seed);
  turn(&astro_transpose_reference, config, 1, in, expected);
  turn(backend, config, 1, in, out);
  g_assert_cmpmem(out, bytes, expected, bytes);
  test_check_guard(out, bytes);
  test_free(out);
  test_free(expected);
  test_free(in);
}

/* The large blocks, and random ones of every size of sample. */
static void test_opencl(gconstpointer on_device)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(52);
  for (guint i = 0; i < G_N_ELEMENTS(large); i++)
    check_on(on_device, &large[i], i);
  for (guint i = 0; i < 60; i++) {
    AstroTransposeConfig config = { .n_axes = 2 + i % 3, .sample_bytes = 1u << (i % 5) };
    const guint swap = (guint)g_rand_int_range(rand, 0, (gint)config.n_axes);
    for (guint a = 0; a < config.n_axes; a++) {
      config.order[a] = config.n_axes - 1 - a;
      config.extents[a] = sizes[g_rand_int_range(rand, 0, G_N_ELEMENTS(sizes))];
    }
    config.order[0] = config.n_axes - 1 - swap;
    config.order[swap] = config.n_axes - 1;
    if (config_bytes(&config) <= 1 << 22)
      check_on(on_device, &config, i);
  }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  test_add_on_device("/transpose/opencl", test_on_opencl("transpose"), test_opencl);
  g_test_add_func("/transpose/by-hand", test_by_hand);
  g_test_add_func("/transpose/reference", test_reference);
  for (guint n = 1; n <= 5; n++)
    for (guint sample = 1; sample <= 16; sample *= 2) {
      g_autofree char *path = g_strdup_printf("/transpose/orders/%u-axes/%u-bytes", n, sample);
      g_test_add_data_func(path, GUINT_TO_POINTER(n << 8 | sample), test_orders);
    }
  for (guint i = 0; i < G_N_ELEMENTS(large); i++) {
    g_autofree char *path = g_strdup_printf("/transpose/large/%u", i);
    g_test_add_data_func(path, &large[i], test_large);
  }
  g_test_add_func("/transpose/config", test_config);
  g_test_add_func("/transpose/simplify", test_simplify);
  g_test_add_func("/transpose/bad-config", test_bad_config);
  g_test_add_func("/transpose/bad-blocks", test_bad_blocks);
  g_test_add_func("/transpose/arguments", test_arguments);
  g_test_add_func("/transpose/memories", test_memories);
  g_test_add_func("/transpose/parts", test_parts);
  g_test_add_func("/transpose/variant-names", test_variant_names);
  return g_test_run();
}
