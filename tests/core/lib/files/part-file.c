/* Files that get their name when they are complete: nothing has the name before, or after a
 * failure. */
#include "core/lib/files/part-file.h"
#include "tests/core/fits/uvfits.h"

#include <gio/gio.h>
#include <signal.h>
#include <sys/resource.h>

typedef struct {
  char *folder, *path, *part;
} Names;

static void set_up(Names *names, gconstpointer data)
{
  names->folder = test_folder();
  names->path = g_build_filename(names->folder, "a name.uvfits", NULL);
  names->part = g_strconcat(names->path, ".part", NULL);
}

static void tear_down(Names *names, gconstpointer data)
{
  g_unlink(names->path);
  g_assert_false(g_file_test(names->part, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_rmdir(names->folder), ==, 0);
  g_free(names->folder);
  g_free(names->path);
  g_free(names->part);
}

static AstroPartFile *create(const char *path)
{
  GError *error = NULL;
  AstroPartFile *file = astro_part_file_create(path, &error);
  g_assert_no_error(error);
  return file;
}

typedef struct {
  struct rlimit before;
  void (*handler)(int);
} Limit;

/* Limits the size of files, which acts like a full disk. */
static Limit limit_files(rlim_t bytes)
{
  Limit limit;
  g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &limit.before), ==, 0);
  struct rlimit small = limit.before;
  small.rlim_cur = bytes;
  limit.handler = signal(SIGXFSZ, SIG_IGN);
  g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &small), ==, 0);
  return limit;
}

static void unlimit_files(const Limit *limit)
{
  setrlimit(RLIMIT_FSIZE, &limit->before);
  signal(SIGXFSZ, limit->handler);
}

/* Sizes around that of the block in which pieces are gathered. */
static void commit(Names *names, gconstpointer data)
{
  static const gsize sizes[] = { 1, 0, 1000, (1 << 20) - 1001, 1, (1 << 20) + 7, 3, 1 << 20, 5 };
  g_autoptr(GByteArray) expected = g_byte_array_new();
  GError *error = NULL;
  AstroPartFile *file = create(names->path);
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    guint8 *piece = g_malloc(sizes[i] + 1);
    test_fill(piece, sizes[i], i);
    g_byte_array_append(expected, piece, sizes[i]);
    g_assert_true(astro_part_file_write(file, piece, sizes[i], &error));
    g_assert_cmpuint(astro_part_file_bytes(file), ==, expected->len);
    g_free(piece);
  }
  g_assert_true(astro_part_file_patch(file, 17, "patched", 7, &error));
  memcpy(expected->data + 17, "patched", 7);
  g_assert_false(g_file_test(names->path, G_FILE_TEST_EXISTS));
  g_assert_true(g_file_test(names->part, G_FILE_TEST_EXISTS));
  g_assert_true(astro_part_file_commit(file, &error));
  g_assert_no_error(error);

  g_autofree char *found = NULL;
  gsize bytes;
  g_assert_true(g_file_get_contents(names->path, &found, &bytes, &error));
  g_assert_cmpmem(found, bytes, expected->data, expected->len);
}

static void discard(Names *names, gconstpointer data)
{
  AstroPartFile *file = create(names->path);
  g_assert_true(astro_part_file_write(file, "x", 1, NULL));
  astro_part_file_discard(file);
  g_assert_false(g_file_test(names->path, G_FILE_TEST_EXISTS));
}

/* An existing file stays as it was until the new one is complete. */
static void replace(Names *names, gconstpointer data)
{
  g_autofree char *found = NULL;
  g_assert_true(g_file_set_contents(names->path, "old", -1, NULL));
  AstroPartFile *file = create(names->path);
  g_assert_true(astro_part_file_write(file, "new", 3, NULL));
  g_assert_true(g_file_get_contents(names->path, &found, NULL, NULL));
  g_assert_cmpstr(found, ==, "old");
  g_free(found);
  g_assert_true(astro_part_file_commit(file, NULL));
  g_assert_true(g_file_get_contents(names->path, &found, NULL, NULL));
  g_assert_cmpstr(found, ==, "new");
}

/* A link to an existing file, and to one that does not exist yet. */
static void link_stays(Names *names, gconstpointer data)
{
  g_autofree char *link = g_build_filename(names->folder, "link", NULL);
  g_assert_cmpint(symlink("a name.uvfits", link), ==, 0);
  for (guint i = 0; i < 2; i++) {
    g_autofree char *found = NULL, *to = NULL;
    AstroPartFile *file = create(link);
    g_assert_true(astro_part_file_write(file, i ? "new" : "old", 3, NULL));
    g_assert_true(astro_part_file_commit(file, NULL));
    g_assert_true(g_file_get_contents(names->path, &found, NULL, NULL));
    g_assert_cmpstr(found, ==, i ? "new" : "old");
    to = g_file_read_link(link, NULL);
    g_assert_cmpstr(to, ==, "a name.uvfits");
  }
  g_unlink(link);
}

