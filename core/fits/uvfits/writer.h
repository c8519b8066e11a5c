/* Private to the writer of UVFITS: write-header.c makes what comes before and after the groups,
 * write-groups.c the groups, write.c the whole file. */
#pragma once

#include "core/fits/uvfits/parameters.h"
#include "core/fits/uvfits/write.h"
#include "core/fits/uvfits/uvfits.h"
#include "core/stream/track.h"

G_BEGIN_DECLS

#define ASTRO_UVFITS_CARD 80

typedef struct {
  AstroPartFile *file;
  AstroFitsContents contents;
  guint pols, products, channels;
  guint64 baselines;
  const AstroUvfitsParameter *parameters;
  guint n_parameters;
  gsize group_floats, gather_groups;
  guint32 *gather; /* groups, big-endian */
  AstroTrack *track;
  double *uvw;
  AstroRowPlace *places; /* of an integration's groups */
  guint8 *tail;          /* the HDUs after the groups */
  gsize tail_bytes;
  guint64 gcount_at;
  double jansky; /* factor to convert values to Jy; 1 if the scale is unknown */
  guint64 groups;
} AstroUvfitsWriter;

/* Checks that the contents have all that a header needs. */
gboolean astro_uvfits_check_contents(const AstroFitsContents *contents, GError **error);

/* Writes the header, and keeps the tail and the position of the number of groups. */
gboolean astro_uvfits_write_header(AstroUvfitsWriter *w, GError **error);

/* Chooses the parameters of groups, and allocates the buffer for groups. */
void astro_uvfits_init_groups(AstroUvfitsWriter *w);
void astro_uvfits_clear_groups(AstroUvfitsWriter *w);
gboolean astro_uvfits_write_groups(gpointer writer, const AstroFitsFrames *frames,
                                   AstroFitsTally *tally, GError **error);

G_END_DECLS
