/* The file with FFTW's wisdom: whatever has its name, no program ends or hangs, no other file is
 * overwritten, and a valid file of ours is there afterwards. */
#include "core/lib/fft/wisdom.h"
#include "core/lib/fft/planner.h"
#include "tests/core/fits/place.h"

#include <unistd.h>
#include <fftw3.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define VERSION "fftw-3.3"
#define WISDOM "(fftw-3.3 fftwf_wisdom #x1 #x2\n  (fftwf_codelet_n1_8 0 #x3)\n)\n"

static void check_read(const char *path, const char *expected, gboolean expect_there)
{
  gboolean is_there;
  g_autofree char *found = astro_wisdom_read(path, VERSION, &is_there);
  g_assert_cmpstr(found, ==, expected);
  g_assert_true(is_there == expect_there);
}

static void whole(TestPlace *place, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  gboolean is_there;
  check_read(place->path, NULL, FALSE);
  g_assert_true(astro_wisdom_write(place->path, WISDOM, VERSION, &error));
  check_read(place->path, WISDOM, TRUE);
  g_assert_null(astro_wisdom_read(place->path, "fftw-3.4", &is_there));
  g_assert_true(astro_wisdom_write(place->path, "", VERSION, &error));
  check_read(place->path, "", TRUE);
}

/* Every byte with every bit of it changed, and every length. */
static void changed(TestPlace *place, gconstpointer data)
{
  g_autofree char *packed = astro_wisdom_pack(WISDOM, VERSION);
  const gsize length = strlen(packed);
  for (gsize i = 0; i < length; i++) {
    g_assert_null(astro_wisdom_unpack(packed, i, VERSION));
    for (guint bit = 0; bit < 8; bit++) {
      packed[i] ^= (char)(1 << bit);
      g_assert_null(astro_wisdom_unpack(packed, length, VERSION));
      packed[i] ^= (char)(1 << bit);
    }
  }
  g_autofree char *longer = g_strconcat(packed, "\n", NULL);
  g_assert_null(astro_wisdom_unpack(longer, length + 1, VERSION));
  g_assert_null(astro_wisdom_unpack(packed, length + 1, VERSION)); /* the zero behind it */
  g_autofree char *same = astro_wisdom_unpack(packed, length, VERSION);
  g_assert_cmpstr(same, ==, WISDOM);
}

static void check_replaced(const char *path)
{
  g_autoptr(GError) error = NULL;
  check_read(path, NULL, TRUE);
  g_assert_true(astro_wisdom_write(path, WISDOM, VERSION, &error));
  g_assert_no_error(error);
  check_read(path, WISDOM, TRUE);
  g_unlink(path);
}

/* A FIFO made its reader hang, and a link was followed. */
static void no_file_of_ours(TestPlace *place, gconstpointer data)
{
  g_autofree char *target = g_build_filename(place->folder, "target", NULL), *kept = NULL;
  g_assert_cmpint(mkfifo(place->path, 0600), ==, 0);
  check_replaced(place->path);
  g_assert_true(astro_wisdom_write(target, WISDOM, VERSION, NULL));
  g_assert_cmpint(symlink(target, place->path), ==, 0);
  check_replaced(place->path);
  g_assert_true(g_file_get_contents(target, &kept, NULL, NULL));
  g_assert_nonnull(strstr(kept, WISDOM));
  g_unlink(target);
  if (geteuid() == 0) {
    g_assert_true(astro_wisdom_write(place->path, WISDOM, VERSION, NULL));
    g_assert_cmpint(chown(place->path, 12345, 12345), ==, 0);
    check_replaced(place->path);
  }
}

static void folder_in_the_way(TestPlace *place, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_assert_cmpint(g_mkdir(place->path, 0700), ==, 0);
  check_read(place->path, NULL, TRUE);
  g_assert_false(astro_wisdom_write(place->path, WISDOM, VERSION, &error));
  g_assert_nonnull(error);
  g_assert_cmpint(g_rmdir(place->path), ==, 0);
}

static void too_large(TestPlace *place, gconstpointer data)
{
  g_autoptr(GError) error = NULL;
  g_autofree char *much = g_strnfill(16 << 20, 'x'), *packed = astro_wisdom_pack(much, VERSION);
  g_assert_false(astro_wisdom_write(place->path, much, VERSION, &error));
  g_assert_nonnull(error);
  g_assert_true(g_file_set_contents(place->path, packed, -1, NULL));
  check_read(place->path, NULL, TRUE);
}

/* A process of its own, which asks the planner for one plan with what the cache holds. */
static void plan(void)
{
  fftwf_complex *samples = fftwf_alloc_complex(1000);
  astro_fft_planner_lock();
  fftwf_plan made = fftwf_plan_dft_1d(1000, samples, samples, FFTW_FORWARD, FFTW_MEASURE);
  astro_fft_planner_keep();
  g_assert_nonnull(made);
  fftwf_destroy_plan(made);
  astro_fft_planner_unlock();
  fftwf_free(samples);
}

static void check_plans(void)
{
  const pid_t child = fork();
  int status;
  if (child == 0) {
    alarm(60);
    plan();
    _exit(0);
  }
  g_assert_cmpint(waitpid(child, &status, 0), ==, child);
  g_assert_cmpint(status, ==, 0);
}

/* Wisdom with one byte changed ended every later run in FFTW: now with FFTW's own text, as in older
 * files, and with ours. Whatever was there, a valid file is there afterwards. */
static void planner(TestPlace *place, gconstpointer data)
{
  g_autofree char *path = astro_fft_planner_file(FALSE), *folder = g_path_get_dirname(path),
                  *whole = NULL;
  gsize length;
  g_unlink(path);
  check_plans();
  g_assert_true(g_file_get_contents(path, &whole, &length, NULL));
  for (gsize i = 0; i < length; i += MAX(length / 25, 1)) {
    whole[i] ^= 1;
    g_assert_true(g_file_set_contents(path, whole, (gssize)length, NULL));
    whole[i] ^= 1;
    check_plans();
    g_autofree char *again = NULL;
    g_assert_true(g_file_get_contents(path, &again, NULL, NULL));
    g_autofree char *wisdom = astro_wisdom_unpack(again, strlen(again), fftwf_version);
    g_assert_nonnull(wisdom);
    /* A text of FFTW's own, with one of its numbers changed. */
    char *number = strstr(wisdom, " #x");
    for (guint k = 0; number && k < i % 23; k++)
      number = strstr(number + 1, " #x") ? strstr(number + 1, " #x") : number;
    g_assert_nonnull(number);
    number[3] = number[3] == '7' ? '8' : '7';
    g_assert_true(g_file_set_contents(path, wisdom, -1, NULL));
    check_plans();
  }
  g_unlink(path);
  g_assert_cmpint(mkfifo(path, 0600), ==, 0);
  check_plans();
  g_assert_true(g_file_test(path, G_FILE_TEST_IS_REGULAR));
  g_unlink(path);
  g_rmdir(folder);
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "whole", whole },
    { "changed", changed },
    { "no-file-of-ours", no_file_of_ours },
    { "folder-in-the-way", folder_in_the_way },
    { "too-large", too_large },
    { "planner", planner },
  };
  test_add_places("/wisdom/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  /* A cache folder of our own, set before the user's is looked up. */
  g_autofree char *cache = g_dir_make_tmp("wisdom-XXXXXX", NULL);
  g_setenv("XDG_CACHE_HOME", cache, TRUE);
  g_test_init(&argc, &argv, NULL);
  add_tests();
  const int status = g_test_run();
  g_rmdir(cache);
  return status;
}
