/* Files of FFTW's wisdom. FFTW itself must not be given unchecked text: it trusts it, and a wrong
 * byte ends the process in an assertion. So the files have a header with the length and a checksum,
 * and only regular files of the same user are read. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Wisdom with its header, for that version of FFTW; to be freed. */
char *astro_wisdom_pack(const char *wisdom, const char *version);
/* NULL if the text is anything but such wisdom: cut, changed or of another version. */
char *astro_wisdom_unpack(const char *packed, gsize length, const char *version);

/* NULL if the file has no valid wisdom. *is_there: something with this name exists, whatever it is.
 */
char *astro_wisdom_read(const char *path, const char *version, gboolean *is_there);
/* Replaces whatever has the name as a whole, even a link or a FIFO. */
gboolean astro_wisdom_write(const char *path, const char *wisdom, const char *version,
                            GError **error);

G_END_DECLS
