/* Barriers in shared memory that count arrivals and bytes of the bulk copy engine (sm_90). */
#pragma once

#include "gpu/cuda.h"

__device__ inline guint32 shared_address(const void *p)
{
  return (guint32)__cvta_generic_to_shared(p);
}

__device__ inline void barrier_init(guint64 *barrier, guint32 count)
{
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(count));
}

__device__ inline void barrier_expect(guint64 *barrier, guint32 bytes)
{
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

__device__ inline void barrier_arrive(guint64 *barrier)
{
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

__device__ inline void barrier_wait(guint64 *barrier, guint32 parity)
{
  asm volatile("{\n.reg .pred p;\n"
               "again:\n"
               "mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra again;\n}\n" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
}
