/* Reads and writes whole samples in a format that is known when the kernel runs: few programs are
 * compiled, and all work items take the same way. Behind opencl/runtime/samples.cl. */

/* Real samples have an imaginary part of 0. */
float2 read_sample(__global const uchar *in, ulong i, uint format)
{
  switch (format) {
  case FORMAT_CI4:
    return (float2)(read_nibble((__global const char *)in, 2 * i),
                    read_nibble((__global const char *)in, 2 * i + 1));
  case FORMAT_CI8:
    return convert_float2(vload2(i, (__global const char *)in));
  case FORMAT_CI16LE:
    return convert_float2(vload2(i, (__global const short *)in));
  case FORMAT_CF16LE:
    return vload_half2(i, (__global const half *)in);
  case FORMAT_I8:
    return (float2)(((__global const char *)in)[i], 0);
  case FORMAT_I16LE:
    return (float2)(((__global const short *)in)[i], 0);
  case FORMAT_F32LE:
    return (float2)(((__global const float *)in)[i], 0);
  default:
    return vload2(i, (__global const float *)in);
  }
}

/* Of a real format, only the real part is written. */
void write_sample(__global uchar *out, ulong i, uint format, float2 value, uint *clipped)
{
  switch (format) {
  case FORMAT_CI4:
    write_nibble((__global char *)out, 2 * i, value.x, value.x, clipped);
    write_nibble((__global char *)out, 2 * i + 1, value.y, value.y, clipped);
    break;
  case FORMAT_CI8:
    write_i8((__global char *)out, 2 * i, value.x, value.x, clipped);
    write_i8((__global char *)out, 2 * i + 1, value.y, value.y, clipped);
    break;
  case FORMAT_CI16LE:
    write_i16((__global short *)out, 2 * i, value.x, value.x, clipped);
    write_i16((__global short *)out, 2 * i + 1, value.y, value.y, clipped);
    break;
  case FORMAT_CF16LE:
    write_half((__global ushort *)out, 2 * i, value.x, value.x, clipped);
    write_half((__global ushort *)out, 2 * i + 1, value.y, value.y, clipped);
    break;
  case FORMAT_I8:
    write_i8((__global char *)out, i, value.x, value.x, clipped);
    break;
  case FORMAT_I16LE:
    write_i16((__global short *)out, i, value.x, value.x, clipped);
    break;
  case FORMAT_F32LE:
    ((__global float *)out)[i] = value.x;
    break;
  default:
    vstore2(value, i, (__global float *)out);
  }
}
