/* The filter by which h5py packs flags: what it packed, and what is broken. */
#include "core/lib/hdf5/lzf.h"
#include "tests/tests.h"

/* 300 times 7, then 1 to 5, as liblzf packs them: a literal, a long and overlapping reference, and
 * literals. */
static const guint8 packed[] = { 0, 7, 0xe0, 255, 0, 0xe0, 26, 0, 4, 1, 2, 3, 4, 5 };
#define UNPACKED 305
#define SEVENS 300

static void test_unpack(void)
{
  guint8 *out = test_alloc(UNPACKED);
  g_assert_true(astro_lzf_unpack(packed, sizeof packed, out, UNPACKED));
  for (guint i = 0; i < UNPACKED; i++)
    g_assert_cmpuint(out[i], ==, i < SEVENS ? 7 : i - SEVENS + 1);
  test_check_guard(out, UNPACKED);
  test_free(out);
}

/* Another size than that of the data is an error, and so is a file cut anywhere. */
static void test_sizes(void)
{
  guint8 *out = test_alloc(UNPACKED);
  g_assert_false(astro_lzf_unpack(packed, sizeof packed, out, UNPACKED - 1));
  for (gsize cut = 0; cut < sizeof packed; cut++)
    g_assert_false(astro_lzf_unpack(packed, cut, out, UNPACKED));
  test_check_guard(out, UNPACKED);
  test_free(out);
}

static void test_broken(void)
{
  static const guint8 before_begin[] = { 0, 7, 0x20, 5 }; /* refers to what is not there */
  guint8 *out = test_alloc(4);
  g_assert_false(astro_lzf_unpack(before_begin, sizeof before_begin, out, 4));
  test_check_guard(out, 4);
  test_free(out);
}

static void add_tests(void)
{
  g_test_add_func("/lzf/unpack", test_unpack);
  g_test_add_func("/lzf/sizes", test_sizes);
  g_test_add_func("/lzf/broken", test_broken);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
