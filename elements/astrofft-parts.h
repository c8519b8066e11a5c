/* Inside astrofft-caps.h: astrofft-axes.c has axes and layouts, astrofft-lengths.c extents, rates
 * and bands, astrofft-maps.c grids with maps of touched tiles, astrofft-caps.c whole caps, and
 * astrofft-configure.c the transform that they agreed on.
 *
 * in is always the media type of the input, whichever side caps are of. */
#pragma once

#include "elements/astrofft-caps.h"

G_BEGIN_DECLS

/* ---- axes ---- */

/* x for u, u for x and so on; any other axis keeps its name. */
AstroAxis astro_fft_other_name(AstroAxis axis);
/* Whether an axis of the input is transformed. */
gboolean astro_fft_is_transformed(const AstroFftSettings *settings, AstroQuantity in,
                                  AstroAxis axis);
gboolean astro_fft_splits_time(const AstroFftSettings *settings, AstroQuantity in);
gboolean astro_fft_joins_time(const AstroFftSettings *settings, AstroQuantity in);
AstroQuantity astro_fft_quantity_out(const AstroFftSettings *settings, AstroQuantity in);

/* time becomes time:channel of so many channels, and back. FALSE: the layout does not allow that.
 */
gboolean astro_fft_split_time(AstroLayout *layout, guint64 channels);
gboolean astro_fft_join_time(AstroLayout *layout);
/* Maps a layout of one side to the other. */
gboolean astro_fft_map_layout(const AstroFftSettings *settings, AstroQuantity in, gboolean to_src,
                              AstroLayout *layout);

/* ---- lengths ---- */

/* How many real samples so many bins are of: an even number unless length says otherwise. */
guint64 astro_fft_samples_of(const AstroFftSettings *settings, guint64 bins, gboolean real);
/* Changes the input's fields into the output's; s still has the input's layout. */
void astro_fft_set_lengths(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                           gboolean real_in, gboolean real_out);
/* Removes lengths from what is asked of the input: it says itself how long it is. */
void astro_fft_forget_lengths(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                              gboolean real);

/* ---- caps ---- */

gboolean astro_fft_is_real(AstroFormat format);
/* Whether a transform makes one from the other. */
gboolean astro_fft_is_possible(const AstroFftSettings *settings, AstroFormat in, AstroFormat out);
/* Appends the other side's structures for one structure of a side. */
void astro_fft_map_structure(const AstroFftSettings *settings, const GstStructure *given,
                             AstroQuantity in, gboolean to_src, GstCaps *result);

/* ---- maps ---- */

/* The same transform along u alone. */
AstroFftSettings astro_fft_rows_alone(const AstroFftSettings *settings);
/* Offers the transformed rows of an input with maps. */
void astro_fft_offer_rows(const AstroFftSettings *settings, const GstStructure *given,
                          GstCaps *result);
/* Appends the inputs of an output. */
void astro_fft_append_inputs(const AstroFftSettings *settings, const GstStructure *given,
                             AstroQuantity in, gboolean rows, GstCaps *result);
/* Marks all results that still have v as whole, so that they do not agree with readers of rows. */
void astro_fft_deny_touched_only(GstCaps *result);

G_END_DECLS
