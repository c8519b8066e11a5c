/* Runs of this program that are cut short: a file under its final name is whole, or not there. */
#include "graphs/qualify-streams.h"
#include "graphs/find.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PATIENCE (60 * G_USEC_PER_SEC)
#define SMALL_DISK 20000 /* bytes */
#define BUSY 100000      /* bytes that a run has written when it is in full work */

typedef struct {
  const char *subject;
  int signal;           /* sent once the run has written something; 0: none */
  gboolean small_disk;  /* writing fails after some bytes */
  int status;           /* expected; -1: it was killed */
  gboolean leaves_file; /* under its final name */
  const char *says;     /* on the standard error; NULL: whatever it says */
} Stop;

static const Stop stops[] = {
  { "an interrupt ends the file", SIGINT, FALSE, 0, TRUE, "interrupted" },
  { "a killed run leaves no file", SIGKILL, FALSE, -1, FALSE, NULL },
  { "a full disk leaves no file", 0, TRUE, 1, FALSE, "stop.fits" },
};

static void set_up(gpointer stop)
{
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!((const Stop *)stop)->small_disk)
    return;
  const struct rlimit limit = { SMALL_DISK, SMALL_DISK };
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
}

/* The bytes of all files in a folder. */
static gint64 written(const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  gint64 bytes = 0;
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    GStatBuf info;
    if (g_stat(path, &info) == 0)
      bytes += info.st_size;
  }
  return bytes;
}

void astro_qualify_remove_files(const char *folder)
{
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_unlink(path);
  }
  g_rmdir(folder);
}

/* Waits for the end of the process; NULL, or what went wrong. */
static char *wait_for(GPid pid, const Stop *stop, const char *folder, int *status)
{
  const gint64 end = g_get_monotonic_time() + PATIENCE;
  gboolean sent = stop->signal == 0;
  for (;;) {
    const pid_t done = waitpid(pid, status, WNOHANG);
    if (done == pid)
      return sent ? NULL : g_strdup("it ended by itself");
    if (g_get_monotonic_time() > end) {
      kill(pid, SIGKILL);
      waitpid(pid, status, 0);
      return g_strdup("it did not end within a minute");
    }
    if (!sent && written(folder) > BUSY) {
      kill(pid, stop->signal);
      sent = TRUE;
    }
    g_usleep(2000);
  }
}

static char *check(const Stop *stop, int wait_status, const char *file, const char *err)
{
  const int status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
  const gboolean is_there = g_file_test(file, G_FILE_TEST_EXISTS);
  if (status != stop->status)
    return g_strdup_printf("its exit status is %d, expected %d", status, stop->status);
  if (is_there != stop->leaves_file)
    return g_strdup(is_there ? "a file is there under its final name" : "no file is there");
  if (stop->says && !strstr(err, stop->says))
    return g_strdup_printf("it does not say \"%s\"", stop->says);
  return NULL;
}

static char *run_stop(const Stop *stop, const char *folder)
{
  g_autofree char *command = astro_find_command(), *work = g_build_filename(folder, "stop", NULL);
  g_autofree char *file = g_build_filename(work, "stop.fits", NULL);
  g_autofree char *errors = g_build_filename(folder, "errors.txt", NULL), *err = NULL;
  g_autofree char *graph = g_build_filename(folder, "stop.graph", NULL);
  g_autofree char *pipeline =
      g_strdup_printf("astroskysrc stations=2 bandwidth=640000 repeat=4 ! "
                      "astrochannelizer channels=64 ! astropower products=I integration=10\n"
                      "! astrofitssink location=%s\n",
                      file);
  g_autofree char *line = g_strdup_printf("%s run %s", command, graph);
  g_auto(GStrv) argv = NULL;
  g_autoptr(GError) error = NULL;
  GPid pid;
  int status = 0;
  g_mkdir(work, 0700);
  FILE *log = fopen(errors, "w");
  if (!log || !g_file_set_contents(graph, pipeline, -1, &error) ||
      !g_shell_parse_argv(line, NULL, &argv, &error) ||
      !g_spawn_async_with_fds(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_SEARCH_PATH,
                              set_up, (gpointer)stop, &pid, -1, fileno(log), fileno(log), &error)) {
    char *reason = g_strdup(error ? error->message : g_strerror(errno));
    if (log)
      fclose(log);
    return reason;
  }
  char *trouble = wait_for(pid, stop, work, &status);
  fclose(log);
  g_file_get_contents(errors, &err, NULL, NULL);
  if (!trouble)
    trouble = check(stop, status, file, err ? err : "");
  astro_qualify_remove_files(work);
  g_unlink(errors);
  g_unlink(graph);
  return trouble;
}

void astro_qualify_stops(const char *folder, GPtrArray *results)
{
  for (guint i = 0; i < G_N_ELEMENTS(stops); i++) {
    AstroQualifyResult *result = astro_qualify_result_new("stops", stops[i].subject);
    result->remark = run_stop(&stops[i], folder);
    result->limit = 1;
    result->value = result->remark ? 0 : 1;
    result->state = result->remark ? ASTRO_QUALIFY_SHORT : ASTRO_QUALIFY_PASS;
    g_ptr_array_add(results, result);
  }
}
