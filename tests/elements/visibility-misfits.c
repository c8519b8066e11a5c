/* Files of visibilities that are cut short or have no rows, from each source that reads them: an
 * error that names the file, or the stream of the whole file. */
#include "tests/elements/elements.h"
#include "tests/remove-all.h"

#include <glib/gstdio.h>

#define STREAM                                                                                     \
  "astrovissrc stations=4 pols=2 noise=3 loss=0.1 bandwidth=1e6 channels=3 integration=60 "        \
  "num-buffers=3"
#define FOLDER "misfits"

static const struct {
  const char *path, *sink, *source;
} kinds[] = {
  { FOLDER "/v.uvfits", "astrofitssink", "astrofitssrc" },
  { FOLDER "/v.uvh5", "astrouvh5sink", "astrouvh5src" },
  { FOLDER "/v.ms", "astromssink", "astromssrc" },
};

static gboolean begin(guint kind, const char *stream)
{
  g_autoptr(GstElementFactory) factory = gst_element_factory_find(kinds[kind].source);
  if (!factory) {
    g_test_skip("this build does not have it");
    return FALSE;
  }
  g_mkdir(FOLDER, 0700);
  g_autofree char *line =
      g_strdup_printf("%s ! %s location=%s", stream, kinds[kind].sink, kinds[kind].path);
  g_autofree char *failed = test_launch(line);
  g_assert_cmpstr(failed, ==, NULL);
  return TRUE;
}

static void add_file(GPtrArray *files, const char *path)
{
  g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
  const char *name;
  if (!folder) {
    g_ptr_array_add(files, g_strdup(path));
    return;
  }
  while ((name = g_dir_read_name(folder))) {
    g_autofree char *one = g_build_filename(path, name, NULL);
    add_file(files, one);
  }
}

/* NULL: an error, which is in *error. */
static GBytes *read_all(guint kind, char **error)
{
  g_autofree char *line = g_strdup_printf("%s location=%s ! filesink location=" FOLDER "/out",
                                          kinds[kind].source, kinds[kind].path);
  char *data;
  gsize n;
  *error = test_launch(line);
  if (*error)
    return NULL;
  g_assert_true(g_file_get_contents(FOLDER "/out", &data, &n, NULL));
  return g_bytes_new_take(data, n);
}

/* Some files of a set do not matter to what is read, such as those of locks. */
static guint cut(guint kind, const char *file, gsize part, gsize of, GBytes *whole)
{
  g_autofree char *bytes = NULL, *error = NULL;
  gsize n;
  g_assert_true(g_file_get_contents(file, &bytes, &n, NULL));
  g_assert_true(g_file_set_contents(file, bytes, (gssize)(n * part / of), NULL));
  g_autoptr(GBytes) found = read_all(kind, &error);
  g_test_message("%s, %" G_GSIZE_FORMAT "/%" G_GSIZE_FORMAT ": %s", file, part, of,
                 error ? error : "as before");
  if (found)
    g_assert_true(g_bytes_equal(found, whole));
  else
    g_assert_nonnull(strstr(error, kinds[kind].path));
  g_assert_true(g_file_set_contents(file, bytes, (gssize)n, NULL));
  return !found;
}

static void test_cut(gconstpointer data)
{
  const guint kind = GPOINTER_TO_UINT(data);
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
  g_autofree char *error = NULL;
  guint refused = 0;
  if (!begin(kind, STREAM))
    return;
  g_autoptr(GBytes) whole = read_all(kind, &error);
  g_assert_cmpstr(error, ==, NULL);
  add_file(files, kinds[kind].path);
  const guint of = files->len > 1 ? 2 : 16;
  for (guint i = 0; i < files->len; i++)
    for (guint part = 0; part < of; part++)
      refused += cut(kind, files->pdata[i], part, of, whole);
  g_test_message("%u refused", refused);
  g_assert_cmpuint(refused, >, 10);
  g_autoptr(GBytes) again = read_all(kind, &error);
  g_assert_cmpstr(error, ==, NULL);
  g_assert_true(g_bytes_equal(again, whole));
  test_remove_all(FOLDER);
}

/* Without groups, with as many values of them as before or with none. */
static void test_no_groups(void)
{
  g_autofree char *bytes = NULL;
  gsize n;
  if (!begin(0, STREAM))
    return;
  g_assert_true(g_file_get_contents(kinds[0].path, &bytes, &n, NULL));
  char *card = g_strstr_len(bytes, (gssize)n, "GCOUNT  =                   30");
  g_assert_nonnull(card);
  memcpy(card + strlen("GCOUNT  =                   "), " 0", 2);
  g_assert_true(g_file_set_contents(kinds[0].path, bytes, (gssize)n, NULL));
  test_refused("astrofitssrc location=" FOLDER "/v.uvfits ! fakesink", "GCOUNT 0, expected");
  test_remove_all(FOLDER);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
    g_autofree char *path = g_strdup_printf("/visibility-misfits/cut/%s", kinds[kind].source);
    g_test_add_data_func(path, GUINT_TO_POINTER(kind), test_cut);
  }
  g_test_add_func("/visibility-misfits/no-groups", test_no_groups);
  return g_test_run();
}
