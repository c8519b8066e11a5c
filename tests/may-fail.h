/* For one source of a program where memory that there is not is asked for: the sanitizers' own
 * allocators end the program where others return NULL, unless told. */
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
