/* Select: some of what stands along a stream's axes, in any order; and lists of it as users write
 * them. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* In a pick of baselines: what is kept is the pair the other way round, whose value is the
 * conjugate, with the polarisations of its two stations swapped. */
#define ASTRO_SELECT_TURNED (G_GUINT64_CONSTANT(1) << 63)

/* Which indices of an axis are kept, in the order of the output; n is 0 where all are. */
typedef struct {
  const guint64 *index;
  guint64 n;
} AstroSelectPick;

/* pick[i] is of axis i of the stream's layout; none is of a free axis. Both polarisation axes of
 * visibilities have a pick each. The indices are the caller's, until create returns. */
typedef struct {
  AstroStream in;
  AstroSelectPick pick[ASTRO_MAX_AXES];
} AstroSelectConfig;

typedef struct {
  guint64 steps; /* of the block */
} AstroSelectArguments;

/* submit takes a block in, one out, and an AstroSelectArguments *. */
extern const AstroBackend astro_select_reference;
extern const AstroBackend astro_select_cpu;
extern const AstroBackend *const astro_select_backends[]; /* up to a NULL */

/* The bytes of a block that hold exactly what is kept, where there are such. */
gboolean astro_select_find_part(const AstroSelectConfig *config, guint64 steps, gsize *offset,
                                gsize *bytes);

/* The counts of what is kept of a block of so many steps, added to out. */
void astro_select_validity(const AstroSelectConfig *config, guint64 steps,
                           const AstroValidityMeta *meta, GstBuffer *out);

/* What buffers of grids, images and visibilities say of themselves beside counts, of what is kept:
 * added to out. */
void astro_select_metas(const AstroSelectConfig *config, GstBuffer *in, GstBuffer *out);

/* ---- lists ---- */

/* What a list is of: "stations", how many there are, and their names, or NULL where these are not
 * known (yet). */
typedef struct {
  const char *what;
  guint64 extent;
  char *const *names;
} AstroSelectFrom;

/* "0-3,7,40-,A012,0-62:2": indices from 0 on, ranges with their last, to the end where that is left
 * out, and of every so many; and names. The indices, as guint64, or NULL and the error. With names
 * that are not known they are G_MAXUINT64. */
GArray *astro_select_read_list(const char *text, const AstroSelectFrom *from, GError **error);
/* How many it keeps, of so many; 0: not known, as extent is 0 and the list has an open range. */
guint64 astro_select_count(const char *text, guint64 extent);
/* Whether a list has names, so that these have to be known. */
gboolean astro_select_has_names(const char *text);

/* Baselines among the stations kept, of so many: one triangle, or all pairs of a full one. */
GArray *astro_select_baselines(const GArray *stations, guint64 of, gboolean is_full);

/* The band of the channels that are kept, of so many: they have to follow one another. */
gboolean astro_select_band(const GArray *channels, guint64 of, double *frequency, double *bandwidth,
                           GError **error);

G_END_DECLS
