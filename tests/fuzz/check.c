/* Runs a fuzz target for some seconds within "make check", where there is no libFuzzer: on the
 * files of its corpus, and on those files with random changes. The program's name ends in that of
 * the target; ASTRO_FUZZ_SECONDS sets how long it runs. */
#include "config.h"
#include "tests/tests.h"
#ifdef __SANITIZE_ADDRESS__
#include "tests/quiet-caps.h"
#endif

#include <stdlib.h>
#include <string.h>

#define SECONDS 5
#define MOST_CHANGES 8
#define MOST_BYTES ((gsize)1 << 17)

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

#define PREFIX "fuzz-" /* of the programs' names, before that of the corpus */

static GPtrArray *corpus; /* GByteArray */
static char *target;

static gboolean read_corpus(void)
{
  const char *source = g_getenv("G_TEST_SRCDIR");
  g_autofree char *folder =
      g_build_filename(source ? source : ".", "tests", "fuzz", "corpus", target, NULL);
  g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
  corpus = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
  for (const char *name; files && (name = g_dir_read_name(files));) {
    g_autofree char *path = g_build_filename(folder, name, NULL), *bytes = NULL;
    gsize size;
    if (g_file_get_contents(path, &bytes, &size, NULL))
      g_ptr_array_add(corpus, g_byte_array_new_take((guint8 *)g_steal_pointer(&bytes), size));
  }
  return corpus->len > 0;
}

static gsize any(gsize n)
{
  return n > 0 ? (guint32)g_test_rand_int() % n : 0;
}

static void set_bit(GByteArray *input)
{
  if (input->len > 0)
    input->data[any(input->len)] ^= (guint8)(1u << any(8));
}

static void set_byte(GByteArray *input)
{
  if (input->len > 0)
    input->data[any(input->len)] = (guint8)g_test_rand_int();
}

/* Numbers at which sums and lengths go wrong. */
static void set_number(GByteArray *input)
{
  static const guint64 numbers[] = {
    0, 1, G_MAXUINT64, G_MAXINT64, (guint64)G_MAXINT64 + 1, G_MAXUINT32, G_MAXINT32
  };
  const guint64 number = numbers[any(G_N_ELEMENTS(numbers))];
  const gsize bytes = (gsize)1 << any(4), at = any(input->len);
  memcpy(input->data + at, &number, MIN(bytes, input->len - at));
}

static void cut(GByteArray *input)
{
  const gsize at = any(input->len), n = any(MIN(input->len - at, 64) + 1);
  g_byte_array_remove_range(input, (guint)at, (guint)n);
}

static void repeat(GByteArray *input)
{
  const gsize at = any(input->len), n = any(input->len - at + 1);
  g_autofree guint8 *part = g_memdup2(input->data + at, n);
  if (n > 0 && input->len + n <= MOST_BYTES)
    g_byte_array_append(input, part, (guint)n);
}

static void join(GByteArray *input)
{
  const GByteArray *other = corpus->pdata[any(corpus->len)];
  const gsize at = any(other->len);
  g_byte_array_set_size(input, (guint)any(input->len + 1));
  if (input->len + other->len <= MOST_BYTES)
    g_byte_array_append(input, other->data + at, (guint)(other->len - at));
}

static void change(GByteArray *input)
{
  static void (*const changes[])(
      GByteArray *) = { set_bit, set_byte, set_number, cut, repeat, join };
  if (input->len > 0)
    changes[any(G_N_ELEMENTS(changes))](input);
}

/* Bytes of exactly that length, so that sanitizers see what is read beyond. */
static void run(const GByteArray *input)
{
  guint8 *bytes = g_malloc(MAX(input->len, 1));
  memcpy(bytes, input->data, input->len);
  LLVMFuzzerTestOneInput(bytes, input->len);
  g_free(bytes);
}

static void test_target(void)
{
  const char *given = g_getenv("ASTRO_FUZZ_SECONDS");
  const gint64 seconds = given ? g_ascii_strtoll(given, NULL, 10) : SECONDS;
  const gint64 until = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
  guint inputs = 0;
  if (!read_corpus()) {
    g_test_skip("there are no sources here");
    return;
  }
  for (guint i = 0; i < corpus->len; i++)
    run(corpus->pdata[i]);
  for (; g_get_monotonic_time() < until; inputs++) {
    const GByteArray *from = corpus->pdata[any(corpus->len)];
    g_autoptr(GByteArray) input = g_byte_array_new();
    g_byte_array_append(input, from->data, from->len);
    for (gsize n = 1 + any(MOST_CHANGES); n > 0; n--)
      change(input);
    run(input);
  }
  g_test_message("%u inputs", inputs);
  g_ptr_array_unref(corpus);
}

static void add_tests(void)
{
  g_autofree char *path = g_strdup_printf("/fuzz/%s", target);
  g_test_add_func(path, test_target);
}

int main(int argc, char **argv)
{
  const char *name = g_strrstr(argv[0], PREFIX);
  target = g_strdup(name ? name + strlen(PREFIX) : argv[0]);
  const int status = test_run(argc, argv, add_tests);
  g_free(target);
  return status;
}
