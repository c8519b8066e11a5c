#include "config.h"
#include "core/backend/threads.h"
#include "tests/tests.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct {
  gint counts[1000];
  gint busy, most_busy;
} Seen;

static gint all_busy, most_all_busy;

static void note_most(gint *most, gint now)
{
  for (gint old = g_atomic_int_get(most);
       now > old && !g_atomic_int_compare_and_exchange(most, old, now);)
    old = g_atomic_int_get(most);
}

static void count(gpointer data, guint64 task)
{
  Seen *seen = data;
  note_most(&seen->most_busy, g_atomic_int_add(&seen->busy, 1) + 1);
  note_most(&most_all_busy, g_atomic_int_add(&all_busy, 1) + 1);
  g_atomic_int_inc(&seen->counts[task]);
  for (volatile int i = 0; i < 1000; i++)
    ;
  g_atomic_int_add(&all_busy, -1);
  g_atomic_int_add(&seen->busy, -1);
}

static void run(guint n, guint threads)
{
  Seen *seen = g_new0(Seen, 1);
  astro_parallel(n, threads, count, seen);
  for (guint i = 0; i < G_N_ELEMENTS(seen->counts); i++)
    g_assert_cmpint(seen->counts[i], ==, i < n ? 1 : 0);
  g_assert_cmpint(seen->most_busy, <=, threads ? (gint)threads : (gint)astro_threads());
  g_free(seen);
}

static void test_every_task_once(void)
{
  static const guint sizes[] = { 0, 1, 2, 3, 7, 100, 1000 };
  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
    for (guint threads = 0; threads < 5; threads++)
      run(sizes[i], threads);
}

static gpointer caller(gpointer unused)
{
  for (guint i = 0; i < 200; i++)
    run(1 + i % 40, i % 3);
  return NULL;
}

/* Many stages at once: all tasks of each are done, and no more threads work than there are
 * cores. */
