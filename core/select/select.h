/* Select: keeps some of the elements along a stream's axes, in any order; and parses lists of them
 * as users write them. */
#pragma once

#include "core/backend/backend.h"
#include "core/memory/box.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

/* In a pick of baselines: the pair is reversed, so that its value is conjugated and the
 * polarisations of its two stations are exchanged. */
#define ASTRO_SELECT_REVERSED (G_GUINT64_CONSTANT(1) << 63)

/* The indices of an axis that are kept, in the order of the output; n is 0 if all are kept. */
typedef struct {
  const guint64 *index;
  guint64 n;
} AstroSelectPick;

/* pick[i] is for axis i of the stream's layout; a free axis has none. The two polarisation axes of
 * visibilities have a pick each. The caller owns the indices, which create copies. */
typedef struct {
  AstroStream in;
  AstroSelectPick pick[ASTRO_MAX_AXES];
} AstroSelectConfig;

typedef struct {
  guint64 steps; /* of the block */
} AstroSelectArguments;

/* submit takes one input block, one output block, and an AstroSelectArguments *. */
extern const AstroBackend astro_select_reference;
extern const AstroBackend astro_select_cpu;
extern const AstroBackend *const astro_select_backends[]; /* ends with NULL */

/* The range of bytes of a block that holds exactly what is kept, if there is one. */
gboolean astro_select_find_part(const AstroSelectConfig *config, guint64 steps, gsize *offset,
                                gsize *bytes);

/* The same as a box of the block, for copies on a device (core/memory/box.h), if the indices that
 * are kept rise by the same step along each axis. */
gboolean astro_select_find_box(const AstroSelectConfig *config, guint64 steps, AstroBox *box,
                               gsize *bytes);

/* Adds the counts of what is kept of a block with that many steps to out. */
void astro_select_validity(const AstroSelectConfig *config, guint64 steps,
                           const AstroValidityMeta *meta, GstBuffer *out);

/* Adds the other metas of grids, images and visibilities to out, with what is kept. */
void astro_select_metas(const AstroSelectConfig *config, GstBuffer *in, GstBuffer *out);

/* ---- lists ---- */

/* The subject of a list: "stations", their number, and their names, or NULL if these are not known
 * (yet). */
typedef struct {
  const char *what;
  guint64 extent;
  char *const *names;
} AstroSelectFrom;

/* Parses "0-3,7,40-,A012,0-62:2": indices from 0 on; ranges including their last index, to the end
 * if it is left out, and with a step after a colon; and names. Returns the indices as guint64, or
 * NULL with an error. Names that are not known become G_MAXUINT64. */
GArray *astro_select_read_list(const char *text, const AstroSelectFrom *from, GError **error);
/* How many of extent indices a list keeps; 0: unknown, as extent is 0 and the list has an open
 * range. */
guint64 astro_select_count(const char *text, guint64 extent);
/* Whether a list has names, so that these must be known. */
gboolean astro_select_has_names(const char *text);

/* The baselines between the stations that are kept, out of `of`: a triangle, or all pairs of a full
 * one. */
GArray *astro_select_baselines(const GArray *stations, guint64 of, gboolean is_full);

/* The band of the channels that are kept, out of `of`; they must be consecutive. */
gboolean astro_select_band(const GArray *channels, guint64 of, double *frequency, double *bandwidth,
                           GError **error);

G_END_DECLS
