/* Measures a host: the best of several tries counts, since plans ask what is possible, and whatever
 * else runs at the same time only makes it slower. */
#include "config.h"
#include "core/machine/measure.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/backend/backend.h"
#include "core/backend/locked.h"
#include "core/kit/pages.h"
#include "core/machine/peaks.h"

#define TRIES 7
#define MIN_SECONDS 0.02 /* of a try */
#define ARRAY ((gsize)64 << 20)
#define PIECE ((gsize)1 << 20)
#define DISK_BYTES ((gsize)256 << 20)
#define DISK_PIECE ((gsize)8 << 20)

typedef void (*Work)(gpointer data);

/* Calls in the fastest second that was seen. */
static double best_rate(Work work, gpointer data)
{
  double best = 0;
  work(data);
  for (guint i = 0; i < TRIES; i++) {
    const gint64 start = g_get_monotonic_time();
    guint calls = 0;
    double seconds;
    do {
      work(data);
      calls++;
      seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
    } while (seconds < MIN_SECONDS);
    best = MAX(best, calls / seconds);
  }
  return best;
}

/* ---- memory ---- */

typedef struct {
  float *to, *a, *b;
} Arrays;

/* Reads two arrays and writes a third. */
static void add_piece(gpointer data, guint64 piece)
{
  const Arrays *arrays = data;
  const gsize n = PIECE / sizeof(float), from = piece * n;
  for (gsize i = from; i < from + n; i++)
    arrays->to[i] = arrays->a[i] + 3 * arrays->b[i];
}

static void add_arrays(gpointer data)
{
  astro_parallel(ARRAY / PIECE, 0, add_piece, data);
}

/* Each thread touches the pages that it will work on, so that they are near to it. */
static void clear_piece(gpointer data, guint64 piece)
{
  const Arrays *arrays = data;
  const gsize n = PIECE / sizeof(float), from = piece * n;
  for (gsize i = from; i < from + n; i++)
    arrays->to[i] = arrays->a[i] = arrays->b[i] = 0;
}

double astro_measure_bandwidth(void)
{
  Arrays arrays = { astro_pages_alloc(ARRAY), astro_pages_alloc(ARRAY), astro_pages_alloc(ARRAY) };
  double rate = 0;
  if (arrays.to && arrays.a && arrays.b) {
    astro_parallel(ARRAY / PIECE, 0, clear_piece, &arrays);
    rate = best_rate(add_arrays, &arrays) * 3 * ARRAY;
  }
  free(arrays.to);
  free(arrays.a);
  free(arrays.b);
  return rate;
}

/* ---- arithmetic ---- */

double astro_measure_operations(AstroArithmetic arithmetic)
{
  double best = 0;
  for (guint i = 0; i < ASTRO_N_PEAKS; i++) {
    const AstroPeak *peak = &astro_peaks[i];
    if (!peak->task || peak->arithmetic != arithmetic || peak->level > astro_cpu_level())
      continue;
    best =
        MAX(best, best_rate(astro_peak_run, (gpointer)peak) * peak->operations * ASTRO_PEAK_TASKS);
  }
  return best;
}

/* ---- disk ---- */

static gboolean write_file(int fd, const guint8 *piece)
{
  for (gsize at = 0; at < DISK_BYTES; at += DISK_PIECE)
    for (gsize done = 0; done < DISK_PIECE;) {
      const gssize n = write(fd, piece + done, DISK_PIECE - done);
      if (n <= 0)
        return FALSE;
      done += (gsize)n;
    }
  return fdatasync(fd) == 0;
}

double astro_measure_disk(const char *folder)
{
  g_autofree guint8 *piece = g_try_malloc(DISK_PIECE);
  const int fd = piece ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) : -1;
  if (fd < 0)
    return 0;
  /* Not zeros, which some disks do not store. */
  for (gsize i = 0; i < DISK_PIECE; i++)
    piece[i] = (guint8)(i * 2654435761u >> 13);
  const gint64 start = g_get_monotonic_time();
  const gboolean ok = write_file(fd, piece);
  const double seconds = (double)(g_get_monotonic_time() - start) * 1e-6;
  close(fd);
  return ok && seconds > 0 ? (double)DISK_BYTES / seconds : 0;
}

/* ---- network ---- */

/* The fastest link that is up, by what its driver says: Linux gives it in Mbit/s. */
double astro_measure_network(void)
{
  g_autoptr(GDir) links = g_dir_open("/sys/class/net", 0, NULL);
  double best = 0;
  for (const char *name; links && (name = g_dir_read_name(links));) {
    g_autofree char *path = g_build_filename("/sys/class/net", name, "speed", NULL), *text = NULL;
    if (!g_str_equal(name, "lo") && g_file_get_contents(path, &text, NULL, NULL))
      best = MAX(best, g_ascii_strtod(text, NULL) * 1e6 / 8);
  }
  return best;
}

