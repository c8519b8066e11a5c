/* How a Fourier transform changes caps: which axes are transformed, and their new names.
 *
 * u and v become x and y, and back. The time of voltages becomes time and channel of spectra; time
 * and channel of spectra become the time of voltages. Any other axis keeps its name. */
#pragma once

#include "core/lib/fft/fft.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Which index of an axis is the origin of frequency, time or position. */
typedef enum {
  ASTRO_CENTRED_AUTO, /* u, v, x, y and channels in the middle; all others at the first index */
  ASTRO_CENTRED_FALSE,
  ASTRO_CENTRED_TRUE
} AstroCentred;

typedef struct {
  AstroAxis axes[ASTRO_MAX_AXES]; /* of the input; none: those that suit its media type */
  guint n_axes;
  gboolean inverse;
  AstroCentred centred;
  guint64 length; /* samples of a transform along time; of real samples, where they become time */
} AstroFftSettings;

/* "u,v" */
gboolean astro_fft_parse_axes(AstroFftSettings *settings, const char *text, GError **error);

/* All caps of one side for those of the other. rows: the one reader takes grids whose rows alone
 * are transformed, so that v and u become v and x. */
GstCaps *astro_fft_map_caps(const AstroFftSettings *settings, gboolean rows, GstCaps *caps,
                            gboolean to_src);

typedef enum { ASTRO_FFT_SAME_STEPS, ASTRO_FFT_SPLITS_TIME, ASTRO_FFT_JOINS_TIME } AstroFftKind;

/* The transform between two streams that caps have agreed on, and how it changes time. */
gboolean astro_fft_configure(const AstroFftSettings *settings, const AstroStream *in,
                             const AstroStream *out, AstroFftConfig *config, AstroFftKind *kind,
                             GError **error);

/* Uses maps of touched tiles, unless the input's caps say that planes are whole. FALSE: these caps
 * require maps and the transform cannot use them. */
gboolean astro_fft_use_maps(const AstroFftSettings *settings, const AstroStream *in,
                            const GstCaps *caps, AstroFftConfig *config, GError **error);

/* Limits the transform to the image in the middle of a grid. FALSE: caps do not say how large that
 * is. */
gboolean astro_fft_want_image(const AstroStream *out, const GstCaps *caps, AstroFftConfig *config);

G_END_DECLS
