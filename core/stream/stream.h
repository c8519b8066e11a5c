/* The description of a stream, parsed from caps and written to them.
 *
 * A stream is an array of samples. Its layout names the axes, slowest first. At most one axis is
 * free: its length follows from a buffer's size (time in most streams, point in catalogues). If the
 * layout names no free axis, buffers hold whole frames, and the frames are the time steps.
 *
 * With counts=true every buffer has counts of the good samples behind its values (validity.h). Caps
 * survive where a buffer's meta may get lost, as through a file or an element that makes new
 * buffers: buffers that then have no counts are refused, and not taken as free of losses. */
#pragma once

#include <gst/gst.h>
#include "core/kit/fail.h"

ASTRO_BEGIN_DECLS

#define ASTRO_MAX_AXES 8

/* A custom event sent upstream from the sinks: the user wants the stream to end, so whatever delays
 * its end must stop. */
#define ASTRO_INTERRUPT_EVENT "astro-interrupt"

typedef enum {
  ASTRO_FORMAT_UNKNOWN,
  ASTRO_FORMAT_CI4,
  ASTRO_FORMAT_CI8,
  ASTRO_FORMAT_CI16LE,
  ASTRO_FORMAT_CF16LE,
  ASTRO_FORMAT_CF32LE,
  ASTRO_FORMAT_CF64LE,
  ASTRO_FORMAT_CI32LE,
  ASTRO_FORMAT_F32LE,
  ASTRO_FORMAT_F64LE,
  ASTRO_FORMAT_U64LE,
  ASTRO_FORMAT_I8, /* this and the next: real voltages from a digitiser */
  ASTRO_FORMAT_I16LE,
  ASTRO_N_FORMATS
} AstroFormat;

typedef enum {
  ASTRO_QUANTITY_UNKNOWN,
  ASTRO_QUANTITY_VOLTAGES,
  ASTRO_QUANTITY_SPECTRA,
  ASTRO_QUANTITY_VISIBILITIES,
  ASTRO_QUANTITY_UVGRID,
  ASTRO_QUANTITY_IMAGE,
  ASTRO_QUANTITY_CATALOGUE,
  ASTRO_QUANTITY_HISTOGRAM,
  ASTRO_QUANTITY_CORRELATION_FUNCTION,
  ASTRO_QUANTITY_POWER,
  ASTRO_QUANTITY_PROFILE,
  ASTRO_QUANTITY_GAINS,
  ASTRO_N_QUANTITIES
} AstroQuantity;

typedef enum {
  ASTRO_AXIS_NONE,
  ASTRO_AXIS_TIME,
  ASTRO_AXIS_STATION,
  ASTRO_AXIS_POL,
  ASTRO_AXIS_CHANNEL,
  ASTRO_AXIS_BASELINE,
  ASTRO_AXIS_V,
  ASTRO_AXIS_U,
  ASTRO_AXIS_Y,
  ASTRO_AXIS_X,
  ASTRO_AXIS_PLANE,
  ASTRO_AXIS_COLUMN,
  ASTRO_AXIS_POINT,
  ASTRO_AXIS_PAIRS,
  ASTRO_AXIS_REGION,
  ASTRO_AXIS_BIN,
  ASTRO_AXIS_BEAM,
  ASTRO_AXIS_PHASE,
  ASTRO_AXIS_DM, /* a dispersion measure that was taken out */
  ASTRO_AXIS_MU, /* cosine of the angle to the line of sight */
  ASTRO_AXIS_PI, /* separation along the line of sight */
  ASTRO_N_AXES
} AstroAxis;

typedef struct {
  const char *name;
  guint bytes; /* of a whole sample, with both components of a complex one */
  gboolean is_complex;
  gboolean is_float;
} AstroFormatInfo;

/* Axes, slowest first. extents[i] is 0 for the free axis. */
typedef struct {
  guint n_axes;
  AstroAxis axes[ASTRO_MAX_AXES];
  guint64 extents[ASTRO_MAX_AXES];
} AstroLayout;

typedef struct {
  AstroQuantity quantity;
  AstroFormat format;
  AstroLayout layout;
  gint rate_n, rate_d;         /* steps of the time axis per second; 0/1 if the caps give none */
  double frequency, bandwidth; /* Hz; 0 if the caps give none */
  gboolean is_full_triangle;   /* visibilities have each pair of stations in both orders */
  gboolean has_counts;         /* every buffer has counts */
} AstroStream;

#define ASTRO_STREAM_ERROR astro_stream_error_quark()
typedef enum { ASTRO_STREAM_ERROR_CAPS, ASTRO_STREAM_ERROR_SIZE } AstroStreamError;
GQuark astro_stream_error_quark(void);
/* Sets the error and is FALSE, so that a check can return it. */
#define astro_stream_refuse(error, code, ...)                                                      \
  astro_fail(error, ASTRO_STREAM_ERROR, code, __VA_ARGS__)

