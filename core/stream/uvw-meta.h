/* (u,v,w) carried by buffers of visibilities, if they differ from those that follow from the
 * observation's stations and phase centre: those of a file, which the user chose to believe.
 *
 * The observation says so (uvw_metres), since an event survives where a meta may get lost: stages
 * that need (u,v,w) then take the buffer's, and refuse a buffer that has none. */
#pragma once

#include "core/stream/observation.h"

ASTRO_BEGIN_DECLS

typedef struct {
  GstMeta meta;
  guint64 steps, baselines;
  /* [step][baseline][3] in metres: station i minus station j for baseline(i,j), with the sign of
   * the values in the stream. Zeros if a baseline has no good values. */
  double *uvw;
} AstroUvwMeta;

GType astro_uvw_meta_api_get_type(void);
const GstMetaInfo *astro_uvw_meta_get_info(void);
#define ASTRO_UVW_META_API astro_uvw_meta_api_get_type()

/* Adds the meta, all zero; replaces one that the buffer had. */
AstroUvwMeta *astro_buffer_add_uvw(GstBuffer *buffer, guint64 steps, guint64 baselines);

/* Finds the buffer's (u,v,w) if the observation says that buffers have them; *uvw is NULL if they
 * follow from the stations. An error if they got lost or have another shape. */
gboolean astro_buffer_find_uvw(GstBuffer *buffer, const AstroObservation *observation,
                               guint64 steps, guint64 baselines, const double **uvw,
                               GError **error);

ASTRO_END_DECLS
