/* Barriers in shared memory that count arrivals and, on sm_90, bytes of the bulk copy engine.
 *
 * One thread initialises all barriers of a block, and every thread that read or wrote arrives by
 * itself. That suits compute-sanitizer: it reports initialisations by several threads as conflicts
 * with those of other threads, at addresses that they never computed, and does not know that
 * __syncwarp and a single arrival after it hand over what the whole warp did. It does not seem to
 * watch data that tensor maps bring, and there a warp arrives once. */
#pragma once

#include "gpu/runtime/cuda.h"

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
  asm volatile("{\n.reg .b64 state;\n"
               "mbarrier.arrive.shared::cta.b64 state, [%0];\n}\n" ::"r"(shared_address(barrier))
               : "memory");
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define BARRIER_ASK "mbarrier.try_wait" /* may sleep */
#else
#define BARRIER_ASK "mbarrier.test_wait"
#endif

__device__ inline void barrier_wait(guint64 *barrier, guint32 parity)
{
  asm volatile("{\n.reg .pred p;\n"
               "again:\n" BARRIER_ASK ".parity.shared::cta.b64 p, [%0], %1;\n"
               "@!p bra again;\n}\n" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
}

/* A slot in a ring, and the parity with which its barrier is waited for. Whoever fills slots begins
 * with 1, so that it does not wait for slots that were never full; whoever empties them with 0. */
struct BarrierRing {
  guint32 slot, parity;

  __device__ void next(guint32 slots)
  {
    if (++slot == slots) {
      slot = 0;
      parity ^= 1;
    }
  }
};
