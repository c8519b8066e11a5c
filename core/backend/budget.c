/* Finds out how much memory there is, and what share of it a user allows. */
#include "config.h"
#include "core/backend/budget.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/backend/backend.h"

/* The number behind a word in a file of such lines; FALSE: there is none. word "": the first. */
static gboolean read_number(const char *path, const char *word, guint64 *number)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL))
    return FALSE;
  const char *at = word[0] ? strstr(text, word) : text;
  char *end;
  if (!at)
    return FALSE;
  at += strlen(word);
  *number = g_ascii_strtoull(at, &end, 10);
  return end != at;
}

static guint64 less(guint64 limit, guint64 used)
{
  return limit > used ? limit - used : 0;
}

static guint64 of_machine(void)
{
  guint64 kilobytes;
  return read_number("/proc/meminfo", "MemAvailable:", &kilobytes) ? kilobytes << 10
                                                                   : astro_host_memory();
}

/* Pages of files count as used, though they make way. "max" is no number: there is no limit. */
static guint64 of_group(void)
{
  guint64 limit, used, files = 0;
  if (!read_number("/sys/fs/cgroup/memory.max", "", &limit) ||
      !read_number("/sys/fs/cgroup/memory.current", "", &used))
    return G_MAXUINT64;
  read_number("/sys/fs/cgroup/memory.stat", "inactive_file ", &files);
  return less(limit, less(used, files));
}

static guint64 of_process(void)
{
  struct rlimit limit;
  guint64 pages;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      !read_number("/proc/self/statm", "", &pages))
    return G_MAXUINT64;
  return less(limit.rlim_cur, pages * (guint64)sysconf(_SC_PAGESIZE));
}

guint64 astro_memory_there(void)
{
  return MIN(of_machine(), MIN(of_group(), of_process()));
}

gsize astro_memory_limit(const char *variable)
{
  static gint reported = 0;
  const char *text = g_getenv(variable);
  static const char units[] = "KMG";
  char *end;

  if (!text || !*text)
    return G_MAXSIZE;
  guint64 limit = g_ascii_strtoull(text, &end, 10);
  const char *unit = *end ? strchr(units, *end) : NULL;
  guint shift = unit ? 10 * (guint)(unit - units + 1) : 0;
  if (end != text && end[unit ? 1 : 0] == '\0' && limit <= G_MAXSIZE >> shift)
    return limit << shift;
  if (g_atomic_int_compare_and_exchange(&reported, 0, 1))
    g_warning("%s=%s is no number of bytes (such as 512M): ignored", variable, text);
  return G_MAXSIZE;
}

gboolean astro_memory_budget(const char *text, guint64 *bytes, GError **error)
{
  static const char units[] = "KMGT";
  char *end = NULL;
  const double number = text ? g_ascii_strtod(text, &end) : 0;
  const char *unit = end && *end ? strchr(units, g_ascii_toupper(*end)) : NULL;
  const gboolean is_number = end && end != text && number > 0 && number < 1e18;
  if (is_number && !*end && number <= 1) {
    *bytes = (guint64)(number * (double)astro_memory_there());
    return TRUE;
  }
  if (is_number && (!*end || (unit && !end[1]))) {
    *bytes =
        (guint64)(number * (double)(G_GUINT64_CONSTANT(1) << (unit ? 10 * (unit - units + 1) : 0)));
    return TRUE;
  }
  return astro_backend_refuse(error,
                              "max-memory is \"%s\", expected a fraction of the memory that there "
                              "is (above 0 and up to 1), or bytes, such as 500M or 8G",
                              text ? text : "");
}
