/* Integrations as a sink of visibilities hands them to the writer of a file. */
#pragma once

#include "core/stream/validity.h"

G_BEGIN_DECLS

typedef struct {
  gconstpointer data;
  guint64 frames;
  const AstroValidityMeta *validity; /* NULL: no known losses */
  const double *uvw;                 /* the buffer's own; NULL: they follow from stations */
  const guint8 *absent;              /* [frame][baseline]: known to have no rows; NULL: none */
  gint64 start_ns, duration_ns;      /* of all together, since the observation's start */
} AstroRowFrames;

G_END_DECLS
