/* Reads the memory, threads, files and energy that a run takes. Energy is that of Intel's and AMD's
 * counters, which Linux shows in /sys/class/powercap, mostly to root alone, and that of NVIDIA's
 * GPUs: counters that cannot be read are left out. */
#include "graphs/usage.h"
#include "core/machine/nvml.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define POWERCAP "/sys/class/powercap"
#define LEAST_SPAN G_USEC_PER_SEC /* watts over less are noise */

typedef struct {
  char *path; /* of the counter, in uJ; NULL: it is a GPU's */
  guint64 range, last;
  guint gpu;
  double gpu_joules; /* when it was read last */
  gint64 since;      /* us: when watts were computed last */
  double joules_then;
} Counter;

struct _AstroUsage {
  GArray *counters; /* Counter */
  GArray *energies; /* AstroEnergy, one for each */
  AstroNvml *nvml;  /* NULL: there is none */
  char *no_gpus;    /* why; NULL: some GPUs count */
};

static gboolean read_number(const char *path, guint64 *number)
{
  g_autofree char *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL))
    return FALSE;
  return g_ascii_string_to_unsigned(g_strstrip(text), 10, 0, G_MAXUINT64, number, NULL);
}

/* Domains within a package (such as intel-rapl:0:1) are parts of it, and would count twice. */
static gboolean is_whole_domain(const char *folder)
{
  const char *colon = strchr(folder, ':');
  return colon && !strchr(colon + 1, ':') && !g_str_has_prefix(folder, "intel-rapl-mmio");
}

static void add_domain(AstroUsage *usage, const char *root, const char *folder)
{
  g_autofree char *path = g_build_filename(root, folder, "energy_uj", NULL),
                  *range = g_build_filename(root, folder, "max_energy_range_uj", NULL),
                  *name_path = g_build_filename(root, folder, "name", NULL), *name = NULL;
  Counter counter = { .since = g_get_monotonic_time() };
  if (!is_whole_domain(folder) || !read_number(path, &counter.last) ||
      !read_number(range, &counter.range) || !g_file_get_contents(name_path, &name, NULL, NULL))
    return;
  AstroEnergy energy = { g_strdup(g_strstrip(name)), NULL, 0, -1 };
  counter.path = g_steal_pointer(&path);
  g_array_append_val(usage->counters, counter);
  g_array_append_val(usage->energies, energy);
}

static void add_gpus(AstroUsage *usage)
{
  g_autoptr(GError) error = NULL;
  guint found = 0;
  usage->nvml = astro_nvml_open(&error);
  for (guint i = 0; usage->nvml && i < astro_nvml_count(usage->nvml); i++) {
    Counter counter = { .gpu = i, .since = g_get_monotonic_time() };
    if (!astro_nvml_energy(usage->nvml, i, &counter.gpu_joules))
      continue;
    AstroEnergy energy = { g_strdup_printf("gpu-%u", i), astro_nvml_name(usage->nvml, i), 0, -1 };
    g_array_append_val(usage->counters, counter);
    g_array_append_val(usage->energies, energy);
    found++;
  }
  if (found == 0)
    usage->no_gpus = g_strdup(error ? error->message : "no GPU here counts its energy");
}

static void free_counter(gpointer data)
{
  g_free(((Counter *)data)->path);
}

static void free_energy(gpointer data)
{
  g_free(((AstroEnergy *)data)->name);
  g_free(((AstroEnergy *)data)->model);
}

AstroUsage *astro_usage_new(const char *powercap)
{
  AstroUsage *usage = g_new0(AstroUsage, 1);
  const char *root = powercap ? powercap : POWERCAP, *folder;
  usage->counters = g_array_new(FALSE, FALSE, sizeof(Counter));
  usage->energies = g_array_new(FALSE, FALSE, sizeof(AstroEnergy));
  g_array_set_clear_func(usage->counters, free_counter);
  g_array_set_clear_func(usage->energies, free_energy);
  GDir *dir = g_dir_open(root, 0, NULL);
  while (dir && (folder = g_dir_read_name(dir)))
    add_domain(usage, root, folder);
  g_clear_pointer(&dir, g_dir_close);
  add_gpus(usage);
  return usage;
}

/* Joules since it was read last. A package's counter starts again from 0 after its range, a GPU's
 * with the driver. FALSE: it cannot be read now. */
static gboolean read_more(const AstroUsage *usage, Counter *counter, double *joules)
{
  guint64 now;
  double gpu_now;
  if (!counter->path) {
    if (!astro_nvml_energy(usage->nvml, counter->gpu, &gpu_now))
      return FALSE;
    *joules = gpu_now >= counter->gpu_joules ? gpu_now - counter->gpu_joules : gpu_now;
    counter->gpu_joules = gpu_now;
    return TRUE;
  }
  if (!read_number(counter->path, &now))
    return FALSE;
  const guint64 more =
      now >= counter->last ? now - counter->last : now + (counter->range - counter->last) + 1;
  counter->last = now;
  *joules = (double)more / 1e6;
  return TRUE;
}

static void advance(const AstroUsage *usage, Counter *counter, AstroEnergy *energy)
{
  double more;
  if (!read_more(usage, counter, &more))
    return;
  energy->joules += more;
  const gint64 time = g_get_monotonic_time(), span = time - counter->since;
  if (span < LEAST_SPAN)
    return;
  energy->watts = (energy->joules - counter->joules_then) / ((double)span / 1e6);
  counter->joules_then = energy->joules;
  counter->since = time;
}

static guint64 count_files(void)
{
  guint64 n = 0;
  GDir *dir = g_dir_open("/proc/self/fd", 0, NULL);
  while (dir && g_dir_read_name(dir))
    n++;
  g_clear_pointer(&dir, g_dir_close);
  return n ? n - 1 : 0; /* one is that of this listing */
}

/* The number after a name in /proc/self/status; 0: there is none. */
static guint64 find_status(const char *status, const char *name)
{
  const char *line = strstr(status, name);
  return line ? g_ascii_strtoull(line + strlen(name), NULL, 10) : 0;
}

static double cpu_seconds(void)
{
  struct rusage spent;
  if (getrusage(RUSAGE_SELF, &spent) != 0)
    return 0;
  return (double)(spent.ru_utime.tv_sec + spent.ru_stime.tv_sec) +
         (double)(spent.ru_utime.tv_usec + spent.ru_stime.tv_usec) / 1e6;
}

AstroUsageTold astro_usage_read(AstroUsage *usage)
{
  g_autofree char *status = NULL;
  AstroUsageTold told = { .files = count_files(),
                          .cpu_seconds = cpu_seconds(),
                          .energies = usage->energies,
                          .no_gpus = usage->no_gpus };
  for (guint i = 0; i < usage->counters->len; i++)
    advance(usage, &g_array_index(usage->counters, Counter, i),
            &g_array_index(usage->energies, AstroEnergy, i));
  if (g_file_get_contents("/proc/self/status", &status, NULL, NULL)) {
    told.memory = find_status(status, "\nVmRSS:") * 1024;
    told.threads = find_status(status, "\nThreads:");
  }
  return told;
}

void astro_usage_free(AstroUsage *usage)
{
  g_array_unref(usage->counters);
  g_array_unref(usage->energies);
  astro_nvml_close(usage->nvml);
  g_free(usage->no_gpus);
  g_free(usage);
}