/* ---- the bus ---- */

typedef struct {
  AstroDevice *device;
  AstroCopyDirection direction;
  gpointer host, face;
  GError **error;
  gboolean failed;
} Bus;

/* Waits for what was queued. */
static gboolean wait_for(AstroDevice *device, AstroQueue *queue, GError **error)
{
  AstroEvent *event = device->funcs->event_record(device, queue, error);
  const gboolean done = event && device->funcs->event_wait(device, event, error);
  if (event)
    device->funcs->event_free(device, event);
  return done;
}

static void copy(gpointer data)
{
  Bus *bus = data;
  const AstroDeviceFuncs *funcs = bus->device->funcs;
  const gboolean is_up = bus->direction == ASTRO_COPY_UP;
  AstroQueue *queue = is_up ? bus->device->up : bus->device->down;
  if (bus->failed)
    return;
  bus->failed =
      !funcs->queue_copy(bus->device, queue, bus->direction, is_up ? bus->face : bus->host,
                         is_up ? bus->host : bus->face, ARRAY, bus->error) ||
      !wait_for(bus->device, queue, bus->error);
}

double astro_measure_bus(AstroDevice *device, AstroCopyDirection direction, GError **error)
{
  const AstroDeviceFuncs *funcs = device->funcs;
  Bus bus = { .device = device, .direction = direction, .error = error };
  double rate = 0;
  AstroDevice *locker;
  /* Where nothing is page-locked, blocks are copied like this too. */
  bus.host = astro_locked_alloc(device, ARRAY, (gsize)sysconf(_SC_PAGESIZE), ARRAY, &locker, NULL);
  if (!bus.host) {
    astro_backend_no_memory(error, "no memory for %" G_GSIZE_FORMAT " bytes", ARRAY);
    return 0;
  }
  memset(bus.host, 0, ARRAY);
  if (funcs->alloc(device, ARRAY, &bus.face, error)) {
    rate = best_rate(copy, &bus) * ARRAY;
    funcs->free(device, bus.face);
  }
  astro_locked_free(bus.host, locker);
  return bus.failed ? 0 : rate;
}

/* ---- between devices ---- */

typedef struct {
  AstroDevice *from, *to;
  gpointer here, there;
  GError **error;
  gboolean failed;
} Across;

static void copy_across(gpointer data)
{
  Across *across = data;
  AstroDevice *to = across->to;
  if (across->failed)
    return;
  across->failed = !to->funcs->queue_copy_across(to, to->across, across->there, across->from,
                                                 across->here, ARRAY, across->error) ||
                   !wait_for(to, to->across, across->error);
}

double astro_measure_across(AstroDevice *from, AstroDevice *to, GError **error)
{
  Across across = { .from = from, .to = to, .error = error };
  double rate = 0;
  if (from->funcs->alloc(from, ARRAY, &across.here, error)) {
    if (to->funcs->alloc(to, ARRAY, &across.there, error)) {
      rate = best_rate(copy_across, &across) * ARRAY;
      to->funcs->free(to, across.there);
    }
    from->funcs->free(from, across.here);
  }
  return across.failed ? 0 : rate;
}

/* ---- the host ---- */

/* The power that processors may draw, summed over packages; 0 if Linux does not tell. */
static double power_limit(void)
{
  double watts = 0;
  for (guint i = 0; i < 16; i++) {
    g_autofree char *path =
        g_strdup_printf("/sys/class/powercap/intel-rapl:%u/constraint_0_power_limit_uw", i);
    g_autofree char *text = NULL;
    if (g_file_get_contents(path, &text, NULL, NULL))
      watts += g_ascii_strtod(text, NULL) * 1e-6;
  }
  return watts;
}

AstroMachine *astro_machine_measure(const char *folder)
{
  AstroMachine *machine = g_new0(AstroMachine, 1);
  g_autoptr(GDateTime) now = g_date_time_new_now_utc();
  g_autofree char *day = g_date_time_format(now, "%F");
  machine->name = g_strdup(g_get_host_name());
  machine->source = g_strdup_printf("measured by gst-astro %s on %s, the best of %d tries each",
                                    PACKAGE_VERSION, day, TRIES);
  machine->cores = astro_threads();
  machine->host.memory = (double)astro_host_memory();
  machine->host.bandwidth = astro_measure_bandwidth();
  for (guint i = 0; i < ASTRO_N_ARITHMETICS; i++)
    machine->host.operations[i] = astro_measure_operations((AstroArithmetic)i);
  machine->host.power = power_limit();
  machine->network = astro_measure_network();
  machine->disk = folder ? astro_measure_disk(folder) : 0;
  return machine;
}
