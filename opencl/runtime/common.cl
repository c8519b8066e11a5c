/* Before the text of every program. Products are rounded before they are added to, as on the host.
 */
#pragma OPENCL FP_CONTRACT OFF
#ifdef ASTRO_DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

/* A face of a block as a parameter of a kernel: its memory, and where in it the face begins. The
 * kernel's body begins with AT for each, which declares the pointer. */
#define FACE(name) __global uchar *restrict name##_memory, ulong name##_begins
#define AT(type, name) __global type *restrict name = (__global type *)(name##_memory + name##_begins)

/* Vectors of two of a type, and complex samples of programs with the option REAL. */
#define JOINED(T, n) T##n
#define PAIR_OF(T) JOINED(T, 2)
#define COMPLEX PAIR_OF(REAL)
