/* Stands in for the server of the control where libsoup is missing. */
#include "config.h"
#include "graphs/control.h"
#include <gio/gio.h>

AstroControl *astro_control_new(const char *where, const char *token_file,
                                const AstroControlled *controlled, GError **error)
{
  g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
              "--control=%s: it needs libsoup-3.0 (3.2 or later), and gst-astro was built without",
              where);
  return NULL;
}

const char *astro_control_page(const AstroControl *control)
{
  return NULL;
}

void astro_control_free(AstroControl *control)
{
}
