/* Transforms of which only a part is wanted, and grids that are partly empty: rows of zeros, and
 * maps of touched tiles. */
#include "tests/core/fft/fft.h"
#include "tests/core/gridder/touched.h"

#include <complex.h>

/* ---- what is wanted, and what is empty ---- */

/* Clears some of the rows along the last axis, or all of them; every other row that is left keeps
 * one sample, in another place each. */
static void empty_rows(const AstroFftConfig *config, guint8 *block, gsize bytes, guint which)
{
  const gsize row =
      astro_fft_extent(config, config->n_axes - 1, FALSE) * astro_format_info(config->from)->bytes;
  for (gsize i = 0; i < bytes / row; i++)
    if (which == 0 || i % which == 1 || i * 3 < bytes / row)
      memset(block + i * row, 0, row);
    else if (i % 2)
      for (gsize at = 0, unit = astro_format_info(config->from)->bytes; at < row; at += unit)
        if (at != (i * 5 + 1) * unit % row)
          memset(block + i * row + at, 0, unit);
}

/* Whether a line along the last axis is wanted. */
static gboolean is_wanted(const AstroFftConfig *config, gsize line)
{
  for (guint i = config->n_axes - 1; i-- > 0;) {
    const AstroFftAxis *axis = &config->axes[i];
    const guint64 extent = astro_fft_extent(config, i, TRUE), at = line % extent;
    if (axis->n_wanted && (at < axis->wanted || at >= axis->wanted + axis->n_wanted))
      return FALSE;
    line /= extent;
  }
  return TRUE;
}

/* The wanted part has the same bits as in the whole transform. */
static void check_wanted(AstroFftConfig config, guint64 steps, guint holes)
{
  gsize in_bytes = test_block_bytes(&config, steps, FALSE),
        bytes = test_block_bytes(&config, steps, TRUE);
  const gsize unit = astro_format_info(config.to)->bytes;
  const gsize row = astro_fft_extent(&config, config.n_axes - 1, TRUE) * unit;
  const AstroFftAxis *last = &config.axes[config.n_axes - 1];
  gsize wanted = 0;
  gpointer in = test_alloc(in_bytes);
  test_fill_samples(config.from, in, in_bytes, (guint32)(in_bytes + holes));
  empty_rows(&config, in, in_bytes, holes);
  guint8 *all = test_transform(&astro_fft_cpu, &config, in, steps, 1);
  for (guint i = 0; i < config.n_axes; i++) {
    const guint64 extent = astro_fft_extent(&config, i, TRUE);
    config.axes[i].wanted = config.axes[i].transformed ? extent / 3 : 0;
    config.axes[i].n_wanted = config.axes[i].transformed ? MAX(extent / 3, 1) : 0;
  }
  for (guint turn = 0; turn < (config.from == config.to ? 4 : 2); turn++) {
    guint8 *part = turn < 2 ? test_transform(&astro_fft_cpu, &config, in, steps, turn)
                            : test_transform_in_place(&astro_fft_cpu, &config, in, steps, turn % 2);
    for (gsize i = 0; i < bytes / row; i++)
      if (is_wanted(&config, i)) {
        const gsize at = i * row + last->wanted * unit,
                    length = last->n_wanted ? last->n_wanted * unit : row;
        g_assert_cmpmem(part + at, length, all + at, length);
        wanted++;
      }
    test_free(part);
  }
  g_assert_cmpuint(wanted, >, 0);
  test_free(all);
  test_free(in);
}

/* The only value in a row is found, wherever it is. */
static void check_one_sample(guint sample)
{
  enum { ROWS = 3, N = 140 };
  AstroFftConfig config = { .from = ASTRO_FORMAT_CF32LE,
                            .to = ASTRO_FORMAT_CF32LE,
                            .n_axes = 2,
                            .extents = { ROWS, N },
                            .axes = { { TRUE }, { TRUE } } };
  float complex in[ROWS][N] = { 0 };
  in[1][sample] = 2;
  float complex *out = test_transform(&astro_fft_cpu, &config, in, 1, 1);
  for (guint i = 0; i < ROWS * N; i++) {
    double turns = (double)(i / N) / ROWS + (double)(i % N) * sample / N;
    g_assert_cmpfloat(cabs(out[i] - 2 * cexp(-2 * G_PI * I * turns)), <, 1e-5);
  }
  test_free(out);
}

