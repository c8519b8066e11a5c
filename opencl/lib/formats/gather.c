/* Queues copies to rows with time contiguous. */
#include "config.h"
#include "opencl/lib/formats/gather.h"

#define GROUP 64

AstroOpenclGather astro_opencl_gather_of(const AstroStream *stream, guint64 steps)
{
  const AstroFormatInfo *format = astro_format_info(stream->format);
  const guint components = format->is_complex && stream->format != ASTRO_FORMAT_CI4 ? 2 : 1;
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  return (AstroOpenclGather){
    .time = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME),
    .station = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_STATION),
    .pol = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL),
    .channel = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL),
    .steps = steps,
    .row = steps,
    .inputs = (cl_uint)(astro_stream_step_bytes(stream) / astro_stream_sample_bytes(stream)),
    .pols = (cl_uint)astro_stream_extent(stream, ASTRO_AXIS_POL),
    .channels = (cl_uint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL),
    .components = components,
    .bytes = (cl_uint)format->bytes / components,
  };
}

gboolean astro_opencl_gather_is_there(const AstroOpenclGather *gather)
{
  const guint64 row = gather->row, pol = gather->channels * row, station = gather->pols * pol;
  return (gather->time == 1 || gather->steps == 1) &&
         (gather->channels == 1 || gather->channel == row) &&
         (gather->pols == 1 || gather->pol == pol) &&
         (gather->inputs == gather->channels * gather->pols || gather->station == station);
}

gboolean astro_opencl_gather(const AstroPlace *place, cl_kernel kernel, AstroOpenclGather gather,
                             gconstpointer in, gpointer out, GError **error)
{
  gather.is_zero = in == NULL;
  const AstroOpenclArgument given[] = { OPENCL_FACE(in), OPENCL_FACE(out), OPENCL_VALUE(gather) };
  const AstroOpenclRange range = { 2, { gather.steps, gather.inputs }, { GROUP, 1 } };
  return astro_opencl_launch(place, kernel, given, G_N_ELEMENTS(given), &range, error);
}
