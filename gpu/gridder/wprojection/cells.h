/* Shared by both ways to spread in W-projection: reading records, summing taps times values, and
 * adding sums to the grid. */
#pragma once

#include "gpu/gridder/wprojection/wprojection.h"

static __device__ inline void add_to(float2 *cell, float2 sum)
{
#if __CUDA_ARCH__ >= 900
  atomicAdd(cell, sum);
#else
  atomicAdd(&cell->x, sum.x);
  atomicAdd(&cell->y, sum.y);
#endif
}

static __device__ inline void add_to(double2 *cell, double2 sum)
{
  atomicAdd(&cell->x, sum.x);
  atomicAdd(&cell->y, sum.y);
}

static __device__ inline gint fixed_exponent(const WProjectionFixed &fixed)
{
  const double largest = __longlong_as_double((gint64)*fixed.largest);
  return largest > 0 ? 61 - ilogb(largest) - fixed.taps_exponent - fixed.records_exponent : 0;
}

template <typename Value, bool FIXED>
static __device__ inline void add_cell(const WProjectionSpread &s, gsize at, Value sum,
                                       double scale)
{
  if (FIXED) {
    unsigned long long *cell = (unsigned long long *)s.fixed.grid + 2 * at;
    atomicAdd(cell, (unsigned long long)__double2ll_rn(sum.x * scale));
    atomicAdd(cell + 1, (unsigned long long)__double2ll_rn(sum.y * scale));
  } else {
    add_to((Value *)s.grid + at, sum);
  }
}

template <typename Value> static __device__ inline void multiply_add(Value &sum, Value a, Value b)
{
  sum.x += a.x * b.x;
  sum.y += a.x * b.y;
  sum.x -= a.y * b.y;
  sum.y += a.y * b.x;
}

static __device__ inline WProjectionRecord read_record(const WProjectionRecord *record)
{
  const uint4 bits = __ldg((const uint4 *)record);
  return *(const WProjectionRecord *)&bits;
}

/* The values of a record, of N products. */
template <typename Value, int N>
static __device__ inline const WProjectionValues<Value, N> *values_of(const WProjectionSpread &s)
{
  return (const WProjectionValues<Value, N> *)((const Value *)s.sums + s.product * s.capacity);
}
