/* FFTW's planner with several threads, and the wisdom in the user's cache folder. */
#include "core/lib/fft/planner.h"
#include "tests/tests.h"

#include <fftw3.h>
#include <glib/gstdio.h>

/* A plan of that many samples for n transforms, which must work. */
static void plan(int n)
{
  fftwf_complex *in = fftwf_alloc_complex(n), *out = fftwf_alloc_complex(n);
  astro_fft_planner_lock();
  fftwf_plan made = fftwf_plan_dft_1d(n, in, out, FFTW_FORWARD, FFTW_MEASURE);
  astro_fft_planner_keep();
  astro_fft_planner_unlock();
  g_assert_nonnull(made);
  for (int i = 0; i < n; i++)
    in[i][0] = in[i][1] = 1;
  fftwf_execute(made);
  g_assert_cmpfloat_with_epsilon(out[0][0], n, n * 1e-6);
  g_assert_cmpfloat_with_epsilon(out[1][0], 0, n * 1e-6);
  astro_fft_planner_lock();
  fftwf_destroy_plan(made);
  astro_fft_planner_unlock();
  fftwf_free(in);
  fftwf_free(out);
}

static gpointer plan_many(gpointer data)
{
  for (int n = 8; n < 40; n++)
    plan(n);
  return NULL;
}

static void test_threads(void)
{
  GThread *threads[4];
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = g_thread_new("planner", plan_many, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    g_thread_join(threads[i]);
}

static char *file_text(void)
{
  g_autofree char *path = astro_fft_planner_file(FALSE);
  char *text = NULL;
  g_file_get_contents(path, &text, NULL, NULL);
  return text;
}

/* New wisdom is written once, and wisdom that others wrote meanwhile stays. */
static void test_kept(void)
{
  g_autofree char *path = astro_fft_planner_file(FALSE);
  g_assert_true(g_str_has_prefix(path, g_get_user_cache_dir()));
  plan(48);
  g_autofree char *first = file_text();
  g_assert_nonnull(first);
  g_assert_nonnull(strstr(first, "fftw"));

  g_unlink(path);
  plan(48); /* nothing new */
  g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));

  g_file_set_contents(path, "(nonsense", -1, NULL);
  plan(56);
  g_autofree char *second = file_text();
  g_assert_cmpstr(second, !=, "(nonsense");
  g_assert_cmpuint(strlen(second), >, strlen(first));

  g_assert_true(g_file_set_contents(path, first, -1, NULL));
  fftwf_forget_wisdom();
  plan(60);
  g_autofree char *third = file_text();
  g_assert_cmpuint(strlen(third), >, strlen(first));
}

/* Double precision has a file of its own. */
static void test_double(void)
{
  g_autofree char *path = astro_fft_planner_file(TRUE), *single = astro_fft_planner_file(FALSE);
  g_assert_cmpstr(path, !=, single);
  fftw_complex *samples = fftw_alloc_complex(50);
  astro_fft_planner_lock();
  fftw_plan made = fftw_plan_dft_1d(50, samples, samples, FFTW_FORWARD, FFTW_MEASURE);
  astro_fft_planner_keep();
  fftw_destroy_plan(made);
  astro_fft_planner_unlock();
  fftw_free(samples);
  g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
  g_unlink(path);
}

/* A cache folder that is a file. */
static void test_no_folder(void)
{
  g_autofree char *path = astro_fft_planner_file(FALSE), *folder = g_path_get_dirname(path);
  g_unlink(path);
  g_rmdir(folder);
  g_assert_true(g_file_set_contents(folder, "in the way", -1, NULL));
  plan(66);
  plan(66);
}

int main(int argc, char **argv)
{
  /* A cache folder of our own, set before the user's is looked up. */
  g_autofree char *cache = g_dir_make_tmp("planner-XXXXXX", NULL);
  g_autofree char *folder = g_build_filename(cache, "gst-astro", NULL);
  g_setenv("XDG_CACHE_HOME", cache, TRUE);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/planner/threads", test_threads);
  g_test_add_func("/planner/kept", test_kept);
  g_test_add_func("/planner/double", test_double);
  g_test_add_func("/planner/no-folder", test_no_folder);
  int status = g_test_run();
  g_unlink(folder); /* which the last test left as a file */
  g_rmdir(cache);
  return status;
}
