/* Sums over the processes that share a grid: an element that has a part of each value asks, by a
 * query downstream, for the sum of all parts. In an MPI job astroreduce answers it. */
#pragma once

#include <gst/gst.h>

#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* A field of caps, an int above 1: values are parts, of which so many make a whole. */
#define ASTRO_SHARES_FIELD "shares"

/* How many parts make a whole; 1: this is one. */
guint astro_shares_of(const GstStructure *caps);

/* Values of one kind: floats, or doubles. */
typedef struct {
  gpointer values;
  guint64 n;
  gboolean is_double;
} AstroSharesPart;

/* Replaces values by their sums over so many processes, which ask the same in the same order.
 * *is_here: the sums are wanted in this process; else values stay, and nothing should be made of
 * them. FALSE with an error if nobody answers. */
gboolean astro_shares_sum(GstPad *src, guint shares, const AstroSharesPart *parts, guint n,
                          gboolean *is_here, GError **error);

/* For elements that are asked. FALSE: it is another query. */
gboolean astro_shares_is_asked(GstQuery *query, guint *shares, const AstroSharesPart **parts,
                               guint *n);
void astro_shares_answer(GstQuery *query, gboolean is_here);

ASTRO_END_DECLS
