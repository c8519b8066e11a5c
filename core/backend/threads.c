/* The pool of threads. A job is a range of tasks. Workers and callers take tasks from jobs, the
 * oldest job first; at most as many threads are `busy` as the machine has cores, however many
 * callers there are. */
#include "config.h"
#include "core/backend/threads.h"
#include "core/backend/node.h"

#include <sched.h>
#include <unistd.h>

typedef struct {
  GCond wake;
  gboolean asleep;
  pid_t thread;
  int avoided; /* a CPU that it must not run on, or -1 */
} Worker;

typedef struct {
  guint64 next, n, done;
  guint helpers, max_helpers; /* threads that work on it */
  AstroTask task;
  gpointer data;
  const AstroStop *stop; /* set by the caller */
  GCond finished;
} Job;

static _Thread_local const AstroStop *stop_now;

const AstroStop *astro_stop_set(const AstroStop *stop)
{
  const AstroStop *before = stop_now;
  stop_now = stop;
  return before;
}

gboolean astro_is_given_up(void)
{
  return stop_now && stop_now->asked(stop_now->data);
}

static struct {
  GMutex lock;
  GQueue jobs;   /* that still have tasks to be taken */
  GQueue asleep; /* workers, the last to fall asleep first */
  guint busy, cores, workers;
  cpu_set_t cpus; /* on which workers may run */
} pool;

guint astro_threads(void)
{
  static gsize cores = 0;
  if (g_once_init_enter(&cores)) {
    cpu_set_t set;
    /* Fails if the kernel supports more cores than a cpu_set_t can hold. */
    guint n = sched_getaffinity(0, sizeof set, &set) == 0 ? (guint)CPU_COUNT(&set)
                                                          : g_get_num_processors();
    g_once_init_leave(&cores, MAX(n, 1));
  }
  return (guint)cores;
}

/* The kernel of a virtual machine takes an idle CPU for one that the host has taken away, and puts
 * a thread that wakes up beside the thread that woke it: both on one core, with the other core
 * idle. So a worker is kept off the CPU of the thread that wakes it. */
static void avoid(Worker *worker, int cpu)
{
  cpu_set_t cpus = pool.cpus;
  if (cpu < 0 || worker->avoided == cpu || !CPU_ISSET(cpu, &cpus) || CPU_COUNT(&cpus) < 2)
    return;
  CPU_CLR(cpu, &cpus);
  if (sched_setaffinity(worker->thread, sizeof cpus, &cpus) == 0)
    worker->avoided = cpu;
}

/* Wakes no more than `most` workers: one more might take the core of a busy thread. avoided: a CPU
 * whose thread continues to run, or -1. Called with the lock held. */
static void wake(guint most, int avoided)
{
  for (guint i = 0; i < most; i++) {
    Worker *worker = g_queue_pop_head(&pool.asleep);
    if (!worker)
      break;
    avoid(worker, avoided);
    worker->asleep = FALSE;
    g_cond_signal(&worker->wake);
  }
}

/* Called with the lock held, and returns with it held. */
static void help(Job *job)
{
  const AstroStop *before = astro_stop_set(job->stop);
  job->helpers++;
  pool.busy++;
  while (job->next < job->n) {
    guint64 task = job->next++;
    if (job->next == job->n)
      g_queue_remove(&pool.jobs, job);
    g_mutex_unlock(&pool.lock);
    if (!astro_is_given_up())
      job->task(job->data, task);
    g_mutex_lock(&pool.lock);
    if (++job->done == job->n)
      g_cond_signal(&job->finished);
  }
  /* From here on the job may be freed already, unless it is the caller's own. */
  pool.busy--;
  astro_stop_set(before);
  if (!g_queue_is_empty(&pool.jobs))
    wake(1, -1);
}

static Job *find_job(void)
{
  if (pool.busy >= pool.cores)
    return NULL;
  for (GList *link = pool.jobs.head; link; link = link->next) {
    Job *job = link->data;
    if (job->helpers < job->max_helpers)
      return job;
  }
  return NULL;
}

static gpointer work(gpointer unused)
{
  Worker self = { .thread = gettid(), .avoided = -1 };
  g_cond_init(&self.wake);
  g_mutex_lock(&pool.lock);
  for (;;) {
    Job *job = find_job();
    if (job) {
      help(job);
      continue;
    }
    self.asleep = TRUE;
    g_queue_push_head(&pool.asleep, &self);
    while (self.asleep)
      g_cond_wait(&self.wake, &pool.lock);
  }
  return NULL;
}

void astro_threads_start(void)
{
  static gsize started = 0;
  if (!g_once_init_enter(&started))
    return;
  pool.cores = astro_threads();
  if (sched_getaffinity(0, sizeof pool.cpus, &pool.cpus) != 0)
    CPU_ZERO(&pool.cpus);
  for (guint i = 0; i < pool.cores; i++) {
    g_autoptr(GError) error = NULL;
    GThread *thread = g_thread_try_new("astro-worker", work, NULL, &error);
    if (!thread) {
      g_info("%u worker threads instead of %u: %s", pool.workers, pool.cores, error->message);
      break;
    }
    g_thread_unref(thread);
    pool.workers++;
  }
  g_once_init_leave(&started, 1);
}

gboolean astro_is_stopped(AstroStoppable *work)
{
  if (work->stop && !g_atomic_int_get(&work->stopped) && work->stop->asked(work->stop->data))
    g_atomic_int_set(&work->stopped, TRUE);
  return g_atomic_int_get(&work->stopped);
}

void astro_parallel(guint64 n, guint max_threads, AstroTask task, gpointer data)
{
  guint threads = max_threads ? MIN(max_threads, astro_threads()) : astro_threads();

  if (n == 0)
    return;
  astro_threads_start();
  Job job = {
    .n = n, .task = task, .data = data, .stop = stop_now, .max_helpers = (guint)MIN(threads, n)
  };
  g_cond_init(&job.finished);
  g_mutex_lock(&pool.lock);
  g_queue_push_tail(&pool.jobs, &job);
  if (pool.busy < pool.cores)
    wake(MIN(job.max_helpers, pool.cores - pool.busy) - 1, sched_getcpu());
  /* The caller works too if a core is free; else workers on older jobs will come to this one. If
   * the system gave us no workers, callers do everything. */
  if (pool.busy < pool.cores || pool.workers == 0)
    help(&job);
  while (job.done < job.n)
    g_cond_wait(&job.finished, &pool.lock);
  g_mutex_unlock(&pool.lock);
  g_cond_clear(&job.finished);
}
