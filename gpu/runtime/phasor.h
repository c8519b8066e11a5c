/* Complex factors in single precision, from phases in double precision. */
#pragma once

#ifdef __CUDACC__
__device__ inline float2 turn_by(double turns)
{
  float sine, cosine;
  sincospif((float)(2 * (turns - rint(turns))), &sine, &cosine);
  return make_float2(cosine, sine);
}

__device__ inline float2 product(float2 a, float2 b)
{
  return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
#endif
