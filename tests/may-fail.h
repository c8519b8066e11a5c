/* Lets allocations that are too large fail. To be included by one source of a program that tests
 * this: the sanitizers' allocators would otherwise end the program instead of returning NULL. */
#pragma once

const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
  return "allocator_may_return_null=1";
}
const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
  return "allocator_may_return_null=1";
}
