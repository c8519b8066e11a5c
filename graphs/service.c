/* Tells systemd how a run is doing: a datagram to the socket that it names, as of sd_notify(3). */
#include "graphs/service.h"
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static guint timer;
static gboolean is_ready;

static void notify(const char *state)
{
  const char *path = g_getenv("NOTIFY_SOCKET");
  struct sockaddr_un to = { .sun_family = AF_UNIX };
  const gsize n = path ? strlen(path) : 0;
  if (n < 2 || n >= sizeof to.sun_path || (*path != '/' && *path != '@'))
    return;
  memcpy(to.sun_path, path, n);
  if (*path == '@') /* an abstract name, which has no file */
    to.sun_path[0] = 0;
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return;
  sendto(fd, state, strlen(state), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to,
         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
  close(fd);
}

static gboolean on_timer(gpointer data)
{
  notify("WATCHDOG=1");
  return G_SOURCE_CONTINUE;
}

/* Twice in the time that systemd allows, if it was told to look after this process. */
static void begin_timer(void)
{
  const char *text = g_getenv("WATCHDOG_USEC"), *pid = g_getenv("WATCHDOG_PID");
  guint64 us, number;
  if (!text || !g_ascii_string_to_unsigned(text, 10, 1000, G_MAXUINT32, &us, NULL))
    return;
  if (pid && g_ascii_string_to_unsigned(pid, 10, 1, G_MAXINT32, &number, NULL) &&
      (pid_t)number != getpid())
    return;
  timer = g_timeout_add(MAX((guint)(us / 2000), 1), on_timer, NULL);
}

void astro_service_ready(void)
{
  if (is_ready)
    return;
  is_ready = TRUE;
  notify("READY=1");
  begin_timer();
}

void astro_service_stopping(void)
{
  if (timer)
    g_source_remove(timer);
  timer = 0;
  notify("STOPPING=1");
}

/* The journal names its socket by device and inode, since a program may have put something else in
 * its place. */
gboolean astro_service_has_journal(void)
{
  const char *text = g_getenv("JOURNAL_STREAM");
  struct stat info;
  if (!text || fstat(STDERR_FILENO, &info) != 0)
    return FALSE;
  g_autofree char *ours = g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT,
                                          (guint64)info.st_dev, (guint64)info.st_ino);
  return g_str_equal(text, ours);
}

const char *astro_service_prefix(AstroLine line)
{
  static const char *const prefixes[] = {
    [ASTRO_LINE_ERROR] = "<3>", [ASTRO_LINE_WARNING] = "<4>", [ASTRO_LINE_NOTE] = "<6>"
  };
  return astro_service_has_journal() ? prefixes[line] : "";
}