static void test_wanted(void)
{
  guint number = 0;
  for (guint shape = 0; shape < G_N_ELEMENTS(test_shapes); shape++)
    for (guint kind = 0; kind < G_N_ELEMENTS(test_kinds); kind++)
      for (guint holes = 0; holes < 5; holes++) {
        AstroFftConfig config = test_config_of(shape, kind);
        if (test_shapes[shape].free >= 0 || test_passes_over(number++))
          continue;
        test_centre(&config, (shape + kind / 4 + holes) % 4);
        check_wanted(config, test_shapes[shape].steps, holes);
      }
  for (guint sample = 0; sample < 140; sample++)
    check_one_sample(sample);
  /* So large that it is written past the caches. */
  for (guint kind = 0; kind < 4; kind++) {
    AstroFftConfig config = { .from = test_kinds[kind].from,
                              .to = test_kinds[kind].to,
                              .inverse = test_kinds[kind].inverse,
                              .n_axes = 2,
                              .extents = { 1536, 1536 },
                              .axes = { { TRUE, 768, 768 }, { TRUE, 768, 768 } } };
    check_wanted(config, 1, 4);
  }
}

/* Rows of zeros are not read again: compared with the reference, which reads everything. */
static void test_empty_rows(void)
{
  for (guint shape = 0; shape < G_N_ELEMENTS(test_shapes); shape++)
    for (guint kind = 0; kind < G_N_ELEMENTS(test_kinds); kind++)
      for (guint holes = 0; holes < 4; holes++) {
        AstroFftConfig config = test_config_of(shape, kind);
        guint64 steps = test_shapes[shape].steps;
        gsize in_bytes = test_block_bytes(&config, steps, FALSE);
        gsize bytes = test_block_bytes(&config, steps, TRUE);
        if (test_shapes[shape].free >= 0)
          continue;
        test_centre(&config, 3);
        gpointer in = test_alloc(in_bytes);
        test_fill_samples(config.from, in, in_bytes, 5);
        empty_rows(&config, in, in_bytes, holes);
        gpointer expected = test_transform(&astro_fft_reference, &config, in, steps, 1);
        gpointer out = test_transform(&astro_fft_cpu, &config, in, steps, 0);
        g_assert_cmpfloat(test_difference(config.to, out, expected, bytes), <,
                          test_kinds[kind].tolerance);
        test_free(in);
        test_free(expected);
        test_free(out);
      }
}

/* ---- maps of touched tiles ---- */

static const struct {
  AstroFormat format;
  double tolerance;
  guint64 maps, share, rows, columns; /* grids: maps x share */
} grids[] = {
  { ASTRO_FORMAT_CF64LE, 1e-13, 1, 1, 7, 5 },      { ASTRO_FORMAT_CF32LE, 3e-6, 2, 3, 16, 32 },
  { ASTRO_FORMAT_CF64LE, 1e-13, 3, 2, 33, 40 },    { ASTRO_FORMAT_CF32LE, 3e-6, 1, 4, 97, 130 },
  { ASTRO_FORMAT_CF32LE, 3e-6, 2, 1, 72, 600 },    { ASTRO_FORMAT_CF64LE, 1e-13, 1, 2, 600, 64 },
  { ASTRO_FORMAT_CF32LE, 3e-6, 1, 1, 1536, 1536 }, /* written past the caches */
};

/* In some rows no tile is touched, in others all are. */
static guint8 *make_map(gsize rows, gsize tiles, GRand *random)
{
  guint8 *map = test_alloc(rows * tiles);
  for (gsize row = 0; row < rows; row++) {
    const gint fate = g_rand_int_range(random, 0, 4);
    for (gsize i = 0; i < tiles; i++)
      map[row * tiles + i] = fate == 0 ? 0 : fate == 1 ? 1 : (guint8)g_rand_int_range(random, 0, 2);
  }
  return map;
}

static gboolean row_is_touched(const AstroFftConfig *config, const guint8 *map, gsize line)
{
  const gsize rows = config->extents[1], tiles = astro_grid_tiles((guint)config->extents[2]);
  const gsize row = line / rows / config->share_map * astro_grid_tiles((guint)rows) +
                    line % rows / ASTRO_GRID_TILE;
  return memchr(map + row * tiles, 1, tiles) != NULL;
}

