/* The files that a user names. */
#include "core/lib/files/inputs.h"

#include <glib/gstdio.h>
#include <string.h>

static const char *const made[] = { "inputs/b.fits",  "inputs/a.fits",      "inputs/c,d.txt",
                                    "inputs/.hidden", "inputs/a.fits.part", "inputs/x[1].fits",
                                    "inputs/e f.txt" };
static const char *const sets[] = { "sets/one.ms", "sets/two.ms", "sets/three.ms.part" };

static void test_found(void)
{
  static const char *const cases[][2] = {
    { "inputs/a.fits", "inputs/a.fits" },
    { "inputs/b.fits,inputs/a.fits", "inputs/b.fits inputs/a.fits" }, /* in the user's order */
    { "inputs/b.fits, inputs/a.fits", "inputs/b.fits inputs/a.fits" },
    { "inputs/c,d.txt", "inputs/c,d.txt" },
    { "inputs/x[1].fits", "inputs/x[1].fits" },
    { "inputs/?.fits", "inputs/a.fits inputs/b.fits" },
    { "inputs/a*", "inputs/a.fits" }, /* without the file that is being written */
    { "inputs", "inputs/a.fits inputs/b.fits inputs/c,d.txt inputs/e f.txt inputs/x[1].fits" },
    { "inputs/b.fits inputs/a.fits", "inputs/b.fits inputs/a.fits" },
    { " inputs/b.fits \t inputs/a.fits\n", "inputs/b.fits inputs/a.fits" },
    { "inputs/e f.txt", "inputs/e f.txt" },
    { "inputs/e f.*", "inputs/e f.txt" },
    { "inputs/b*,inputs/e f.txt", "inputs/b.fits inputs/e f.txt" },
    { "inputs/b.fits inputs/a*", "inputs/b.fits inputs/a.fits" },
    { "sets/*.ms inputs/a.fits, inputs/b.fits",
      "sets/one.ms sets/two.ms inputs/a.fits inputs/b.fits" },
    { "sets/one.ms", "sets/one.ms" },
    { "sets/two.ms,sets/one.ms,inputs/a.fits", "sets/two.ms sets/one.ms inputs/a.fits" },
    { "sets/*.ms", "sets/one.ms sets/two.ms" },
    { "sets", "sets/one.ms sets/two.ms" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) files = astro_inputs_find(cases[i][0], &error);
    g_assert_no_error(error);
    g_ptr_array_add(files, NULL);
    g_autofree char *all = g_strjoinv(" ", (char **)files->pdata);
    g_assert_cmpstr(all, ==, cases[i][1]);
  }
}

static void test_missing(void)
{
  static const char *const cases[][2] = {
    { "inputs/none.fits", "there is no file inputs/none.fits" },
    { "inputs/n*", "no file matches inputs/n*" },
    { "inputs/no file.fits", "there is no file inputs/no file.fits" },
    { "inputs/a.fits inputs/none.fits", "there is no file inputs/none.fits" },
    { "inputs/a.fits n*", "no file matches n*" },
    { "inputs/a.fits,",
      "\"inputs/a.fits,\" has an empty name: expected files, separated by commas" },
    { ",", "\",\" has an empty name: expected files, separated by commas" },
    { "inputs/empty", "the folder inputs/empty has no files" },
    { "", "no file is named" }
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(astro_inputs_find(cases[i][0], &error));
    g_assert_cmpstr(error->message, ==, cases[i][1]);
  }
}

/* Sets are folders with a table of antennas. */
static void make_sets(gboolean are_wanted)
{
  for (guint i = 0; i < G_N_ELEMENTS(sets); i++) {
    g_autofree char *folder = g_build_filename(sets[i], "ANTENNA", NULL);
    g_autofree char *mark = g_build_filename(folder, "table.dat", NULL);
    if (are_wanted) {
      g_mkdir_with_parents(folder, 0700);
      g_file_set_contents(mark, "x", 1, NULL);
    } else {
      g_unlink(mark);
      g_rmdir(folder);
      g_rmdir(sets[i]);
    }
  }
  g_rmdir("sets");
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/inputs/found", test_found);
  g_test_add_func("/inputs/missing", test_missing);
  g_mkdir_with_parents("inputs/empty", 0700);
  for (guint i = 0; i < G_N_ELEMENTS(made); i++)
    g_file_set_contents(made[i], "x", 1, NULL);
  make_sets(TRUE);
  const int status = g_test_run();
  make_sets(FALSE);
  for (guint i = 0; i < G_N_ELEMENTS(made); i++)
    g_unlink(made[i]);
  g_rmdir("inputs/empty");
  g_rmdir("inputs");
  return status;
}