const AstroFormatInfo *astro_format_info(AstroFormat format);
const char *astro_format_name(AstroFormat format); /* for messages: takes any value */
gboolean astro_format_is_double(AstroFormat format);
AstroFormat astro_format_from_name(const char *name); /* ASTRO_FORMAT_UNKNOWN if there is none */

/* For caps: whether a field's value is the name, or a list that contains it; a missing field (NULL)
 * contains all. astro_name_append adds a name to a list. */
gboolean astro_name_is_in(const GValue *value, const char *name);
void astro_name_append(GValue *list, const char *name);
/* The same for names of formats. */
gboolean astro_format_is_named(const GValue *value, AstroFormat format);
void astro_format_append(GValue *list, AstroFormat format);
/* Whether a boolean field exists and is true. */
gboolean astro_field_is_true(const GstStructure *s, const char *field);

const char *astro_quantity_name(AstroQuantity quantity); /* "voltages" */
const char *astro_quantity_media_type(AstroQuantity quantity);
AstroQuantity astro_quantity_from_media_type(const char *media_type);

const char *astro_axis_name(AstroAxis axis);
AstroAxis astro_axis_from_name(const char *name);
const char *
astro_axis_field(AstroAxis axis); /* the caps field of its extent; NULL for a free axis */

/* Parses names only, "time:station:pol"; extents become 0. The quantity decides which axes may
 * appear twice (visibilities: pol; histogram: region): pass ASTRO_QUANTITY_UNKNOWN to allow none.
 */
gboolean astro_layout_parse(AstroLayout *layout, const char *text, AstroQuantity quantity,
                            GError **error);
char *astro_layout_to_string(const AstroLayout *layout);
/* Compares axes and extents only, not the padding in memory. */
gboolean astro_layout_is_equal(const AstroLayout *a, const AstroLayout *b);
gint astro_layout_find(const AstroLayout *layout, AstroAxis axis); /* -1 if there is none */

/* Takes fixed caps only. Every error says which field, what was found and what was expected. */
gboolean astro_stream_from_caps(AstroStream *stream, const GstCaps *caps, GError **error);
GstCaps *astro_stream_to_caps(const AstroStream *stream);

guint64 astro_stream_extent(const AstroStream *stream,
                            AstroAxis axis); /* 1 if there is no such axis */
/* The number of stations of a stream with an axis of stations or of baselines: n (n + 1) / 2
 * baselines for n stations, or n n in a full triangle; a number that fits no n is rounded down. */
guint64 astro_stream_stations(const AstroStream *stream);
gsize astro_stream_sample_bytes(const AstroStream *stream);
gsize astro_stream_step_bytes(const AstroStream *stream); /* one step of the free axis */

/* The middle of a channel, of n that fill a band; exactly 0 if only a rounding error is left, as
 * for a band that no mixer has moved. */
double astro_channel_frequency(double frequency, double bandwidth, guint n, guint channel);

/* When a step of the time axis begins, in ns since step 0; and the step of another stream's rate
 * that begins nearest to it. The rates must not be 0. */
guint64 astro_stream_time(const AstroStream *stream, guint64 step);
guint64 astro_stream_step_of_rate(const AstroStream *stream, guint64 step,
                                  const AstroStream *other);

/* Refuses full triangles, for stages that take each pair of stations once. */
gboolean astro_stream_check_lower(const AstroStream *visibilities, GError **error);

/* Whether sums (visibilities in CI32LE) come with counts, without which they cannot be made means;
 * and whether a buffer has the counts that its stream's caps promise. A GAP buffer needs none. */
gboolean astro_stream_check_sums(const AstroStream *stream, GError **error);
gboolean astro_stream_check_counts(const AstroStream *stream, GstBuffer *buffer, GError **error);

/* Whether the bandwidth of voltages is at most what their rate carries, as far as both are known.
 * It may be less, if samples are taken faster than necessary. */
gboolean astro_stream_check_band(const AstroStream *voltages, GError **error);

/* How many steps of the free axis (or frames) a buffer of that many bytes holds; an error if it is
 * not a whole number of steps. */
gboolean astro_stream_steps(const AstroStream *stream, gsize bytes, guint64 *steps, GError **error);

/* The layout with its free axis filled in. If there is none and there is more than one step, a time
 * axis is added in front. */
void astro_stream_shape(const AstroStream *stream, guint64 steps, AstroLayout *shape);

/* Strides in samples of a layout whose extents are all set. */
void astro_layout_strides(const AstroLayout *shape, guint64 strides[ASTRO_MAX_AXES]);
/* The stride of an axis; 0 if the shape has no such axis, so that one sample stands for all along
 * it. */
guint64 astro_layout_stride_of(const AstroLayout *shape, const guint64 strides[ASTRO_MAX_AXES],
                               AstroAxis axis);
guint64 astro_layout_samples(const AstroLayout *shape);

ASTRO_END_DECLS