/* Compares the wanted values in rows that are promised. */
static void compare_touched(const AstroFftConfig *config, const guint8 *map, gconstpointer found,
                            gconstpointer expected, double tolerance)
{
  const gsize unit = astro_format_info(config->to)->bytes, n = config->extents[2];
  const AstroFftAxis *axis = &config->axes[2];
  const gsize first = axis->wanted, count = axis->n_wanted ? axis->n_wanted : n;
  for (gsize line = 0; line < config->extents[0] * config->extents[1]; line++) {
    const gsize at = (line * n + first) * unit;
    if (config->axes[1].transformed || row_is_touched(config, map, line))
      g_assert_cmpfloat(test_difference(config->to, (const guint8 *)found + at,
                                        (const guint8 *)expected + at, count * unit),
                        <, tolerance);
  }
}

static void check_touched(const AstroBackend *backend, const AstroFftConfig *config,
                          gconstpointer poisoned, guint8 *map, gsize map_bytes, gboolean in_place,
                          gconstpointer expected, double tolerance)
{
  const AstroPlace place = { .threads = in_place ? 1 : 0 };
  const char *variant;
  g_autoptr(GError) error = NULL;
  const guint64 steps = 1;
  const gsize bytes = test_block_bytes(config, 1, FALSE);
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  AstroBlock in[] = { { test_alloc(bytes), bytes }, { map, map_bytes } };
  AstroBlock out = { in_place ? in->data : test_alloc(bytes), bytes };
  memset(out.data, 0xff, bytes);
  memcpy(in->data, poisoned, bytes);
  backend->submit(instance, in, 2, &out, 1, (gpointer)&steps, NULL, &error);
  g_assert_no_error(error);
  test_check_guard(out.data, bytes);
  compare_touched(config, map, out.data, expected, tolerance);
  if (!in_place)
    test_free(out.data);
  test_free(in->data);
  backend->destroy(instance);
}

/* An OpenCL device that is a CPU takes long for large grids: it gets few of them. */
static gboolean is_too_slow(const AstroBackend *backend, gboolean large, guint i)
{
  return backend->kind == ASTRO_BACKEND_OPENCL && large && i % 8;
}

/* Untouched tiles are filled with NaN. The result is compared with that of zeros in their place. */
static void test_touched(gconstpointer is_large)
{
  const gboolean large = is_large != NULL;
  g_autoptr(GRand) random = g_rand_new_with_seed(3);
  for (guint i = 0; i < 8 * G_N_ELEMENTS(grids); i++) {
    const typeof(grids[0]) *g = &grids[i / 8];
    const gboolean wanted = i & 1, both = i & 2;
    if ((g->columns > 1000) != large)
      continue;
    AstroFftConfig config = { .from = g->format,
                              .to = g->format,
                              .n_axes = 3,
                              .extents = { g->maps * g->share, g->rows, g->columns },
                              .axes = { [1] = { both, g->rows / 2, g->rows / 2 },
                                        [2] = { TRUE, g->columns / 2, g->columns / 2 } },
                              .share_map = g->share };
    if (wanted)
      config.axes[2].wanted = g->columns / 3;
    if (wanted)
      config.axes[2].n_wanted = g->columns / 3;
    if (i & 4)
      config.axes[2].origin_in = config.axes[2].origin_out = 0;
    const gsize bytes = test_block_bytes(&config, 1, FALSE),
                unit = astro_format_info(g->format)->bytes;
    const gsize tiles = astro_grid_tiles((guint)g->columns);
    const gsize rows = g->maps * astro_grid_tiles((guint)g->rows);
    guint8 *map = make_map(rows, tiles, random);
    guint8 *poisoned = test_alloc(bytes), *zeroed = test_alloc(bytes);
    test_fill_samples(g->format, poisoned, bytes, i);
    for (gsize at = 0; at < bytes / unit; at++) {
      const gsize line = at / g->columns;
      const gsize row = line / g->rows / g->share * astro_grid_tiles((guint)g->rows) +
                        line % g->rows / ASTRO_GRID_TILE;
      if (!map[row * tiles + at % g->columns / ASTRO_GRID_TILE])
        memset(poisoned + at * unit, 0xff, unit);
    }
    memcpy(zeroed, poisoned, bytes);
    test_blank_untouched(zeroed, g->maps * g->share, g->share, map, g->rows, g->columns, unit);
    AstroFftConfig plain = config;
    plain.share_map = 0;
    gpointer expected =
        test_transform(large ? &astro_fft_cpu : &astro_fft_reference, &plain, zeroed, 1, 0);
    /* The reference, which takes long, with one map for each grid. */
    for (guint b = large || i % 8 ? 1 : 0; test_backends[b]; b++)
      for (guint in_place = 0; in_place < 2 && !is_too_slow(test_backends[b], large, i); in_place++)
        check_touched(test_backends[b], &config, poisoned, map, rows * tiles, in_place, expected,
                      g->tolerance);
    /* Without a map all tiles are touched. */
    for (guint b = 1; test_backends[b] && !is_too_slow(test_backends[b], large, i); b++) {
      gpointer found = test_transform(test_backends[b], &config, zeroed, 1, 0);
      memset(map, 1, rows * tiles);
      compare_touched(&config, map, found, expected, g->tolerance);
      test_free(found);
    }
    test_free(expected);
    test_free(poisoned);
    test_free(zeroed);
    test_free(map);
  }
}