/* A part file that a killed writer left behind is no obstacle. */
static void stale_part(Names *names, gconstpointer data)
{
  g_autofree char *found = NULL;
  g_assert_true(g_file_set_contents(names->part, "a longer text", -1, NULL));
  AstroPartFile *file = create(names->path);
  g_assert_true(astro_part_file_write(file, "new", 3, NULL));
  g_assert_true(astro_part_file_commit(file, NULL));
  g_assert_true(g_file_get_contents(names->path, &found, NULL, NULL));
  g_assert_cmpstr(found, ==, "new");
}

static void two_writers(Names *names, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  AstroPartFile *file = create(names->path);
  g_assert_null(astro_part_file_create(names->path, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_BUSY);
  g_assert_nonnull(strstr(error->message, names->part));
  astro_part_file_discard(file);
}

/* The plain bytes, of which only the packed form stays in the folder. */
static void gzipped(Names *names, gconstpointer data)
{
  g_autofree char *path = g_strconcat(names->folder, "/a.fits.GZ", NULL);
  g_autofree char *part = g_strconcat(path, ".part", NULL);
  const gsize bytes = 3000000;
  g_autofree guint8 *expected = g_malloc(bytes + 1), *found = g_malloc(bytes + 1);
  GError *error = NULL;
  gsize n;

  test_fill(expected, bytes, 1);
  AstroPartFile *file = create(path);
  g_assert_true(astro_part_file_write(file, expected, bytes, &error));
  g_assert_cmpuint(astro_part_file_bytes(file), ==, bytes);
  g_assert_true(astro_part_file_patch(file, 17, "patched", 7, &error));
  memcpy(expected + 17, "patched", 7);
  g_assert_true(g_file_test(part, G_FILE_TEST_EXISTS));
  g_assert_null(astro_part_file_create(path, NULL));
  g_assert_true(astro_part_file_commit(file, &error));
  g_assert_no_error(error);

  g_autoptr(GFile) name = g_file_new_for_path(path);
  g_autoptr(GInputStream) packed = G_INPUT_STREAM(g_file_read(name, NULL, &error));
  g_autoptr(GConverter) unpack =
      G_CONVERTER(g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP));
  g_autoptr(GInputStream) plain = g_converter_input_stream_new(packed, unpack);
  g_assert_true(g_input_stream_read_all(plain, found, bytes + 1, &n, NULL, &error));
  g_assert_no_error(error);
  g_assert_cmpmem(found, n, expected, bytes);
  g_unlink(path);
}

/* If the packed file does not fit on the disk nothing is left, neither it nor the plain bytes. */
static void gzipped_full(Names *names, gconstpointer data)
{
  g_autofree char *path = g_strconcat(names->folder, "/a.fits.gz", NULL);
  g_autofree guint8 *random = g_malloc(1 << 19);
  g_autoptr(GError) error = NULL;

  test_fill(random, 1 << 19, 1);
  AstroPartFile *file = create(path);
  g_assert_true(astro_part_file_write(file, random, 1 << 19, &error));
  g_assert_true(astro_part_file_patch(file, 0, "x", 1, &error));
  const Limit limit = limit_files(1000);
  gboolean good = astro_part_file_commit(file, &error);
  unlimit_files(&limit);
  g_assert_false(good);
  g_assert_nonnull(error);
  g_assert_nonnull(strstr(error->message, "a.fits.gz.part"));
}

static void check_refused(const char *path, gint code)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_part_file_create(path, &error));
  g_assert_error(error, G_IO_ERROR, code);
  g_assert_nonnull(strstr(error->message, path));
}

static void refused(Names *names, gconstpointer data)
{
  g_autofree char *inside = g_build_filename(names->folder, "none", "file", NULL);
  check_refused("/dev/full", G_IO_ERROR_NOT_REGULAR_FILE);
  check_refused(names->folder, G_IO_ERROR_NOT_REGULAR_FILE);
  check_refused(inside, G_IO_ERROR_NOT_FOUND);
}

/* A file that a planted part would have emptied stays as it is. */
static void check_part_refused(const Names *names, const char *target, const char *expect)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *found = NULL;
  g_assert_null(astro_part_file_create(names->path, &error));
  g_assert_error(error, G_IO_ERROR, G_IO_ERROR_EXISTS);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, names->part));
  g_assert_nonnull(strstr(error->message, expect));
  g_assert_true(!target || g_file_get_contents(target, &found, NULL, NULL));
  g_assert_cmpstr(found, ==, target ? "precious" : NULL);
  g_assert_false(g_file_test(names->path, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_remove(names->part), ==, 0);
}

