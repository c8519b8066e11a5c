/* What a Fourier transform does to caps: which axes are transformed and what they are then called.
 *
 * u and v become x and y, and back. The time of voltages becomes time and channel of spectra; time
 * and channel of spectra become the time of voltages. Any other axis keeps its name. */
#pragma once

#include "core/lib/fft/fft.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Where index zero of an axis lies in frequency, time or place. */
typedef enum {
  ASTRO_CENTRED_AUTO, /* u, v, x, y and channels in the middle; all others at the first index */
  ASTRO_CENTRED_FALSE,
  ASTRO_CENTRED_TRUE
} AstroCentred;

typedef struct {
  AstroAxis axes[ASTRO_MAX_AXES]; /* the input's; none: those that its media type stands for */
  guint n_axes;
  gboolean inverse;
  AstroCentred centred;
  guint64 length; /* of a transform along time, and of what becomes time where it is real */
} AstroFftSettings;

/* "u,v" */
gboolean astro_fft_parse_axes(AstroFftSettings *settings, const char *text, GError **error);

/* All that caps on one side may be on the other. rows: of grids of which touched tiles alone hold
 * anything, rows alone may be transformed for one reader who takes them: v and u become v and x. */
GstCaps *astro_fft_map_caps(const AstroFftSettings *settings, gboolean rows, GstCaps *caps,
                            gboolean to_src);

typedef enum { ASTRO_FFT_SAME_STEPS, ASTRO_FFT_SPLITS_TIME, ASTRO_FFT_JOINS_TIME } AstroFftKind;

/* The transform between two streams that caps agreed on, and what becomes of time. */
gboolean astro_fft_configure(const AstroFftSettings *settings, const AstroStream *in,
                             const AstroStream *out, AstroFftConfig *config, AstroFftKind *kind,
                             GError **error);

/* Takes maps of planes unless the input's caps say that they are whole. FALSE: these caps need it
 * and this transform does not. */
gboolean astro_fft_use_maps(const AstroFftSettings *settings, const AstroStream *in,
                            const GstCaps *caps, AstroFftConfig *config, GError **error);

/* Of grids whose caps say how large the image in their middle is, makes nothing else. FALSE: these
 * are none. */
gboolean astro_fft_want_image(const AstroStream *out, const GstCaps *caps, AstroFftConfig *config);

G_END_DECLS