/* Grids that cannot have a map, and maps that are too small. */
static void test_refused_maps(void)
{
  static const struct {
    guint64 extents[3], share;
    gboolean transformed[3];
    AstroFormat from;
  } cases[] = {
    { { 4, 32, 32 }, 3, { FALSE, TRUE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 4, 32, 32 }, 4, { FALSE, TRUE, FALSE }, ASTRO_FORMAT_CF32LE },
    { { 4, 32, 32 }, 4, { TRUE, FALSE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 0, 32, 32 }, 4, { FALSE, TRUE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 4, 0, 32 }, 4, { FALSE, FALSE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 4, 32, 1 }, 4, { FALSE, TRUE, TRUE }, ASTRO_FORMAT_CF32LE },
    { { 4, 32, 32 }, 4, { FALSE, TRUE, TRUE }, ASTRO_FORMAT_F32LE },
  };
  for (guint b = 0; test_backends[b]; b++) {
    const AstroPlace place = { .threads = 1 };
    const char *variant;
    guint64 steps = 1;
    g_autoptr(GError) error = NULL;
    AstroFftConfig config = { .to = ASTRO_FORMAT_CF32LE, .n_axes = 3 };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
      g_autoptr(GError) refused = NULL;
      config.from = cases[i].from;
      config.share_map = cases[i].share;
      memcpy(config.extents, cases[i].extents, sizeof cases[i].extents);
      for (guint k = 0; k < 3; k++)
        config.axes[k].transformed = cases[i].transformed[k];
      g_assert_false(test_backends[b]->shape(&config, &refused));
      g_assert_nonnull(strstr(refused->message, "share a map"));
    }
    config = (AstroFftConfig){ .from = ASTRO_FORMAT_CF32LE,
                               .to = ASTRO_FORMAT_CF32LE,
                               .n_axes = 3,
                               .extents = { 4, 33, 33 },
                               .axes = { [2] = { TRUE } },
                               .share_map = 2 };
    g_autofree guint8 *samples = g_malloc0(4 * 33 * 33 * 8);
    guint8 map[18] = { 0 };
    AstroBlock in[] = { { samples, 4 * 33 * 33 * 8 }, { map, 17 }, { map, 18 } };
    gpointer instance = test_backends[b]->create(&config, &place, &variant, NULL);
    g_assert_false(test_backends[b]->submit(instance, in, 2, in, 1, &steps, NULL, &error));
    g_assert_nonnull(strstr(error->message, "expected 18"));
    in[1].bytes = 18;
    g_assert_true(test_backends[b]->submit(instance, in, 2, in, 1, &steps, NULL, NULL));
    g_assert_false(test_backends[b]->submit(instance, in, 3, in, 1, &steps, NULL, NULL));
    test_backends[b]->destroy(instance);
  }
}

static void add_tests(void)
{
  const AstroBackend *cuda = test_on_device("fft"), *opencl = test_on_opencl("fft");
  test_backends[2] = cuda ? cuda : opencl;
  test_backends[3] = cuda ? opencl : NULL;
  g_test_add_func("/fft/wanted", test_wanted);
  g_test_add_func("/fft/empty-rows", test_empty_rows);
  g_test_add_data_func("/fft/touched", NULL, test_touched);
  g_test_add_data_func("/fft/touched-large", "large", test_touched);
  g_test_add_func("/fft/errors/maps", test_refused_maps);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