static void planted_part(Names *names, gconstpointer data)
{
  g_autofree char *target = g_build_filename(names->folder, "target", NULL);
  g_assert_true(g_file_set_contents(target, "precious", -1, NULL));
  g_assert_cmpint(symlink("target", names->part), ==, 0);
  check_part_refused(names, target, "symbolic link");
  g_assert_cmpint(symlink("not there", names->part), ==, 0);
  check_part_refused(names, NULL, "symbolic link");
  g_assert_cmpint(link(target, names->part), ==, 0);
  check_part_refused(names, target, "other hard links");
  g_assert_cmpint(mkfifo(names->part, 0600), ==, 0);
  check_part_refused(names, NULL, "other than a regular file");
  g_unlink(target);
  if (geteuid() == 0) {
    g_assert_true(g_file_set_contents(names->part, "theirs", -1, NULL));
    g_assert_cmpint(chown(names->part, 12345, 12345), ==, 0);
    check_part_refused(names, NULL, "another user");
  }
}

static void link_loop(Names *names, gconstpointer data)
{
  g_autofree char *other = g_build_filename(names->folder, "other", NULL);
  g_autofree char *part = g_strconcat(other, ".part", NULL);
  g_assert_cmpint(symlink("other", names->path), ==, 0);
  g_assert_cmpint(symlink("a name.uvfits", other), ==, 0);
  check_refused(names->path, G_IO_ERROR_TOO_MANY_LINKS);
  g_assert_false(g_file_test(part, G_FILE_TEST_EXISTS));
  g_unlink(other);
}

typedef struct {
  const char *path;
  gint stop; /* atomic */
} Writers;

/* Writes again and again until it is told to stop; a name that another writer holds is not a
 * failure. */
static gpointer write_again(gpointer data)
{
  Writers *writers = data;
  while (!g_atomic_int_get(&writers->stop)) {
    AstroPartFile *file = astro_part_file_create(writers->path, NULL);
    if (!file)
      continue;
    g_assert_true(astro_part_file_write(file, "0123456789", 10, NULL));
    g_assert_true(astro_part_file_commit(file, NULL));
  }
  return NULL;
}

/* A writer that opens the part while another renames it must not empty the file, which has its
 * final name by then. */
static void writers_in_turn(Names *names, gconstpointer data)
{
  Writers writers = { .path = names->path };
  GThread *threads[3];
  AstroPartFile *first = create(names->path);
  g_assert_true(astro_part_file_write(first, "0123456789", 10, NULL));
  g_assert_true(astro_part_file_commit(first, NULL));
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = g_thread_new("writer", write_again, &writers);
  for (gint64 end = g_get_monotonic_time() + 300000; g_get_monotonic_time() < end;) {
    g_autofree char *found = NULL;
    g_assert_true(g_file_get_contents(names->path, &found, NULL, NULL));
    g_assert_cmpstr(found, ==, "0123456789");
  }
  g_atomic_int_set(&writers.stop, 1);
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    g_thread_join(threads[i]);
}

static void write_until_full(const Names *names, gsize piece, gboolean patch)
{
  g_autoptr(GError) error = NULL;
  g_autofree guint8 *data = g_malloc0(piece);
  AstroPartFile *file = create(names->path);
  gboolean good = TRUE;

  const Limit limit = limit_files(3 << 20);
  for (gsize done = 0; done < (4 << 20) && good; done += piece)
    good = astro_part_file_write(file, data, piece, &error);
  if (good && patch)
    good = astro_part_file_patch(file, 0, data, 1, &error);
  if (good)
    good = astro_part_file_commit(file, &error);
  else
    astro_part_file_discard(file);
  unlimit_files(&limit);

  g_assert_false(good);
  g_assert_nonnull(error);
  g_assert_nonnull(strstr(error->message, names->part));
  g_assert_false(g_file_test(names->path, G_FILE_TEST_EXISTS));
}

static void full(Names *names, gconstpointer data)
{
  write_until_full(names, 1000, FALSE);
  write_until_full(names, 2 << 20, FALSE);
  write_until_full(names, (4 << 20) - 1, TRUE);
}

/* The last part is only written at the end. */
static void full_at_the_end(Names *names, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  AstroPartFile *file = create(names->path);
  g_assert_true(astro_part_file_write(file, "0123456789", 10, &error));
  const Limit limit = limit_files(5);
  gboolean good = astro_part_file_commit(file, &error);
  unlimit_files(&limit);
  g_assert_false(good);
  g_assert_nonnull(error);
  g_assert_false(g_file_test(names->path, G_FILE_TEST_EXISTS));
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*test)(Names *, gconstpointer);
  } cases[] = {
    { "commit", commit },
    { "discard", discard },
    { "replace", replace },
    { "link-stays", link_stays },
    { "stale-part", stale_part },
    { "two-writers", two_writers },
    { "refused", refused },
    { "planted-part", planted_part },
    { "link-loop", link_loop },
    { "writers-in-turn", writers_in_turn },
    { "gzipped", gzipped },
    { "gzipped-full", gzipped_full },
    { "full", full },
    { "full-at-the-end", full_at_the_end },
  };
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *path = g_strconcat("/part-file/", cases[i].name, NULL);
    g_test_add(path, Names, NULL, set_up, cases[i].test, tear_down);
  }
  return g_test_run();
}
