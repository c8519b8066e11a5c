/* (u,v,w) that buffers of visibilities bring with them, where they are not those that follow from
 * the observation's stations and phase centre: a file's own, which somebody chose to believe.
 *
 * The observation says so (uvw_metres), since an event goes where a meta may get lost: whoever
 * needs (u,v,w) then takes the buffer's, and refuses one that has none. */
#pragma once

#include "core/stream/observation.h"

ASTRO_BEGIN_DECLS

typedef struct {
  GstMeta meta;
  guint64 steps, baselines;
  /* Metres, [step][baseline][3]: what station i minus station j would be of baseline(i,j), for
   * values as they stand in the stream. Zeros where a baseline has no good values. */
  double *uvw;
} AstroUvwMeta;

GType astro_uvw_meta_api_get_type(void);
const GstMetaInfo *astro_uvw_meta_get_info(void);
#define ASTRO_UVW_META_API astro_uvw_meta_api_get_type()

/* All zero. Replaces what the buffer had. */
AstroUvwMeta *astro_buffer_add_uvw(GstBuffer *buffer, guint64 steps, guint64 baselines);

/* The buffer's, where the observation says that buffers have them; *uvw is NULL where (u,v,w) are
 * the stations'. An error where they got lost or are of another shape. */
gboolean astro_buffer_find_uvw(GstBuffer *buffer, const AstroObservation *observation,
                               guint64 steps, guint64 baselines, const double **uvw,
                               GError **error);

ASTRO_END_DECLS
