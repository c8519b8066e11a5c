/* Writes all bytes to a descriptor, however few it takes at a time. */
#pragma once

#include <errno.h>
#include <glib.h>
#include <unistd.h>

/* 0, or the errno of the failure. */
static inline int astro_write_all(int fd, const guint8 *data, gsize bytes)
{
  while (bytes > 0) {
    gssize done = write(fd, data, bytes);
    if (done < 0 && errno == EINTR)
      continue;
    if (done <= 0)
      return done < 0 ? errno : ENOSPC;
    data += done;
    bytes -= done;
  }
  return 0;
}
