/* Inside astrofft-caps.h: astrofft-axes.c has what axes and layouts become, astrofft-lengths.c what
 * extents, rates and bands do, astrofft-maps.c grids of which touched tiles alone hold anything,
 * astrofft-caps.c caps as a whole, and astrofft-configure.c the transform that they agreed on.
 *
 * in is always the input's media type, whichever side the caps are of. */
#pragma once

#include "elements/astrofft-caps.h"

G_BEGIN_DECLS

/* ---- axes ---- */

/* u for x and so on, both ways; any other axis keeps its name. */
AstroAxis astro_fft_other_name(AstroAxis axis);
/* Whether an axis of the input is transformed. */
gboolean astro_fft_is_transformed(const AstroFftSettings *settings, AstroQuantity in,
                                  AstroAxis axis);
gboolean astro_fft_splits_time(const AstroFftSettings *settings, AstroQuantity in);
gboolean astro_fft_joins_time(const AstroFftSettings *settings, AstroQuantity in);
AstroQuantity astro_fft_quantity_out(const AstroFftSettings *settings, AstroQuantity in);

/* time becomes time:channel of that many channels, and back; FALSE where the layout is none of
 * those. */
gboolean astro_fft_split_time(AstroLayout *layout, guint64 channels);
gboolean astro_fft_join_time(AstroLayout *layout);
/* A layout of one side becomes that of the other. */
gboolean astro_fft_map_layout(const AstroFftSettings *settings, AstroQuantity in, gboolean to_src,
                              AstroLayout *layout);

/* ---- lengths ---- */

/* The real samples that so many bins are of: even unless length says otherwise. */
guint64 astro_fft_samples_of(const AstroFftSettings *settings, guint64 bins, gboolean real);
/* Of the input's fields the output's; s has the input's layout yet. */
void astro_fft_set_lengths(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                           gboolean real_in, gboolean real_out);
/* What the input's lengths were is not asked of the output's: the input tells them. */
void astro_fft_forget_lengths(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                              gboolean real);

/* ---- caps ---- */

gboolean astro_fft_is_real(AstroFormat format);
/* Whether a transform makes the one of the other. */
gboolean astro_fft_is_possible(const AstroFftSettings *settings, AstroFormat in, AstroFormat out);
/* Appends what one structure of a side may be on the other. */
void astro_fft_map_structure(const AstroFftSettings *settings, const GstStructure *given,
                             AstroQuantity in, gboolean to_src, GstCaps *result);

/* ---- maps ---- */

/* The same transform along u alone. */
AstroFftSettings astro_fft_rows_alone(const AstroFftSettings *settings);
/* Of an input with maps its rows, of which the image's part is made. */
void astro_fft_offer_rows(const AstroFftSettings *settings, const GstStructure *given,
                          GstCaps *result);
/* Inputs of an output. */
void astro_fft_append_inputs(const AstroFftSettings *settings, const GstStructure *given,
                             AstroQuantity in, gboolean rows, GstCaps *result);
/* No reader of v:u or v:x may take what has no map for what has one. */
void astro_fft_deny_touched_only(GstCaps *result);

G_END_DECLS
