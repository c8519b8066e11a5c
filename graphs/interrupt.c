/* Signal handlers for Ctrl-C, termination and a lost terminal. */
#include "graphs/interrupt.h"
#include <errno.h>
#include <glib-unix.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t presses;
static int wake[2] = { -1, -1 };
static guint wake_source;
static AstroInterruptFunc callback;
static gpointer callback_data;

static void on_alarm(int number)
{
  _exit(ASTRO_INTERRUPTED);
}

static void on_signal(int number)
{
  int saved = errno;
  presses = presses + 1;
  if (presses == 2)
    alarm(1);
  if (presses > 2 || write(wake[1], "", 1) < 0)
    _exit(ASTRO_INTERRUPTED);
  errno = saved;
}

/* The terminal was lost, for instance with ssh. The shell may send a second SIGHUP, and neither
 * means that the user wants to stop at once. */
static void on_hangup(int number)
{
  if (presses == 0)
    on_signal(number);
}

static gboolean on_wake(int fd, GIOCondition condition, gpointer data)
{
  char byte;
  if (read(fd, &byte, 1) == 1 && callback)
    callback(presses, callback_data);
  return G_SOURCE_CONTINUE;
}

static void handle(int number, void (*handler)(int))
{
  struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
  sigaction(number, &action, NULL);
}

/* SIGHUP stays ignored if it was, as under nohup. */
static void handle_hangup(void (*handler)(int))
{
  struct sigaction now;
  if (sigaction(SIGHUP, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
    handle(SIGHUP, handler);
}

void astro_interrupt_watch(AstroInterruptFunc function, gpointer data)
{
  callback = function;
  callback_data = data;
  if (wake_source)
    return;
  g_autoptr(GError) error = NULL;
  if (!g_unix_open_pipe(wake, FD_CLOEXEC, &error))
    g_error("no pipe for signals: %s", error->message);
  wake_source = g_unix_fd_add(wake[0], G_IO_IN, on_wake, NULL);
  handle(SIGALRM, on_alarm);
  handle_hangup(on_hangup);
  handle(SIGINT, on_signal);
  handle(SIGTERM, on_signal);
}

void astro_interrupt_hold(void)
{
  callback = NULL;
}

guint astro_interrupt_presses(void)
{
  return (guint)presses;
}

void astro_interrupt_unwatch(void)
{
  if (!wake_source)
    return;
  alarm(0);
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  handle_hangup(SIG_DFL);
  handle(SIGALRM, SIG_DFL);
  g_source_remove(wake_source);
  wake_source = 0;
  close(wake[0]);
  close(wake[1]);
}
