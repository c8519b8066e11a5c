/* Folders that get their name when they are complete: nothing has the name before, or after a
 * failure, and only a folder of the same kind is replaced. */
#include "core/lib/files/part-folder.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "mark"

typedef struct {
  char *folder, *path, *part;
} Names;

static void set_up(Names *names, gconstpointer data)
{
  names->folder = g_dir_make_tmp("part-XXXXXX", NULL);
  names->path = g_build_filename(names->folder, "a name.ms", NULL);
  names->part = g_strconcat(names->path, ".part", NULL);
}

static void clear(const char *folder)
{
  g_autofree char *mark = g_build_filename(folder, MARK, NULL);
  g_unlink(mark);
  g_rmdir(folder);
}

static void tear_down(Names *names, gconstpointer data)
{
  clear(names->path);
  g_assert_false(g_file_test(names->part, G_FILE_TEST_EXISTS));
  g_assert_cmpint(g_rmdir(names->folder), ==, 0);
  g_free(names->folder);
  g_free(names->path);
  g_free(names->part);
}

static AstroPartFolder *create(const char *path)
{
  GError *error = NULL;
  AstroPartFolder *folder = astro_part_folder_create(path, MARK, &error);
  g_assert_no_error(error);
  return folder;
}

static void fill(const char *path, const char *text)
{
  g_autofree char *mark = g_build_filename(path, MARK, NULL);
  g_assert_cmpint(g_mkdir(path, 0777), ==, 0);
  g_assert_true(g_file_set_contents(mark, text, -1, NULL));
}

static void assert_holds(const Names *names, const char *text)
{
  g_autofree char *mark = g_build_filename(names->path, MARK, NULL), *found = NULL;
  g_assert_true(g_file_get_contents(mark, &found, NULL, NULL));
  g_assert_cmpstr(found, ==, text);
}

static void write_whole(const Names *names, const char *text)
{
  GError *error = NULL;
  AstroPartFolder *folder = create(names->path);
  fill(astro_part_folder_path(folder), text);
  astro_part_folder_commit(folder, &error);
  g_assert_no_error(error);
}

static void commits(Names *names, gconstpointer data)
{
  AstroPartFolder *folder = create(names->path);
  fill(astro_part_folder_path(folder), "one");
  g_assert_false(g_file_test(names->path, G_FILE_TEST_EXISTS));
  g_assert_true(astro_part_folder_commit(folder, NULL));
  assert_holds(names, "one");
}

static void replaces(Names *names, gconstpointer data)
{
  write_whole(names, "one");
  AstroPartFolder *folder = create(names->path);
  fill(astro_part_folder_path(folder), "two");
  assert_holds(names, "one");
  g_assert_true(astro_part_folder_commit(folder, NULL));
  assert_holds(names, "two");
}

static void discards(Names *names, gconstpointer data)
{
  write_whole(names, "one");
  AstroPartFolder *folder = create(names->path);
  fill(astro_part_folder_path(folder), "two");
  astro_part_folder_discard(folder);
  assert_holds(names, "one");
}

static void assert_refused(const char *path, gint code, const char *says)
{
  GError *error = NULL;
  g_assert_null(astro_part_folder_create(path, MARK, &error));
  g_assert_error(error, G_IO_ERROR, code);
  g_assert_nonnull(strstr(error->message, says));
  g_error_free(error);
}

/* A folder without the mark may be anybody's. */
static void refuses_others(Names *names, gconstpointer data)
{
  g_assert_cmpint(g_mkdir(names->path, 0777), ==, 0);
  assert_refused(names->path, G_IO_ERROR_EXISTS, "a folder of another kind");
  g_assert_cmpint(g_rmdir(names->path), ==, 0);
  g_assert_true(g_file_set_contents(names->path, "x", 1, NULL));
  assert_refused(names->path, G_IO_ERROR_EXISTS, "found a file");
  g_assert_cmpint(g_unlink(names->path), ==, 0);
}

/* Somebody else's NAME.part is neither used nor emptied. */
static void refuses_foreign_part(Names *names, gconstpointer data)
{
  g_autofree char *file = g_build_filename(names->part, "diary", NULL);
  g_assert_cmpint(g_mkdir(names->part, 0777), ==, 0);
  g_assert_true(g_file_set_contents(file, "x", 1, NULL));
  assert_refused(names->path, G_IO_ERROR_EXISTS, "something else");
  g_assert_cmpint(g_unlink(file), ==, 0);
  g_assert_cmpint(g_rmdir(names->part), ==, 0);
  g_assert_cmpint(symlink(names->folder, names->part), ==, 0);
  assert_refused(names->path, G_IO_ERROR_EXISTS, "something else");
  g_assert_cmpint(g_unlink(names->part), ==, 0);
}

static void refuses_second_writer(Names *names, gconstpointer data)
{
  AstroPartFolder *folder = create(names->path);
  assert_refused(names->path, G_IO_ERROR_BUSY, "another writer");
  astro_part_folder_discard(folder);
}

/* The next writer takes over from one that was killed. */
static void follows_killed_writer(Names *names, gconstpointer data)
{
  const pid_t writer = fork();
  int status;
  if (writer == 0) {
    AstroPartFolder *folder = create(names->path);
    fill(astro_part_folder_path(folder), "half");
    kill(getpid(), SIGKILL);
  }
  g_assert_cmpint(waitpid(writer, &status, 0), ==, writer);
  g_assert_true(WIFSIGNALED(status));
  g_assert_true(g_file_test(names->part, G_FILE_TEST_IS_DIR));
  g_assert_false(g_file_test(names->path, G_FILE_TEST_EXISTS));
  write_whole(names, "whole");
  assert_holds(names, "whole");
}

#define CASE(name, function)                                                                       \
  g_test_add("/part-folder/" name, Names, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  CASE("commits", commits);
  CASE("replaces", replaces);
  CASE("discards", discards);
  CASE("refuses-others", refuses_others);
  CASE("refuses-foreign-part", refuses_foreign_part);
  CASE("refuses-second-writer", refuses_second_writer);
  CASE("follows-killed-writer", follows_killed_writer);
  return g_test_run();
}