static void test_callers(void)
{
  GThread *threads[8];
  g_atomic_int_set(&most_all_busy, 0);
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = g_thread_new("caller", caller, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    g_thread_join(threads[i]);
  g_assert_cmpint(most_all_busy, <=, (gint)astro_threads());
}

typedef struct {
  GThread *caller;
  int cpu;     /* the caller's */
  gint helped; /* tasks of others */
  gint beside; /* of these, by threads that might run on that CPU */
} Beside;

static void look_where(gpointer data, guint64 task)
{
  Beside *beside = data;
  cpu_set_t mine;
  g_usleep(200);
  if (g_thread_self() == beside->caller || sched_getaffinity(0, sizeof mine, &mine) != 0)
    return;
  g_atomic_int_inc(&beside->helped);
  if (CPU_ISSET(beside->cpu, &mine))
    g_atomic_int_inc(&beside->beside);
}

static gboolean is_asleep(const char *thread)
{
  g_autofree char *path = g_build_filename("/proc/self/task", thread, "stat", NULL), *stat = NULL;
  /* number (name) state */
  return g_file_get_contents(path, &stat, NULL, NULL) &&
         g_str_has_prefix(strrchr(stat, ')'), ") S");
}

/* A worker that was woken may only get a core when the call that it should help is over. */
static void wait_for_workers(void)
{
  g_autofree char *own = g_strdup_printf("%d", (int)gettid());
  for (gboolean all = FALSE; !all;) {
    g_autoptr(GDir) threads = g_dir_open("/proc/self/task", 0, NULL);
    const char *thread;
    g_usleep(1000);
    for (all = TRUE; all && (thread = g_dir_read_name(threads));)
      all = g_str_equal(thread, own) || is_asleep(thread);
  }
}

/* A thread that is woken to help goes to another core, wherever the caller is. */
static void test_other_core(void)
{
  cpu_set_t all;
  Beside beside = { .caller = g_thread_self() };
  g_assert_cmpint(sched_getaffinity(0, sizeof all, &all), ==, 0);
  if (CPU_COUNT(&all) < 2) {
    g_test_skip("one core");
    return;
  }
  run(1, 0); /* workers may run on all cores */
  for (guint round = 0; round < 40 || (!beside.helped && round < 4000); round++) {
    cpu_set_t one;
    do
      beside.cpu = (beside.cpu + 1) % CPU_SETSIZE;
    while (!CPU_ISSET(beside.cpu, &all));
    CPU_ZERO(&one);
    CPU_SET(beside.cpu, &one);
    g_assert_cmpint(sched_setaffinity(0, sizeof one, &one), ==, 0);
    wait_for_workers();
    astro_parallel(8, 0, look_where, &beside);
  }
  g_assert_cmpint(sched_setaffinity(0, sizeof all, &all), ==, 0);
  g_assert_cmpint(beside.helped, >, 0);
  g_assert_cmpint(beside.beside, ==, 0);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static GMutex gate;
static gint arrived;

/* Has its malloc arena before it waits, since making one takes more memory than it keeps. */
static gpointer late_caller(gpointer unused)
{
  g_free(g_malloc(1));
  g_atomic_int_inc(&arrived);
  g_mutex_lock(&gate);
  g_mutex_unlock(&gate);
  return caller(NULL);
}

/* There is no memory for a stack when the first of the callers comes: they do the work
 * themselves. */
static void test_no_workers(void)
{
  if (!g_test_subprocess()) {
    g_test_trap_subprocess(NULL, 60 * G_USEC_PER_SEC, 0);
    g_test_trap_assert_passed();
    return;
  }
  GThread *threads[8];
  g_autofree char *pages = NULL;
  g_mutex_lock(&gate);
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    threads[i] = g_thread_new("caller", late_caller, NULL);
  while (g_atomic_int_get(&arrived) < (gint)G_N_ELEMENTS(threads))
    g_thread_yield();
  g_assert_true(g_file_get_contents("/proc/self/statm", &pages, NULL, NULL));
  struct rlimit little;
  getrlimit(RLIMIT_AS, &little);
  little.rlim_cur = g_ascii_strtoull(pages, NULL, 10) * (gsize)sysconf(_SC_PAGESIZE) + (1 << 20);
  setrlimit(RLIMIT_AS, &little);
  g_assert_null(g_thread_try_new("more", caller, NULL, NULL));
  g_mutex_unlock(&gate);
  for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
    g_thread_join(threads[i]);
}
#endif

/* ---- work that is given up ---- */

typedef struct {
  gint left; /* tasks until it is to be given up */
  gint done;
} Quitting;

static gboolean is_enough(gpointer data)
{
  return g_atomic_int_get(&((Quitting *)data)->left) <= 0;
}

static void do_one(gpointer data, guint64 task)
{
  Quitting *quitting = data;
  g_atomic_int_inc(&quitting->done);
  g_atomic_int_add(&quitting->left, -1);
}

static void note_given_up(gpointer data, guint64 task)
{
  if (astro_is_given_up())
    g_atomic_int_inc((gint *)data);
}

/* All tasks that have not begun are skipped, and the caller returns. */
static void test_give_up(void)
{
  Quitting quitting = { .left = 100 };
  const AstroStop stop = { is_enough, &quitting };
  for (guint threads = 0; threads < 4; threads++) {
    quitting = (Quitting){ .left = 100 };
    g_assert_null(astro_stop_set(&stop));
    g_assert_false(astro_is_given_up());
    astro_parallel(1000000, threads, do_one, &quitting);
    g_assert_true(astro_is_given_up());
    g_assert_true(astro_stop_set(NULL) == &stop);
    g_assert_false(astro_is_given_up());
    g_assert_cmpint(quitting.done, >=, 100);
    g_assert_cmpint(quitting.done, <, 200);
  }
}

/* It counts for the calls of one thread, not for those of others, whose tasks the same workers
 * do. */
static void test_give_up_own(void)
{
  Quitting quitting = { .left = 0 };
  const AstroStop stop = { is_enough, &quitting };
  gint given_up = 0;
  astro_stop_set(&stop);
  GThread *other = g_thread_new("other", caller, NULL);
  for (guint i = 0; i < 200; i++)
    astro_parallel(40, 0, do_one, &quitting);
  g_thread_join(other);
  astro_stop_set(NULL);
  g_assert_cmpint(quitting.done, ==, 0);
  astro_parallel(1000, 0, note_given_up, &given_up);
  g_assert_cmpint(given_up, ==, 0);
}

static void add_tests(void)
{
  g_test_add_func("/threads/every-task-once", test_every_task_once);
  g_test_add_func("/threads/other-core", test_other_core);
  g_test_add_func("/threads/callers", test_callers);
  g_test_add_func("/threads/give-up", test_give_up);
  g_test_add_func("/threads/give-up/own", test_give_up_own);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  g_test_add_func("/threads/no-workers", test_no_workers);
#endif
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
