/* Files of FFTW's wisdom, which FFTW itself must not be given unseen: it takes wisdom at its word,
 * and a wrong byte ends the process in an assertion. So what is kept has a header with its length
 * and a checksum, and is read from a regular file of our own only. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Wisdom with its header, of that version of FFTW; both are to be freed. */
char *astro_wisdom_pack(const char *wisdom, const char *version);
/* NULL where anything but such wisdom is there: cut, changed or of another version. */
char *astro_wisdom_unpack(const char *packed, gsize length, const char *version);

/* NULL where the file has none that fits. *is_there: something has the name, whatever it is. */
char *astro_wisdom_read(const char *path, const char *version, gboolean *is_there);
/* Replaces what has the name as a whole, a link or a FIFO too. */
gboolean astro_wisdom_write(const char *path, const char *wisdom, const char *version,
                            GError **error);

G_END_DECLS
